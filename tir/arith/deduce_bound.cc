// DeduceBound: solves an inequality for a variable.

#include <cstdint>
#include <utility>
#include <vector>

#include "baton/tir/arith/analyzer.h"
#include "baton/tir/arith/fold_wraps.h"
#include "baton/tir/arith/int_set.h"
#include "baton/tir/arith/integer.h"
#include "baton/tir/arith/pattern.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/fold.h"
#include "baton/tir/ir/functor.h"

namespace baton::tir {
namespace {

bool Contains(const PrimExpr& e, const PrimExpr& target) {
  bool found = false;
  PostOrderVisit(
      e, [&](const PrimExpr& part) { found = found || part == target; });
  return found;
}

enum class Relation { kAtLeast, kAtMost, kEqual };

class Solver {
 public:
  Solver(PrimExpr target, const Domains& hints, const Domains& relax)
      : target_(std::move(target)), hints_(hints), relax_(relax) {}

  // The set of the target; Nothing if it is not found.
  IntSet Solve(const PrimExpr& condition) {
    int count = 0;
    PostOrderVisit(condition, [&](const PrimExpr& e) {
      if (e == target_) ++count;
    });
    if (count != 1 || !Read(condition) || !Relax() || !Contains(e_, target_)) {
      return IntSet::Nothing();
    }
    sets_ = EvalSetForEachSubExpr(e_, hints_);
    while (!(e_ == target_)) {
      if (!Step()) return IntSet::Nothing();
    }
    if (folds_.is_out_of_range()) return IntSet::Nothing();
    const PrimExpr bound = analyzer_.Simplify(bound_);
    switch (relation_) {
      case Relation::kEqual:
        return IntSet::SinglePoint(bound);
      case Relation::kAtLeast:
        return IntSet::Interval(bound, {});
      default:
        return IntSet::Interval({}, bound);
    }
  }

 private:
  PrimExpr Combine(BinaryOp op, const PrimExpr& a, const PrimExpr& b) {
    return folds_.Combine(op, a, b);
  }
  PrimExpr Plus(const PrimExpr& e, int64_t value) {
    return value >= 0
               ? Combine(BinaryOp::kAdd, e, MakeConst(e.dtype(), value))
               : Combine(BinaryOp::kSub, e, MakeConst(e.dtype(), -value));
  }

  // Brings the condition to e RELATION bound, with the target in e.
  bool Read(const PrimExpr& condition) {
    const auto* compare = condition.As<BinaryNode>();
    if (compare == nullptr || !IsComparison(compare->op()) ||
        compare->op() == BinaryOp::kNE || !compare->a().dtype().is_integral()) {
      return false;
    }
    const bool left = Contains(compare->a(), target_);
    e_ = left ? compare->a() : compare->b();
    bound_ = left ? compare->b() : compare->a();
    switch (compare->op()) {
      case BinaryOp::kEQ:
        relation_ = Relation::kEqual;
        return true;
      case BinaryOp::kLT:
      case BinaryOp::kLE:
        relation_ = left ? Relation::kAtMost : Relation::kAtLeast;
        break;
      default:
        relation_ = left ? Relation::kAtLeast : Relation::kAtMost;
        break;
    }
    if (compare->op() == BinaryOp::kLT || compare->op() == BinaryOp::kGT) {
      bound_ = Plus(bound_, relation_ == Relation::kAtMost ? -1 : 1);
    }
    return true;
  }

  // Replaces variables by those of their bounds that make the condition true
  // for all values.
  bool Relax() {
    const IntSet a = EvalSet(e_, relax_);
    const IntSet b = EvalSet(bound_, relax_);
    if (a.IsEverything() || b.IsEverything() || a.IsNothing() ||
        b.IsNothing()) {
      return false;
    }
    if (relation_ == Relation::kEqual && (!a.CanProveSinglePoint(analyzer_) ||
                                          !b.CanProveSinglePoint(analyzer_))) {
      return false;
    }
    const bool at_least = relation_ == Relation::kAtLeast;
    e_ = at_least ? a.min() : a.max();
    bound_ = at_least ? b.max() : b.min();
    return e_.defined() && bound_.defined();
  }

