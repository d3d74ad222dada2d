// The analyzer and what uses it, as text in and text out.

#include "baton/tir/arith/analyzer.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/testing/small_stack.h"
#include "baton/tir/arith/int_set.h"
#include "baton/tir/arith/iter_map.h"
#include "baton/tir/arith/linear_equations.h"
#include "baton/tir/arith/pattern.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/fold.h"
#include "baton/tir/ir/script_printer.h"
#include "baton/tir/ir/script_reader.h"
#include "gtest/gtest.h"

namespace baton::tir {
namespace {

class AnalyzerTest : public ::testing::Test {
 protected:
  PrimExpr E(absl::string_view text) const {
    const absl::StatusOr<PrimExpr> e = ParseScriptExpr(text, vars_);
    EXPECT_TRUE(e.ok()) << e.status();
    return e.ok() ? *e : IntImm(kInt32, 0);
  }
  Range R(int64_t min, int64_t extent) const {
    return {IntImm(kInt32, min), IntImm(kInt32, extent)};
  }
  static std::string Text(const PrimExpr& e) {
    return e.defined() ? AsScript(e) : "none";
  }
  static std::string Text(const IntSet& set) {
    if (set.IsNothing()) return "nothing";
    return absl::StrCat("[", Text(set.min()), ", ", Text(set.max()), "]");
  }
  static std::string Text(const std::vector<PrimExpr>& list) {
    return absl::StrJoin(list, "; ", [](std::string* out, const PrimExpr& e) {
      absl::StrAppend(out, Text(e));
    });
  }

