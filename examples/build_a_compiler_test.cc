// Asserts what docs/build_a_compiler.md says.

#include <string>

#include "baton/testing/run_binary.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton::examples {
namespace {

using ::testing::HasSubstr;
using testing::RunResult;

RunResult MyOpt(const std::string& args) {
  return testing::RunBinary("examples/my-opt", args);
}

TEST(BuildACompilerTest, HasOurPassAndOurOperator) {
  RunResult r = MyOpt("--list_passes");
  EXPECT_EQ(r.exit_code, 0) << r.err;
  EXPECT_THAT(r.out, HasSubstr("RemoveRedundantRelu"));
  EXPECT_THAT(r.out, HasSubstr("non_negative=[nn.relu,sigmoid,exp]"));
  EXPECT_THAT(r.out, HasSubstr("FoldConstant"));
  r = MyOpt("--list_ops");
  EXPECT_EQ(r.exit_code, 0) << r.err;
  EXPECT_THAT(r.out, HasSubstr("example.roll"));
  EXPECT_THAT(r.out, HasSubstr("nn.conv2d"));
}

// [run]
TEST(BuildACompilerTest, RunsOurPass) {
  const RunResult r = MyOpt(
      "--workload='resnet{num_layers=18}' --emit=none --timing=text "
      "--passes='SimplifyInference,RemoveRedundantRelu{non_negative=[exp]}'");
  EXPECT_EQ(r.exit_code, 0) << r.err;
  EXPECT_THAT(r.err, HasSubstr("RemoveRedundantRelu: "));
}
// [/run]

}  // namespace
}  // namespace baton::examples
