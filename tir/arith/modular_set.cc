#include "baton/tir/arith/modular_set.h"

#include <algorithm>
#include <cstdint>

#include "baton/base/deep_stack.h"
#include "baton/base/dtype.h"
#include "baton/tir/arith/analyzer.h"
#include "baton/tir/arith/analyzer_parts.h"
#include "baton/tir/arith/integer.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/fold.h"
#include "baton/tir/ir/intrinsics.h"

namespace baton::tir {
namespace {

// The set with a coefficient that is not negative and a base below it.
ModularSet MakeSet(int64_t coeff, int64_t base) {
  if (coeff < 0) {
    coeff = WrappedSub(0, coeff);
    if (coeff < 0) return {};
  }
  if (coeff != 0) base = FloorMod(base, coeff);
  return {coeff, base};
}

// The values of both sets.
ModularSet Union(ModularSet a, ModularSet b) {
  const int64_t coeff = Gcd(a.coeff, b.coeff);
  if (coeff == 0) return a.base == b.base ? a : ModularSet();
  const int64_t base0 = FloorMod(a.base, coeff);
  const int64_t base1 = FloorMod(b.base, coeff);
  if (base0 == base1) return MakeSet(coeff, base0);
  return MakeSet(Gcd(Gcd(base0, base1), coeff), base0);
}

ModularSet Intersect(ModularSet a, ModularSet b) {
  int64_t x = 0;
  int64_t y = 0;
  const int64_t gcd = ExtendedGcd(a.coeff, b.coeff, x, y);
  // Both are constants.
  if (gcd == 0) return a;
  int64_t difference = 0;
  if (__builtin_sub_overflow(b.base, a.base, &difference)) return a;
  if (TruncMod(difference, gcd) != 0) return {0, 1};  // there is no value
  int64_t factor = 0;
  int64_t coeff = 0;
  int64_t base = 0;
  if (__builtin_mul_overflow(difference / gcd, x, &factor) ||
      __builtin_mul_overflow(a.coeff / gcd, b.coeff, &coeff) ||
      __builtin_mul_overflow(factor, a.coeff, &base) ||
      __builtin_add_overflow(base, a.base, &base)) {
    return a;
  }
  return MakeSet(coeff, base);
}

bool IsConstant(ModularSet set) { return set.coeff == 0; }

// The values of `set`, wrapped to `dtype`: they keep their rest by a power of
// two.
ModularSet Wrapped(ModularSet set, DType dtype) {
  if (IsConstant(set)) {
    const int64_t base = WrapToDType(set.base, dtype);
    return base < 0 && dtype.is_uint() ? ModularSet() : ModularSet{0, base};
  }
  const int64_t power = set.coeff & WrappedSub(0, set.coeff);
  const int64_t limit = dtype.bits() < 63 ? int64_t{1} << dtype.bits() : power;
  return MakeSet(std::min(power, limit), set.base);
}

// The sums, differences or products; all integers where 64 bits do not hold
// them.
ModularSet Combined(BinaryOp op, ModularSet a, ModularSet b) {
  int64_t base = 0;
  if (op == BinaryOp::kAdd || op == BinaryOp::kSub) {
    if (op == BinaryOp::kAdd ? __builtin_add_overflow(a.base, b.base, &base)
                             : __builtin_sub_overflow(a.base, b.base, &base)) {
      return {};
    }
    return MakeSet(Gcd(a.coeff, b.coeff), base);
  }
  // (p x + n) (q y + m) is pq xy + pm x + qn y + mn.
  int64_t pq = 0;
  int64_t pm = 0;
  int64_t qn = 0;
  if (__builtin_mul_overflow(a.coeff, b.coeff, &pq) ||
      __builtin_mul_overflow(a.coeff, b.base, &pm) ||
      __builtin_mul_overflow(a.base, b.coeff, &qn) ||
      __builtin_mul_overflow(a.base, b.base, &base)) {
    return {};
  }
  return MakeSet(Gcd(pq, Gcd(pm, qn)), base);
}

// True if a conversion keeps all values, or is one of indices, which are assumed
// to be in range.
bool KeepsValues(DType from, DType to) {
  if (from.is_int()) {
    return to.is_int() && (!IsModular(to) || from.bits() <= to.bits());
  }
  return to.is_uint() ? from.bits() <= to.bits() : from.bits() < to.bits();
}

}  // namespace

void ModularSets::Update(const Var& var, ModularSet set) {
  vars_.Set(var, MakeSet(set.coeff, set.base));
}

ModularSet ModularSets::Of(const PrimExpr& e) { return Visit(e); }

ModularSet ModularSets::Visit(const PrimExpr& e) {
  if (!e.Is<BinaryNode>()) return VisitNode(e);
  // Divisions use bounds, which depend on all known facts.
  const uint64_t version = analyzer_.parts().version;
  if (version_ != version) {
    known_.Clear();
    version_ = version;
  } else if (const ModularSet* known = known_.Find(e)) {
    return *known;
  }
  const ModularSet set = VisitNode(e);
  if (version_ == analyzer_.parts().version) known_.Set(e, set);
  return set;
}

ModularSet ModularSets::VisitNode(const PrimExpr& e) {
  return OnDeepStack([&]() -> ModularSet {
    switch (e->kind().To<TirKind>()) {
      case TirKind::kIntImm:
        return e.dtype().is_uint()
                   ? Wrapped({0, e.As<IntImmNode>()->value()}, e.dtype())
                   : ModularSet{0, e.As<IntImmNode>()->value()};
      case TirKind::kVar:
        if (const ModularSet* set = vars_.Find(e.As<VarNode>())) return *set;
        return {};
      case TirKind::kCast: {
        const PrimExpr& value = e.As<CastNode>()->value();
        if (!value.dtype().is_integral() || !e.dtype().is_integral() ||
            e.dtype().is_bool()) {
          return {};
        }
        const ModularSet set = Visit(value);
        return KeepsValues(value.dtype(), e.dtype()) ? set
                                                     : Wrapped(set, e.dtype());
      }
      case TirKind::kBinary:
        return VisitBinary(e.As<BinaryNode>());
      case TirKind::kSelect: {
        const ModularSet a = Visit(e.As<SelectNode>()->true_value());
        return Union(a, Visit(e.As<SelectNode>()->false_value()));
      }
      case TirKind::kLet: {
        const auto* let = e.As<LetNode>();
        if (vars_.Contains(let->var())) return Visit(let->body());
        vars_.Set(let->var(), Visit(let->value()));
        known_.Clear();
        const ModularSet set = Visit(let->body());
        vars_.Erase(let->var().get());
        known_.Clear();
        return set;
      }
      case TirKind::kCall: {
        const auto* call = e.As<CallNode>();
        const bool shifts = call->op() == IntrinsicOp("shift_right");
        if (!shifts && call->op() != IntrinsicOp("bitwise_and")) return {};
        if (call->args().size() != 2) return {};
        const ModularSet b = Visit(call->args()[1]);
        if (!IsConstant(b) || b.base < 0) return {};
        if (shifts) {
          if (b.base > 62) return {};
          return Quotient(call->args()[0], int64_t{1} << b.base, true);
        }
        const int64_t size = WrappedAdd(b.base, 1);
        if (size <= 0 || (size & (size - 1)) != 0) return {};
        return Rest(call->args()[0], size, true);
      }
      default:
        return {};
    }
  });
}

ModularSet ModularSets::VisitBinary(const BinaryNode* node) {
  const BinaryOp op = node->op();
  if (IsLogical(op) || !node->dtype().is_integral()) return {};
  if (op == BinaryOp::kDiv || op == BinaryOp::kFloorDiv ||
      op == BinaryOp::kMod || op == BinaryOp::kFloorMod) {
    const ModularSet b = Visit(node->b());
    if (!IsConstant(b) || b.base == 0) return {};
    const bool divides = op == BinaryOp::kDiv || op == BinaryOp::kFloorDiv;
    const bool floors = op == BinaryOp::kFloorDiv || op == BinaryOp::kFloorMod;
    return divides ? Quotient(node->a(), b.base, floors)
                   : Rest(node->a(), b.base, floors);
  }
  const ModularSet a = Visit(node->a());
  const ModularSet b = Visit(node->b());
  if (op > BinaryOp::kMul) return Union(a, b);  // kMin, kMax
  const ModularSet result = Combined(op, a, b);
  return IsModular(node->dtype()) ? Wrapped(result, node->dtype()) : result;
}

ModularSet ModularSets::Quotient(const PrimExpr& e, int64_t divisor,
                                 bool rounds_down) {
  const ModularSet a = Visit(e);
  if (TruncMod(a.coeff, divisor) != 0) return {};
  if (a.base == 0) return MakeSet(TruncDiv(a.coeff, divisor), 0);
  if (a.base > 0 && divisor > 0 &&
      (rounds_down || analyzer_.CanProveGreaterEqual(e, 0))) {
    return MakeSet(a.coeff / divisor, a.base / divisor);
  }
  return {};
}

ModularSet ModularSets::Rest(const PrimExpr& e, int64_t divisor,
                             bool rounds_down) {
  const ModularSet a = Visit(e);
  const int64_t coeff = Gcd(a.coeff, divisor);
  if (TruncMod(a.base, coeff) == 0 ||
      (a.base > 0 && (rounds_down || analyzer_.CanProveGreaterEqual(e, 0)))) {
    return MakeSet(coeff, TruncMod(a.base, coeff));
  }
  return {};
}

ModularSets::Undo ModularSets::Enter(const PrimExpr& condition) {
  const auto* equal = AsBinary(condition, BinaryOp::kEQ);
  if (equal == nullptr) return {};
  Var var;
  ModularSet set;
  const auto* right = equal->b().As<IntImmNode>();
  const auto* left = equal->a().As<IntImmNode>();
  const auto* rest = equal->a().As<BinaryNode>();
  if (rest != nullptr && right != nullptr &&
      (rest->op() == BinaryOp::kMod || rest->op() == BinaryOp::kFloorMod) &&
      rest->a().Is<VarNode>() && rest->b().Is<IntImmNode>()) {
    var = Var(rest->a().As<VarNode>());
    set = MakeSet(rest->b().As<IntImmNode>()->value(), right->value());
  } else if (right != nullptr && equal->a().Is<VarNode>()) {
    var = Var(equal->a().As<VarNode>());
    set = MakeSet(1, right->value());
  } else if (left != nullptr && equal->b().Is<VarNode>()) {
    var = Var(equal->b().As<VarNode>());
    set = MakeSet(1, left->value());
  } else {
    return {};
  }
  const ModularSet* known = vars_.Find(var);
  const Undo undo = {var, known != nullptr ? *known : ModularSet()};
  vars_.Set(var, Intersect(undo.set, set));
  return undo;
}

void ModularSets::Leave(const Undo& undo) {
  if (undo.var.defined()) vars_.Set(undo.var, undo.set);
}

}  // namespace baton::tir
