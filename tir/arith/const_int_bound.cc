#include "baton/tir/arith/const_int_bound.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>

#include "baton/base/deep_stack.h"
#include "baton/base/dtype.h"
#include "baton/tir/arith/analyzer.h"
#include "baton/tir/arith/integer.h"
#include "baton/tir/arith/pattern.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/fold.h"
#include "baton/tir/ir/intrinsics.h"

namespace baton::tir {
namespace {

constexpr int64_t kPosInf = ConstIntBound::kPosInf;
constexpr int64_t kNegInf = ConstIntBound::kNegInf;

// A bound whose ends are not both on one infinite side.
ConstIntBound MakeBound(int64_t min, int64_t max) {
  return {min == kPosInf ? min - 1 : min, max == kNegInf ? max + 1 : max};
}
ConstIntBound Union(ConstIntBound a, ConstIntBound b) {
  return {std::min(a.min, b.min), std::max(a.max, b.max)};
}
ConstIntBound Intersect(ConstIntBound a, ConstIntBound b) {
  return {std::max(a.min, b.min), std::min(a.max, b.max)};
}

// The bits of the integers that a float has without gaps.
int ExactBits(DType dtype) {
  if (dtype.bits() == 64) return 53;
  if (dtype.bits() == 32) return 24;
  if (dtype.bits() == 16) return dtype.code() == DType::Code::kFloat ? 11 : 8;
  return 3;
}

// Arithmetic that stops at the infinities.
int64_t BoundAdd(int64_t x, int64_t y) {
  if (x == kPosInf || x == kNegInf) return x;
  if (y == kPosInf || y == kNegInf) return y;
  int64_t sum = 0;
  if (__builtin_add_overflow(x, y, &sum) || sum < kNegInf) {
    return x > 0 ? kPosInf : kNegInf;
  }
  return sum;
}
int64_t BoundSub(int64_t x, int64_t y) {
  if (x == kPosInf || x == kNegInf) return x;
  if (y == kPosInf || y == kNegInf) return -y;
  int64_t difference = 0;
  if (__builtin_sub_overflow(x, y, &difference) || difference < kNegInf) {
    return x > y ? kPosInf : kNegInf;
  }
  return difference;
}
int64_t BoundMul(int64_t x, int64_t y) {
  int64_t product = 0;
  if (!__builtin_mul_overflow(x, y, &product) && product >= kNegInf) {
    return product;
  }
  return (x > 0) == (y > 0) ? kPosInf : kNegInf;
}
int64_t BoundDiv(int64_t x, int64_t y) {
  if (x == kPosInf || x == kNegInf) return y > 0 ? x : -x;
  return TruncDiv(x, y);
}
int64_t BoundFloorDiv(int64_t x, int64_t y) {
  if (x == kPosInf || x == kNegInf) return y > 0 ? x : -x;
  return FloorDiv(x, y);
}
int64_t BoundShiftLeft(int64_t x, int64_t y) {
  if (x == kPosInf || x == kNegInf || x == 0) return x;
  int bits = 0;
  for (uint64_t v = static_cast<uint64_t>(x); v != 0; v >>= 1) ++bits;
  return y < 64 - bits ? x << y : kPosInf;
}
int64_t BoundShiftRight(int64_t x, int64_t y) {
  if (x == kPosInf || x == kNegInf) return x;
  return y < 0 ? x : x >> std::min<int64_t>(y, 63);
}

// The bounds of a function that is monotonic in each operand.
template <typename Op>
ConstIntBound Corners(ConstIntBound a, ConstIntBound b, Op op) {
  const int64_t v1 = op(a.min, b.min);
  const int64_t v2 = op(a.max, b.max);
  const int64_t v3 = op(a.min, b.max);
  const int64_t v4 = op(a.max, b.min);
  return {std::min({v1, v2, v3, v4}), std::max({v1, v2, v3, v4})};
}

// A quotient is greatest where the divisor is nearest to zero, so the parts of
// the divisor on both sides of zero count apart.
template <typename Op>
ConstIntBound Quotient(ConstIntBound a, ConstIntBound b, DType dtype, Op op) {
  if (b.min <= 0 && b.max >= 0) {
    if (dtype.is_uint()) return Corners(a, MakeBound(1, b.max), op);
    std::optional<ConstIntBound> result;
    if (b.min < 0) result = Corners(a, MakeBound(b.min, -1), op);
    if (b.max > 0) {
      const ConstIntBound part = Corners(a, MakeBound(1, b.max), op);
      result = result.has_value() ? Union(*result, part) : part;
    }
    return result.has_value() ? *result : ConstIntBounds::Everything(dtype);
  }
  return Corners(a, b, op);
}

// A divisor is not zero; a bound from zero on is one from one on.
ConstIntBound WithoutZero(ConstIntBound divisor) {
  if (divisor.min == 0 && divisor.max > 0) divisor.min = 1;
  return divisor;
}

// The bound of a result of `dtype`: all values of the type where one that is out
// of its range wraps around or is rounded. Sums of indices are assumed to be in
// range.
ConstIntBound InType(ConstIntBound bound, DType dtype) {
  const ConstIntBound all = ConstIntBounds::Everything(dtype);
  if (IsModular(dtype)) {
    const bool fits = bound.min >= all.min && bound.max <= all.max &&
                      (bound.max < kPosInf || bound.min == 0);
    return fits ? bound : all;
  }
  if (dtype.is_integral()) return bound;
  // Beyond these integers rounding may leave the bound.
  const int64_t exact = int64_t{1} << ExactBits(dtype);
  return {bound.min < -exact ? kNegInf : std::min(bound.min, exact),
          bound.max > exact ? kPosInf : std::max(bound.max, -exact)};
}

// The argument of a conversion to int of ceil(log2(argument)), else null.
const PrimExpr* CeilLog2Argument(const CastNode* cast) {
  if (!cast->dtype().is_int()) return nullptr;
  const auto* ceil = cast->value().As<CallNode>();
  if (ceil == nullptr || ceil->op() != IntrinsicOp("ceil")) return nullptr;
  const auto* log2 = ceil->args()[0].As<CallNode>();
  if (log2 == nullptr || log2->op() != IntrinsicOp("log2")) return nullptr;
  return &log2->args()[0];
}

int64_t CeilLog2(double x) {
  const double log = std::ceil(std::log2(x));
  if (!(log > -1e18)) return kNegInf;
  return log < 1e18 ? static_cast<int64_t>(log) : kPosInf;
}

}  // namespace

ConstIntBound ConstIntBounds::Everything(DType dtype) {
  if (!dtype.is_integral()) return {};
  const int bits = dtype.bits() - (dtype.is_int() ? 1 : 0);
  const int64_t max = bits >= 63 ? kPosInf : (int64_t{1} << bits) - 1;
  if (dtype.is_uint()) return {0, max};
  return {bits >= 63 ? kNegInf : -(int64_t{1} << bits), max};
}

void ConstIntBounds::Bind(const Var& var, const Range& range) {
  const ConstIntBound a = Of(range.min);
  const ConstIntBound b = Of(range.extent);
  Update(var, {a.min, BoundAdd(a.max, BoundAdd(b.max, -1))});
}

ConstIntBound ConstIntBounds::Of(const PrimExpr& e, Analyzer::BoundMemo* memo) {
  memo_ = memo;
  const ConstIntBound bound = Visit(e);
  memo_ = nullptr;
  return bound;
}

ConstIntBound ConstIntBounds::Visit(const PrimExpr& e) {
  const bool remembers = memo_ == nullptr && e.Is<BinaryNode>();
  if (remembers) {
    if (const ConstIntBound* known = known_.Find(e)) return *known;
  }
  ConstIntBound bound = OnDeepStack([&] { return VisitNode(e); });
  if (const ConstIntBound* known = conditions_.Find(e)) {
    bound = Intersect(bound, *known);
  }
  if (memo_ != nullptr) (*memo_)[e.get()] = bound;
  if (remembers) known_.Set(e, bound);
  return bound;
}

ConstIntBound ConstIntBounds::VisitNode(const PrimExpr& e) {
  switch (e->kind().To<TirKind>()) {
    case TirKind::kIntImm: {
      const int64_t value = e.As<IntImmNode>()->value();
      // A uint64 beyond int64 has the number of its bits.
      if (value < 0 && e.dtype().is_uint()) return Everything(e.dtype());
      return MakeBound(value, value);
    }
    case TirKind::kVar: {
      const auto* var = e.As<VarNode>();
      if (const ConstIntBound* bound = vars_.Find(var)) return *bound;
      return var->is_size() ? ConstIntBound{0, kPosInf} : Everything(e.dtype());
    }
    case TirKind::kBinary:
      return VisitBinary(e.As<BinaryNode>());
    case TirKind::kCast:
      return VisitCast(e.As<CastNode>());
    case TirKind::kSelect: {
      const auto* select = e.As<SelectNode>();
      const ConstIntBound a = Visit(select->true_value());
      return Union(a, Visit(select->false_value()));
    }
    case TirKind::kRamp: {
      const auto* ramp = e.As<RampNode>();
      const ConstIntBound first = Visit(ramp->base());
      if (IsModular(e.dtype())) {
        const ConstIntBound steps =
            Corners(Visit(ramp->stride()), {0, ramp->lanes() - 1}, BoundMul);
        return InType({BoundAdd(first.min, std::min<int64_t>(steps.min, 0)),
                       BoundAdd(first.max, std::max<int64_t>(steps.max, 0))},
                      e.dtype());
      }
      return Union(first,
                   Visit(Add(ramp->base(), Mul(MakeConst(ramp->stride().dtype(),
                                                         ramp->lanes() - 1),
                                               ramp->stride()))));
    }
    case TirKind::kBroadcast:
      return Visit(e.As<BroadcastNode>()->value());
    case TirKind::kCall:
      return VisitCall(e.As<CallNode>());
    case TirKind::kLet: {
      const auto* let = e.As<LetNode>();
      if (vars_.Contains(let->var())) return Visit(let->body());
      Update(let->var(), Visit(let->value()));
      const ConstIntBound bound = Visit(let->body());
      vars_.Erase(let->var().get());
      known_.Clear();
      return bound;
    }
    default:
      return Everything(e.dtype());
  }
}

ConstIntBound ConstIntBounds::VisitBinary(const BinaryNode* node) {
  const DType dtype = node->dtype();
  if (IsLogical(node->op())) return Everything(dtype);
  const ConstIntBound a = Visit(node->a());
  ConstIntBound b = Visit(node->b());
  switch (node->op()) {
    case BinaryOp::kAdd:
      return InType({BoundAdd(a.min, b.min), BoundAdd(a.max, b.max)}, dtype);
    case BinaryOp::kSub:
      return InType({BoundSub(a.min, b.max), BoundSub(a.max, b.min)}, dtype);
    case BinaryOp::kMul:
      return InType(Corners(a, b, BoundMul), dtype);
    case BinaryOp::kMin:
      return {std::min(a.min, b.min), std::min(a.max, b.max)};
    case BinaryOp::kMax:
      return {std::max(a.min, b.min), std::max(a.max, b.max)};
    case BinaryOp::kDiv:
      if (!dtype.is_integral()) return Everything(dtype);
      return InType(Quotient(a, WithoutZero(b), dtype, BoundDiv), dtype);
    case BinaryOp::kFloorDiv:
      if (!dtype.is_integral()) return Everything(dtype);
      return InType(Quotient(a, WithoutZero(b), dtype, BoundFloorDiv), dtype);
    default:
      if (!dtype.is_integral()) return Everything(dtype);
      break;
  }
  // kMod, kFloorMod.
  const bool floors = node->op() == BinaryOp::kFloorMod;
  b = WithoutZero(b);
  if (b.min > 0) {
    const int64_t greatest = BoundAdd(b.max, -1);
    if (a.min >= 0) {
      if (a.max < b.min) return a;
      return MakeBound(0, std::min(a.max, greatest));
    }
    if (floors) return MakeBound(0, greatest);
    return MakeBound(std::max(a.min, -greatest),
                     std::min(std::max<int64_t>(a.max, 0), greatest));
  }
  if (!floors || (b.min == 0 && b.max == 0)) return Everything(dtype);
  return Intersect(MakeBound(std::min<int64_t>(0, BoundAdd(b.min, 1)),
                             std::max<int64_t>(0, BoundAdd(b.max, -1))),
                   Everything(dtype));
}

ConstIntBound ConstIntBounds::VisitCall(const CallNode* node) {
  const bool shifts_right = node->op() == IntrinsicOp("shift_right");
  const bool shifts_left = node->op() == IntrinsicOp("shift_left");
  const bool masks = node->op() == IntrinsicOp("bitwise_and");
  if ((!shifts_right && !shifts_left && !masks) || node->args().size() != 2) {
    return Everything(node->dtype());
  }
  const ConstIntBound a = Visit(node->args()[0]);
  const ConstIntBound b = Visit(node->args()[1]);
  if (shifts_right) return Corners(a, b, BoundShiftRight);
  if (shifts_left) {
    // A shift of or by a negative number may be anything.
    if (a.min < 0 || b.min < 0) return Everything(node->dtype());
    return InType(Corners(a, b, BoundShiftLeft), node->dtype());
  }
  if (a.min >= 0 && b.min >= 0) return MakeBound(0, std::min(a.max, b.max));
  if (b.min >= 0) return MakeBound(0, b.max);
  if (a.min >= 0) return MakeBound(0, a.max);
  return Everything(node->dtype());
}

ConstIntBound ConstIntBounds::VisitCast(const CastNode* node) {
  ConstIntBound bound;
  if (const PrimExpr* argument = CeilLog2Argument(node)) {
    if (const auto* imm = argument->As<FloatImmNode>()) {
      bound = MakeBound(CeilLog2(imm->value()), CeilLog2(imm->value()));
    } else {
      const ConstIntBound inner = Visit(*argument);
      bound = MakeBound(CeilLog2(static_cast<double>(inner.min)),
                        CeilLog2(static_cast<double>(inner.max)));
    }
  } else {
    bound = Visit(node->value());
  }
  const DType dtype = node->dtype();
  if (!dtype.is_integral()) return InType(bound, dtype);
  // Indices that are converted to fewer bits are assumed to be in range.
  const ConstIntBound all = Everything(dtype);
  const ConstIntBound both = Intersect(bound, all);
  const DType from = node->value().dtype();
  const bool of_index = !IsModular(dtype) && from.is_int();
  // The infinity of integers without a sign is beyond that of others.
  const bool wraps = from.is_uint() && dtype.is_int() && bound.max == kPosInf;
  if (both.min > both.max || wraps) return all;
  return of_index || (both.min == bound.min && both.max == bound.max) ? both
                                                                      : all;
}

void ConstIntBounds::Enter(const PrimExpr& condition) {
  const auto add = [this](const PrimExpr& e, int64_t min, int64_t max) {
    known_.Clear();
    if (e.Is<IntImmNode>()) return;
    const ConstIntBound* outer = conditions_.Find(e);
    const ConstIntBound bound = MakeBound(min, max);
    conditions_.Push(e, outer == nullptr ? bound : Intersect(bound, *outer));
  };
  for (const PrimExpr& part : ExtractConstraints(condition)) {
    const auto* compare = part.As<BinaryNode>();
    if (compare == nullptr) continue;
    const auto* left = compare->a().As<IntImmNode>();
    const auto* right = compare->b().As<IntImmNode>();
    if ((left == nullptr) == (right == nullptr)) continue;
    const PrimExpr& e = left != nullptr ? compare->b() : compare->a();
    const int64_t c = left != nullptr ? left->value() : right->value();
    if (c < 0 && e.dtype().is_uint()) continue;
    switch (compare->op()) {
      case BinaryOp::kLE:
        left != nullptr ? add(e, c, kPosInf) : add(e, kNegInf, c);
        break;
      case BinaryOp::kGE:
        left != nullptr ? add(e, kNegInf, c) : add(e, c, kPosInf);
        break;
      case BinaryOp::kLT:
        left != nullptr ? add(e, BoundAdd(c, 1), kPosInf)
                        : add(e, kNegInf, BoundAdd(c, -1));
        break;
      case BinaryOp::kGT:
        left != nullptr ? add(e, kNegInf, BoundAdd(c, -1))
                        : add(e, BoundAdd(c, 1), kPosInf);
        break;
      case BinaryOp::kEQ:
        add(e, c, c);
        break;
      default:
        break;
    }
  }
}

}  // namespace baton::tir
