#include "baton/relay/ir/constant.h"

#include <cstdint>
#include <optional>
#include <vector>

#include "baton/base/dtype.h"
#include "baton/base/tensor.h"
#include "baton/relay/ir/expr.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton::relay {
namespace {

using ::testing::ElementsAre;
using ::testing::Optional;

Constant Vector(const std::vector<int32_t>& values) {
  return Const(*Tensor::FromValues<int32_t>(
      std::vector<int64_t>{static_cast<int64_t>(values.size())}, values));
}

TEST(ConstantTest, HasTheElementTypeAskedFor) {
  EXPECT_EQ(Const(2.0f)->value().dtype(), DType::Float(32));
  EXPECT_EQ(Const(2)->value().dtype(), DType::Int(32));
  EXPECT_EQ(Const(2, DType::Float(16))->value().dtype(), DType::Float(16));
}

TEST(ConstantTest, ScalarsAreRead) {
  EXPECT_THAT(ConstantScalar(Const(2.5f)), Optional(2.5));
  EXPECT_THAT(ConstantScalar(Const(-7)), Optional(-7.0));
  EXPECT_EQ(ConstantScalar(Vector({1})), std::nullopt);
  EXPECT_EQ(ConstantScalar(Var("x", {1})), std::nullopt);
}

TEST(ConstantTest, SplatsAreRead) {
  EXPECT_THAT(ConstantSplat(Const(2.5f)), Optional(2.5));
  EXPECT_THAT(ConstantSplat(Vector({3, 3, 3})), Optional(3.0));
  EXPECT_EQ(ConstantSplat(Vector({3, 3, 4})), std::nullopt);
  EXPECT_EQ(ConstantSplat(Vector({})), std::nullopt);
  EXPECT_EQ(ConstantSplat(Var("x", {1})), std::nullopt);
  // Zeros of both signs are not one value.
  EXPECT_EQ(ConstantSplat(Const(*Tensor::FromValues<float>(
                std::vector<int64_t>{2}, {0.0f, -0.0f}))),
            std::nullopt);
}

TEST(ConstantTest, IntegersAreRead) {
  EXPECT_THAT(ConstantInts(Vector({3, -4})), Optional(ElementsAre(3, -4)));
  EXPECT_THAT(ConstantInts(Const(5)), Optional(ElementsAre(5)));
  EXPECT_EQ(ConstantInts(Const(*Tensor::Zeros(DType::Int(32), {2, 2}))),
            std::nullopt);
  EXPECT_EQ(ConstantInts(Var("x", {1})), std::nullopt);
}

}  // namespace
}  // namespace baton::relay
