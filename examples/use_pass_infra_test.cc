// Runs the tutorial and holds what it prints against what the tutorial's page
// shows.

#include <string>

#include "absl/strings/str_cat.h"
#include "baton/testing/golden.h"
#include "baton/testing/run_binary.h"
#include "gtest/gtest.h"

namespace baton {
namespace {

TEST(UsePassInfraTest, PrintsWhatTheTutorialPrints) {
  const testing::RunResult run = testing::RunBinary("examples/use_pass_infra");
  EXPECT_EQ(run.exit_code, 0) << run.err;
  std::string expected;
  for (const char* name :
       {"02_fold_constant", "03_eliminate_common_subexpr", "04_fuse_ops_level0",
        "05_sequential_level2", "06_sequential_level3",
        "07_sequential_cse_disabled", "08_custom_pass"}) {
    // Two empty lines come after each module.
    absl::StrAppend(
        &expected,
        testing::ReadGolden(absl::StrCat("use_pass_infra/", name, ".relay")),
        "\n\n");
  }
  absl::StrAppend(&expected, testing::ReadGolden(
                                 "use_pass_infra/09_print_ir_instrument.log"));
  EXPECT_TRUE(testing::SameText(run.out, expected));

  // The pass PrintIR stands after FoldConstant.
  EXPECT_EQ(
      run.err,
      absl::StrCat("PrintIR():\n",
                   testing::ReadGolden("use_pass_infra/02_fold_constant.relay"),
                   "\n"));
}

}  // namespace
}  // namespace baton
