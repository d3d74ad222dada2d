#include "baton/relay/op/dim_math.h"

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <vector>

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

class SymbolicDimsTest : public ::testing::Test {
 protected:
  static Dim Variable(const char* name) {
    return Dim(new DimExprNode(DimExprNode::Op::kSizeVar, name, DType::Int(32),
                               Dim(), Dim()));
  }
  static Dim Raw(DimExprNode::Op op, const Dim& a, const Dim& b) {
    return Dim(new DimExprNode(op, "", DType::Int(32), a, b));
  }

  const Dim n = Variable("n");
  const Dim m = Variable("m");
};

TEST_F(SymbolicDimsTest, SumsAreSimplified) {
  EXPECT_EQ((n + Dim(1) + Dim(1)).ToString(), "(n + 2)");
  EXPECT_EQ(n + Dim(1) - Dim(1), n);
  EXPECT_EQ((n - Dim(3) + Dim(1)).ToString(), "(n - 2)");
  EXPECT_EQ((n + n).ToString(), "(n * 2)");
  EXPECT_EQ((n + m - n), m);
  EXPECT_EQ((n * Dim(3) + m - n).ToString(), "((n * 2) + m)");
  EXPECT_EQ((Dim(5) - n - Dim(2)).ToString(), "(3 - n)");
  EXPECT_EQ(n * m - m * n, Dim(0));
  EXPECT_EQ(n * Dim(2) - n - n, Dim(0));
  // Sums that meet no other term stay as they were written.
  EXPECT_EQ((Dim(1) + n).ToString(), "(1 + n)");
  EXPECT_EQ((m + Dim(1) + n).ToString(), "((m + 1) + n)");
}

TEST_F(SymbolicDimsTest, ProductsAreSimplified) {
  EXPECT_EQ((n * Dim(2) * Dim(3)).ToString(), "(n * 6)");
  EXPECT_EQ(((n + Dim(1)) * Dim(2)).ToString(), "((n * 2) + 2)");
  EXPECT_EQ((Dim(2) * n * m * Dim(4)).ToString(), "((n * m) * 8)");
}

TEST_F(SymbolicDimsTest, QuotientsAreSimplified) {
  EXPECT_EQ(FloorDiv(n * Dim(4), 2).ToString(), "(n * 2)");
  EXPECT_EQ(FloorDiv(n * Dim(4) + Dim(5), 2).ToString(), "((n * 2) + 2)");
  EXPECT_EQ(FloorDiv(n * Dim(4) - Dim(1), 4).ToString(), "(n - 1)");
  EXPECT_EQ(FloorDiv(n * Dim(4) + m, 2).ToString(), "((n * 2) + (m // 2))");
  EXPECT_EQ(FloorDiv(n * Dim(6) + Dim(5), 4).ToString(),
            "(((n * 3) + 2) // 2)");
  EXPECT_EQ(FloorDiv(FloorDiv(n, 2), 3).ToString(), "(n // 6)");
  EXPECT_EQ(FloorDiv(n, n), Dim(1));
  EXPECT_EQ(FloorDiv(n * m + n, n).ToString(), "(m + 1)");
  EXPECT_EQ(FloorDiv((n + Dim(1)) * m, m).ToString(), "(n + 1)");
  EXPECT_EQ(Quotient({n + Dim(1), 2, m}, {m, n + Dim(1)}), Dim(2));
  EXPECT_EQ(Quotient({n * Dim(2) + Dim(2)}, {n + Dim(1)}), Dim(2));
  EXPECT_EQ(FloorDiv(n, m).ToString(), "(n // m)");
  EXPECT_EQ(CeilDiv(n * Dim(2), 2), n);
}

