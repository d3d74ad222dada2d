// Tests that conditions and bounds hold in their scopes, and no longer.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "absl/strings/str_cat.h"
#include "baton/tir/arith/analyzer.h"
#include "baton/tir/arith/iter_map.h"
#include "baton/tir/arith/iter_scope.h"
#include "baton/tir/arith/pattern.h"
#include "baton/tir/arith/scoped_exprs.h"
#include "baton/tir/arith/var_map.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/fold.h"
#include "baton/tir/ir/script_printer.h"
#include "gtest/gtest.h"

namespace baton::tir {
namespace {

PrimExpr Int(int64_t value) { return IntImm(kInt32, value); }

TEST(ScopedExprsTest, TheLastOfEqualExpressionsCounts) {
  const Var x("x", kInt32);
  ScopedExprs<int> scope;
  EXPECT_EQ(scope.Find(x), nullptr);
  scope.Push(Add(x, Int(1)), 1);
  scope.Push(x, 2);
  scope.Push(Add(x, Int(1)), 3);
  ASSERT_NE(scope.Find(Add(x, Int(1))), nullptr);
  EXPECT_EQ(*scope.Find(Add(x, Int(1))), 3);
  EXPECT_EQ(*scope.Find(x), 2);
  EXPECT_EQ(scope.Find(Add(x, Int(2))), nullptr);
  EXPECT_EQ(scope.Find(Var("x", kInt32)), nullptr);
  scope.Leave(2);
  EXPECT_EQ(*scope.Find(Add(x, Int(1))), 1);
  scope.Leave(0);
  EXPECT_TRUE(scope.empty());
  EXPECT_EQ(scope.Find(x), nullptr);
}

TEST(ScopedExprsTest, DeepExpressionsAreFound) {
  const Var x("x", kInt32);
  const auto deep = [&](int64_t innermost) {
    PrimExpr e = Add(x, Int(innermost));
    for (int i = 0; i < 100; ++i) e = Mul(Add(e, x), x);
    return e;
  };
  ScopedExprs<int> scope;
  scope.Push(deep(1), 1);
  scope.Push(deep(2), 2);
  EXPECT_EQ(*scope.Find(deep(1)), 1);
  EXPECT_EQ(*scope.Find(deep(2)), 2);
  EXPECT_EQ(scope.Find(deep(3)), nullptr);
}

// Some iterators and conditions, of which indices use a part.
class RandomScope {
 public:
  explicit RandomScope(uint32_t seed) : random_(seed) {
    for (int i = 0; i < 5; ++i) {
      vars_.emplace_back(absl::StrCat("i", i), kInt32);
    }
  }
  const std::vector<Var>& vars() const { return vars_; }
  size_t Pick(size_t n) { return random_() % n; }

  PrimExpr Part() {
    const Var& var = vars_[Pick(vars_.size())];
    switch (Pick(4)) {
      case 0:
        return Mul(var, Int(static_cast<int64_t>(Pick(4)) + 1));
      case 1:
        return MakeBinary(BinaryOp::kFloorDiv, var, Int(2));
      case 2:
        return Add(Mul(vars_[Pick(vars_.size())], Int(8)), var);
      default:
        return var;
    }
  }
  PrimExpr Comparison() {
    constexpr BinaryOp kOps[] = {BinaryOp::kLT, BinaryOp::kLE, BinaryOp::kGT,
                                 BinaryOp::kGE, BinaryOp::kEQ};
    // Equations are not read: few of them.
    const BinaryOp op = kOps[Pick(20) == 0 ? 4 : Pick(4)];
    switch (Pick(6)) {
      case 0:
        return MakeBinary(op, n_, Int(4));
      case 1:
        return MakeBinary(op, Int(static_cast<int64_t>(Pick(8))), Part());
      case 2:
        return MakeBinary(op, Part(), Part());
      default:
        return MakeBinary(op, vars_[Pick(vars_.size())],
                          Pick(2) == 0 ? PrimExpr(n_) : Int(6));
    }
  }
  PrimExpr Condition() {
    switch (Pick(8)) {
      case 0:
        return MakeBinary(BinaryOp::kAnd, Comparison(), Comparison());
      case 1:
        return IntImm::Bool(true);
      default:
        return Comparison();
    }
  }

 private:
  std::mt19937 random_;
  std::vector<Var> vars_;
  const Var n_{"n", kInt32};
};

TEST(IterScopeTest, SimplifiesAsWithAllIteratorsAndConditions) {
  int changed = 0;
  for (uint32_t seed = 0; seed < 400; ++seed) {
    RandomScope random(seed);
    IterScope scope;
    VarRanges iters;
    for (const Var& var : random.vars()) {
      const Range range = {Int(random.Pick(4) == 0 ? 1 : 0), Int(8)};
      scope.Bind(var, range);
      iters.Set(var, range);
    }
    std::vector<PrimExpr> conditions;
    for (int step = 0; step < 8; ++step) {
      if (!conditions.empty() && random.Pick(3) == 0) {
        conditions.pop_back();
        scope.Pop();
      } else {
        conditions.push_back(random.Condition());
        scope.Push(conditions.back());
      }
      const std::vector<PrimExpr> indices = {
          MakeBinary(BinaryOp::kFloorDiv, random.Part(), Int(8)),
          random.Part()};
      PrimExpr predicate = IntImm::Bool(true);
      for (const PrimExpr& condition : conditions) {
        predicate = MakeBinary(BinaryOp::kAnd, predicate, condition);
      }
      Analyzer analyzer;
      const std::vector<PrimExpr> want = IterMapSimplify(
          indices, iters, predicate, IterMapLevel::kSurjective, analyzer);
      const std::vector<PrimExpr> got = scope.Simplify(indices, analyzer);
      ASSERT_EQ(got.size(), want.size());
      for (size_t i = 0; i < got.size(); ++i) {
        EXPECT_TRUE(ExprDeepEqual(got[i], want[i]))
            << "seed " << seed << ": " << AsScript(indices[i]) << " where "
            << AsScript(predicate) << " is " << AsScript(got[i])
            << ", and of all " << AsScript(want[i]);
        if (!ExprDeepEqual(want[i], indices[i])) ++changed;
      }
    }
  }
  EXPECT_GT(changed, 50);
}

TEST(AnalyzerScopeTest, ManyConditionsEndInReverse) {
  constexpr int64_t kMany = 100'000;
  const Var x("x", kInt32);
  Analyzer analyzer;
  std::vector<Analyzer::Constraint> scopes;
  for (int64_t i = 0; i < kMany; ++i) {
    scopes.push_back(
        analyzer.WithConstraint(MakeBinary(BinaryOp::kLT, x, Int(kMany - i))));
  }
  EXPECT_EQ(analyzer.BoundOf(x).max, 0);
  while (scopes.size() > 1) scopes.pop_back();
  EXPECT_EQ(analyzer.BoundOf(x).max, kMany - 1);
  scopes.pop_back();
  EXPECT_EQ(analyzer.BoundOf(x).max, std::numeric_limits<int32_t>::max());
}

}  // namespace
}  // namespace baton::tir
