// Packs messages whose records resemble one another, such as the nodes of a
// program after each of many passes: docs/binary_format.md.

#ifndef BATON_IR_PACKED_RECORDS_H_
#define BATON_IR_PACKED_RECORDS_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace baton {

// Packs `message`. A record is a length-delimited field of a Protocol Buffers
// message. If an earlier record of the same field has the same length, only the
// difference from the last such record is written. Any bytes can be packed;
// bytes that are no message do not become shorter.
std::string PackRecords(absl::string_view message);

// Returns the bytes that were packed; for any other input, some bytes or an
// error. The result is less than twelve times as long as `packed`.
absl::StatusOr<std::string> UnpackRecords(absl::string_view packed);

}  // namespace baton

#endif  // BATON_IR_PACKED_RECORDS_H_
