// Runs a program that is a data dependency of a test.

#ifndef BATON_TESTING_RUN_BINARY_H_
#define BATON_TESTING_RUN_BINARY_H_

#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace baton::testing {

// The exit code and the output of a program.
struct RunResult {
  int exit_code = -1;  // -1 if a signal ended the program
  std::string out;
  std::string err;
};

// Runs `path` (relative to the root of the repository) with the arguments
// `args`, in shell syntax.
RunResult RunBinary(absl::string_view path, absl::string_view args = "");

// As RunBinary, with a terminal as standard error; nullopt if the system has
// none.
std::optional<RunResult> RunBinaryOnTerminal(absl::string_view path,
                                             absl::string_view args = "");

// A directory that the test may write to.
std::string TempDir();

}  // namespace baton::testing

#endif  // BATON_TESTING_RUN_BINARY_H_
