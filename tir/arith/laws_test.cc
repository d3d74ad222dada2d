// Laws of the analyzer on random expressions: simplified expressions have the
// same values, and bounds and sets have all values.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "baton/base/dtype.h"
#include "baton/tir/arith/analyzer.h"
#include "baton/tir/arith/int_set.h"
#include "baton/tir/arith/integer.h"
#include "baton/tir/arith/iter_map.h"
#include "baton/tir/arith/pattern.h"
#include "baton/tir/arith/var_map.h"
#include "baton/tir/arith/wide_binary.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/fold.h"
#include "baton/tir/ir/script_printer.h"
#include "gtest/gtest.h"

namespace baton::tir {
namespace {

using Values = VarMap<int64_t>;

bool IsInRange(Wide value, DType dtype) {
  const Wide end = Wide{1} << (dtype.bits() - 1);
  return !dtype.is_int() || (value >= -end && value < end);
}

// The value; nullopt where it is not defined: by division by zero, or, if
// `in_range`, if a sum or a product is out of the range of its type.
std::optional<Wide> EvaluateWide(const PrimExpr& e, const Values& values,
                                 bool in_range) {
  if (const auto* imm = e.As<IntImmNode>()) return imm->value();
  if (const auto* var = e.As<VarNode>()) {
    const int64_t* value = values.Find(var);
    return value != nullptr ? std::optional<Wide>(*value) : std::nullopt;
  }
  if (const auto* cast = e.As<CastNode>()) {
    return EvaluateWide(cast->value(), values, in_range);
  }
  if (const auto* negation = e.As<NotNode>()) {
    const std::optional<Wide> a = EvaluateWide(negation->a(), values, in_range);
    if (!a.has_value()) return a;
    return *a == 0 ? 1 : 0;
  }
  if (const auto* select = e.As<SelectNode>()) {
    const std::optional<Wide> condition =
        EvaluateWide(select->condition(), values, in_range);
    if (!condition.has_value()) return condition;
    return EvaluateWide(
        *condition != 0 ? select->true_value() : select->false_value(), values,
        in_range);
  }
  const auto* binary = e.As<BinaryNode>();
  if (binary == nullptr) return std::nullopt;
  const std::optional<Wide> a = EvaluateWide(binary->a(), values, in_range);
  const std::optional<Wide> b = EvaluateWide(binary->b(), values, in_range);
  if (!a.has_value() || !b.has_value()) return std::nullopt;
  const std::optional<Wide> value = WideBinary(binary->op(), *a, *b);
  if (in_range && value.has_value() && !IsInRange(*value, binary->dtype())) {
    return std::nullopt;
  }
  return value;
}

std::optional<int64_t> Evaluate(const PrimExpr& e, const Values& values) {
  const std::optional<Wide> value = EvaluateWide(e, values, true);
  if (!value.has_value()) return std::nullopt;
  return static_cast<int64_t>(*value);
}

// Operands are made in an order that no compiler chooses.
class RandomExpr {
 public:
  // If `extremes`, some constants are near the ends of their type, or are half
  // or a fourth of these.
  RandomExpr(uint64_t seed, std::vector<Var> vars, bool extremes = false)
      : random_(seed),
        vars_(std::move(vars)),
        dtype_(vars_[0].dtype()),
        extremes_(extremes) {}

  int Below(int n) { return static_cast<int>(random_() % n); }
  PrimExpr Int(int64_t value) { return IntImm(dtype_, value); }

  // A sum of up to 40 terms that begins with its innermost terms, ends with
  // them, or neither.
  PrimExpr Sum() {
    const int terms = Below(16) == 0 ? 33 + Below(8) : 2 + Below(6);
    const int shape = Below(3);
    PrimExpr e = Term();
    for (int i = 1; i < terms; ++i) {
      const BinaryOp op = Below(3) == 0 ? BinaryOp::kSub : BinaryOp::kAdd;
      PrimExpr term = Term();
      const bool left = shape == 2 ? Below(2) == 0 : shape == 0;
      e = left ? Binary(op, e, term) : Binary(op, term, e);
    }
    return e;
  }

