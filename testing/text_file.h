// Reading a file, for the tools of this folder.

#ifndef BATON_TESTING_TEXT_FILE_H_
#define BATON_TESTING_TEXT_FILE_H_

#include <string>

#include "absl/status/statusor.h"

namespace baton::testing {

// The content of a file; `-` is standard input.
absl::StatusOr<std::string> ReadTextFile(const std::string& path);

}  // namespace baton::testing

#endif  // BATON_TESTING_TEXT_FILE_H_
