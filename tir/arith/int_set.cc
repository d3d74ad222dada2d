#include "baton/tir/arith/int_set.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "baton/base/deep_stack.h"
#include "baton/base/dtype.h"
#include "baton/tir/arith/analyzer.h"
#include "baton/tir/arith/const_int_bound.h"
#include "baton/tir/arith/fold_wraps.h"
#include "baton/tir/arith/int_set_analyzer.h"
#include "baton/tir/arith/integer.h"
#include "baton/tir/arith/pattern.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/fold.h"
#include "baton/tir/ir/functor.h"

namespace baton::tir {
namespace {

PrimExpr Folded(BinaryOp op, const PrimExpr& a, const PrimExpr& b) {
  PrimExpr folded = TryFold(op, a, b);
  return folded.defined() ? folded : Binary(op, a, b);
}

// The operation on two bounds; null, which is no bound, if one is infinite or if
// the result is out of range.
PrimExpr BothBounds(BinaryOp op, const PrimExpr& a, const PrimExpr& b) {
  if (!a.defined() || !b.defined() || FoldWraps(op, a, b)) return {};
  return MakeBinary(op, a, b);
}
// The operation on two bounds; the other one if one is infinite.
PrimExpr EitherBound(BinaryOp op, const PrimExpr& a, const PrimExpr& b) {
  if (!a.defined()) return b;
  return b.defined() ? MakeBinary(op, a, b) : a;
}

PrimExpr Negate(const PrimExpr& e) { return Sub(MakeConst(e.dtype(), 0), e); }
PrimExpr PlusConstant(const PrimExpr& e, int64_t value) {
  if (!e.defined()) return e;
  return value >= 0 ? Add(e, MakeConst(e.dtype(), value))
                    : Sub(e, MakeConst(e.dtype(), -value));
}
PrimExpr Absolute(const PrimExpr& e) {
  if (const auto* imm = e.As<IntImmNode>()) {
    return MakeConst(e.dtype(), imm->value() < 0 ? WrappedSub(0, imm->value())
                                                 : imm->value());
  }
  return Select(MakeBinary(BinaryOp::kGE, e, MakeConst(e.dtype(), 0)), e,
                Negate(e));
}

bool IsPositive(const PrimExpr& e) {
  const auto* imm = e.As<IntImmNode>();
  return imm != nullptr && imm->value() > 0;
}
bool IsNegative(const PrimExpr& e) {
  const auto* imm = e.As<IntImmNode>();
  return imm != nullptr && imm->value() < 0;
}

PrimExpr SimplifyBound(Analyzer& analyzer, const PrimExpr& e) {
  return e.defined() ? analyzer.Simplify(e) : e;
}

IntSet MakeSet(PrimExpr min, PrimExpr max) {
  return IntSet::Interval(std::move(min), std::move(max));
}

}  // namespace

// --- IntSet ------------------------------------------------------------------

IntSet IntSet::Interval(PrimExpr min, PrimExpr max) {
  return {std::move(min), std::move(max)};
}

IntSet IntSet::FromMinExtent(const PrimExpr& min, const PrimExpr& extent) {
  if (IsOne(extent)) return SinglePoint(min);
  return {min, PlusConstant(Add(extent, min), -1)};
}

IntSet IntSet::Vector(const PrimExpr& vector) {
  if (vector.dtype().lanes() == 1) return SinglePoint(vector);
  Analyzer analyzer;
  const Domains none;
  return IntSetEvaluator(analyzer, none).Eval(vector);
}

bool IntSet::CanProveSinglePoint(Analyzer& analyzer) const {
  if (IsSinglePoint()) return true;
  return min_.defined() && max_.defined() && analyzer.CanProveEqual(min_, max_);
}
bool IntSet::CanProvePositive() const {
  return min_.defined() && IsPositive(Analyzer().Simplify(min_));
}
bool IntSet::CanProveNegative() const {
  return max_.defined() && IsNegative(Analyzer().Simplify(max_));
}
SignType IntSet::GetSignType() const {
  if (CanProvePositive()) return SignType::kPositive;
  if (CanProveNegative()) return SignType::kNegative;
  if (IsSinglePoint() && IsZero(min_)) return SignType::kZero;
  return SignType::kUnknown;
}

Range IntSet::CoverRange(const Range& max_range) const {
  if (!HasLowerBound() || !HasUpperBound()) return max_range;
  const auto* first = min_.As<IntImmNode>();
  const auto* last = max_.As<IntImmNode>();
  if (first != nullptr && last != nullptr) {
    int64_t extent = 0;
    if (__builtin_sub_overflow(last->value(), first->value(), &extent) ||
        __builtin_add_overflow(extent, 1, &extent) ||
        !FitsDType(extent, max_.dtype())) {
      return max_range;
    }
  }
  Analyzer analyzer;
  return {analyzer.Simplify(min_),
          analyzer.Simplify(Sub(PlusConstant(max_, 1), min_))};
}

// --- Sets of sets ------------------------------------------------------------

IntSet Union(Analyzer& /*analyzer*/, const IntSet& a, const IntSet& b) {
  if (a.IsNothing()) return b;
  if (b.IsNothing()) return a;
  return MakeSet(BothBounds(BinaryOp::kMin, a.min(), b.min()),
                 BothBounds(BinaryOp::kMax, a.max(), b.max()));
}

IntSet Intersect(Analyzer& analyzer, const IntSet& a, const IntSet& b) {
  if (a.IsNothing() || b.IsNothing()) return IntSet::Nothing();
  PrimExpr max = EitherBound(BinaryOp::kMin, a.max(), b.max());
  PrimExpr min = EitherBound(BinaryOp::kMax, a.min(), b.min());
  if (min.defined() && max.defined() &&
      analyzer.CanProve(MakeBinary(BinaryOp::kLT, max, min))) {
    return IntSet::Nothing();
  }
  return MakeSet(std::move(min), std::move(max));
}

namespace {
template <typename Fn>
IntSet Fold(absl::Span<const IntSet> sets, Fn fn) {
  if (sets.empty()) return IntSet::Nothing();
  if (sets.size() == 1) return sets[0];
  Analyzer analyzer;
  IntSet result = sets[0];
  for (size_t i = 1; i < sets.size(); ++i) {
    result = fn(analyzer, result, sets[i]);
  }
  if (result.IsNothing()) return result;
  return MakeSet(SimplifyBound(analyzer, result.min()),
                 SimplifyBound(analyzer, result.max()));
}
template <typename Fn>
std::vector<IntSet> FoldRegions(absl::Span<const std::vector<IntSet>> regions,
                                Fn fn) {
  std::vector<IntSet> result;
  if (regions.empty()) return result;
  for (size_t i = 0; i < regions[0].size(); ++i) {
    std::vector<IntSet> sets;
    for (const std::vector<IntSet>& region : regions) {
      sets.push_back(region[i]);
    }
    result.push_back(fn(sets));
  }
  return result;
}
}  // namespace

IntSet Union(absl::Span<const IntSet> sets) {
  return Fold(sets, [](Analyzer& analyzer, const IntSet& a, const IntSet& b) {
    return Union(analyzer, a, b);
  });
}
IntSet Intersect(absl::Span<const IntSet> sets) {
  return Fold(sets, [](Analyzer& analyzer, const IntSet& a, const IntSet& b) {
    return Intersect(analyzer, a, b);
  });
}

IntSet UnionLowerBound(absl::Span<const IntSet> sets) {
  if (sets.empty()) return IntSet::Nothing();
  if (sets.size() == 1) return sets[0];
  Analyzer analyzer;
  IntSet result;
  for (const IntSet& set : sets) {
    if (set.IsNothing()) continue;
    if (result.IsNothing()) {
      result = set;
      continue;
    }
    // The sets join where neither begins after the end of the other.
    const auto joins = [&](const IntSet& a, const IntSet& b) {
      return !a.min().defined() || !b.max().defined() ||
             analyzer.CanProve(
                 MakeBinary(BinaryOp::kLE, a.min(), PlusConstant(b.max(), 1)));
    };
    if (joins(set, result) && joins(result, set)) {
      result = Union(analyzer, result, set);
    }
  }
  return result;
}

std::vector<IntSet> UnionRegion(absl::Span<const std::vector<IntSet>> regions) {
  return FoldRegions(
      regions, [](const std::vector<IntSet>& sets) { return Union(sets); });
}
std::vector<IntSet> UnionRegionLowerBound(
    absl::Span<const std::vector<IntSet>> regions) {
  return FoldRegions(regions, [](const std::vector<IntSet>& sets) {
    return UnionLowerBound(sets);
  });
}

Domains AsIntSets(const VarRanges& ranges) {
  Domains domains;
  for (const auto& [var, range] : ranges) {
    domains.Set(var, IntSet::FromRange(range));
  }
  return domains;
}

// --- Evaluation --------------------------------------------------------------

IntSet IntSetEvaluator::Eval(const PrimExpr& e) {
  IntSet set = OnDeepStack([&] { return Visit(e); });
  if (record_ != nullptr) record_->emplace_back(e, set);
  return set;
}

IntSet IntSetEvaluator::Eval(const IntSet& set) {
  // Bounds of bounds are found to the number of variables, so that bounds that
  // depend on each other end.
  if (set.IsNothing() || depth_ >= domains_.size()) return set;
  if (depth_ == 0) bounds_of_bounds_ = 0;
  if (++bounds_of_bounds_ > kMaxBoundsOfBounds) return IntSet::Everything();
  ++depth_;
  const IntSet min =
      set.min().defined() ? Eval(set.min()) : IntSet::Everything();
  const IntSet max =
      set.max().defined() ? Eval(set.max()) : IntSet::Everything();
  --depth_;
  if (min.IsNothing() || max.IsNothing()) return IntSet::Nothing();
  return MakeSet(min.min(), max.max());
}

IntSet IntSetEvaluator::VisitVar(const PrimExpr& e) {
  const auto* var = e.As<VarNode>();
  std::vector<IntSet> sets;
  if (scoped_ != nullptr) {
    const absl::Span<const IntSet> scoped = scoped_->Find(var);
    sets.assign(scoped.begin(), scoped.end());
  }
  if (const IntSet* set = domains_.Find(var)) sets.push_back(*set);
  if (sets.empty()) return IntSet::SinglePoint(e);
  const IntSet set = sets.size() == 1 ? sets[0] : Intersect(sets);
  if (set.min() == e && set.max() == e) return set;
  return Eval(set);
}

IntSet IntSetEvaluator::Visit(const PrimExpr& e) {
  switch (e->kind().To<TirKind>()) {
    case TirKind::kIntImm:
      return IntSet::SinglePoint(e);
    case TirKind::kVar:
      return VisitVar(e);
    case TirKind::kBinary:
      return VisitBinary(e.As<BinaryNode>());
    case TirKind::kRamp: {
      const auto* ramp = e.As<RampNode>();
      const IntSet base = Eval(ramp->base());
      const auto* stride = ramp->stride().As<IntImmNode>();
      if (stride == nullptr) return IntSet::Everything();
      const DType dtype = ramp->base().dtype();
      PrimExpr zero = MakeConst(dtype, 0);
      int64_t reach = 0;
      if (__builtin_mul_overflow(stride->value(), ramp->lanes() - 1, &reach) ||
          !FitsDType(reach, dtype)) {
        return IntSet::Everything();
      }
      PrimExpr last = MakeConst(dtype, reach);
      return Combine(
          BinaryOp::kAdd, dtype, base,
          stride->value() > 0 ? MakeSet(zero, last) : MakeSet(last, zero));
    }
    case TirKind::kBroadcast:
      return Eval(e.As<BroadcastNode>()->value());
    case TirKind::kSelect: {
      const auto* select = e.As<SelectNode>();
      const IntSet true_set = Eval(select->true_value());
      const IntSet false_set = Eval(select->false_value());
      return Union(analyzer_, false_set, true_set);
    }
    case TirKind::kCast: {
      const IntSet set = Eval(e.As<CastNode>()->value());
      if (set.IsNothing()) return set;
      if (set.IsSinglePoint()) {
        return IntSet::SinglePoint(CastTo(e.dtype(), set.min()));
      }
      if (!KeepsOrder(set, e.As<CastNode>()->value().dtype(), e.dtype())) {
        return IntSet::Everything();
      }
      const auto cast = [&](const PrimExpr& bound) {
        // A constant that is out of range is no bound.
        const auto* imm = bound.defined() ? bound.As<IntImmNode>() : nullptr;
        const bool fits = imm == nullptr || !e.dtype().is_integral() ||
                          FitsDType(imm->value(), e.dtype());
        return bound.defined() && fits ? CastTo(e.dtype(), bound) : PrimExpr();
      };
      return MakeSet(cast(set.min()), cast(set.max()));
    }
    case TirKind::kBufferLoad: {
      // An element is a point unless its place varies.
      if (!e.dtype().is_integral()) return IntSet::Everything();
      for (const PrimExpr& index : e.As<BufferLoadNode>()->indices()) {
        if (UsesVar(index, [this](const VarNode* var) {
              return domains_.Contains(var);
            })) {
          return IntSet::Everything();
        }
      }
      return IntSet::SinglePoint(e);
    }
    default:
      return IntSet::Everything();
  }
}

IntSet IntSetEvaluator::VisitBinary(const BinaryNode* node) {
  const IntSet a = Eval(node->a());
  const IntSet b = Eval(node->b());
  if (a.IsSinglePoint() && b.IsSinglePoint() && a.min() == node->a() &&
      b.min() == node->b()) {
    return IntSet::SinglePoint(PrimExpr(node));
  }
  if (IsLogical(node->op()) && !(a.IsSinglePoint() && b.IsSinglePoint())) {
    return MakeSet(MakeConst(node->dtype(), 0), MakeConst(node->dtype(), 1));
  }
  return Combine(node->op(), node->a().dtype(), a, b);
}

// The constant bounds of `set`, whose elements have type `dtype`.
IntSetEvaluator::WideBound IntSetEvaluator::BoundOf(const IntSet& set,
                                                    DType dtype) {
  const ConstIntBound all = ConstIntBounds::Everything(dtype);
  const int64_t min = set.min().defined()
                          ? std::max(analyzer_.BoundOf(set.min()).min, all.min)
                          : all.min;
  const int64_t max = set.max().defined()
                          ? std::min(analyzer_.BoundOf(set.max()).max, all.max)
                          : all.max;
  const bool is_infinite = max == ConstIntBound::kPosInf;
  return {min, is_infinite ? (static_cast<__int128>(1) << 64) - 1 : max};
}

bool IntSetEvaluator::IsInType(WideBound bound, DType dtype) {
  const int bits = dtype.bits() - (dtype.is_int() ? 1 : 0);
  const __int128 end = static_cast<__int128>(1) << bits;
  return bound.min >= (dtype.is_int() ? -end : 0) && bound.max < end;
}

// True if the bounds of `set`, converted, are bounds of what is converted.
bool IntSetEvaluator::KeepsOrder(const IntSet& set, DType from, DType to) {
  if (!from.is_integral() || !to.is_integral()) return !to.is_bool();
  // Indices are assumed to be in range.
  if (from.is_int() && !IsModular(to)) return true;
  return IsInType(BoundOf(set, from), to);
}

// False if elements of `a` and `b`, of type `dtype`, may have a result that
// wraps around.
bool IntSetEvaluator::StaysInType(BinaryOp op, const IntSet& a, const IntSet& b,
                                  DType dtype) {
  if (!IsModular(dtype)) return true;
  const WideBound x = BoundOf(a, dtype);
  const WideBound y = BoundOf(b, dtype);
  switch (op) {
    case BinaryOp::kAdd:
      return IsInType({x.min + y.min, x.max + y.max}, dtype);
    case BinaryOp::kSub:
      return IsInType({x.min - y.max, x.max - y.min}, dtype);
    case BinaryOp::kMul: {
      // Products of numbers of 64 bits may be beyond 128 bits.
      if (dtype.bits() == 64) return false;
      const __int128 corners[] = {x.min * y.min, x.min * y.max, x.max * y.min,
                                  x.max * y.max};
      return IsInType(
          {*std::min_element(std::begin(corners), std::end(corners)),
           *std::max_element(std::begin(corners), std::end(corners))},
          dtype);
    }
    default:
      // The negation of the least integer.
      return y.min > -1 || y.max < -1 || IsInType({-x.max, -x.min}, dtype);
  }
}

// a * factor, a / factor or a // factor.
IntSet IntSetEvaluator::Scale(BinaryOp op, const IntSet& a,
                              const PrimExpr& factor) {
  const auto scaled = [&](const PrimExpr& bound) {
    return BothBounds(op, bound, factor);
  };
  if (analyzer_.CanProveGreaterEqual(factor, 0)) {
    return MakeSet(scaled(a.min()), scaled(a.max()));
  }
  if (analyzer_.CanProveGreaterEqual(Negate(factor), 1)) {
    return MakeSet(scaled(a.max()), scaled(a.min()));
  }
  if (a.HasLowerBound() && a.HasUpperBound()) {
    const PrimExpr sign =
        MakeBinary(BinaryOp::kGE, factor, MakeConst(factor.dtype(), 0));
    const PrimExpr e1 = scaled(a.min());
    const PrimExpr e2 = scaled(a.max());
    if (!e1.defined() || !e2.defined()) return IntSet::Everything();
    return MakeSet(Select(sign, e1, e2), Select(sign, e2, e1));
  }
  return IntSet::Everything();
}

IntSet IntSetEvaluator::Rest(BinaryOp op, const IntSet& a,
                             const PrimExpr& divisor) {
  if (!divisor.dtype().is_uint() &&
      !analyzer_.CanProveGreaterEqual(divisor, 0)) {
    const PrimExpr bound = PlusConstant(Absolute(divisor), -1);
    return MakeSet(Negate(bound), bound);
  }
  const PrimExpr greatest = PlusConstant(divisor, -1);
  if (op == BinaryOp::kMod && !divisor.dtype().is_uint()) {
    // The rest has the sign of the dividend.
    if (a.HasLowerBound() && analyzer_.CanProveGreaterEqual(a.min(), 0)) {
      return MakeSet(MakeConst(divisor.dtype(), 0), greatest);
    }
    return MakeSet(Negate(greatest), greatest);
  }
  if (divisor.Is<IntImmNode>() && a.HasLowerBound() && a.HasUpperBound()) {
    // Between two multiples the rest is a difference.
    const PrimExpr high = MakeBinary(BinaryOp::kFloorDiv, a.max(), divisor);
    const PrimExpr low = MakeBinary(BinaryOp::kFloorDiv, a.min(), divisor);
    if (analyzer_.CanProve(MakeBinary(BinaryOp::kEQ, high, low))) {
      const PrimExpr multiple = Mul(divisor, low);
      return MakeSet(Sub(a.min(), multiple), Sub(a.max(), multiple));
    }
  }
  return MakeSet(MakeConst(divisor.dtype(), 0), greatest);
}

IntSet IntSetEvaluator::Combine(BinaryOp op, DType dtype, const IntSet& left,
                                const IntSet& right) {
  if (left.IsSinglePoint() && right.IsSinglePoint()) {
    return IntSet::SinglePoint(IsLogical(op)
                                   ? Folded(op, left.min(), right.min())
                                   : MakeBinary(op, left.min(), right.min()));
  }
  if (left.IsNothing()) return left;
  if (right.IsNothing()) return right;
  if (op <= BinaryOp::kFloorMod && !StaysInType(op, left, right, dtype)) {
    return IntSet::Everything();
  }
  switch (op) {
    case BinaryOp::kAdd:
      return MakeSet(BothBounds(op, left.min(), right.min()),
                     BothBounds(op, left.max(), right.max()));
    case BinaryOp::kSub:
      return MakeSet(BothBounds(op, left.min(), right.max()),
                     BothBounds(op, left.max(), right.min()));
    case BinaryOp::kMin:
      return MakeSet(BothBounds(op, left.min(), right.min()),
                     EitherBound(op, left.max(), right.max()));
    case BinaryOp::kMax:
      return MakeSet(EitherBound(op, left.min(), right.min()),
                     BothBounds(op, left.max(), right.max()));
    case BinaryOp::kMul: {
      const IntSet& a = left.IsSinglePoint() ? right : left;
      const IntSet& b = left.IsSinglePoint() ? left : right;
      if (!b.IsSinglePoint()) return IntSet::Everything();
      if (IsZero(b.min())) return b;
      if (IsOne(b.min())) return a;
      return Scale(op, a, b.min());
    }
    case BinaryOp::kDiv:
    case BinaryOp::kFloorDiv:
      if (!right.IsSinglePoint() || IsZero(right.min())) {
        return IntSet::Everything();
      }
      if (IsOne(right.min())) return left;
      return Scale(op, left, right.min());
    case BinaryOp::kMod:
    case BinaryOp::kFloorMod:
      if (!right.IsSinglePoint() || IsZero(right.min())) {
        return IntSet::Everything();
      }
      return Rest(op, left, right.min());
    default:
      return IntSet::Everything();
  }
}

IntSet EvalSet(const PrimExpr& e, const Domains& domains) {
  Analyzer analyzer;
  return IntSetEvaluator(analyzer, domains).Eval(e);
}

IntSet EvalSet(const Range& range, const Domains& domains) {
  Analyzer analyzer;
  IntSetEvaluator evaluator(analyzer, domains);
  if (range.min.dtype().is_integral() &&
      analyzer.CanProveEqual(range.extent, IntImm(kInt32, 1))) {
    return evaluator.Eval(range.min);
  }
  // Variables that the minimum and the extent share may cancel out.
  return evaluator.Eval(MakeSet(
      range.min,
      analyzer.Simplify(PlusConstant(Add(range.min, range.extent), -1))));
}

IntSet EvalSet(const IntSet& set, const Domains& domains) {
  if (set.IsNothing()) return set;
  Analyzer analyzer;
  IntSetEvaluator evaluator(analyzer, domains);
  PrimExpr max =
      set.max().defined() ? evaluator.Eval(set.max()).max() : PrimExpr();
  PrimExpr min =
      set.min().defined() ? evaluator.Eval(set.min()).min() : PrimExpr();
  return MakeSet(std::move(min), std::move(max));
}

std::vector<IntSet> EvalSet(absl::Span<const Range> region,
                            const Domains& domains) {
  Analyzer analyzer;
  IntSetEvaluator evaluator(analyzer, domains);
  std::vector<IntSet> sets;
  for (const Range& range : region) {
    sets.push_back(evaluator.Eval(MakeSet(
        range.min,
        analyzer.Simplify(Add(range.min, PlusConstant(range.extent, -1))))));
  }
  return sets;
}

std::vector<std::pair<PrimExpr, IntSet>> EvalSetForEachSubExpr(
    const PrimExpr& e, const Domains& domains) {
  Analyzer analyzer;
  IntSetEvaluator evaluator(analyzer, domains);
  std::vector<std::pair<PrimExpr, IntSet>> record;
  evaluator.set_record(&record);
  evaluator.Eval(e);
  return record;
}

// --- Sets in scope -----------------------------------------------------------

void IntSets::Enter(const PrimExpr& condition) {
  for (const PrimExpr& part : ExtractConstraints(condition)) {
    const auto* compare = part.As<BinaryNode>();
    if (compare == nullptr || !IsComparison(compare->op()) ||
        !compare->a().dtype().is_integral()) {
      continue;
    }
    const auto add = [&](const PrimExpr& side, BinaryOp op,
                         const PrimExpr& limit) {
      const auto* node = side.As<VarNode>();
      if (node == nullptr) return;
      const Var var(node);
      switch (op) {
        case BinaryOp::kLE:
          scoped_.Push(var, MakeSet({}, limit));
          return;
        case BinaryOp::kLT:
          scoped_.Push(var, MakeSet({}, PlusConstant(limit, -1)));
          return;
        case BinaryOp::kGE:
          scoped_.Push(var, MakeSet(limit, {}));
          return;
        case BinaryOp::kGT:
          scoped_.Push(var, MakeSet(PlusConstant(limit, 1), {}));
          return;
        case BinaryOp::kEQ:
          scoped_.Push(var, IntSet::SinglePoint(limit));
          return;
        default:
          return;
      }
    };
    const auto turned = [](BinaryOp op) {
      switch (op) {
        case BinaryOp::kLE:
          return BinaryOp::kGE;
        case BinaryOp::kLT:
          return BinaryOp::kGT;
        case BinaryOp::kGE:
          return BinaryOp::kLE;
        case BinaryOp::kGT:
          return BinaryOp::kLT;
        default:
          return op;
      }
    };
    add(compare->a(), compare->op(), compare->b());
    add(compare->b(), turned(compare->op()), compare->a());
  }
}

}  // namespace baton::tir
