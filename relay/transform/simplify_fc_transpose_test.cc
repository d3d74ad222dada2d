#include "baton/relay/transform/simplify_fc_transpose.h"

#include "absl/status/status.h"
#include "baton/ir/module.h"
#include "baton/ir/structural_equal.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/text_printer.h"
#include "baton/relay/transform/pass_test_util.h"
#include "baton/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton::relay {
namespace {

using ::testing::ElementsAre;
using testing::StatusIs;

constexpr char kTwoLayers[] = R"(
    def @main(%w2: Tensor[(64, 16), float32], %data: Tensor[(1, 32), float32],
              %w1: Tensor[(32, 64), float32], %unused: float32) {
      %0 = transpose(%w1, axes=[1, 0]);
      %1 = nn.dense(nn.relu(%data), %0, units=None);
      %2 = transpose(%w2, axes=[-1, 0]);
      nn.dense(nn.relu(%1), %2, units=None)
    })";

TEST(SimplifyFCTransposeTest, TakesTransposedWeights) {
  const IRModule module = ParseTyped(kTwoLayers);
  BATON_ASSERT_OK_AND_ASSIGN(
      const IRModule result,
      SimplifyFCTranspose({.target_weight_name = {"w1", "w2"}})(module));
  const IRModule expected = ParseTyped(R"(
    def @main(%data: Tensor[(1, 32), float32],
              %w1: Tensor[(64, 32), float32], %w2: Tensor[(16, 64), float32]) {
      %0 = nn.dense(nn.relu(%data), %w1, units=None);
      nn.dense(nn.relu(%0), %w2, units=None)
    })");
  EXPECT_TRUE(StructuralEqual(result, expected)) << ToText(result);
  EXPECT_EQ(result.Find<Function>("main")->params()[1]->name(), "w1.T");
}

TEST(SimplifyFCTransposeTest, FindsWeights) {
  EXPECT_THAT(
      TransposedDenseWeights(ParseTyped(kTwoLayers).Find<Function>("main")),
      ElementsAre("w1", "w2"));
}

TEST(SimplifyFCTransposeTest, RefusesWeightsThatAreNotNamed) {
  EXPECT_THAT(
      SimplifyFCTranspose({.target_weight_name = {"w2"}})(
          ParseTyped(kTwoLayers)),
      StatusIs(absl::StatusCode::kInvalidArgument,
               "5:12: error: %w1 is transposed for nn.dense, but is not in "
               "target_weight_name"));
}

TEST(SimplifyFCTransposeTest, LeavesOtherTransposes) {
  ExpectPassLeaves(SimplifyFCTranspose(), R"(
    def @main(%b: Tensor[(8, 8), float32], %a: Tensor[(8, 8), float32]) {
      %0 = nn.dense(%a, transpose(%b, axes=[0, 1]), units=None);
      %1 = nn.dense(transpose(%b, axes=[1, 0]), %0, units=None);
      nn.dense(%1, transpose(nn.relu(%b), axes=[1, 0]), units=None)
    })");
}

}  // namespace
}  // namespace baton::relay