  Var i_{"i", kInt32};
  Var j_{"j", kInt32};
  Var k_{"k", kInt32};
  Var n_{"n", kInt32};
  std::vector<Var> vars_ = {i_, j_, k_, n_};
  Analyzer analyzer_;
};

// As kernels and the interpreter compute: what is not 0 is true.
TEST_F(AnalyzerTest, TruthValuesDoNotWrap) {
  EXPECT_EQ(Text(E("T.bool(True) + T.bool(True)")), "T.bool(True)");
  EXPECT_EQ(Text(E("T.bool(False) - T.bool(True)")), "T.bool(True)");
  EXPECT_EQ(Text(E("T.bool(True) * T.bool(False)")), "T.bool(False)");
}

// All comparisons but `!=` are false for NaN.
TEST_F(AnalyzerTest, ComparisonsOfFloatsHaveNoOtherAsNegation) {
  const Var x("x", DType::Float(32));
  const Var y("y", DType::Float(32));
  const auto unchanged = [&](const PrimExpr& e) {
    EXPECT_EQ(Text(analyzer_.Simplify(e)), Text(e));
    EXPECT_EQ(Text(analyzer_.RewriteSimplify(e)), Text(e));
  };
  for (const BinaryOp op : {BinaryOp::kLT, BinaryOp::kLE}) {
    const PrimExpr e = Binary(op, x, y);
    unchanged(e);
    unchanged(Not(e));
    unchanged(Binary(BinaryOp::kOr, e, Binary(BinaryOp::kLT, y, x)));
    {
      const auto scope = analyzer_.WithConstraint(Not(e));
      EXPECT_EQ(Text(analyzer_.Simplify(e)), "T.bool(False)");
      for (const BinaryOp other : {BinaryOp::kLT, BinaryOp::kLE}) {
        unchanged(Binary(other, y, x));
      }
    }
    EXPECT_EQ(
        Text(analyzer_.Simplify(Binary(op, Broadcast(x, 4), Broadcast(y, 4)))),
        Text(Broadcast(e, 4)));
  }
  EXPECT_EQ(Text(analyzer_.Simplify(Not(Binary(BinaryOp::kEQ, x, y)))),
            "x != y");
  EXPECT_EQ(Text(analyzer_.Simplify(Not(Binary(BinaryOp::kGE, x, y)))),
            "not y <= x");
  EXPECT_EQ(Text(analyzer_.Simplify(Not(Binary(BinaryOp::kLT, i_, j_)))),
            "j <= i");
}

// A bound is not on one infinite side alone.
TEST_F(AnalyzerTest, BoundsAtInfinity) {
  analyzer_.UpdateBound(i_, {ConstIntBound::kNegInf, ConstIntBound::kNegInf});
  analyzer_.UpdateBound(j_, {});
  EXPECT_EQ(analyzer_.BoundOf(Add(i_, j_)), ConstIntBound());
}

TEST_F(AnalyzerTest, SimplifiesByRanges) {
  analyzer_.Bind(i_, R(0, 8));
  EXPECT_EQ(Text(analyzer_.Simplify(E("(i + 8) // 8 + (i + 16) % 8"))),
            "i + 1");
  EXPECT_EQ(Text(analyzer_.Simplify(E("i < 8"))), "T.bool(True)");
  EXPECT_EQ(analyzer_.BoundOf(E("i * 2 - 3")), (ConstIntBound{-3, 11}));
  EXPECT_EQ(analyzer_.ModularSetOf(E("i * 6 + 9")), (ModularSet{6, 3}));
}

// q * d + e < 0 is q < 0 for e of either sign that is less than d, if q is not 0.
TEST_F(AnalyzerTest, ComparisonsAreDividedByTheirFactor) {
  analyzer_.Bind(j_, R(0, 4));
  EXPECT_EQ(Text(analyzer_.CanonicalSimplify(E("i * 8 + j < 16"))), "i < 2");
  EXPECT_EQ(Text(analyzer_.Simplify(E("i * 12 + j > -512"))), "-43 < i");
  EXPECT_EQ(Text(analyzer_.CanonicalSimplify(E("i * 8 + 20 < j"))), "i < -2");
  EXPECT_EQ(Text(analyzer_.CanonicalSimplify(E("i * 8 < j"))), "i * 8 < j");
  EXPECT_EQ(Text(analyzer_.CanonicalSimplify(E("i * 8 + 16 < j"))),
            "i * 8 + 16 < j");
}

// (x // 4) * -1 % 8 has the values of 8, and x // -8 is not x // 4 // -2.
TEST_F(AnalyzerTest, NegativeScalesAreRoundedDown) {
  for (const char* text :
       {"(0 - i // 4) % 8", "(0 - i % 2) % 8", "(j * 8 - i % 2) % 8",
        "(0 - i // 4) // 8", "(j * 8 - i // 4) // 8"}) {
    const PrimExpr e = analyzer_.CanonicalSimplify(E(text));
    for (const int64_t i : {-5, -1, 0, 1, 3, 9}) {
      const auto at = [&](const PrimExpr& at_i) {
        Analyzer analyzer;
        analyzer.Bind(i_, IntImm(kInt32, i));
        analyzer.Bind(j_, IntImm(kInt32, 3));
        return Text(analyzer.RewriteSimplify(at_i));
      };
      EXPECT_EQ(at(e), at(E(text))) << text << " is not " << Text(e);
    }
  }
}

// A rule joins no constants to one that is out of range, in which -(-2^31) is
// -2^31 again.
TEST_F(AnalyzerTest, ConstantsOutOfRangeKeepTheirSign) {
  const auto canonical = [this](absl::string_view text) {
    return Text(analyzer_.CanonicalSimplify(E(text)));
  };
  EXPECT_EQ(canonical("(i + -2147483648) + (j + -2147483648)"),
            "i + j + -2147483648 + -2147483648");
  EXPECT_EQ(canonical("(i + -2147483648) + (j + -2147483647)"),
            "i + j + -2147483648 - 2147483647");
  EXPECT_EQ(canonical("i + 2147483647 + j + 2147483647 + k + 2147483647"),
            "i + j + k + 2147483647 + 2147483647 + 2147483647");
  // A literal that is not of its type.
  EXPECT_EQ(Text(analyzer_.CanonicalSimplify(
                Add(i_, IntImm(kInt32, std::numeric_limits<int64_t>::max())))),
            "i + 9223372036854775807");
  EXPECT_EQ(canonical("j - i * -2147483648"), "j - i * -2147483648");
  EXPECT_EQ(canonical("i * 1073741824 + i * 1073741824"),
            "i * 1073741824 + i * 1073741824");
  EXPECT_EQ(canonical("i * 1048576 * (j * 1048576)"),
            "i * j * 1048576 * 1048576");
  EXPECT_EQ(canonical("i // 65536 // 65536"), "i // 65536 // 65536");
  EXPECT_EQ(canonical("i // 65536 % 65536"), "i // 65536 % 65536");
}

TEST_F(AnalyzerTest, ConstraintsEndWithTheirScope) {
  EXPECT_FALSE(analyzer_.CanProve(E("i + 1 <= n")));
  {
    const auto scope = analyzer_.WithConstraint(E("i < n"));
    EXPECT_TRUE(analyzer_.CanProve(E("i < n")));
    EXPECT_TRUE(analyzer_.CanProve(E("i + 1 <= n")));
    EXPECT_FALSE(analyzer_.CanProve(E("i + 2 <= n")));
    const auto inner = analyzer_.WithConstraint(E("i % 4 == 3"));
    EXPECT_EQ(analyzer_.ModularSetOf(E("i + 2")), (ModularSet{4, 1}));
  }
  EXPECT_FALSE(analyzer_.CanProve(E("i + 1 <= n")));
  EXPECT_EQ(analyzer_.ModularSetOf(E("i + 2")), (ModularSet{1, 0}));
}

TEST_F(AnalyzerTest, FollowsComparisonsWhereThatIsOn) {
  const auto first = analyzer_.WithConstraint(E("i < j"));
  const auto second = analyzer_.WithConstraint(E("j < k"));
  EXPECT_FALSE(analyzer_.CanProve(E("i < k")));
  analyzer_.SetExtensions(Analyzer::kTransitivelyProveInequalities);
  EXPECT_TRUE(analyzer_.CanProve(E("i < k")));
  EXPECT_TRUE(analyzer_.CanProve(E("i + 2 <= k")));
  EXPECT_FALSE(analyzer_.CanProve(E("i + 3 <= k")));
}

TEST_F(AnalyzerTest, ReplacedBindingsReplaceComparisons) {
  analyzer_.Bind(i_, Range{IntImm(kInt32, 0), n_});
  EXPECT_TRUE(analyzer_.CanProve(E("i < n")));
  analyzer_.Bind(i_, Range{IntImm(kInt32, 0), j_});
  EXPECT_FALSE(analyzer_.CanProve(E("i < n")));
  EXPECT_TRUE(analyzer_.CanProve(E("i < j")));
}

// Loops beside one another may have one variable.
TEST_F(AnalyzerTest, RangesReplaceValues) {
  const PrimExpr e = E("i + i % 4");
  analyzer_.Bind(i_, R(4, 1));
  EXPECT_EQ(Text(analyzer_.Simplify(e)), "4");
  analyzer_.Bind(i_, R(0, 16));
  EXPECT_EQ(Text(analyzer_.Simplify(e)), "i + i % 4");
  analyzer_.Bind(i_, E("j * 4"));
  EXPECT_EQ(Text(analyzer_.Simplify(e)), "j * 4");
  analyzer_.Bind(i_, R(0, 16));
  EXPECT_EQ(Text(analyzer_.Simplify(e)), "i + i % 4");
}

// A let may bind its variable anew, to a value that uses the outer one.
TEST_F(AnalyzerTest, ValuesThatUseTheirVariable) {
  analyzer_.Bind(i_, E("T.Select(T.Cast(\"bool\", i), j % 8, 1)"));
  EXPECT_EQ(Text(analyzer_.Simplify(E("i + i"))), "i * 2");
  EXPECT_TRUE(analyzer_.CanProve(E("i < 8")));
  analyzer_.Bind(i_, E("i + 1"));
  EXPECT_EQ(Text(analyzer_.Simplify(E("i + 2"))), "i + 2");
  EXPECT_FALSE(analyzer_.CanProve(E("i < 8")));
}

TEST_F(AnalyzerTest, StopsAfterSoManyRewrites) {
  const PrimExpr e = E("i + j - j + (k + n - n)");
  analyzer_.SetMaxRewriteSteps(1);
  analyzer_.RewriteSimplify(e);
  EXPECT_TRUE(analyzer_.exceeded_rewrite_steps());
  analyzer_.SetMaxRewriteSteps(100);
  analyzer_.ResetRewriteSteps();
  EXPECT_EQ(Text(analyzer_.RewriteSimplify(e)), "i + k");
  EXPECT_FALSE(analyzer_.exceeded_rewrite_steps());
}

TEST_F(AnalyzerTest, SymbolicBoundsProveMore) {
  analyzer_.MarkGlobalNonNeg(E("n"));
  analyzer_.Bind(i_, Range{IntImm(kInt32, 0), n_});
  const PrimExpr e = E("i * 32 < n * 32");
  EXPECT_TRUE(analyzer_.CanProve(e, ProofStrength::kSymbolicBound));
  EXPECT_TRUE(
      analyzer_.CanProveLessEqualThanSymbolicShapeValue(E("32"), E("n * 32")));
}

TEST_F(AnalyzerTest, EvaluatesSets) {
  const Domains domains = {{i_, IntSet::FromRange(R(0, 4))}};
  EXPECT_EQ(Text(EvalSet(E("j * 4 + i"), domains)), "[j * 4, j * 4 + 3]");
  EXPECT_EQ(Text(EvalSet(E("j - i"), domains)), "[j - 3, j]");
  EXPECT_EQ(Text(EvalSet(E("i // 2"), domains)), "[0, 1]");
  EXPECT_EQ(Text(EvalSet(E("(i + 8) % 4"), domains)), "[0, 3]");
  EXPECT_EQ(Text(EvalSet(E("i * j"), domains)),
            "[T.Select(j >= 0, 0, 3 * j), T.Select(j >= 0, 3 * j, 0)]");
}

TEST_F(AnalyzerTest, UnitesAndIntersectsSets) {
  const IntSet a = IntSet::FromRange(R(0, 4));
  const IntSet b = IntSet::FromRange(R(6, 2));
  EXPECT_EQ(Text(Union({a, b})), "[0, 7]");
  EXPECT_EQ(Text(UnionLowerBound({a, b})), "[0, 3]");
  EXPECT_EQ(Text(Intersect({a, b})), "nothing");
  EXPECT_EQ(Text(Intersect({a, IntSet::Interval(IntImm(kInt32, 2), {})})),
            "[2, 3]");
}

TEST_F(AnalyzerTest, DetectsLinearEquations) {
  EXPECT_EQ(Text(DetectLinearEquation(E("i * 4 + j * n + 7 - i"), {i_, j_})),
            "3; n; 7");
  EXPECT_EQ(Text(DetectLinearEquation(E("i * i"), {i_})), "");
  EXPECT_EQ(Text(DetectLinearEquation(E("i // 2 + j"), {i_})), "");
  EXPECT_EQ(Text(DetectClipBound(E("i >= 3 and i + 1 < n"), {i_})), "3; n - 2");
}

TEST_F(AnalyzerTest, SolvesInequalities) {
  const Domains relax = {{j_, IntSet::FromRange(R(0, 4))}};
  EXPECT_EQ(Text(DeduceBound(i_, E("i * 4 + j < 17"), {}, relax)), "[none, 3]");
  EXPECT_EQ(Text(DeduceBound(i_, E("10 <= i * 3"), {}, {})), "[4, none]");
  EXPECT_EQ(Text(DeduceBound(i_, E("i // 6 <= 4"), {}, {})), "[none, 29]");
  EXPECT_EQ(Text(DeduceBound(i_, E("n - i > 3"), {}, {})), "[none, n - 4]");
  EXPECT_EQ(Text(DeduceBound(i_, E("i * i < 3"), {}, {})), "nothing");
}

TEST_F(AnalyzerTest, NarrowsPredicates) {
  const VarRanges free = {{j_, R(0, 4)}};
  EXPECT_EQ(Text(NarrowPredicateExpression(E("i + j < 8"), free)), "i + 3 < 8");
  EXPECT_EQ(Text(NarrowPredicateExpression(E("i % 2 == j"), free)),
            "T.bool(False)");
}

TEST_F(AnalyzerTest, SolvesLinearEquations) {
  const LinearSolution solution = SolveLinearEquations(
      {i_, j_}, {{i_, R(0, 4)}, {j_, R(0, 8)}}, {E("k == i + j"), E("n == j")});
  ASSERT_TRUE(solution.solvable);
  EXPECT_EQ(Text(*solution.values.Find(i_)), "k - n");
  EXPECT_EQ(Text(*solution.values.Find(j_)), "n");
  EXPECT_EQ(Text(solution.relations), "0 <= k - n; k - n < 4; 0 <= n; n < 8");
  EXPECT_FALSE(SolveLinearEquations({i_}, {}, {E("i * 2 == 3")}).solvable);
}

TEST_F(AnalyzerTest, DetectsIterationMaps) {
  const VarRanges ranges = {{i_, R(0, 8)}, {j_, R(0, 4)}};
  EXPECT_EQ(Text(IterMapSimplify({E("i // 4 * 4 + i % 4"), E("j + 0")}, ranges,
                                 {}, IterMapLevel::kBijective, analyzer_)),
            "i; j");
  const IterMapResult overlap = DetectIterMap(
      {E("i + j")}, ranges, {}, IterMapLevel::kBijective, analyzer_);
  EXPECT_TRUE(overlap.indices.empty());
  EXPECT_EQ(overlap.errors.size(), 1);
  // The predicate joins what the extents leave apart.
  EXPECT_FALSE(DetectIterMap({E("k * 9 + j * 2 + i")},
                             {{i_, R(0, 2)}, {j_, R(0, 5)}, {k_, R(0, 4)}},
                             E("j * 2 + i < 9"), IterMapLevel::kSurjective,
                             analyzer_)
                   .indices.empty());
}

TEST_F(AnalyzerTest, DividesSubspaces) {
  const VarRanges ranges = {{i_, R(0, 8)}, {j_, R(0, 4)}};
  const std::vector<DividedIter> parts = SubspaceDivide(
      {E("i * 4 + j")}, ranges, {j_}, {}, IterMapLevel::kBijective, analyzer_);
  ASSERT_EQ(parts.size(), 2);
  EXPECT_EQ(Text(NormalizeIterMapToExpr(parts[0].outer)), "i");
  EXPECT_EQ(Text(NormalizeIterMapToExpr(parts[0].inner)), "j");
  EXPECT_EQ(Text(parts[0].inner.extent()), "4");
  EXPECT_TRUE(SubspaceDivide({E("j * 8 + i")}, ranges, {j_}, {},
                             IterMapLevel::kBijective, analyzer_)
                  .empty());
}

TEST_F(AnalyzerTest, EstimatesRegions) {
  const VarRanges ranges = {{i_, R(0, 8)}, {j_, R(0, 4)}};
  const auto strict = EstimateRegionStrictBound(
      {{E("i * 4 + j"), IntImm(kInt32, 1)}}, ranges, {}, analyzer_);
  ASSERT_TRUE(strict.has_value());
  EXPECT_EQ(Text((*strict)[0]), "[0, 31]");
  // There are gaps.
  EXPECT_FALSE(EstimateRegionStrictBound({{E("i * 8"), IntImm(kInt32, 1)}},
                                         ranges, {}, analyzer_)
                   .has_value());
  EXPECT_EQ(Text(EstimateRegionUpperBound({{E("i * 8"), IntImm(kInt32, 1)}},
                                          ranges, {}, analyzer_)[0]),
            "[0, 56]");
}

TEST_F(AnalyzerTest, DivisionByZeroIsNoError) {
  const PrimExpr zero = Binary(BinaryOp::kFloorDiv, i_, IntImm(kInt32, 0));
  EXPECT_EQ(Text(analyzer_.Simplify(zero)), "T.FloorDiv(i, 0)");
  EXPECT_EQ(Text(analyzer_.Simplify(
                Binary(BinaryOp::kFloorMod, i_, IntImm(kInt32, 0)))),
            "T.FloorMod(i, 0)");
  EXPECT_EQ(Text(EvalSet(zero, {})), "[T.FloorDiv(i, 0), T.FloorDiv(i, 0)]");
}

TEST_F(AnalyzerTest, ConstantsThatOverflowStayRight) {
  const Var x("x", DType::Int(64));
  const PrimExpr large = IntImm(DType::Int(64), int64_t{1} << 40);
  const PrimExpr e = MakeBinary(
      BinaryOp::kFloorDiv, MakeBinary(BinaryOp::kFloorDiv, x, large), large);
  EXPECT_EQ(Text(analyzer_.CanonicalSimplify(e)),
            "x // T.int64(1099511627776) // T.int64(1099511627776)");
}

TEST_F(AnalyzerTest, NestedDivisionsTakeLinearTime) {
  PrimExpr e = i_;
  for (int depth = 0; depth < 60; ++depth) {
    e = MakeBinary(BinaryOp::kFloorDiv,
                   Add(Mul(j_, IntImm(kInt32, 3)), Add(e, k_)),
                   IntImm(kInt32, 7));
  }
  analyzer_.Simplify(e);
  PrimExpr casts = i_;
  for (int depth = 0; depth < 60; ++depth) {
    casts = Cast(depth % 2 == 0 ? DType::Int(64) : DType::Int(32),
                 Add(casts, IntImm(casts.dtype(), 1)));
  }
  analyzer_.Simplify(casts);
}

// Each rule that joins neighbours would match at each operand again.
TEST_F(AnalyzerTest, LongConditionsTakeLinearTime) {
  for (const char* const op : {"and", "or"}) {
    std::string left = "i < j";
    std::string right = "i < j";
    std::string brackets;
    for (int c = 0; c < 2'000; ++c) {
      absl::StrAppend(&left, " ", op, " j + k < ", c, " * n");
      absl::StrAppend(&right, " ", op, " (j + k < ", c, " * n");
      brackets += ")";
    }
    EXPECT_EQ(Text(analyzer_.Simplify(E(right + brackets))),
              Text(analyzer_.Simplify(E(left))));
  }
}

// `terms` of which each is added to the sum of those before it, of those after
// it, or of neighbours.
PrimExpr SumFromLeft(const std::vector<PrimExpr>& terms) {
  PrimExpr sum = terms[0];
  for (size_t i = 1; i < terms.size(); ++i) {
    sum = Binary(BinaryOp::kAdd, sum, terms[i]);
  }
  return sum;
}
PrimExpr SumFromRight(const std::vector<PrimExpr>& terms) {
  PrimExpr sum = terms.back();
  for (size_t i = terms.size() - 1; i-- > 0;) {
    sum = Binary(BinaryOp::kAdd, terms[i], sum);
  }
  return sum;
}
PrimExpr SumOfHalves(absl::Span<const PrimExpr> terms) {
  if (terms.size() == 1) return terms[0];
  const size_t half = terms.size() / 2;
  return Binary(BinaryOp::kAdd, SumOfHalves(terms.subspan(0, half)),
                SumOfHalves(terms.subspan(half)));
}

// Sums of many terms have the form that sums of few terms have.
TEST_F(AnalyzerTest, LongSumsAreThoseOfTheirParts) {
  for (const int count : {33, 60, 200}) {
    std::vector<PrimExpr> terms;
    for (int i = 0; i < count; ++i) {
      PrimExpr e = vars_[static_cast<size_t>(i * 7 % 4)];
      const PrimExpr number = IntImm(kInt32, i * i % 11 + 2);
      switch (i % 5) {
        case 0:
          e = Binary(BinaryOp::kFloorDiv, e, number);
          break;
        case 1:
          e = Binary(BinaryOp::kFloorMod, e, number);
          break;
        case 2:
          e = Mul(Binary(BinaryOp::kFloorDiv, e, number), number);
          break;
        case 3:
          e = Binary(BinaryOp::kDiv, e, number);
          break;
        default:
          e = Add(Mul(e, number), number);
          break;
      }
      terms.push_back(std::move(e));
    }
    const std::string expected =
        Text(analyzer_.CanonicalSimplify(SumOfHalves(terms)));
    EXPECT_EQ(Text(analyzer_.CanonicalSimplify(SumFromLeft(terms))), expected);
    EXPECT_EQ(Text(analyzer_.CanonicalSimplify(SumFromRight(terms))), expected);
  }
  // Differences: equal terms cancel out.
  std::string left = "i";
  for (int c = 0; c < 40; ++c) {
    absl::StrAppend(&left, " - n // ", c + 2, " + k // ", c + 2, " - ", c % 3);
  }
  EXPECT_EQ(Text(analyzer_.CanonicalSimplify(
                E(absl::StrCat(left, " - (", left, ")")))),
            "0");
}

// The time of simplification grows with the number of terms.
TEST_F(AnalyzerTest, LongSumsTakeLinearTime) {
  std::vector<PrimExpr> terms;
  for (int i = 0; i < 20'000; ++i) {
    terms.push_back(Binary(BinaryOp::kFloorDiv, i % 2 == 0 ? i_ : j_,
                           IntImm(kInt32, i + 2)));
  }
  EXPECT_TRUE(analyzer_.CanonicalSimplify(SumFromLeft(terms)).defined());
  EXPECT_TRUE(analyzer_.CanonicalSimplify(SumFromRight(terms)).defined());
}

// The rules look at parts of parts: the time grows with the square of the depth.
TEST_F(AnalyzerTest, DepthIsNotLimitedByTheStack) {
  testing::RunWithStack(testing::SmallStackBytesOfThisBuild(), [this] {
    const bool is_small =
        testing::SmallStackBytesOfThisBuild() == testing::kSmallStackBytes;
    PrimExpr e = i_;
    for (int depth = 0; depth < (is_small ? 2000 : 6000); ++depth) {
      e = depth % 2 == 0 ? PrimExpr(Binary(BinaryOp::kMax, e, j_))
                         : PrimExpr(Binary(BinaryOp::kMin, e, k_));
    }
    analyzer_.BoundOf(e);
    EXPECT_TRUE(ExprDeepEqual(e, e));
    EXPECT_TRUE(analyzer_.RewriteSimplify(e).defined());
  });
}

}  // namespace
}  // namespace baton::tir
