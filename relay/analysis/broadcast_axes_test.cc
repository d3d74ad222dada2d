#include "baton/relay/analysis/broadcast_axes.h"

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <vector>

#include "baton/base/dtype.h"
#include "baton/base/tensor.h"
#include "baton/ir/structural_equal.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/op/tensor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton::relay {
namespace {

using ::testing::ElementsAre;
using Shape = std::vector<int64_t>;

TensorType Type32(std::initializer_list<Dim> shape) {
  return TensorType(shape, DType::Float(32));
}

// `expr`, or what differs from it.
void ExpectSame(const Expr& expr, const Expr& expected) {
  ASSERT_TRUE(expr.defined());
  EXPECT_EQ(FirstDifference(expr, expected), std::nullopt);
}

TEST(AxisSetTest, IsASetOfSmallNumbers) {
  AxisSet axes = {4, 1};
  EXPECT_EQ(axes.size(), 2);
  EXPECT_TRUE(axes.contains(4));
  EXPECT_FALSE(axes.contains(0));
  EXPECT_FALSE(axes.contains(-1));
  EXPECT_FALSE(axes.contains(100));
  EXPECT_THAT(std::vector<int>(axes.begin(), axes.end()), ElementsAre(1, 4));
  axes.Insert(AxisSet::kMaxAxes - 1);
  axes.Insert(-1);
  axes.Insert(AxisSet::kMaxAxes);
  EXPECT_EQ(axes, (AxisSet{1, 4, AxisSet::kMaxAxes - 1}));
  EXPECT_EQ((axes & AxisSet{0, 4}), AxisSet{4});
  EXPECT_TRUE((axes & AxisSet{0}).empty());
  EXPECT_NE(axes, AxisSet());
}

TEST(MatchBroadcastToLeftAxesTest, ComparesExtents) {
  const TensorType data = Type32({2, 8, 5, 5});
  const auto match = [&](const TensorType& rhs, AxisSet axes) {
    return MatchBroadcastToLeftAxes(*data, *rhs, axes);
  };
  EXPECT_TRUE(match(Type32({8, 1, 1}), {1}));
  EXPECT_TRUE(match(Type32({1, 8, 1, 1}), {1}));
  EXPECT_TRUE(match(Type32({8, 1, 5}), {1, 3}));
  EXPECT_TRUE(match(Type32({5}), {3}));
  EXPECT_FALSE(match(Type32({8}), {1}));
  EXPECT_FALSE(match(Type32({1, 1, 1}), {1}));
  EXPECT_FALSE(match(Type32({8, 5, 1}), {1}));
  EXPECT_FALSE(match(Type32({8, 1, 5}), {1}));
  EXPECT_FALSE(match(Type32({2, 8, 1, 1}), {1}));
  EXPECT_FALSE(match(Type32({1, 2, 8, 1, 1}), {2}));
  EXPECT_FALSE(match(Type32({8, 1, 1}), {1, 7}));
  EXPECT_FALSE(match(Type32({}), {1}));
}

TEST(SqueezeToLeftAxesTest, DropsTheOtherAxes) {
  const TensorType data = Type32({2, 8, 5, 5});
  const Var s("s");
  ExpectSame(SqueezeToLeftAxes(*data, *Type32({8, 1, 1}), {1}, s),
             Squeeze(s, Shape{1, 2}));
  ExpectSame(SqueezeToLeftAxes(*data, *Type32({1, 8, 1, 5}), {1, 3}, s),
             Squeeze(s, Shape{0, 2}));
  EXPECT_EQ(SqueezeToLeftAxes(*data, *Type32({5}), {3}, s), s);
  EXPECT_FALSE(SqueezeToLeftAxes(*data, *Type32({8}), {1}, s).defined());
}

TEST(SqueezeToLeftAxesTest, RepeatsScalars) {
  const TensorType data = Type32({2, 8, Dim::Any(), 5});
  const Var s("s");
  ExpectSame(SqueezeToLeftAxes(*data, *Type32({}), {1}, s),
             Repeat(ExpandDims(s, 0), 8, 0));
  ExpectSame(SqueezeToLeftAxes(*data, *Type32({}), {1, 3}, s),
             Repeat(Repeat(ExpandDims(s, 0, 2), 8, 0), 5, 1));
  EXPECT_FALSE(SqueezeToLeftAxes(*data, *Type32({}), {2}, s).defined());
  EXPECT_FALSE(SqueezeToLeftAxes(*data, *Type32({}), {4}, s).defined());
}

TEST(ExpandBiasToMatchAxisTest, PutsAxesBehindAndBetween) {
  const Var b("b");
  ExpectSame(ExpandBiasToMatchAxis(b, 4, {1}), ExpandDims(b, 1, 2));
  EXPECT_EQ(ExpandBiasToMatchAxis(b, 4, {3}), b);
  ExpectSame(ExpandBiasToMatchAxis(b, 6, {1, 3}),
             ExpandDims(ExpandDims(b, 2, 2), 1, 1));
  EXPECT_EQ(ExpandBiasToMatchAxis(b, 4, {2, 3}), b);
}

TEST(ReshapeToMatchAxisTest, KeepsTheRank) {
  const Var b("b");
  const TensorType data = Type32({Dim::Any(), 2, 5, 5, 4});
  ExpectSame(ReshapeToMatchAxis(b, data->shape(), {1, 4}),
             Reshape(b, {1, 2, 1, 1, 4}));
  EXPECT_FALSE(ReshapeToMatchAxis(b, data->shape(), {0, 4}).defined());
  ExpectSame(ReshapeOrExpandToMatchAxis(b, data->shape(), {1, 4}),
             Reshape(b, {1, 2, 1, 1, 4}));
  ExpectSame(ReshapeOrExpandToMatchAxis(b, data->shape(), {0}),
             ExpandDims(b, 1, 4));
}

TEST(IsNonNegativeConstantTest, LooksThroughReshapes) {
  const auto constant = [](std::vector<float> values) {
    const int64_t size = static_cast<int64_t>(values.size());
    return Const(*Tensor::FromValues<float>({size}, values));
  };
  const Constant positive = constant({0.5f, 0.0f, 2.0f});
  EXPECT_TRUE(IsNonNegativeConstant(positive));
  EXPECT_FALSE(IsNonNegativeConstant(constant({0.5f, -0.5f})));
  EXPECT_FALSE(IsNonNegativeConstant(
      constant({std::numeric_limits<float>::quiet_NaN()})));
  EXPECT_TRUE(IsNonNegativeConstant(Squeeze(
      Reshape(Repeat(Transpose(ExpandDims(positive, 1)), 2, 0), {1, 6}))));
  EXPECT_FALSE(IsNonNegativeConstant(Abs(positive)));
  EXPECT_FALSE(IsNonNegativeConstant(Var("x")));
  EXPECT_TRUE(IsNonNegativeConstant(Const(3)));
  EXPECT_FALSE(IsNonNegativeConstant(Const(-3)));
  EXPECT_FALSE(IsNonNegativeConstant(Const(3.0, DType::Float(16))));
}

}  // namespace
}  // namespace baton::relay
