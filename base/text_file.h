// Reads a whole text file.

#ifndef BATON_BASE_TEXT_FILE_H_
#define BATON_BASE_TEXT_FILE_H_

#include <string>

#include "absl/status/statusor.h"

namespace baton {

// The content of a file; `-` is standard input.
absl::StatusOr<std::string> ReadTextFile(const std::string& path);

}  // namespace baton

#endif  // BATON_BASE_TEXT_FILE_H_
