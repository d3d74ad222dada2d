#include "baton/tir/arith/analyzer.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>

#include "baton/base/dtype.h"
#include "baton/ir/node_map.h"
#include "baton/tir/arith/analyzer_parts.h"
#include "baton/tir/arith/int_set.h"
#include "baton/tir/arith/integer.h"
#include "baton/tir/arith/pattern.h"
#include "baton/tir/arith/var_map.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/fold.h"
#include "baton/tir/ir/functor.h"

namespace baton::tir {

Analyzer::Analyzer() : parts_(std::make_unique<Parts>(*this)) {}
Analyzer::~Analyzer() = default;

void Analyzer::Bind(const Var& var, const PrimExpr& value) {
  const PrimExpr simplified = RewriteSimplify(CanonicalSimplify(value));
  ++parts_->version;
  parts_->bounds.Update(var, BoundOf(simplified));
  parts_->modular_sets.Update(var, ModularSetOf(simplified));
  if (UsesVar(simplified, var.get())) {
    // The value uses the variable of an outer binding, which no expression in
    // the scope of this one can name.
    parts_->rewrite.Update(var, var);
    parts_->canonical.Update(var, var);
    parts_->int_sets.Update(var, IntSet::Everything());
    const Var outer(var->name(), var.dtype());
    NodeMap<PrimExpr> values;
    values[var.get()] = outer;
    parts_->comparisons.Bind(
        var, {Substitute(value, values), MakeConst(value.dtype(), 1)});
    return;
  }
  parts_->rewrite.Update(var, simplified);
  parts_->canonical.Update(var, simplified);
  parts_->int_sets.Update(var, IntSetOf(simplified));
  parts_->comparisons.Bind(var, {value, MakeConst(value.dtype(), 1)});
}

void Analyzer::Bind(const Var& var, const Range& range) {
  if (!range.min.defined() || !range.extent.defined()) return;
  if (IsOne(range.extent)) {
    Bind(var, range.min);
    return;
  }
  ++parts_->version;
  // It may have had a value, as the variable of another loop: from here on it
  // is its own, and any integer.
  parts_->rewrite.Update(var, var);
  parts_->canonical.Update(var, var);
  parts_->modular_sets.Update(var, {1, 0});
  parts_->bounds.Bind(var, range);
  parts_->int_sets.Update(var, IntSet::FromRange(range));
  parts_->comparisons.Bind(var, range);
}

void Analyzer::Bind(const VarRanges& ranges) {
  for (const auto& [var, range] : ranges) Bind(var, range);
}

void Analyzer::UpdateBound(const Var& var, ConstIntBound bound) {
  ++parts_->version;
  // Not both ends are on one infinite side.
  if (bound.min == ConstIntBound::kPosInf) --bound.min;
  if (bound.max == ConstIntBound::kNegInf) ++bound.max;
  parts_->bounds.Update(var, bound);
}

void Analyzer::MarkGlobalNonNeg(const PrimExpr& value) {
  // value is symbol * scale + offset.
  int64_t offset = 0;
  PrimExpr scaled = MakeConst(value.dtype(), 0);
  UnpackSum(value, [&](const PrimExpr& e, int sign) {
    if (const auto* imm = e.As<IntImmNode>()) {
      offset = WrappedAdd(offset, WrappedMul(imm->value(), sign));
    } else {
      scaled = sign > 0 ? Add(scaled, e) : Sub(scaled, e);
    }
  });
  int64_t scale = 1;
  PrimExpr symbol = MakeConst(value.dtype(), 1);
  UnpackReduction(scaled, BinaryOp::kMul, [&](const PrimExpr& e) {
    if (const auto* imm = e.As<IntImmNode>()) {
      scale = WrappedMul(scale, imm->value());
    } else {
      symbol = Mul(symbol, e);
    }
  });
  if (scale <= 0) return;
  const auto* var = symbol.As<VarNode>();
  if (var == nullptr || !IsIndexType(var->dtype())) return;
  UpdateBound(Var(var), {WrappedSub(0, offset), ConstIntBound::kPosInf});
}

Analyzer::Constraint Analyzer::WithConstraint(const PrimExpr& condition) {
  Parts& p = *parts_;
  const size_t mark = p.marks.size();
  Parts::Mark state;
  ++p.version;
  state.bounds = p.bounds.size();
  p.bounds.Enter(condition);
  state.modular = p.modular_sets.Enter(condition);
  state.literals = p.rewrite.size();
  p.rewrite.Enter(condition);
  ++p.version;
  state.sets = p.int_sets.size();
  p.int_sets.Enter(condition);
  state.comparisons = p.comparisons.size();
  p.comparisons.Enter(condition);
  p.marks.push_back(std::move(state));
  return {this, mark};
}

void Analyzer::EndConstraint(size_t mark) {
  Parts& p = *parts_;
  ++p.version;
  while (p.marks.size() > mark) {
    const Parts::Mark& state = p.marks.back();
    p.comparisons.Leave(state.comparisons);
    p.int_sets.Leave(state.sets);
    p.rewrite.Leave(state.literals);
    p.modular_sets.Leave(state.modular);
    p.bounds.Leave(state.bounds);
    p.marks.pop_back();
  }
}

PrimExpr Analyzer::Simplify(const PrimExpr& e, int steps) {
  PrimExpr result = CanonicalSimplify(e);
  for (int i = 0; i < steps && !result.Is<IntImmNode>(); ++i) {
    result = i % 2 == 0 ? RewriteSimplify(result) : CanonicalSimplify(result);
  }
  // An expression that was taken apart and put together is the one given.
  return ExprDeepEqual(result, e) ? e : result;
}
PrimExpr Analyzer::RewriteSimplify(const PrimExpr& e) {
  return parts_->rewrite.Simplify(e);
}
PrimExpr Analyzer::CanonicalSimplify(const PrimExpr& e) {
  return parts_->canonical.Simplify(e);
}

ConstIntBound Analyzer::BoundOf(const PrimExpr& e) {
  return parts_->bounds.Of(e);
}
ConstIntBound Analyzer::BoundOf(const PrimExpr& e, BoundMemo& memo) {
  return parts_->bounds.Of(e, &memo);
}
ModularSet Analyzer::ModularSetOf(const PrimExpr& e) {
  return parts_->modular_sets.Of(e);
}
IntSet Analyzer::IntSetOf(const PrimExpr& e, const VarMap<IntSet>& domains) {
  return IntSetEvaluator(*this, domains).Eval(e);
}
IntSet Analyzer::IntSetOf(const PrimExpr& e) { return parts_->int_sets.Of(e); }
CompareResult Analyzer::TryCompare(const PrimExpr& a, const PrimExpr& b,
                                   bool propagate_inequalities) {
  return parts_->comparisons.TryCompare(a, b, propagate_inequalities);
}

// --- Proofs ------------------------------------------------------------------

bool Analyzer::CanProveGreaterEqual(const PrimExpr& e, int64_t lower_bound) {
  if (const auto* imm = e.As<IntImmNode>()) return imm->value() >= lower_bound;
  return BoundOf(RewriteSimplify(e)).min >= lower_bound;
}

bool Analyzer::CanProveLess(const PrimExpr& e, int64_t upper_bound) {
  if (const auto* imm = e.As<IntImmNode>()) return imm->value() < upper_bound;
  return BoundOf(RewriteSimplify(e)).max < upper_bound;
}

bool Analyzer::CanProveEqual(const PrimExpr& a, const PrimExpr& b) {
  const auto* x = a.As<IntImmNode>();
  const auto* y = b.As<IntImmNode>();
  if (x != nullptr && y != nullptr) return x->value() == y->value();
  if (a.dtype().code() == DType::Code::kHandle ||
      b.dtype().code() == DType::Code::kHandle) {
    return a == b;
  }
  const PrimExpr difference = Sub(a, b);
  return CanProve(
      MakeBinary(BinaryOp::kEQ, difference, MakeConst(difference.dtype(), 0)));
}

bool Analyzer::CanProveLessEqualThanSymbolicShapeValue(const PrimExpr& e,
                                                       const PrimExpr& shape) {
  if (CanProve(MakeBinary(BinaryOp::kLE, e, shape),
               ProofStrength::kSymbolicBound)) {
    return true;
  }
  if (shape.Is<IntImmNode>()) return false;
  // n is at least 1, so 32 * n is at least 32.
  int64_t scale = 1;
  UnpackReduction(shape, BinaryOp::kMul, [&](const PrimExpr& factor) {
    if (const auto* imm = factor.As<IntImmNode>()) {
      scale = WrappedMul(scale, imm->value());
    }
  });
  return CanProve(
      MakeBinary(
          BinaryOp::kLE, e,
          MakeConst(shape.dtype(), scale < 0 ? WrappedSub(0, scale) : scale)),
      ProofStrength::kSymbolicBound);
}

bool Analyzer::CanProve(const PrimExpr& condition, ProofStrength strength) {
  if (const auto* imm = condition.As<IntImmNode>()) return imm->value() != 0;
  const PrimExpr simplified = Simplify(condition);
  const auto* imm = simplified.As<IntImmNode>();
  if (imm != nullptr && imm->value() != 0) return true;
  if (strength < ProofStrength::kSymbolicBound) return false;
  const auto* compare = condition.As<BinaryNode>();
  if (compare == nullptr) return false;
  PrimExpr difference;
  int64_t least = 0;
  switch (compare->op()) {
    case BinaryOp::kLT:
      least = 1;
      [[fallthrough]];
    case BinaryOp::kLE:
      difference = Sub(compare->b(), compare->a());
      break;
    case BinaryOp::kGT:
      least = 1;
      [[fallthrough]];
    case BinaryOp::kGE:
      difference = Sub(compare->a(), compare->b());
      break;
    default:
      return false;
  }
  const IntSet set = IntSetOf(Simplify(difference));
  return set.HasLowerBound() && BoundOf(Simplify(set.min())).min >= least;
}

void Analyzer::SetExtensions(unsigned extensions) {
  ++parts_->version;
  parts_->rewrite.set_extensions(extensions);
}
unsigned Analyzer::extensions() const { return parts_->rewrite.extensions(); }
void Analyzer::SetMaxRewriteSteps(int64_t steps) {
  ++parts_->version;
  parts_->rewrite.set_max_steps(steps);
}
bool Analyzer::exceeded_rewrite_steps() const {
  return parts_->rewrite.exceeded();
}
void Analyzer::ResetRewriteSteps() {
  ++parts_->version;
  parts_->rewrite.reset_steps();
}
void Analyzer::SetMaxVisits(int64_t visits) {
  ++parts_->version;
  parts_->max_visits =
      visits == 0 ? std::numeric_limits<int64_t>::max() : visits;
}
int64_t Analyzer::visits() const { return parts_->visits; }
bool Analyzer::exceeded_visits() const {
  return parts_->visits > parts_->max_visits;
}

}  // namespace baton::tir