  PrimExpr Number(int depth) {
    if (depth == 0 || Below(6) == 0) {
      if (extremes_ && Below(3) == 0) return Extreme();
      if (Below(3) == 0) return Int(Below(13) - 3);
      return vars_[Below(static_cast<int>(vars_.size()))];
    }
    const PrimExpr a = Number(depth - 1);
    switch (Below(13)) {
      case 0:
      case 1:
        return MakeBinary(BinaryOp::kAdd, a, Number(depth - 1));
      case 2:
        return MakeBinary(BinaryOp::kSub, a, Number(depth - 1));
      case 3:
        return Mul(a, Int(Below(9) - 2));
      case 4:
        return MakeBinary(BinaryOp::kMul, a, Number(depth - 1));
      case 5:
        return MakeBinary(BinaryOp::kFloorDiv, a, Divisor());
      case 6:
        return MakeBinary(BinaryOp::kFloorMod, a, Divisor());
      case 7:
        return MakeBinary(BinaryOp::kDiv, a, Divisor());
      case 8:
        return MakeBinary(BinaryOp::kMod, a, Divisor());
      case 9:
        return MakeBinary(BinaryOp::kMin, a, Number(depth - 1));
      case 10:
        return MakeBinary(BinaryOp::kMax, a, Number(depth - 1));
      case 11: {
        const PrimExpr condition = Condition(depth - 1);
        return Select(condition, a, Number(depth - 1));
      }
      default:
        return Add(Mul(a, Int(4)), Number(depth - 1));
    }
  }

  PrimExpr Condition(int depth) {
    if (depth > 0 && Below(3) == 0) {
      switch (Below(3)) {
        case 0: {
          const PrimExpr a = Condition(depth - 1);
          return MakeBinary(BinaryOp::kAnd, a, Condition(depth - 1));
        }
        case 1: {
          const PrimExpr a = Condition(depth - 1);
          return MakeBinary(BinaryOp::kOr, a, Condition(depth - 1));
        }
        default:
          return Not(Condition(depth - 1));
      }
    }
    constexpr BinaryOp kCompare[] = {BinaryOp::kEQ, BinaryOp::kNE,
                                     BinaryOp::kLT, BinaryOp::kLE,
                                     BinaryOp::kGT, BinaryOp::kGE};
    const int below = depth > 0 ? depth - 1 : 0;
    const BinaryOp op = kCompare[Below(6)];
    const PrimExpr a = Number(below);
    return MakeBinary(op, a, Number(below));
  }

  PrimExpr Divisor() {
    if (extremes_ && Below(4) == 0) return Int(Below(2) == 0 ? 65536 : 46341);
    constexpr int kDivisors[] = {2, 3, 4, 8, 1, -2, -3, 5};
    return Int(kDivisors[Below(8)]);
  }

  PrimExpr Extreme() {
    const int64_t least = dtype_.bits() == 64
                              ? std::numeric_limits<int64_t>::min()
                              : std::numeric_limits<int32_t>::min();
    const int64_t end = Below(2) == 0 ? least : -(least + 1);
    const int64_t part = end / (1 << Below(3));
    return Int(part < 0 ? part + Below(3) : part - Below(3));
  }

 private:
  PrimExpr Term() {
    const Var& var = vars_[Below(static_cast<int>(vars_.size()))];
    switch (Below(6)) {
      case 0:
        return var;
      case 1:
        return MakeBinary(BinaryOp::kMul, var, Extreme());
      case 2:
        return MakeBinary(BinaryOp::kFloorDiv, var, Divisor());
      case 3:
        return MakeBinary(BinaryOp::kFloorMod, var, Divisor());
      default:
        return Extreme();
    }
  }