  void Reverse() {
    if (relation_ == Relation::kAtLeast) {
      relation_ = Relation::kAtMost;
    } else if (relation_ == Relation::kAtMost) {
      relation_ = Relation::kAtLeast;
    }
  }

  SignType SignOf(const PrimExpr& e) const {
    if (e.dtype().is_uint()) return SignType::kPositive;
    for (const auto& [part, set] : sets_) {
      if (part == e) return set.GetSignType();
    }
    return SignType::kUnknown;
  }

  // Takes the outermost operation of e to the other side.
  bool Step() {
    const auto* node = e_.As<BinaryNode>();
    // The other side of a sum that may wrap around is not known.
    if (node == nullptr || IsModular(node->dtype())) return false;
    const bool left = Contains(node->a(), target_);
    const PrimExpr& inner = left ? node->a() : node->b();
    const PrimExpr& other = left ? node->b() : node->a();
    switch (node->op()) {
      case BinaryOp::kAdd:
        bound_ = Combine(BinaryOp::kSub, bound_, other);
        break;
      case BinaryOp::kSub:
        if (left) {
          bound_ = Combine(BinaryOp::kAdd, bound_, other);
        } else {
          bound_ = folds_.Negate(Combine(BinaryOp::kSub, bound_, other));
          Reverse();
        }
        break;
      case BinaryOp::kMul:
        if (!StepMul(other)) return false;
        break;
      case BinaryOp::kFloorDiv:
        if (!left || !StepFloorDiv(other)) return false;
        break;
      default:
        return false;
    }
    e_ = PrimExpr(inner);
    return true;
  }

  bool StepMul(const PrimExpr& factor) {
    switch (SignOf(factor)) {
      case SignType::kPositive:
        break;
      case SignType::kNegative:
        Reverse();
        break;
      default:
        return false;
    }
    const bool divides = analyzer_.CanProve(MakeBinary(
        BinaryOp::kEQ, MakeBinary(BinaryOp::kFloorMod, bound_, factor),
        MakeConst(bound_.dtype(), 0)));
    bound_ = Combine(BinaryOp::kFloorDiv, bound_, factor);
    if (divides) return true;
    // The quotient was rounded down.
    if (relation_ == Relation::kEqual) return false;
    if (relation_ == Relation::kAtLeast) bound_ = Plus(bound_, 1);
    return true;
  }

  bool StepFloorDiv(PrimExpr divisor) {
    if (analyzer_.CanProveEqual(divisor, MakeConst(divisor.dtype(), 0))) {
      return false;
    }
    const SignType sign = SignOf(divisor);
    if (sign == SignType::kNegative) {
      Reverse();
      divisor = folds_.Negate(divisor);
      bound_ = folds_.Negate(bound_);
    } else if (sign != SignType::kPositive) {
      return false;
    }
    if (relation_ == Relation::kEqual) return false;
    bound_ = Combine(BinaryOp::kMul, bound_, divisor);
    if (relation_ == Relation::kAtMost) {
      bound_ = Plus(Combine(BinaryOp::kAdd, bound_, divisor), -1);
    }
    // x // -d is -((x + d - 1) // d).
    if (sign == SignType::kNegative) {
      bound_ = Plus(Combine(BinaryOp::kSub, bound_, divisor), 1);
    }
    return true;
  }

  const PrimExpr target_;
  const Domains& hints_;
  const Domains& relax_;
  Analyzer analyzer_;
  PrimExpr e_;
  PrimExpr bound_;
  NotedFolds folds_;
  Relation relation_ = Relation::kAtLeast;
  std::vector<std::pair<PrimExpr, IntSet>> sets_;
};

}  // namespace

IntSet DeduceBound(const PrimExpr& v, const PrimExpr& condition,
                   const Domains& hints, const Domains& relax) {
  return Solver(v, hints, relax).Solve(condition);
}

}  // namespace baton::tir
