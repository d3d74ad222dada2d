// A compact form of messages whose records are much alike, such as the nodes of
// a program after each of many passes: docs/binary_format.md.

#ifndef BATON_IR_PACKED_RECORDS_H_
#define BATON_IR_PACKED_RECORDS_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace baton {

// A record is a field of a Protocol Buffers message that has a length. One that
// has as many bytes as an earlier one of the same field is written as what
// differs from the last such record. Any bytes can be packed; those that are no
// message do not become shorter.
std::string PackRecords(absl::string_view message);

// The bytes that were packed; for any other input, some bytes or an error. They
// are less than twelve times as many as `packed` has.
absl::StatusOr<std::string> UnpackRecords(absl::string_view packed);

}  // namespace baton

#endif  // BATON_IR_PACKED_RECORDS_H_