  std::mt19937_64 random_;
  std::vector<Var> vars_;
  DType dtype_;
  bool extremes_;
};

class Laws : public ::testing::TestWithParam<int> {
 protected:
  Var x_{"x", kInt32};
  Var y_{"y", kInt32};
  Var z_{"z", kInt32};
};

TEST_P(Laws, SimplifiedExpressionsHaveTheSameValues) {
  RandomExpr random(GetParam(), {x_, y_, z_});
  const std::vector<Var> vars = {x_, y_, z_};
  for (int i = 0; i < 400; ++i) {
    const bool bound = random.Below(2) == 0;
    std::vector<int64_t> mins;
    std::vector<int64_t> extents;
    Analyzer analyzer;
    constexpr int kExtents[] = {1, 2, 4, 6, 8};
    for (const Var& var : vars) {
      mins.push_back(bound ? random.Below(4) - 1 : -4);
      extents.push_back(bound ? kExtents[random.Below(5)] : 9);
      if (bound) {
        analyzer.Bind(
            var, Range{random.Int(mins.back()), random.Int(extents.back())});
      }
    }
    if (random.Below(2) == 0) {
      analyzer.SetExtensions(static_cast<unsigned>(random.Below(8)));
    }
    const bool truth = random.Below(3) == 0;
    const PrimExpr e = truth ? random.Condition(3) : random.Number(4);
    PrimExpr constraint = IntImm::Bool(true);
    if (random.Below(3) == 0) constraint = random.Condition(2);
    const auto scope = analyzer.WithConstraint(constraint);
    const PrimExpr results[] = {
        analyzer.RewriteSimplify(e), analyzer.CanonicalSimplify(e),
        analyzer.Simplify(e),
        SimplifyAsAndOfOrs(truth ? e : IntImm::Bool(true), analyzer)};
    const ConstIntBound limits = analyzer.BoundOf(e);
    const ModularSet modular = analyzer.ModularSetOf(e);
    Values values;
    for (int64_t x = 0; x < extents[0]; ++x) {
      values.Set(x_, mins[0] + x);
      for (int64_t y = 0; y < extents[1]; ++y) {
        values.Set(y_, mins[1] + y);
        for (int64_t z = 0; z < extents[2]; ++z) {
          values.Set(z_, mins[2] + z);
          const std::optional<int64_t> holds = Evaluate(constraint, values);
          if (!holds.has_value() || *holds == 0) continue;
          const std::optional<int64_t> before = Evaluate(e, values);
          if (!before.has_value()) continue;
          for (size_t k = 0; k < (truth ? 4 : 3); ++k) {
            const std::optional<int64_t> after = Evaluate(results[k], values);
            ASSERT_EQ(after, before)
                << AsScript(e) << "\nis not " << AsScript(results[k])
                << "\nwhere " << AsScript(constraint)
                << " and x = " << mins[0] + x << ", y = " << mins[1] + y
                << ", z = " << mins[2] + z << "; result " << k << " of seed "
                << GetParam();
          }
          ASSERT_GE(*before, limits.min) << AsScript(e);
          ASSERT_LE(*before, limits.max) << AsScript(e);
          ASSERT_EQ(modular.coeff == 0
                        ? *before - modular.base
                        : FloorMod(*before - modular.base, modular.coeff),
                    0)
              << AsScript(e) << " is not " << modular.coeff << " * k + "
              << modular.base << " where " << AsScript(constraint);
        }
      }
    }
  }
}

// True if `after` is defined and has the value of `before`, though sums in it
// may be out of range.
::testing::AssertionResult IsKept(const PrimExpr& before, const PrimExpr& after,
                                  const Values& values, Wide value) {
  const std::optional<Wide> result = EvaluateWide(after, values, false);
  if (result == value) return ::testing::AssertionSuccess();
  ::testing::AssertionResult failure = ::testing::AssertionFailure();
  failure << AsScript(before) << "\nis " << static_cast<double>(value)
          << ", not\n"
          << AsScript(after);
  if (result.has_value()) failure << " = " << static_cast<double>(*result);
  for (const auto& [var, number] : values) {
    failure << "\nwhere " << var->name() << " = " << number;
  }
  return failure;
}

// Constants that a rule joins may be out of range. Sums of a variable and a
// constant may be, too, which no rule minds.
TEST_P(Laws, ConstantsNearTheEndsOfTheirType) {
  for (const DType dtype : {kInt32, DType::Int(64)}) {
    const Var x("x", dtype);
    const Var y("y", dtype);
    RandomExpr random(GetParam() + 2000, {x, y}, /*extremes=*/true);
    for (int i = 0; i < 400; ++i) {
      const bool truth = random.Below(2) == 0;
      const PrimExpr e = truth ? random.Condition(2) : random.Number(3);
      Analyzer analyzer;
      const PrimExpr results[] = {analyzer.RewriteSimplify(e),
                                  analyzer.CanonicalSimplify(e),
                                  analyzer.Simplify(e)};
      Values values;
      for (int64_t value = 0; value < 49; ++value) {
        values.Set(x, value % 7 - 3);
        values.Set(y, value / 7 - 3);
        const std::optional<Wide> before = EvaluateWide(e, values, true);
        if (!before.has_value()) continue;
        for (const PrimExpr& result : results) {
          ASSERT_TRUE(IsKept(e, result, values, *before))
              << "seed " << GetParam();
        }
      }
    }
  }
}

// A sum keeps its value where it is out of range, too. A quotient does where
// the dividend is in range.
TEST_P(Laws, SumsOfConstantsNearTheEndsOfTheirType) {
  for (const DType dtype : {kInt32, DType::Int(64)}) {
    const std::vector<Var> vars = {Var("x", dtype), Var("y", dtype),
                                   Var("z", dtype)};
    RandomExpr random(GetParam() + 3000, vars, /*extremes=*/true);
    for (int i = 0; i < 200; ++i) {
      PrimExpr e = random.Sum();
      const int kind = random.Below(6);
      if (kind == 0) e = Binary(BinaryOp::kFloorDiv, e, random.Divisor());
      if (kind == 1) e = Binary(BinaryOp::kFloorMod, e, random.Divisor());
      if (kind == 2) e = Binary(BinaryOp::kLT, e, random.Extreme());
      // The values of 64 bits are ones whose products 128 bits hold.
      const bool is_short = dtype == kInt32;
      if (kind == 3) {
        e = Binary(BinaryOp::kMul, e,
                   is_short ? random.Extreme() : random.Divisor());
      }
      const bool in_range = kind < 2 || (kind == 2 && !is_short);
      Analyzer analyzer;
      const PrimExpr once = analyzer.CanonicalSimplify(e);
      const PrimExpr results[] = {analyzer.RewriteSimplify(e), once,
                                  analyzer.CanonicalSimplify(once),
                                  analyzer.Simplify(e)};
      for (int k = 0; k < 16; ++k) {
        Values values;
        for (const Var& var : vars) {
          const PrimExpr extreme = random.Extreme();
          const int64_t end = extreme.As<IntImmNode>()->value();
          values.Set(var, k % 2 == 0 ? random.Below(7) - 3
                          : is_short ? end
                                     : end >> 32);
        }
        const std::optional<Wide> before = EvaluateWide(e, values, in_range);
        if (!before.has_value()) continue;
        for (const PrimExpr& result : results) {
          ASSERT_TRUE(IsKept(e, result, values, *before))
              << "seed " << GetParam();
        }
      }
    }
  }
}

TEST_P(Laws, SetsHaveAllValues) {
  RandomExpr random(GetParam() + 1000, {x_, y_, z_});
  for (int i = 0; i < 300; ++i) {
    const int64_t x_min = random.Below(5) - 2;
    const int64_t x_extent = random.Below(6) + 1;
    const int64_t y_min = random.Below(5) - 2;
    const int64_t y_extent = random.Below(6) + 1;
    Domains domains;
    domains.Set(x_,
                IntSet::FromRange({random.Int(x_min), random.Int(x_extent)}));
    domains.Set(y_,
                IntSet::FromRange({random.Int(y_min), random.Int(y_extent)}));
    const PrimExpr e = random.Number(3);
    const IntSet set = EvalSet(e, domains);
    Values values;
    for (int64_t z = -3; z < 4; ++z) {
      values.Set(z_, z);
      const auto bound = [&](const PrimExpr& b) -> std::optional<int64_t> {
        return b.defined() ? Evaluate(b, values) : std::nullopt;
      };
      const std::optional<int64_t> min = bound(set.min());
      const std::optional<int64_t> max = bound(set.max());
      for (int64_t x = x_min; x < x_min + x_extent; ++x) {
        for (int64_t y = y_min; y < y_min + y_extent; ++y) {
          values.Set(x_, x);
          values.Set(y_, y);
          const std::optional<int64_t> value = Evaluate(e, values);
          if (!value.has_value()) continue;
          ASSERT_FALSE(set.IsNothing()) << AsScript(e);
          if (min.has_value()) {
            ASSERT_GE(*value, *min)
                << AsScript(e) << " from " << AsScript(set.min()) << " at x "
                << x << " y " << y << " z " << z;
          }
          if (max.has_value()) {
            ASSERT_LE(*value, *max)
                << AsScript(e) << " to " << AsScript(set.max()) << " at x " << x
                << " y " << y << " z " << z;
          }
        }
      }
    }
  }
}

// No form of iterators divides by a negative number.
TEST(IterationMaps, NegativeDivisorsAreNoIterators) {
  const Var y("y", kInt32);
  for (const BinaryOp op : {BinaryOp::kFloorDiv, BinaryOp::kFloorMod}) {
    for (const int64_t min : {0, 3}) {
      const PrimExpr e =
          MakeBinary(op, Add(y, IntImm(kInt32, min)), IntImm(kInt32, -2));
      Analyzer analyzer;
      const VarRanges ranges = {{y, {IntImm(kInt32, 0), IntImm(kInt32, 8)}}};
      EXPECT_TRUE(
          DetectIterMap({e}, ranges, {}, IterMapLevel::kSurjective, analyzer)
              .indices.empty())
          << AsScript(e);
    }
  }
}

// The values of iterators are found from those of a bijective map.
TEST_P(Laws, IterationMapsKeepValues) {
  RandomExpr random(GetParam() + 2000, {x_, y_});
  int detected = 0;
  for (int i = 0; i < 200; ++i) {
    constexpr int kExtents[] = {2, 4, 8, 12, 3};
    const int x_extent = kExtents[random.Below(5)];
    const int y_extent = kExtents[random.Below(5)];
    const VarRanges ranges = {{x_, {random.Int(0), random.Int(x_extent)}},
                              {y_, {random.Int(0), random.Int(y_extent)}}};
    const PrimExpr fused = Add(Mul(x_, random.Int(y_extent)), y_);
    const int factor = kExtents[random.Below(5)];
    std::vector<PrimExpr> indices;
    switch (random.Below(4)) {
      case 0:
        indices = {MakeBinary(BinaryOp::kFloorDiv, fused, random.Int(factor)),
                   MakeBinary(BinaryOp::kFloorMod, fused, random.Int(factor))};
        break;
      case 1:
        indices = {fused};
        break;
      case 2:
        indices = {y_, x_};
        break;
      default:
        indices = {random.Number(2), random.Number(2)};
        break;
    }
    Analyzer analyzer;
    for (const IterMapLevel level :
         {IterMapLevel::kBijective, IterMapLevel::kSurjective}) {
      const IterMapResult map =
          DetectIterMap(indices, ranges, {}, level, analyzer);
      if (map.indices.empty()) continue;
      ++detected;
      std::vector<Var> outputs;
      std::vector<PrimExpr> as_exprs;
      for (size_t k = 0; k < indices.size(); ++k) {
        outputs.emplace_back("o", kInt32);
        as_exprs.push_back(outputs.back());
      }
      const VarMap<PrimExpr> inverse =
          level == IterMapLevel::kBijective
              ? InverseAffineIterMap(map.indices, as_exprs)
              : VarMap<PrimExpr>();
      for (int64_t x = 0; x < x_extent; ++x) {
        for (int64_t y = 0; y < y_extent; ++y) {
          Values values = {{x_, x}, {y_, y}};
          Values of_outputs;
          for (size_t k = 0; k < indices.size(); ++k) {
            const std::optional<int64_t> value = Evaluate(indices[k], values);
            ASSERT_EQ(Evaluate(NormalizeIterMapToExpr(map.indices[k]), values),
                      value)
                << AsScript(indices[k]);
            of_outputs.Set(outputs[k], value.value_or(0));
          }
          for (const auto& [var, e] : inverse) {
            ASSERT_EQ(Evaluate(e, of_outputs), *values.Find(var))
                << AsScript(indices[0]) << ": " << AsScript(e);
          }
        }
      }
    }
  }
  EXPECT_GT(detected, 50);
}

INSTANTIATE_TEST_SUITE_P(Seeds, Laws, ::testing::Range(0, 8));

}  // namespace
}  // namespace baton::tir
