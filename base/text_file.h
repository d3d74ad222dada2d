// Reads a whole text file.

#ifndef BATON_BASE_TEXT_FILE_H_
#define BATON_BASE_TEXT_FILE_H_

#include <istream>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace baton {

// Reads `in` to its end; messages call it `name`. More than the limits allow
// (base/limits.h) is an error.
absl::StatusOr<std::string> ReadStream(std::istream& in,
                                       absl::string_view name);

// The content of a file; `-` is standard input.
absl::StatusOr<std::string> ReadTextFile(const std::string& path);

}  // namespace baton

#endif  // BATON_BASE_TEXT_FILE_H_
