// Laws of the analyzer on random expressions of integers of all types, with
// values near the ends of the types. Sums of int32 and int64 that are out of
// range have no value; those of other types wrap around.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "baton/base/dtype.h"
#include "baton/tir/arith/analyzer.h"
#include "baton/tir/arith/int_set.h"
#include "baton/tir/arith/integer.h"
#include "baton/tir/arith/iter_map.h"
#include "baton/tir/arith/linear_equations.h"
#include "baton/tir/arith/pattern.h"
#include "baton/tir/arith/var_map.h"
#include "baton/tir/arith/wide_binary.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/fold.h"
#include "baton/tir/ir/functor.h"
#include "baton/tir/ir/intrinsics.h"
#include "baton/tir/ir/script_printer.h"
#include "gtest/gtest.h"

namespace baton::tir {
namespace {

// Holds the integers of all types, and sums and products of them.
using Values = VarMap<Wide>;

Wide LeastOf(DType dtype) {
  return dtype.is_int() ? -(Wide{1} << (dtype.bits() - 1)) : 0;
}
Wide LargestOf(DType dtype) {
  return (Wide{1} << (dtype.is_int() ? dtype.bits() - 1 : dtype.bits())) - 1;
}
bool IsInType(Wide value, DType dtype) {
  return value >= LeastOf(dtype) && value <= LargestOf(dtype);
}
Wide Wrapped(Wide value, DType dtype) {
  const Wide size = Wide{1} << dtype.bits();
  const Wide rest = (value - LeastOf(dtype)) % size;
  return (rest < 0 ? rest + size : rest) + LeastOf(dtype);
}

// The value; nullopt where it is not defined: by division by zero, and, if
// `in_range`, where a sum or a conversion of indices is out of range.
std::optional<Wide> Evaluate(const PrimExpr& e, const Values& values,
                             bool in_range) {
  const DType dtype = e.dtype();
  const auto result = [&](std::optional<Wide> value) -> std::optional<Wide> {
    if (!value.has_value() || dtype.is_bool()) return value;
    if (IsModular(dtype)) return Wrapped(*value, dtype);
    if (in_range && !IsInType(*value, dtype)) return std::nullopt;
    return value;
  };
  if (const auto* imm = e.As<IntImmNode>()) {
    // A uint64 beyond int64 has the number of its bits.
    return imm->value() < 0 && dtype.is_uint() ? Wrapped(imm->value(), dtype)
                                               : Wide{imm->value()};
  }
  if (const auto* var = e.As<VarNode>()) {
    const Wide* value = values.Find(var);
    return value != nullptr ? std::optional<Wide>(*value) : std::nullopt;
  }
  if (const auto* cast = e.As<CastNode>()) {
    const DType from = cast->value().dtype();
    const std::optional<Wide> value = Evaluate(cast->value(), values, in_range);
    if (!value.has_value()) return value;
    if (dtype.is_bool()) return *value != 0;
    if (from.is_int() && !IsModular(dtype)) return result(value);
    return Wrapped(*value, dtype);
  }
  if (const auto* negation = e.As<NotNode>()) {
    const std::optional<Wide> a = Evaluate(negation->a(), values, in_range);
    if (!a.has_value()) return a;
    return *a == 0 ? 1 : 0;
  }
  if (const auto* select = e.As<SelectNode>()) {
    const std::optional<Wide> condition =
        Evaluate(select->condition(), values, in_range);
    if (!condition.has_value()) return condition;
    return Evaluate(
        *condition != 0 ? select->true_value() : select->false_value(), values,
        in_range);
  }
  if (const auto* call = e.As<CallNode>()) {
    if (call->args().size() != 2) return std::nullopt;
    const std::optional<Wide> a = Evaluate(call->args()[0], values, in_range);
    const std::optional<Wide> b = Evaluate(call->args()[1], values, in_range);
    if (!a.has_value() || !b.has_value()) return std::nullopt;
    if (call->op() == IntrinsicOp("bitwise_and"))
      return Wrapped(*a & *b, dtype);
    if (*b < 0 || *b >= dtype.bits()) return std::nullopt;
    const int by = static_cast<int>(*b);
    if (call->op() == IntrinsicOp("shift_right")) return *a >> by;
    if (call->op() == IntrinsicOp("shift_left")) {
      if (*a < 0) return std::nullopt;
      return result(*a << by);
    }
    return std::nullopt;
  }
  const auto* binary = e.As<BinaryNode>();
  if (binary == nullptr) return std::nullopt;
  const std::optional<Wide> a = Evaluate(binary->a(), values, in_range);
  const std::optional<Wide> b = Evaluate(binary->b(), values, in_range);
  if (!a.has_value() || !b.has_value()) return std::nullopt;
  return result(WideBinary(binary->op(), *a, *b));
}

std::string Text(Wide value) {
  if (value < 0) return absl::StrCat("-", Text(-value));
  std::string digits;
  do {
    digits.insert(digits.begin(), static_cast<char>('0' + value % 10));
    value /= 10;
  } while (value != 0);
  return digits;
}
std::string Text(const Values& values) {
  std::string text = "where";
  for (const auto& [var, value] : values) {
    absl::StrAppend(&text, " ", var->name(), " = ", Text(value));
  }
  return text;
}
std::string Text(const IntSet& set) {
  if (set.IsNothing()) return "nothing";
  return absl::StrCat("[", set.HasLowerBound() ? AsScript(set.min()) : "-inf",
                      ", ", set.HasUpperBound() ? AsScript(set.max()) : "inf",
                      "]");
}

constexpr DType kTypes[] = {DType::Int(8),   DType::UInt(8), DType::Int(16),
                            DType::UInt(16), kInt32,         DType::UInt(32),
                            DType::Int(64),  DType::UInt(64)};

class RandomExprs {
 public:
  explicit RandomExprs(uint64_t seed) : random_(seed) {
    for (const DType dtype : kTypes) {
      vars_.emplace_back(absl::StrCat("x_", dtype.ToString()), dtype);
      vars_.emplace_back(absl::StrCat("y_", dtype.ToString()), dtype);
    }
  }

