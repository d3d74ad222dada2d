#include "baton/testing/run_binary.h"

#include <sys/wait.h>

#include <cstdlib>
#include <string>

#include "absl/strings/str_cat.h"
#include "baton/testing/golden.h"
#include "gtest/gtest.h"

namespace baton::testing {

std::string TempDir() {
  const char* dir = std::getenv("TEST_TMPDIR");
  return dir != nullptr ? dir : ::testing::TempDir();
}

RunResult RunBinary(absl::string_view path, absl::string_view args) {
  const std::string out = TempDir() + "/run_binary.out";
  const std::string err = TempDir() + "/run_binary.err";
  const std::string command = absl::StrCat("'", RunfilePath(path), "' ", args,
                                           " >'", out, "' 2>'", err, "'");
  const int status = std::system(command.c_str());  // NOLINT(cert-env33-c)
  RunResult result;
  if (WIFEXITED(status)) result.exit_code = WEXITSTATUS(status);
  result.out = ReadFileOrFail(out);
  result.err = ReadFileOrFail(err);
  return result;
}

}  // namespace baton::testing
