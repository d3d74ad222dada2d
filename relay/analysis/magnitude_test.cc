#include "baton/relay/analysis/magnitude.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/tensor.h"
#include "baton/ir/module.h"
#include "baton/relay/ir/expr.h"
#include "baton/testing/parse_typed.h"
#include "gtest/gtest.h"

namespace baton::relay {
namespace {

using testing::ParseTyped;

// Bounds of the body of `fn (%x: Tensor[(2), float32]) { BODY }`.
MagnitudeBounds BoundsOf(absl::string_view body) {
  const IRModule module = ParseTyped(absl::StrCat(
      "def @main(%x: Tensor[(2), float32], %i: Tensor[(2), int32]) { ", body,
      " }"));
  return BoundMagnitude(module.Find<Function>("main")->body());
}

TEST(MagnitudeTest, ConstantsAreExact) {
  const float values[] = {-8.0f, 0.25f, 2.0f};
  const MagnitudeBounds bounds = BoundMagnitude(
      Constant(*Tensor::FromValues<float>({3}, absl::MakeConstSpan(values))));
  EXPECT_EQ(bounds.min_log2, -2);
  EXPECT_EQ(bounds.max_log2, 3);
  EXPECT_TRUE(BoundsOf("0f").may_be_zero());
  EXPECT_TRUE(BoundsOf("-0f").may_be_zero());
  EXPECT_FALSE(BoundsOf("1e-45f").may_be_zero());
  EXPECT_EQ(BoundsOf("4").max_log2, 2);
}

TEST(MagnitudeTest, NothingIsKnownOfVariables) {
  EXPECT_TRUE(BoundsOf("%x").may_be_zero());
  EXPECT_TRUE(BoundsOf("%x").unbounded());
  EXPECT_TRUE(BoundsOf("add(%x, 1f)").may_be_zero());
}

TEST(MagnitudeTest, RootsAreFarFromTheLimits) {
  // The largest float32 is less than 2^128.
  EXPECT_EQ(BoundsOf("sqrt(%x)").max_log2, 64);
  EXPECT_TRUE(BoundsOf("sqrt(%x)").may_be_zero());
  EXPECT_EQ(BoundsOf("rsqrt(%x)").min_log2, -64);
  EXPECT_EQ(BoundsOf("divide(2f, sqrt(%x))").min_log2, -63);
  EXPECT_EQ(BoundsOf("expand_dims(divide(2f, sqrt(%x)), axis=1)").min_log2,
            -63);
  EXPECT_TRUE(BoundsOf("divide(0f, sqrt(%x))").may_be_zero());
  EXPECT_TRUE(BoundsOf("divide(2f, %x)").may_be_zero());
}

TEST(MagnitudeTest, ProductsMayVanish) {
  EXPECT_EQ(BoundsOf("multiply(0.5f, rsqrt(%x))").min_log2, -65);
  EXPECT_TRUE(BoundsOf("multiply(rsqrt(%x), rsqrt(%x))").may_be_zero());
  EXPECT_TRUE(BoundsOf("multiply(%x, rsqrt(%x))").may_be_zero());
  EXPECT_EQ(BoundsOf("multiply(4f, sqrt(%x))").max_log2, 66);
}

TEST(MagnitudeTest, IntegersWrapAround) {
  EXPECT_TRUE(BoundsOf("multiply(65536, 65536)").may_be_zero());
  EXPECT_TRUE(BoundsOf("divide(1, 2)").may_be_zero());
}

TEST(MagnitudeTest, GivesUpOnLargeExpressions) {
  std::string body = "2f";
  for (int i = 0; i < 100; ++i) body = absl::StrCat("negative(", body, ")");
  EXPECT_TRUE(BoundsOf(body).may_be_zero());
}

TEST(MagnitudeTest, Exponents) {
  EXPECT_EQ(MaxExponent(DType::Float(16)), 16);
  EXPECT_EQ(MaxExponent(DType::Float(32)), 128);
  EXPECT_EQ(MaxExponent(DType::Float(64)), 1024);
}

}  // namespace
}  // namespace baton::relay