  int Below(int n) { return static_cast<int>(random_() % n); }
  const std::vector<Var>& vars() const { return vars_; }
  // One in two is int32.
  DType Type() { return Below(2) == 0 ? kInt32 : kTypes[Below(8)]; }

  // A small integer, or one near an end of the type or a half or fourth of it.
  Wide Value(DType dtype) {
    if (Below(2) == 0) {
      return Wrapped(Below(9) - (dtype.is_int() ? 4 : 0), dtype);
    }
    const Wide end = Below(2) == 0 ? LeastOf(dtype) : LargestOf(dtype);
    const Wide part = end / (Wide{1} << Below(3));
    return Wrapped(part > 0 ? part - Below(3) : part + Below(3), dtype);
  }
  Values AllValues() {
    Values values;
    for (const Var& var : vars_) values.Set(var, Value(var.dtype()));
    return values;
  }
  PrimExpr Constant(DType dtype) {
    return IntImm(dtype, static_cast<int64_t>(Value(dtype)));
  }
  PrimExpr Divisor(DType dtype) {
    const int64_t value = Below(8) == 0 ? static_cast<int64_t>(Value(dtype))
                                        : int64_t{1} + Below(8);
    const bool negative = dtype.is_int() && Below(4) == 0;
    return IntImm(dtype, value == 0              ? 1
                         : negative && value > 0 ? -value
                                                 : value);
  }
  Var Variable(DType dtype) {
    for (size_t i = 0; i < vars_.size(); i += 2) {
      if (vars_[i].dtype() == dtype) return vars_[i + Below(2)];
    }
    return {};
  }

  PrimExpr Number(DType dtype, int depth) {
    if (depth == 0 || Below(6) == 0) {
      return Below(3) == 0 ? Constant(dtype) : PrimExpr(Variable(dtype));
    }
    if (Below(4) == 0) return CastTo(dtype, Number(Type(), depth - 1));
    const PrimExpr a = Number(dtype, depth - 1);
    constexpr BinaryOp kOps[] = {BinaryOp::kAdd, BinaryOp::kSub, BinaryOp::kMul,
                                 BinaryOp::kMin, BinaryOp::kMax};
    constexpr BinaryOp kDivisions[] = {BinaryOp::kDiv, BinaryOp::kMod,
                                       BinaryOp::kFloorDiv,
                                       BinaryOp::kFloorMod};
    const int kind = Below(12);
    if (kind < 5) return MakeBinary(kOps[kind], a, Number(dtype, depth - 1));
    if (kind < 9) return MakeBinary(kDivisions[kind - 5], a, Divisor(dtype));
    if (kind == 9) return Mul(a, IntImm(dtype, 1 + Below(9)));
    if (kind == 10) {
      const PrimExpr condition = Condition(depth - 1);
      return Select(condition, a, Number(dtype, depth - 1));
    }
    constexpr const char* kCalls[] = {"shift_left", "shift_right",
                                      "bitwise_and"};
    const char* const name = kCalls[Below(3)];
    return Call(dtype, IntrinsicOp(name), {a, IntImm(dtype, Below(8))});
  }

