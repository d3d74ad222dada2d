// Runs the tutorial and holds what it prints against what the tutorial's page
// shows, block by block; times are masked.

#include <cstddef>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "baton/testing/golden.h"
#include "gtest/gtest.h"
#include "re2/re2.h"

namespace baton {
namespace {

// Returns the output of the tutorial and its exit code.
std::pair<std::string, int> RunTutorial() {
  const std::string command =
      testing::RunfilePath("examples/use_pass_instrument");
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return {"", -1};
  std::string output;
  char buffer[1 << 16];
  size_t n;
  while ((n = fread(buffer, 1, sizeof(buffer), pipe)) > 0) {
    output.append(buffer, n);
  }
  return {output, pclose(pipe)};
}

std::string MaskTimes(std::string text) {
  RE2::GlobalReplace(&text, R"(\d+us \[\d+us\] \([\d.]+%; [\d.]+%\))", "TIME");
  return text;
}

TEST(UsePassInstrumentTest, PrintsWhatTheTutorialPrints) {
  const auto [output, exit_code] = RunTutorial();
  EXPECT_EQ(exit_code, 0);
  const auto golden = [](const char* name) {
    return testing::ReadGolden(absl::StrCat("use_pass_instrument/", name));
  };
  const std::string expected = MaskTimes(absl::StrCat(
      "Printing the IR module...\n", testing::ReadGolden("resnet18.relay"),
      golden("01_timing.txt"), golden("02_timing_override.txt"),
      golden("03_op_diff.txt"), golden("04_bad_enter_ctx.txt"),
      golden("05_bad_exit_ctx.txt"), golden("06_bad_run_before.txt"),
      golden("07_override_after_bad_run_before.txt"),
      golden("08_default_ctx_override.txt"),
      golden("09_default_ctx_bad_run_before.txt"),
      golden("10_default_ctx_clear.txt")));
  const std::vector<std::string> want = absl::StrSplit(expected, '\n');
  const std::vector<std::string> got = absl::StrSplit(MaskTimes(output), '\n');
  for (size_t i = 0; i < want.size() && i < got.size(); ++i) {
    ASSERT_EQ(got[i], want[i]) << "line " << i + 1;
  }
  EXPECT_EQ(got.size(), want.size());
}

}  // namespace
}  // namespace baton
