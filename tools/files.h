// Files that a tool reads and writes.

#ifndef BATON_TOOLS_FILES_H_
#define BATON_TOOLS_FILES_H_

#include <istream>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace baton {

// The whole content of `path`. If there is no such file, the error names those
// beside it that resemble it.
absl::StatusOr<std::string> ReadFile(const std::string& path);

// What is left in `in`, which messages call `name`.
absl::StatusOr<std::string> ReadStream(std::istream& in,
                                       absl::string_view name);

// Writes a file that appears whole or not at all: a temporary file beside it
// takes its name when it is complete. Links are followed; what is no regular
// file (a pipe, a device) is written to.
absl::Status WriteFileAtomically(const std::string& path,
                                 absl::string_view content);

}  // namespace baton

#endif  // BATON_TOOLS_FILES_H_