  PrimExpr Condition(int depth) {
    if (depth > 0 && Below(3) == 0) {
      const PrimExpr a = Condition(depth - 1);
      if (Below(4) == 0) return Not(a);
      return MakeBinary(Below(2) == 0 ? BinaryOp::kAnd : BinaryOp::kOr, a,
                        Condition(depth - 1));
    }
    constexpr BinaryOp kCompare[] = {BinaryOp::kEQ, BinaryOp::kNE,
                                     BinaryOp::kLT, BinaryOp::kLE,
                                     BinaryOp::kGT, BinaryOp::kGE};
    const int below = depth > 0 ? depth - 1 : 0;
    const DType dtype = Type();
    const BinaryOp op = kCompare[Below(6)];
    const PrimExpr a = Number(dtype, below);
    return MakeBinary(op, a, Number(dtype, below));
  }

 private:
  std::mt19937_64 random_;
  std::vector<Var> vars_;
};

class TypeLaws : public ::testing::TestWithParam<int> {};

TEST_P(TypeLaws, SimplifiedExpressionsHaveTheSameValues) {
  RandomExprs random(GetParam());
  for (int i = 0; i < 1500; ++i) {
    const bool truth = random.Below(3) == 0;
    const PrimExpr e =
        truth ? random.Condition(3) : random.Number(random.Type(), 4);
    Analyzer analyzer;
    // Some variables have a range, which may be one value.
    std::vector<std::pair<Wide, Wide>> ranges;
    for (const Var& var : random.vars()) {
      const DType dtype = var.dtype();
      Wide min = LeastOf(dtype);
      Wide max = LargestOf(dtype);
      if (random.Below(3) == 0) {
        min = random.Value(dtype);
        max = std::min(min + random.Below(5), max);
        if (IsInType(max + 1, DType::Int(64))) {
          analyzer.Bind(
              var, Range{IntImm(dtype, static_cast<int64_t>(min)),
                         IntImm(dtype, static_cast<int64_t>(max - min + 1))});
        }
      }
      ranges.emplace_back(min, max);
    }
    PrimExpr constraint = IntImm::Bool(true);
    if (random.Below(3) == 0) constraint = random.Condition(1);
    const auto scope = analyzer.WithConstraint(constraint);
    const PrimExpr results[] = {
        analyzer.RewriteSimplify(e), analyzer.CanonicalSimplify(e),
        analyzer.Simplify(e),
        SimplifyAsAndOfOrs(truth ? e : IntImm::Bool(true), analyzer)};
    const ConstIntBound bound = analyzer.BoundOf(e);
    const ModularSet modular = analyzer.ModularSetOf(e);
    const IntSet set = analyzer.IntSetOf(e);
    for (int k = 0; k < 24; ++k) {
      Values values;
      for (size_t v = 0; v < ranges.size(); ++v) {
        const Var& var = random.vars()[v];
        const auto [min, max] = ranges[v];
        Wide value = random.Value(var.dtype());
        if (value < min || value > max) {
          value = min + Wide{random.Below(4)} * (max - min) / 3;
        }
        values.Set(var, value);
      }
      const std::optional<Wide> holds = Evaluate(constraint, values, true);
      if (!holds.has_value() || *holds == 0) continue;
      const std::optional<Wide> before = Evaluate(e, values, true);
      if (!before.has_value()) continue;
      for (size_t r = 0; r < (truth ? 4 : 3); ++r) {
        const std::optional<Wide> after = Evaluate(results[r], values, false);
        ASSERT_TRUE(after == before)
            << AsScript(e) << "\nis " << Text(*before) << ", not "
            << AsScript(results[r])
            << "\n= " << (after.has_value() ? Text(*after) : "nothing")
            << "\nwhere " << AsScript(constraint) << ", " << Text(values)
            << "; result " << r << " of seed " << GetParam();
      }
      ASSERT_TRUE(bound.min == ConstIntBound::kNegInf || *before >= bound.min)
          << AsScript(e) << " = " << Text(*before) << " < " << bound.min << " "
          << Text(values);
      ASSERT_TRUE(bound.max == ConstIntBound::kPosInf || *before <= bound.max)
          << AsScript(e) << " = " << Text(*before) << " > " << bound.max << " "
          << Text(values);
      const Wide offset = *before - modular.base;
      ASSERT_TRUE((modular.coeff == 0 ? offset : offset % modular.coeff) == 0)
          << AsScript(e) << " = " << Text(*before) << " is not "
          << modular.coeff << " * k + " << modular.base << " " << Text(values);
      for (const bool lower : {true, false}) {
        const PrimExpr& end = lower ? set.min() : set.max();
        if (!end.defined()) continue;
        const std::optional<Wide> limit = Evaluate(end, values, true);
        if (!limit.has_value()) continue;
        ASSERT_TRUE(lower ? *limit <= *before : *limit >= *before)
            << AsScript(e) << " = " << Text(*before) << " is not in "
            << Text(set) << " " << Text(values);
      }
    }
  }
}

TEST_P(TypeLaws, SetsHaveAllValues) {
  RandomExprs random(GetParam() + 100);
  for (int i = 0; i < 1500; ++i) {
    const PrimExpr e = random.Number(random.Type(), 3);
    Domains domains;
    Values least;
    Values extents;
    for (const Var& var : random.vars()) {
      if (random.Below(2) == 0) continue;
      const DType dtype = var.dtype();
      const Wide min = random.Value(dtype);
      const Wide extent =
          std::min<Wide>(1 + random.Below(6), LargestOf(dtype) - min + 1);
      least.Set(var, min);
      extents.Set(var, extent);
      domains.Set(var,
                  IntSet::Interval(
                      IntImm(dtype, static_cast<int64_t>(min)),
                      IntImm(dtype, static_cast<int64_t>(min + extent - 1))));
    }
    const IntSet set = EvalSet(e, domains);
    for (int k = 0; k < 16; ++k) {
      Values values = random.AllValues();
      for (const auto& [var, min] : least) {
        const auto extent = static_cast<int>(*extents.Find(var));
        values.Set(var, min + random.Below(extent));
      }
      const std::optional<Wide> value = Evaluate(e, values, true);
      if (!value.has_value()) continue;
      ASSERT_FALSE(set.IsNothing()) << AsScript(e);
      for (const bool lower : {true, false}) {
        const PrimExpr& end = lower ? set.min() : set.max();
        if (!end.defined()) continue;
        const std::optional<Wide> limit = Evaluate(end, values, true);
        if (!limit.has_value()) continue;
        ASSERT_TRUE(lower ? *limit <= *value : *limit >= *value)
            << AsScript(e) << " = " << Text(*value) << " is not in "
            << Text(set) << " " << Text(values) << " seed " << GetParam();
      }
    }
  }
}

// A narrowed predicate is true only where it is so for all free variables.
TEST_P(TypeLaws, NarrowedPredicatesHoldForAllValues) {
  RandomExprs random(GetParam() + 200);
  int narrowed = 0;
  for (int i = 0; i < 1500; ++i) {
    const PrimExpr condition = random.Condition(3);
    VarRanges free;
    Values least;
    Values extents;
    for (const Var& var : random.vars()) {
      if (random.Below(3) != 0) continue;
      const Wide min = Wrapped(random.Below(9) - 4, var.dtype());
      const int extent = 1 + random.Below(4);
      if (!IsInType(min + extent, var.dtype())) continue;
      least.Set(var, min);
      extents.Set(var, extent);
      free.Set(var, Range{IntImm(var.dtype(), static_cast<int64_t>(min)),
                          IntImm(var.dtype(), extent)});
    }
    const PrimExpr result = NarrowPredicateExpression(condition, free);
    for (int k = 0; k < 16; ++k) {
      Values values = random.AllValues();
      for (const auto& [var, min] : least) {
        const auto extent = static_cast<int>(*extents.Find(var));
        values.Set(var, min + random.Below(extent));
      }
      const std::optional<Wide> before = Evaluate(condition, values, true);
      const std::optional<Wide> after = Evaluate(result, values, true);
      if (!before.has_value() || !after.has_value() || *after == 0) continue;
      ++narrowed;
      ASSERT_TRUE(*before != 0)
          << AsScript(condition) << "\nnarrowed to\n"
          << AsScript(result) << "\nis false " << Text(values);
    }
  }
  EXPECT_GT(narrowed, 100);
}

// A narrowed predicate may be used after the memory has changed.
TEST_P(TypeLaws, NarrowedPredicatesReadNoMemory) {
  RandomExprs random(GetParam() + 700);
  std::vector<PrimExpr> loads;
  for (const Var& var : random.vars()) {
    BufferNode::Parts parts;
    parts.name = "B_" + var->name();
    parts.data = Var::Pointer(parts.name, var.dtype(), "global");
    parts.dtype = var.dtype();
    parts.shape = {IntImm(kInt32, 1)};
    loads.push_back(BufferLoad(Buffer(std::move(parts)), {IntImm(kInt32, 0)}));
  }
  int narrowed = 0;
  for (int i = 0; i < 1500; ++i) {
    std::vector<bool> is_read;
    for (size_t v = 0; v < loads.size(); ++v) {
      is_read.push_back(random.Below(4) == 0);
    }
    const PrimExpr condition =
        Substitute(random.Condition(3), [&](const VarNode* var) -> PrimExpr {
          for (size_t v = 0; v < loads.size(); ++v) {
            if (random.vars()[v].get() == var && is_read[v]) return loads[v];
          }
          return {};
        });
    VarRanges free;
    for (size_t v = 0; v < loads.size(); ++v) {
      const Var& var = random.vars()[v];
      if (random.Below(4) != 0) continue;
      free.Set(var, Range{IntImm(var.dtype(), 0), IntImm(var.dtype(), 4)});
    }
    const PrimExpr result = NarrowPredicateExpression(condition, free);
    ASSERT_FALSE(HasLoad(result)) << AsScript(condition) << "\nnarrowed to\n"
                                  << AsScript(result);
    if (HasLoad(condition) && !result.Is<IntImmNode>()) ++narrowed;
  }
  EXPECT_GT(narrowed, 100);
}

// A bound that is deduced makes the condition true.
TEST_P(TypeLaws, DeducedBoundsMakeConditionsTrue) {
  RandomExprs random(GetParam() + 300);
  int deduced = 0;
  for (int i = 0; i < 3000; ++i) {
    const DType dtype = random.Type();
    constexpr BinaryOp kCompare[] = {BinaryOp::kEQ, BinaryOp::kLT,
                                     BinaryOp::kLE, BinaryOp::kGT,
                                     BinaryOp::kGE};
    constexpr BinaryOp kOps[] = {BinaryOp::kAdd, BinaryOp::kSub, BinaryOp::kMul,
                                 BinaryOp::kFloorDiv};
    const Var target("t", dtype);
    PrimExpr e = target;
    for (int steps = 1 + random.Below(3); steps > 0; --steps) {
      const BinaryOp op = kOps[random.Below(4)];
      const PrimExpr other = op == BinaryOp::kFloorDiv
                                 ? random.Divisor(dtype)
                                 : random.Number(dtype, 0);
      e = op != BinaryOp::kFloorDiv && random.Below(3) == 0
              ? Binary(op, other, e)
              : Binary(op, e, other);
    }
    const PrimExpr limit = random.Number(dtype, 1);
    const BinaryOp op = kCompare[random.Below(5)];
    const PrimExpr condition =
        random.Below(2) == 0 ? Binary(op, e, limit) : Binary(op, limit, e);
    const IntSet set = DeduceBound(target, condition, {}, {});
    if (set.IsNothing()) continue;
    for (int k = 0; k < 24; ++k) {
      Values values = random.AllValues();
      const auto end = [&](const PrimExpr& b) -> std::optional<Wide> {
        return b.defined() ? Evaluate(b, values, true) : std::nullopt;
      };
      const std::optional<Wide> min = end(set.min());
      const std::optional<Wide> max = end(set.max());
      if ((set.min().defined() && !min.has_value()) ||
          (set.max().defined() && !max.has_value())) {
        continue;
      }
      Wide value = random.Value(dtype);
      if (random.Below(2) == 0 && min.has_value())
        value = *min + random.Below(3);
      if (random.Below(2) == 0 && max.has_value())
        value = *max - random.Below(3);
      if (!IsInType(value, dtype) || (min.has_value() && value < *min) ||
          (max.has_value() && value > *max)) {
        continue;
      }
      values.Set(target, value);
      const std::optional<Wide> holds = Evaluate(condition, values, true);
      if (!holds.has_value()) continue;
      ++deduced;
      ASSERT_TRUE(*holds != 0) << AsScript(condition) << " in " << Text(set)
                               << " is false " << Text(values);
    }
  }
  EXPECT_GT(deduced, 100);
}

TEST_P(TypeLaws, LinearEquationsKeepValues) {
  RandomExprs random(GetParam() + 400);
  int detected = 0;
  for (int i = 0; i < 3000; ++i) {
    const DType dtype = random.Below(2) == 0 ? kInt32 : DType::Int(64);
    const std::vector<Var> vars = {Var("i", dtype), Var("j", dtype)};
    PrimExpr e = random.Constant(dtype);
    for (int terms = 1 + random.Below(4); terms > 0; --terms) {
      const Var& var = vars[random.Below(2)];
      PrimExpr term = var;
      if (random.Below(2) == 0)
        term = Binary(BinaryOp::kMul, term, random.Constant(dtype));
      if (random.Below(3) == 0)
        term = Binary(BinaryOp::kSub, random.Constant(dtype), term);
      e = Binary(random.Below(3) == 0 ? BinaryOp::kSub : BinaryOp::kAdd, e,
                 term);
      if (random.Below(6) == 0)
        e = Binary(BinaryOp::kMul, e, random.Constant(dtype));
    }
    const std::vector<PrimExpr> factors = DetectLinearEquation(e, vars);
    const PrimExpr limit = random.Constant(dtype);
    const PrimExpr condition =
        Binary(random.Below(2) == 0 ? BinaryOp::kLE : BinaryOp::kLT,
               random.Below(2) == 0 ? e : PrimExpr(vars[0]), limit);
    const std::vector<PrimExpr> clip = DetectClipBound(condition, vars);
    for (int k = 0; k < 12; ++k) {
      Values values;
      for (const Var& var : vars) {
        values.Set(
            var, k % 2 == 0 ? Wide{random.Below(5) - 2} : random.Value(dtype));
      }
      const std::optional<Wide> value = Evaluate(e, values, true);
      if (value.has_value() && !factors.empty()) {
        ++detected;
        Wide sum = *Evaluate(factors.back(), values, false);
        for (size_t v = 0; v < vars.size(); ++v) {
          const std::optional<Wide> product =
              WideBinary(BinaryOp::kMul, *Evaluate(factors[v], values, false),
                         *values.Find(vars[v]));
          ASSERT_TRUE(product.has_value());
          sum += *product;
        }
        ASSERT_TRUE(sum == *value)
            << AsScript(e) << " = " << Text(*value) << " is not "
            << AsScript(factors[0]) << " * i + " << AsScript(factors[1])
            << " * j + " << AsScript(factors[2]) << " " << Text(values);
      }
      const std::optional<Wide> holds = Evaluate(condition, values, true);
      if (!holds.has_value() || clip.empty()) continue;
      bool inside = true;
      for (size_t v = 0; v < clip.size(); ++v) {
        if (!clip[v].defined()) continue;
        const Wide end = *Evaluate(clip[v], values, false);
        const Wide var = *values.Find(vars[v / 2]);
        inside = inside && (v % 2 == 0 ? end <= var : var <= end);
      }
      ASSERT_EQ(*holds != 0, inside)
          << AsScript(condition) << " " << Text(values);
    }
  }
  EXPECT_GT(detected, 100);
}

// Systems whose factors leave 64 bits on the way are not solved.
TEST_P(TypeLaws, SolutionsOfLinearEquationsSolveThem) {
  RandomExprs random(GetParam() + 500);
  int solved = 0;
  for (int i = 0; i < 400; ++i) {
    const DType dtype = random.Below(2) == 0 ? kInt32 : DType::Int(64);
    const std::vector<Var> vars = {Var("i", dtype), Var("j", dtype),
                                   Var("k", dtype)};
    std::vector<PrimExpr> equations;
    Values known;
    for (const Var& var : vars) known.Set(var, random.Below(9) - 4);
    const bool large = random.Below(2) == 0;
    for (int rows = 1 + random.Below(3); rows > 0; --rows) {
      PrimExpr sum = MakeConst(dtype, 0);
      for (const Var& var : vars) {
        const PrimExpr factor =
            large ? random.Constant(dtype)
                  : PrimExpr(IntImm(dtype, random.Below(9) - 4));
        sum = Add(sum, Mul(var, factor));
      }
      const std::optional<Wide> right = Evaluate(sum, known, true);
      if (!right.has_value()) continue;
      equations.push_back(Binary(BinaryOp::kEQ, sum,
                                 IntImm(dtype, static_cast<int64_t>(*right))));
    }
    const LinearSolution solution = SolveLinearEquations(vars, {}, equations);
    ASSERT_TRUE(solution.solvable);
    for (int k = 0; k < 8; ++k) {
      Values values;
      for (const Var& var : solution.vars) values.Set(var, random.Below(9) - 4);
      bool holds = true;
      for (const PrimExpr& relation : solution.relations) {
        const std::optional<Wide> value = Evaluate(relation, values, true);
        holds = holds && value.has_value() && *value != 0;
      }
      if (!holds) continue;
      Values solved_values;
      bool defined = true;
      for (const Var& var : vars) {
        const std::optional<Wide> value =
            Evaluate(*solution.values.Find(var), values, true);
        defined = defined && value.has_value();
        solved_values.Set(var, value.value_or(0));
      }
      if (!defined) continue;
      for (const PrimExpr& equation : equations) {
        const std::optional<Wide> value =
            Evaluate(equation, solved_values, true);
        if (!value.has_value()) continue;
        ++solved;
        ASSERT_TRUE(*value != 0)
            << AsScript(equation) << " " << Text(solved_values);
      }
    }
  }
  EXPECT_GT(solved, 100);
}

// Maps of iterators whose extents have large products.
TEST_P(TypeLaws, IterationMapsKeepValues) {
  RandomExprs random(GetParam() + 600);
  int detected = 0;
  for (int i = 0; i < 600; ++i) {
    const DType dtype = random.Below(2) == 0 ? kInt32 : DType::Int(64);
    constexpr int64_t kSizes[] = {1,     2,     3,       4,
                                  46341, 65536, 1 << 20, int64_t{1} << 30};
    const std::vector<Var> vars = {Var("i", dtype), Var("j", dtype),
                                   Var("k", dtype)};
    const auto constant = [&](int64_t value) -> PrimExpr {
      return IntImm(dtype, value);
    };
    VarRanges ranges;
    std::vector<int64_t> extents;
    PrimExpr fused = constant(0);
    for (const Var& var : vars) {
      extents.push_back(kSizes[random.Below(8)]);
      ranges.Set(var, Range{constant(0), constant(extents.back())});
      fused =
          Add(MakeBinary(BinaryOp::kMul, fused, constant(extents.back())), var);
    }
    if (random.Below(4) == 0) fused = Mul(vars[1], random.Constant(dtype));
    const PrimExpr factor = constant(kSizes[random.Below(8)]);
    const PrimExpr other = constant(kSizes[random.Below(8)]);
    std::vector<PrimExpr> indices = {
        MakeBinary(BinaryOp::kFloorDiv, fused, factor),
        MakeBinary(BinaryOp::kFloorMod, fused, factor)};
    if (random.Below(2) == 0) {
      indices[0] = MakeBinary(BinaryOp::kFloorMod, indices[0], other);
    }
    PrimExpr predicate = IntImm::Bool(true);
    if (random.Below(3) == 0) {
      predicate =
          MakeBinary(random.Below(2) == 0 ? BinaryOp::kLE : BinaryOp::kLT,
                     vars[random.Below(3)], random.Constant(dtype));
    }
    for (const IterMapLevel level :
         {IterMapLevel::kBijective, IterMapLevel::kSurjective,
          IterMapLevel::kNoCheck}) {
      Analyzer analyzer;
      const IterMapResult map =
          DetectIterMap(indices, ranges, predicate, level, analyzer);
      Analyzer other_analyzer;
      const std::vector<PrimExpr> simplified =
          IterMapSimplify(indices, ranges, predicate, level, other_analyzer);
      for (int n = 0; n < 12; ++n) {
        Values values;
        for (size_t v = 0; v < vars.size(); ++v) {
          const Wide end = extents[v] - 1;
          const Wide value =
              random.Below(2) == 0 ? random.Below(4) : end - random.Below(4);
          values.Set(vars[v], std::clamp<Wide>(value, 0, end));
        }
        const std::optional<Wide> holds = Evaluate(predicate, values, true);
        if (!holds.has_value() || *holds == 0) continue;
        for (size_t k = 0; k < indices.size(); ++k) {
          const std::optional<Wide> before = Evaluate(indices[k], values, true);
          if (!before.has_value()) continue;
          const std::optional<Wide> after =
              Evaluate(simplified[k], values, false);
          ASSERT_TRUE(before == after)
              << AsScript(indices[k]) << " = " << Text(*before) << ", not\n"
              << AsScript(simplified[k]) << " = " << Text(after.value_or(-1))
              << " " << Text(values);
          if (map.indices.empty()) continue;
          ++detected;
          const PrimExpr normal = NormalizeIterMapToExpr(map.indices[k]);
          ASSERT_TRUE(Evaluate(normal, values, false) == before)
              << AsScript(indices[k]) << " is not " << AsScript(normal) << " "
              << Text(values);
        }
      }
    }
  }
  EXPECT_GT(detected, 100);
}

// A condition on an iterator, of whatever type, leaves the iterator all values
// for which it is true.
TEST_P(TypeLaws, BoundsOfIteratorsHaveAllValues) {
  RandomExprs random(GetParam() + 800);
  int detected = 0;
  for (int i = 0; i < 600; ++i) {
    const DType dtype = random.Type();
    const Var var("i", dtype);
    const int extent = 2 + random.Below(6);
    const VarRanges ranges = {
        {var, Range{IntImm(dtype, 0), IntImm(dtype, extent)}}};
    constexpr BinaryOp kCompare[] = {BinaryOp::kLT, BinaryOp::kLE,
                                     BinaryOp::kGT, BinaryOp::kGE};
    const BinaryOp op = kCompare[random.Below(4)];
    const PrimExpr limit = random.Constant(dtype);
    const PrimExpr predicate =
        random.Below(2) == 0 ? Binary(op, var, limit) : Binary(op, limit, var);
    Analyzer analyzer;
    const IterMapResult map = DetectIterMap({var}, ranges, predicate,
                                            IterMapLevel::kNoCheck, analyzer);
    if (map.indices.empty()) continue;
    const IterSum& sum = map.indices[0];
    for (int v = 0; v < extent; ++v) {
      Values values;
      values.Set(var, v);
      if (*Evaluate(predicate, values, true) == 0) continue;
      ++detected;
      const Wide base = *Evaluate(sum.base, values, false);
      const Wide size =
          sum.args.empty() ? 1 : *Evaluate(sum.args[0].extent, values, false);
      ASSERT_TRUE(base <= v && v < base + size)
          << AsScript(predicate) << " has " << v << ", not in " << Text(base)
          << " + " << Text(size);
    }
  }
  EXPECT_GT(detected, 100);
}

TEST(CoverRange, IsTheGivenOneWhereItsExtentIsOutOfRange) {
  const Range given = {IntImm(kInt32, 0), IntImm(kInt32, 7)};
  const IntSet all =
      IntSet::Interval(IntImm(kInt32, 0), IntImm(kInt32, 2147483647));
  EXPECT_EQ(AsScript(all.CoverRange(given).extent), "7");
  const IntSet most =
      IntSet::Interval(IntImm(kInt32, 1), IntImm(kInt32, 2147483647));
  EXPECT_EQ(AsScript(most.CoverRange(given).extent), "2147483647");
}

INSTANTIATE_TEST_SUITE_P(Seeds, TypeLaws, ::testing::Range(0, 8));

}  // namespace
}  // namespace baton::tir
