#include "baton/tools/tool_main.h"

#include <errno.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <iostream>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "gtest/gtest.h"

namespace baton {
namespace {

int Caught(absl::FunctionRef<int()> body, std::string* error) {
  ::testing::internal::CaptureStderr();
  const int code = RunTool("tool", body);
  *error = ::testing::internal::GetCapturedStderr();
  return code;
}

TEST(ToolMainTest, SaysWhatIsThrownInOneLine) {
  std::string error;
  EXPECT_EQ(Caught([] { return 7; }, &error), 7);
  EXPECT_EQ(error, "");
  EXPECT_EQ(Caught([]() -> int { throw std::bad_alloc(); }, &error), 1);
  EXPECT_EQ(error, "tool: out of memory\n");
  EXPECT_EQ(
      Caught([] { return std::vector<int>().reserve(SIZE_MAX), 0; }, &error),
      1);
  EXPECT_EQ(error, "tool: out of memory\n");
  EXPECT_EQ(Caught([]() -> int { throw std::runtime_error("oh"); }, &error), 1);
  EXPECT_EQ(error, "tool: oh\n");
  EXPECT_EQ(Caught([]() -> int { throw 5; }, &error), 1);
}

TEST(ToolMainTest, FilesThatGrowTooLargeAreErrors) {
  const std::unique_ptr<FILE, int (*)(FILE*)> file(std::tmpfile(),
                                                   &std::fclose);
  ASSERT_NE(file, nullptr);
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit limit = {1, before.rlim_max};
  const int error = RunTool("tool", [&] {
    setrlimit(RLIMIT_FSIZE, &limit);
    const ssize_t first = write(fileno(file.get()), "ab", 2);
    const ssize_t second = write(fileno(file.get()), "b", 1);
    return first == 1 && second < 0 ? errno : 0;
  });
  setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_EQ(error, EFBIG);
}

TEST(ToolMainTest, SaysThatStandardOutputIsFull) {
  std::string error;
  for (const int code : {0, 2}) {
    const int result = Caught(
        [code] {
          std::cout.setstate(std::ios::badbit);
          return code;
        },
        &error);
    std::cout.clear();
    EXPECT_EQ(result, code == 0 ? 1 : code);
    EXPECT_EQ(error,
              code == 0 ? "tool: cannot write to standard output\n" : "");
  }
}

}  // namespace
}  // namespace baton