// Whatever the expression: its value is that of the operations in turn.
TEST_F(SymbolicDimsTest, SimplifyingKeepsTheValue) {
  uint64_t state = 1;
  const auto below = [&state](uint64_t k) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<int64_t>((state >> 33) % k);
  };
  struct Known {
    Dim dim;
    int64_t value;
  };
  const std::function<int64_t(const Dim&, int64_t, int64_t)> value_of =
      [&](const Dim& dim, int64_t n_value, int64_t m_value) -> int64_t {
    if (dim.is_const()) return dim.value();
    const DimExprNode& expr = *dim.expr();
    if (expr.is_var()) return expr.name() == "n" ? n_value : m_value;
    const int64_t a = value_of(expr.lhs(), n_value, m_value);
    const int64_t b = value_of(expr.rhs(), n_value, m_value);
    switch (expr.op()) {
      case DimExprNode::Op::kAdd:
        return a + b;
      case DimExprNode::Op::kSub:
        return a - b;
      case DimExprNode::Op::kMul:
        return a * b;
      default:
        return (a - ((a % b) + b) % b) / b;
    }
  };
  for (int round = 0; round < 20000; ++round) {
    const int64_t n_value = 1 + below(20);
    const int64_t m_value = 1 + below(20);
    std::vector<Known> known = {{n, n_value}, {m, m_value}};
    for (int step = 0; step < 6; ++step) {
      const Known a = known[below(known.size())];
      Known b = known[below(known.size())];
      if (below(2) == 0) b = {Dim(b.value = 1 + below(6)), b.value};
      const int64_t operation = below(4);
      const int64_t remainder =
          b.value > 0 ? ((a.value % b.value) + b.value) % b.value : 0;
      // By a symbolic divisor only where the reference may: positive ones.
      Known result;
      if (operation == 0) {
        result = {a.dim + b.dim, a.value + b.value};
      } else if (operation == 1) {
        result = {a.dim - b.dim, a.value - b.value};
      } else if (operation == 2) {
        result = {a.dim * b.dim, a.value * b.value};
      } else if (b.value > 0) {
        result = {FloorDiv(a.dim, b.dim), (a.value - remainder) / b.value};
      } else {
        continue;
      }
      if (std::abs(result.value) > 1000000) break;
      ASSERT_FALSE(result.dim.is_any());
      ASSERT_EQ(value_of(result.dim, n_value, m_value), result.value)
          << result.dim.ToString() << " of " << a.dim.ToString() << " and "
          << b.dim.ToString() << " by operation " << operation;
      known.push_back(result);
    }
  }
}

TEST_F(SymbolicDimsTest, EqualityIsModuloSimplification) {
  using Op = DimExprNode::Op;
  // As programs that are read may have them.
  const Dim written =
      Raw(Op::kAdd, Raw(Op::kAdd, n, Dim(1)), Raw(Op::kMul, Dim(2), m));
  EXPECT_TRUE(ProvablyEqual(written, m + m + Dim(1) + n));
  EXPECT_FALSE(ProvablyEqual(written, m + m + n));
  EXPECT_FALSE(ProvablyEqual(n, Dim(3)));
  EXPECT_FALSE(ProvablyEqual(Dim::Any(), Dim::Any()));
  EXPECT_TRUE(ProvablyEqual(Raw(Op::kSub, Raw(Op::kAdd, n, Dim(3)), n), 3));
  EXPECT_TRUE(ProvablyEqual(
      Raw(Op::kAdd, Raw(Op::kFloorDiv, Raw(Op::kSub, n, Dim(1)), Dim(2)),
          Dim(1)),
      Raw(Op::kFloorDiv, Raw(Op::kAdd, n, Dim(1)), Dim(2))));
}

// A long sum of variables is not looked into at every step.
TEST_F(SymbolicDimsTest, LongSumsStayLinear) {
  Dim sum = n;
  for (int i = 0; i < 20000; ++i) sum = sum + Variable("k");
  EXPECT_TRUE(ProvablyEqual(sum, sum));
  EXPECT_FALSE(ProvablyEqual(sum, sum + n));
}

}  // namespace
}  // namespace baton::relay
