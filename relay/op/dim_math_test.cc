#include "baton/relay/op/dim_math.h"

#include <cstdint>

#include "baton/base/dtype.h"
#include "baton/ir/type.h"
#include "gtest/gtest.h"

namespace baton::relay {
namespace {

TEST(DimMathTest, Folds) {
  const Dim n(new DimExprNode(DimExprNode::Op::kSizeVar, "n", DType::Int(32),
                              Dim(), Dim()));
  EXPECT_EQ(Dim(3) + Dim(4), Dim(7));
  EXPECT_EQ(FloorDiv(-7, 2), Dim(-4));
  EXPECT_EQ(CeilDiv(7, 2), Dim(4));
  EXPECT_TRUE((Dim::Any() * Dim(2)).is_any());
  EXPECT_TRUE(FloorDiv(7, 0).is_any());
  EXPECT_EQ(n + Dim(0), n);
  EXPECT_EQ(n * Dim(1), n);
  EXPECT_EQ(n - n, Dim(0));
  // Overflow gives an unknown number rather than a wrong one.
  EXPECT_TRUE((Dim(INT64_MAX / 4) * Dim(8)).is_any());
}

TEST(DimMathTest, QuotientCancels) {
  const Dim n(new DimExprNode(DimExprNode::Op::kSizeVar, "n", DType::Int(32),
                              Dim(), Dim()));
  const Dim n512 = n * Dim(512);
  EXPECT_TRUE(ProvablyEqual(Quotient({n, 32, 16, 16}, {1, 16}), n512));
  EXPECT_TRUE(ProvablyEqual(Quotient({16, n512}, {4, 8, 16}), n * Dim(16)));
  EXPECT_EQ(Quotient({n512, 2}, {n, 64}), Dim(16));
  EXPECT_TRUE(Quotient({6}, {0}).is_any());
  // The product is the least number of 64 bits.
  EXPECT_TRUE(Quotient({6}, {2, Dim::kOutOfRange}).is_any());
  EXPECT_TRUE(Quotient({2, Dim::kOutOfRange}, {6}).is_any());
}

}  // namespace
}  // namespace baton::relay
