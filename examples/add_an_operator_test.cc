// Asserts what docs/add_an_operator.md says.

#include "baton/examples/add_an_operator.h"

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "baton/base/attr_value.h"
#include "baton/base/tensor.h"
#include "baton/ir/module.h"
#include "baton/ir/op.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/ir/module.h"
#include "baton/relay/ir/text_printer.h"
#include "baton/relay/op/fusion_pattern.h"
#include "baton/relay/op/nn.h"
#include "baton/relay/op/tensor.h"
#include "baton/relay/runtime/evaluator.h"
#include "baton/relay/runtime/value.h"
#include "baton/relay/transform/convert_layout.h"
#include "baton/relay/transform/fold_constant.h"
#include "baton/testing/status_matchers.h"
#include "baton/transform/pass.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton::examples {
namespace {

using relay::Var;

using ::testing::HasSubstr;
using testing::StatusIs;

TEST(RollTest, HasText) {
  const Var x("x", {2, 3});
  EXPECT_EQ(ToText(relay::Function({x}, Roll(x, 1))),
            "fn (%x: Tensor[(2, 3), float32]) {\n"
            "  example.roll(%x, shift=1)\n"
            "}");
}

// [type]
TEST(RollTest, HasTheTypeOfItsArgument) {
  const Var x("x", {2, 3});
  BATON_ASSERT_OK_AND_ASSIGN(const Expr typed,
                             relay::InferTypeOf(Roll(x, 1, -1)));
  EXPECT_EQ(typed->type().ToString(), "Tensor[(2, 3), float32]");
  EXPECT_THAT(relay::InferTypeOf(Roll(x, 1, 2)),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "example.roll: axis=2 is out of range [-2, 2)"));
}
// [/type]

// [evaluate]
TEST(RollTest, Computes) {
  const std::vector<int64_t> shape = {2, 3};
  BATON_ASSERT_OK_AND_ASSIGN(
      const Tensor x, Tensor::FromValues<int32_t>(shape, {0, 1, 2, 3, 4, 5}));
  const Expr roll = Roll(relay::Const(x), 1, -1);
  BATON_ASSERT_OK_AND_ASSIGN(const relay::Value value,
                             relay::Evaluate(roll, nullptr));
  BATON_ASSERT_OK_AND_ASSIGN(const Tensor want, Tensor::FromValues<int32_t>(
                                                    shape, {2, 0, 1, 5, 3, 4}));
  EXPECT_EQ(value.tensor(), want);
  // A call of an operator with a kernel can be folded.
  EXPECT_TRUE(relay::FoldConstantInExpr(roll)->Is<relay::ConstantNode>());
}
// [/evaluate]

TEST(RollTest, MovesAnyNumberOfPlaces) {
  const std::vector<int64_t> shape = {3, 2};
  BATON_ASSERT_OK_AND_ASSIGN(
      const Tensor x, Tensor::FromValues<int32_t>(shape, {0, 1, 2, 3, 4, 5}));
  BATON_ASSERT_OK_AND_ASSIGN(const Tensor want, Tensor::FromValues<int32_t>(
                                                    shape, {2, 3, 4, 5, 0, 1}));
  for (const int64_t shift : {-1, 2, 5, -4}) {
    BATON_ASSERT_OK_AND_ASSIGN(
        const relay::Value value,
        relay::Evaluate(Roll(relay::Const(x), shift), nullptr));
    EXPECT_EQ(value.tensor(), want) << shift;
  }
}

// [convert_layout]
TEST(RollTest, FollowsALayout) {
  const Var x("x", {1, 4, 8, 8});
  const Var w("w", {4, 4, 1, 1});
  const Expr conv =
      relay::nn::Conv2D(x, w, {.channels = 4, .kernel_size = {1, 1}});
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule module,
                             relay::InferTypes(relay::ModuleFromExpr(
                                 relay::Function({x, w}, Roll(conv, 2, 1)))));
  const Pass to_nhwc = relay::ConvertLayout(
      {.desired_layouts = {{"nn.conv2d", AttrList{"NHWC", "HWIO"}}}});
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule result, to_nhwc(module));
  // The channels are the last axis now; the result goes back to NCHW after it.
  EXPECT_EQ(
      AsText(result, {.version = false, .types = false}),
      R"(def @main(%x: Tensor[(1, 4, 8, 8), float32], %w: Tensor[(4, 4, 1, 1), float32]) -> Tensor[(1, 4, 8, 8), float32] {
  %0 = layout_transform(%x, src_layout="NCHW", dst_layout="NHWC");
  %1 = layout_transform(%w, src_layout="OIHW", dst_layout="HWIO");
  %2 = nn.conv2d(%0, %1, padding=[0, 0, 0, 0], channels=4, kernel_size=[1, 1], data_layout="NHWC", kernel_layout="HWIO");
  %3 = example.roll(%2, shift=2, axis=3);
  layout_transform(%3, src_layout="NHWC", dst_layout="NCHW")
}
)");
}
// [/convert_layout]

TEST(RollTest, IsFusedAsInjective) {
  const relay::FusionPattern* pattern =
      relay::FusionPatterns().Get(Op::Find("example.roll"));
  ASSERT_NE(pattern, nullptr);
  EXPECT_EQ(*pattern, relay::FusionPattern::kInjective);
}

// [attrs_from_values]
TEST(RollTest, AttributesComeFromTheFieldList) {
  const AttrsType& type = AttrsType::Of<RollAttrs>();
  BATON_ASSERT_OK_AND_ASSIGN(const Attrs attrs,
                             type.FromValues({{"shift", 3}, {"axis", 1}}));
  EXPECT_EQ(attrs.As<RollAttrs>()->shift, 3);
  EXPECT_THAT(type.FromValues({{"axis", 1}}),
              StatusIs(absl::StatusCode::kInvalidArgument, "shift"));
  EXPECT_THAT(
      type.FromValues({{"shift", 1}, {"axes", 1}}),
      StatusIs(absl::StatusCode::kInvalidArgument, "did you mean \"axis\""));
}
// [/attrs_from_values]

}  // namespace
}  // namespace baton::examples
