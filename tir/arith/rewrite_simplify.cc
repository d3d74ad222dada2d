#include "baton/tir/arith/rewrite_simplify.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "baton/base/deep_stack.h"
#include "baton/base/dtype.h"
#include "baton/ir/expr.h"
#include "baton/tir/arith/analyzer.h"
#include "baton/tir/arith/analyzer_parts.h"
#include "baton/tir/arith/analyzing_rewriter.h"
#include "baton/tir/arith/fold_wraps.h"
#include "baton/tir/arith/integer.h"
#include "baton/tir/arith/pattern.h"
#include "baton/tir/arith/rewrite_rules.h"
#include "baton/tir/arith/rule.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/fold.h"
#include "baton/tir/ir/intrinsics.h"

namespace baton::tir {
namespace {

PrimExpr Truth(DType dtype, bool value) {
  return MakeConst(dtype, value ? 1 : 0);
}

// True for `<`, `<=`, `>` and `>=` of floats, where another one is no negation:
// all are false for NaN.
bool IsPartialOrder(const BinaryNode& node) {
  switch (node.op()) {
    case BinaryOp::kLT:
    case BinaryOp::kLE:
    case BinaryOp::kGT:
    case BinaryOp::kGE:
      return !IsOrdered(node.a().dtype());
    default:
      return false;
  }
}

// Removes double negations and negates comparisons, conjunctions and
// disjunctions below a negation.
PrimExpr PushNegations(const PrimExpr& e) {
  return OnDeepStack([&]() -> PrimExpr {
    if (const auto* binary = e.As<BinaryNode>()) {
      if (binary->op() == BinaryOp::kGE) {
        return MakeBinary(BinaryOp::kLE, binary->b(), binary->a());
      }
      if (binary->op() == BinaryOp::kGT) {
        return MakeBinary(BinaryOp::kLT, binary->b(), binary->a());
      }
      return e;
    }
    const auto* negation = e.As<NotNode>();
    if (negation == nullptr) return e;
    const PrimExpr& a = negation->a();
    if (const auto* inner = a.As<NotNode>()) return PushNegations(inner->a());
    const auto* binary = a.As<BinaryNode>();
    if (binary == nullptr || IsPartialOrder(*binary)) return e;
    switch (binary->op()) {
      case BinaryOp::kOr:
        return MakeBinary(BinaryOp::kAnd, PushNegations(Not(binary->a())),
                          PushNegations(Not(binary->b())));
      case BinaryOp::kAnd:
        return MakeBinary(BinaryOp::kOr, PushNegations(Not(binary->a())),
                          PushNegations(Not(binary->b())));
      case BinaryOp::kLT:
        return MakeBinary(BinaryOp::kLE, binary->b(), binary->a());
      case BinaryOp::kGT:
        return MakeBinary(BinaryOp::kLE, binary->a(), binary->b());
      case BinaryOp::kLE:
        return MakeBinary(BinaryOp::kLT, binary->b(), binary->a());
      case BinaryOp::kGE:
        return MakeBinary(BinaryOp::kLT, binary->a(), binary->b());
      case BinaryOp::kEQ:
        return MakeBinary(BinaryOp::kNE, binary->a(), binary->b());
      case BinaryOp::kNE:
        return MakeBinary(BinaryOp::kEQ, binary->a(), binary->b());
      default:
        return e;
    }
  });
}

struct Offset {
  PrimExpr e;
  int64_t value;
};
// The terms e + c, e - c, c - e as an expression and a constant. The sign of
// `e` in the last is not kept: see MergeConstants.
Offset SplitOffset(const PrimExpr& e) {
  if (const auto* sum = AsBinary(e, BinaryOp::kAdd)) {
    if (const auto* c = sum->b().As<IntImmNode>()) {
      return {sum->a(), c->value()};
    }
  } else if (const auto* difference = AsBinary(e, BinaryOp::kSub)) {
    const auto* c = difference->b().As<IntImmNode>();
    int64_t value = 0;
    if (c != nullptr && !__builtin_sub_overflow(0, c->value(), &value)) {
      return {difference->a(), value};
    }
  }
  return {e, 0};
}

bool IsConstantNumber(const PrimExpr& e) {
  if (const auto* broadcast = e.As<BroadcastNode>()) {
    return IsConstantNumber(broadcast->value());
  }
  return e.Is<IntImmNode>() || e.Is<FloatImmNode>();
}

// A conjunction or disjunction with many operands, each of which has all later
// ones on its right, as one that is nested to the left; null if `node` is none.
// The rules that turn one into the other match at each operand again.
PrimExpr NestedToTheLeft(const BinaryNode* node) {
  constexpr size_t kMaxOperands = 32;
  const BinaryOp op = node->op();
  std::vector<PrimExpr> operands = {node->a()};
  const PrimExpr* rest = &node->b();
  while (const auto* inner = AsBinary(*rest, op)) {
    operands.push_back(inner->a());
    rest = &inner->b();
  }
  if (operands.size() < kMaxOperands) return {};
  PrimExpr result = operands[0];
  for (size_t i = 1; i < operands.size(); ++i) {
    result = Binary(op, std::move(result), operands[i]);
  }
  return Binary(op, std::move(result), *rest, node->span());
}

PrimExpr Folded(BinaryOp op, PrimExpr a, PrimExpr b) {
  PrimExpr folded = TryFold(op, a, b);
  return folded.defined() ? folded : Binary(op, std::move(a), std::move(b));
}

}  // namespace

bool IsIndexType(DType dtype) {
  return dtype.is_int() && dtype.lanes() == 1 &&
         (dtype.bits() == 32 || dtype.bits() == 64);
}

PrimExpr NegateCondition(const PrimExpr& e) { return PushNegations(Not(e)); }

PrimExpr RewriteSimplifier::Simplify(const PrimExpr& e) {
  const Outermost scope(*this);
  PrimExpr result = e;
  for (int i = 0; i < 2; ++i) {
    PrimExpr next = Rewrite(result);
    if (next == result) break;
    result = std::move(next);
  }
  return result;
}

// --- Proofs ------------------------------------------------------------------

bool RewriteSimplifier::ProveGreaterEqual(const PrimExpr& e, int64_t bound) {
  return analyzer_.CanProveGreaterEqual(e, bound);
}

bool RewriteSimplifier::ProveZero(const PrimExpr& e) {
  return TryCompare(e, 0) == CompareResult::kEQ;
}

CompareResult RewriteSimplifier::TryCompare(const PrimExpr& e, int64_t value) {
  const PrimExpr difference = Rewrite(e);
  if (const auto* imm = difference.As<IntImmNode>()) {
    if (imm->value() == value) return CompareResult::kEQ;
    return imm->value() > value ? CompareResult::kGT : CompareResult::kLT;
  }
  const ConstIntBound bound = analyzer_.BoundOf(difference);
  if (bound.min == value && bound.max == value) return CompareResult::kEQ;
  if (bound.min > value) return CompareResult::kGT;
  if (bound.max < value) return CompareResult::kLT;
  if (bound.min >= value) return CompareResult::kGE;
  if (bound.max <= value) return CompareResult::kLE;
  if (value == 0 && analyzer_.ModularSetOf(difference).base != 0) {
    return CompareResult::kNE;
  }
  return CompareResult::kUnknown;
}

CompareResult RewriteSimplifier::TryCompare(const PrimExpr& a,
                                            const PrimExpr& b) {
  const CompareResult result =
      TryCompare(MakeBinaryInRange(BinaryOp::kSub, a, b), 0);
  if (result == CompareResult::kEQ || result == CompareResult::kLT ||
      result == CompareResult::kGT) {
    return result;
  }
  return result &
         analyzer_.TryCompare(
             a, b,
             (extensions_ & Analyzer::kTransitivelyProveInequalities) != 0);
}

// --- Conditions --------------------------------------------------------------

void RewriteSimplifier::Enter(const PrimExpr& condition) {
  // Rewritten once: conditions within conditions enter each other, a second
  // time for each would be exponential.
  const Outermost scope(*this);
  for (const PrimExpr& part : ExtractConstraints(Rewrite(condition), false)) {
    if (!IsPure(part)) continue;
    EnterLiteral(part);
    EnterLiteral(
        Not(part.dtype().is_bool()
                ? NegateCondition(part)
                : MakeBinary(BinaryOp::kEQ, part, MakeConst(part.dtype(), 0))));
  }
}

void RewriteSimplifier::EnterLiteral(const PrimExpr& e) {
  const auto enter = [this](const PrimExpr& literal, bool truth) {
    if (literals_.Find(literal) == nullptr) literals_.Push(literal, truth);
  };
  enter(e, true);
  if (const auto* negation = e.As<NotNode>()) enter(negation->a(), false);
}

PrimExpr RewriteSimplifier::MatchLiteral(const PrimExpr& e) {
  const bool* truth = literals_.Find(e);
  return truth != nullptr ? Truth(e.dtype(), *truth) : PrimExpr();
}

// --- Rules -------------------------------------------------------------------

bool RewriteSimplifier::Try(RewriteRules rules, PrimExpr& e) {
  if (exceeded()) return false;
  bool again = false;
  PrimExpr result = RewriteRuleSet(rules).Apply(e, *this, again);
  if (!result.defined()) return false;
  ++steps_;
  if (exceeded()) return false;
  e = again ? Again(result) : std::move(result);
  return true;
}

PrimExpr RewriteSimplifier::Again(const PrimExpr& e) {
  if (depth_ >= kMaxDepth) return e;
  ++depth_;
  PrimExpr result = Rewrite(e);
  --depth_;
  return result;
}

PrimExpr RewriteSimplifier::Remembered(const BinaryNode* node) {
  if (memo_version_ != analyzer_.parts().version) {
    memo_.Clear();
    return {};
  }
  const Result* result = memo_.Find(PrimExpr(node));
  return result != nullptr && result->depth == depth_ ? result->result
                                                      : PrimExpr();
}

void RewriteSimplifier::Remember(const BinaryNode* node,
                                 const PrimExpr& result) {
  if (exceeded() || analyzer_.exceeded_visits()) return;
  if (memo_version_ != analyzer_.parts().version) {
    memo_.Clear();
    memo_version_ = analyzer_.parts().version;
  }
  memo_.Set(PrimExpr(node), {result, depth_});
}

PrimExpr RewriteSimplifier::VisitBinary(const BinaryNode* node) {
  PrimExpr result = Remembered(node);
  if (result.defined()) return result;
  Analyzer::Parts& parts = analyzer_.parts();
  if (++parts.visits > parts.max_visits) return PrimExpr(node);
  result = SimplifyBinary(node);
  Remember(node, result);
  return result;
}

PrimExpr RewriteSimplifier::SimplifyBinary(const BinaryNode* node) {
  switch (node->op()) {
    case BinaryOp::kGT:
      return Rewrite(MakeBinary(BinaryOp::kLT, node->b(), node->a()));
    case BinaryOp::kGE:
      return Rewrite(MakeBinary(BinaryOp::kLE, node->b(), node->a()));
    case BinaryOp::kAnd:
    case BinaryOp::kOr: {
      const PrimExpr left = NestedToTheLeft(node);
      return left.defined() ? Rewrite(left)
                            : SimplifyAndOr(BooleanOperands(node));
    }
    default: {
      const PrimExpr a = Rewrite(node->a());
      const PrimExpr b = Rewrite(node->b());
      return Combine(node, a, b);
    }
  }
}

PrimExpr RewriteSimplifier::Combine(const BinaryNode* node, const PrimExpr& a,
                                    const PrimExpr& b) {
  const BinaryOp op = node->op();
  // Constants of which a rule made a sum that is out of range stay two.
  const bool wraps = FoldWraps(op, a, b);
  PrimExpr folded = wraps ? PrimExpr() : TryFold(op, a, b);
  if (folded.defined()) return folded;
  PrimExpr e = a == node->a() && b == node->b()
                   ? PrimExpr(node)
                   : Binary(op, a, b, node->span());
  if (wraps) return e;
  switch (op) {
    case BinaryOp::kMin:
    case BinaryOp::kMax:
      return SimplifyMinMax(std::move(e));
    case BinaryOp::kEQ:
    case BinaryOp::kNE:
    case BinaryOp::kLT:
    case BinaryOp::kLE: {
      PrimExpr literal = MatchLiteral(e);
      if (literal.defined()) return literal;
      if (op == BinaryOp::kEQ) return SimplifyEqual(std::move(e));
      if (op == BinaryOp::kLT) return SimplifyLess(std::move(e));
      return op == BinaryOp::kNE ? SimplifyNotEqual(e) : SimplifyLessEqual(e);
    }
    default:
      return SimplifyArithmetic(std::move(e));
  }
}

PrimExpr RewriteSimplifier::SimplifyArithmetic(PrimExpr e) {
  const auto* node = e.As<BinaryNode>();
  const DType dtype = node->dtype();
  const bool vector = dtype.lanes() != 1;
  const bool index = IsIndexType(dtype);
  switch (node->op()) {
    case BinaryOp::kAdd:
      if (vector && Try(RewriteRules::kAddVector, e)) return e;
      if (index && Try(RewriteRules::kAddIndex, e)) return e;
      Try(RewriteRules::kAddAny, e);
      return e;
    case BinaryOp::kSub:
      if (vector && Try(RewriteRules::kSubVector, e)) return e;
      if (index && Try(RewriteRules::kSubIndex, e)) return e;
      if (dtype.is_float() && Try(RewriteRules::kSubFloat, e)) return e;
      Try(RewriteRules::kSubAny, e);
      return e;
    case BinaryOp::kMul:
      if (vector && Try(RewriteRules::kMulVector, e)) return e;
      if (index) Try(RewriteRules::kMulIndex, e);
      return e;
    case BinaryOp::kDiv:
      if (const auto* imm = node->b().As<FloatImmNode>()) {
        return Mul(node->a(), FloatImm(node->b().dtype(), 1.0 / imm->value()));
      }
      if (vector) {
        if (Try(RewriteRules::kDivVector, e)) return e;
        PrimExpr result = SimplifyVectorQuotient(node);
        if (result.defined()) return result;
      }
      if (index) Try(RewriteRules::kDivIndex, e);
      return e;
    case BinaryOp::kMod:
      if (vector) {
        if (Try(RewriteRules::kModVector, e)) return e;
        PrimExpr result = SimplifyVectorQuotient(node);
        if (result.defined()) return result;
      }
      if (index) {
        if (Try(RewriteRules::kModIndex, e)) return e;
        return SimplifyModByConstant(node);
      }
      return e;
    case BinaryOp::kFloorDiv:
      if (vector) {
        if (Try(RewriteRules::kFloorDivVector, e)) return e;
        PrimExpr result = SimplifyVectorQuotient(node);
        if (result.defined()) return result;
      }
      if (index) {
        if (Try(RewriteRules::kFloorDivNested, e)) return e;
        PrimExpr result = SimplifyFloorDiv(node);
        if (result.defined()) return result;
        Try(RewriteRules::kFloorDivIndex, e);
      }
      return e;
    default:  // kFloorMod
      if (vector) {
        if (Try(RewriteRules::kFloorModVector, e)) return e;
        PrimExpr result = SimplifyVectorQuotient(node);
        if (result.defined()) return result;
      }
      if (index) {
        if (Try(RewriteRules::kFloorModIndex, e)) return e;
        return SimplifyModByConstant(node);
      }
      return e;
  }
}

// A ramp of constant stride divided by a constant. Null if nothing is found.
PrimExpr RewriteSimplifier::SimplifyVectorQuotient(const BinaryNode* node) {
  const auto* ramp = node->a().As<RampNode>();
  const auto* broadcast = node->b().As<BroadcastNode>();
  if (ramp == nullptr || broadcast == nullptr) return {};
  const auto* stride = ramp->stride().As<IntImmNode>();
  const auto* divisor = broadcast->value().As<IntImmNode>();
  if (stride == nullptr || divisor == nullptr || divisor->value() == 0 ||
      IsModular(ramp->dtype())) {
    return {};
  }
  const int64_t step = stride->value();
  const int64_t size = divisor->value();
  const int lanes = ramp->lanes();
  const PrimExpr& base = ramp->base();
  const BinaryOp op = node->op();
  const bool divides = op == BinaryOp::kDiv || op == BinaryOp::kFloorDiv;
  const bool truncates = op == BinaryOp::kDiv || op == BinaryOp::kMod;
  const auto on_base = [&] { return Folded(op, base, broadcast->value()); };
  // Truncation goes the other way for negative lanes.
  if (truncates &&
      (!ProveGreaterEqual(base, 0) ||
       (step < 0 &&
        !ProveGreaterEqual(
            Add(base, MakeConst(base.dtype(), WrappedMul(step, lanes - 1))),
            0)))) {
    return {};
  }
  if (TruncMod(step, size) == 0) {
    if (!divides) return Broadcast(on_base(), lanes);
    return Ramp(on_base(), Folded(op, ramp->stride(), broadcast->value()),
                lanes);
  }
  const ModularSet set = analyzer_.ModularSetOf(base);
  const int64_t last = WrappedAdd(set.base, WrappedMul(step, lanes - 1));
  const bool one_quotient = FloorDiv(set.base, size) == FloorDiv(last, size);
  const bool aligned = TruncMod(set.coeff, size) == 0;
  const auto rest_of_base = [&] {
    return Folded(op, MakeConst(base.dtype(), set.base), broadcast->value());
  };
  if (one_quotient && aligned) {
    if (divides) return Broadcast(on_base(), lanes);
    return Ramp(rest_of_base(), ramp->stride(), lanes);
  }
  // All lanes are between two multiples of the coefficient.
  if (!truncates && one_quotient && set.coeff > 0 &&
      TruncMod(size, set.coeff) == 0 && last >= 0 && last < set.coeff) {
    if (divides) return Broadcast(on_base(), lanes);
    return Ramp(on_base(), ramp->stride(), lanes);
  }
  if (!divides && aligned) {
    return Binary(op, Ramp(rest_of_base(), ramp->stride(), lanes),
                  Broadcast(broadcast->value(), lanes));
  }
  return {};
}

// (x * c1 + y) // c2, (y + x * c1) // c2 and (x * c1) // c2. Null if nothing is
// found.
PrimExpr RewriteSimplifier::SimplifyFloorDiv(const BinaryNode* node) {
  const auto* divisor = node->b().As<IntImmNode>();
  if (divisor == nullptr || divisor->value() == 0) return {};
  const auto product = [](const PrimExpr& e) -> const BinaryNode* {
    const auto* mul = AsBinary(e, BinaryOp::kMul);
    return mul != nullptr && mul->b().Is<IntImmNode>() ? mul : nullptr;
  };
  const BinaryNode* scaled = nullptr;
  PrimExpr rest;
  if (const auto* sum = AsBinary(node->a(), BinaryOp::kAdd)) {
    scaled = product(sum->a());
    rest = sum->b();
    if (scaled == nullptr) {
      scaled = product(sum->b());
      rest = sum->a();
    }
  } else {
    scaled = product(node->a());
    rest = MakeConst(kInt32, 0);
  }
  if (scaled == nullptr) return {};
  const PrimExpr& x = scaled->a();
  const PrimExpr& c1 = scaled->b();
  const int64_t scale = c1.As<IntImmNode>()->value();
  const int64_t size = divisor->value();
  const auto typed = [](const PrimExpr& like, int64_t value) -> PrimExpr {
    return MakeConst(like.dtype(), value);
  };
  // Constants whose result is out of range stay two.
  const auto scaled_by = [&](int64_t value) {
    return MakeBinaryInRange(BinaryOp::kMul, x, typed(c1, value));
  };
  const auto sum = [](const PrimExpr& a, const PrimExpr& b) {
    return MakeBinaryInRange(BinaryOp::kAdd, a, b);
  };
  // The part that the quotients of both terms leave.
  const PrimExpr residue =
      MakeBinary(BinaryOp::kFloorDiv,
                 sum(scaled_by(FloorMod(scale, size)),
                     MakeBinary(BinaryOp::kFloorMod, rest, typed(rest, size))),
                 typed(x, size));
  PrimExpr quotient = MakeBinary(BinaryOp::kFloorDiv, rest, typed(rest, size));
  if (ProveZero(quotient)) quotient = MakeConst(kInt32, 0);
  const ConstIntBound bound = analyzer_.BoundOf(residue);
  if (bound.min == bound.max && bound.max > ConstIntBound::kNegInf &&
      bound.max < ConstIntBound::kPosInf) {
    return sum(scaled_by(FloorDiv(scale, size)),
               sum(quotient, typed(quotient, bound.max)));
  }
  if (scale > 0 && size > 0 && size % scale == 0 &&
      analyzer_.CanProveLess(
          MakeBinary(BinaryOp::kFloorMod, rest, typed(rest, size)), scale)) {
    return sum(MakeBinary(BinaryOp::kFloorDiv, x, typed(x, size / scale)),
               quotient);
  }
  return {};
}

// x mod c by the modular set and the bounds of x.
PrimExpr RewriteSimplifier::SimplifyModByConstant(const BinaryNode* node) {
  const PrimExpr e(node);
  const auto* divisor = node->b().As<IntImmNode>();
  if (divisor == nullptr || divisor->value() <= 0) return e;
  const int64_t size = divisor->value();
  const PrimExpr& x = node->a();
  const ModularSet set = analyzer_.ModularSetOf(x);
  if (node->op() == BinaryOp::kMod) {
    if (set.coeff % size == 0 && ProveGreaterEqual(x, 0)) {
      return MakeConst(x.dtype(), TruncMod(set.base, size));
    }
    return e;
  }
  if (set.coeff % size == 0) {
    return MakeConst(x.dtype(), FloorMod(set.base, size));
  }
  const ConstIntBound bound = analyzer_.BoundOf(x);
  return bound.min >= 0 && bound.max < size ? x : e;
}

PrimExpr RewriteSimplifier::SimplifyMinMax(PrimExpr e) {
  const auto* node = e.As<BinaryNode>();
  const bool min = node->op() == BinaryOp::kMin;
  if (node->dtype().lanes() != 1 &&
      Try(min ? RewriteRules::kMinVector : RewriteRules::kMaxVector, e)) {
    return e;
  }
  if (IsIndexType(node->dtype())) {
    if (ExprDeepEqual(node->a(), node->b())) return node->a();
    const ConstIntBound a = analyzer_.BoundOf(node->a());
    const ConstIntBound b = analyzer_.BoundOf(node->b());
    if (min ? a.max <= b.min : a.min >= b.max) return node->a();
    if (min ? b.max <= a.min : b.min >= a.max) return node->b();
    if (Try(min ? RewriteRules::kMinIndex : RewriteRules::kMaxIndex, e)) {
      return e;
    }
  }
  Try(min ? RewriteRules::kMinAny : RewriteRules::kMaxAny, e);
  return e;
}

// --- Comparisons -------------------------------------------------------------

PrimExpr RewriteSimplifier::SimplifyEqual(PrimExpr e) {
  const auto* node = e.As<BinaryNode>();
  if (node->dtype().lanes() != 1 && Try(RewriteRules::kEqVector, e)) return e;
  if (!IsIndexType(node->a().dtype())) return e;
  const CompareResult result = TryCompare(node->a(), node->b());
  if (result == CompareResult::kEQ) return Truth(e.dtype(), true);
  if (result == CompareResult::kNE || result == CompareResult::kGT ||
      result == CompareResult::kLT) {
    return Truth(e.dtype(), false);
  }
  Try(RewriteRules::kEqIndex, e);
  return e;
}

PrimExpr RewriteSimplifier::SimplifyNotEqual(const PrimExpr& e) {
  const auto* node = e.As<BinaryNode>();
  const PrimExpr& a = node->a();
  const PrimExpr& b = node->b();
  PrimExpr equal = Binary(BinaryOp::kEQ, a, b);
  if (IsIndexType(a.dtype())) {
    switch (TryCompare(a, b)) {
      case CompareResult::kNE:
      case CompareResult::kGT:
      case CompareResult::kLT:
        return Truth(e.dtype(), true);
      case CompareResult::kEQ:
        return Truth(e.dtype(), false);
      case CompareResult::kGE:
        return SimplifyLess(Binary(BinaryOp::kLT, b, a));
      case CompareResult::kLE:
        return SimplifyLess(Binary(BinaryOp::kLT, a, b));
      default:
        Try(RewriteRules::kEqIndex, equal);
        return SimplifyNot(Not(equal));
    }
  }
  return SimplifyNot(Not(SimplifyEqual(std::move(equal))));
}

PrimExpr RewriteSimplifier::SimplifyLessEqual(const PrimExpr& e) {
  const auto* node = e.As<BinaryNode>();
  if (IsPartialOrder(*node)) {
    // Broadcasts are outside, as the rules of `<` have them.
    const auto* a = node->a().As<BroadcastNode>();
    const auto* b = node->b().As<BroadcastNode>();
    if (a == nullptr || b == nullptr) return e;
    return Broadcast(MakeBinary(BinaryOp::kLE, a->value(), b->value()),
                     a->lanes());
  }
  // Rules come first: a <= b * x is a quotient where that is possible.
  PrimExpr result = SimplifyNot(
      Not(SimplifyLess(Binary(BinaryOp::kLT, node->b(), node->a()))));
  const auto* compare = AsBinary(result, BinaryOp::kLE);
  if (compare == nullptr || !IsIndexType(compare->a().dtype())) return result;
  const PrimExpr& a = compare->a();
  const PrimExpr& b = compare->b();
  switch (TryCompare(a, b)) {
    case CompareResult::kLE:
    case CompareResult::kLT:
    case CompareResult::kEQ:
      return Truth(result.dtype(), true);
    case CompareResult::kGT:
      return Truth(result.dtype(), false);
    case CompareResult::kNE:
      return SimplifyLess(Binary(BinaryOp::kLT, a, b));
    case CompareResult::kGE:
      return SimplifyEqual(Binary(BinaryOp::kEQ, a, b));
    default:
      return result;
  }
}

PrimExpr RewriteSimplifier::SimplifyLess(PrimExpr e) {
  const auto* node = e.As<BinaryNode>();
  if (node->dtype().lanes() != 1 && Try(RewriteRules::kLtVector, e)) return e;
  if (!IsIndexType(node->a().dtype())) return e;
  const CompareResult result = TryCompare(node->a(), node->b());
  if (result == CompareResult::kLT) return Truth(e.dtype(), true);
  if (result == CompareResult::kEQ || result == CompareResult::kGT ||
      result == CompareResult::kGE) {
    return Truth(e.dtype(), false);
  }
  if (Try(RewriteRules::kLtIndex, e)) return e;
  PrimExpr merged = MergeConstants(node);
  return merged.defined() ? Again(merged) : e;
}

// a + c < b + d with the constants on one side. Null if they are.
PrimExpr RewriteSimplifier::MergeConstants(const BinaryNode* node) {
  const Offset left = SplitOffset(node->a());
  const Offset right = SplitOffset(node->b());
  if (left.value == 0 && right.value == 0) return {};
  int64_t difference = 0;
  if (__builtin_sub_overflow(right.value, left.value, &difference)) return {};
  if (difference == 0) return MakeBinary(BinaryOp::kLT, left.e, right.e);
  if (difference == 1) return MakeBinary(BinaryOp::kLE, left.e, right.e);
  const auto plus = [](const PrimExpr& e, int64_t value) -> PrimExpr {
    const PrimExpr c = MakeConst(e.dtype(), value);
    return !FitsDType(value, e.dtype()) || FoldWraps(BinaryOp::kAdd, e, c)
               ? PrimExpr()
               : Add(e, c);
  };
  PrimExpr a = left.e;
  PrimExpr b = right.e;
  if (difference < 0 && right.value != 0) {
    if (__builtin_sub_overflow(0, difference, &difference)) return {};
    a = plus(a, difference);
  } else if (difference > 0 && left.value != 0) {
    b = plus(b, difference);
  } else {
    return {};
  }
  return a.defined() && b.defined() ? MakeBinary(BinaryOp::kLT, a, b)
                                    : PrimExpr();
}

PrimExpr RewriteSimplifier::VisitNot(const NotNode* node) {
  const PrimExpr a = Rewrite(node->a());
  if (const auto* imm = a.As<IntImmNode>()) {
    return Truth(node->dtype(), imm->value() == 0);
  }
  PrimExpr e = a == node->a() ? PrimExpr(node) : Not(a, node->span());
  PrimExpr literal = MatchLiteral(e);
  return literal.defined() ? literal : SimplifyNot(std::move(e));
}

PrimExpr RewriteSimplifier::SimplifyNot(PrimExpr e) {
  if (e.dtype().lanes() != 1 && Try(RewriteRules::kNotVector, e)) return e;
  Try(RewriteRules::kNotAny, e);
  return e;
}

// `node` with simplified operands.
PrimExpr RewriteSimplifier::BooleanOperands(const BinaryNode* node) {
  PrimExpr a = node->a();
  PrimExpr b = node->b();
  if ((extensions_ & Analyzer::kApplyConstraintsToBooleanBranches) == 0) {
    a = Rewrite(a);
    b = Rewrite(b);
  } else {
    // Each operand may be simplified twice, in turn: where the other one does
    // not decide.
    int unchanged = 0;
    for (int i = 0; i < 4 && unchanged < 2; ++i) {
      PrimExpr& operand = i % 2 == 0 ? a : b;
      const PrimExpr& other = i % 2 == 0 ? b : a;
      const auto scope = analyzer_.WithConstraint(
          node->op() == BinaryOp::kAnd ? other : NegateCondition(other));
      PrimExpr updated = Rewrite(operand);
      unchanged = updated == operand ? unchanged + 1 : 0;
      operand = std::move(updated);
    }
  }
  if (a == node->a() && b == node->b()) return PrimExpr(node);
  return Binary(node->op(), std::move(a), std::move(b), node->span());
}

namespace {

// True if `e` is a chain `((a op b) op c) ...` of more operands than a rule
// takes apart: each rotation `x op (y op z)` makes the whole chain anew.
bool IsLongChain(PrimExpr e, BinaryOp op) {
  constexpr int kMaxRotated = 256;
  for (int i = 0; i < kMaxRotated; ++i) {
    const BinaryNode* node = AsBinary(e, op);
    if (node == nullptr) return false;
    e = node->a();
  }
  return true;
}

}  // namespace

PrimExpr RewriteSimplifier::SimplifyAndOr(PrimExpr e) {
  const auto* node = e.As<BinaryNode>();
  const bool conjunction = node->op() == BinaryOp::kAnd;
  PrimExpr folded = TryFold(node->op(), node->a(), node->b());
  if (folded.defined()) return folded;
  PrimExpr literal = MatchLiteral(e);
  if (literal.defined()) return literal;
  if ((extensions_ & Analyzer::kConvertBooleanToAndOfOrs) != 0) {
    return SimplifyAsAndOfOrs(e, analyzer_);
  }
  if (IsLongChain(node->b(), node->op())) return e;
  if (node->dtype().lanes() != 1 &&
      Try(conjunction ? RewriteRules::kAndVector : RewriteRules::kOrVector,
          e)) {
    return e;
  }
  Try(conjunction ? RewriteRules::kAndAny : RewriteRules::kOrAny, e);
  return e;
}

// --- Other nodes -------------------------------------------------------------

PrimExpr RewriteSimplifier::VisitVar(const VarNode* node) {
  const PrimExpr e(node);
  if (node->dtype() == DType::Bool() && !literals_.empty()) {
    PrimExpr literal = MatchLiteral(e);
    if (literal.defined()) return literal;
  }
  const PrimExpr* value = vars_.Find(node);
  return value != nullptr ? *value : e;
}

PrimExpr RewriteSimplifier::VisitSelect(const SelectNode* node) {
  PrimExpr e = AnalyzingRewriter::VisitSelect(node);
  if (e.Is<SelectNode>()) Try(RewriteRules::kSelectAny, e);
  return e;
}

PrimExpr RewriteSimplifier::VisitCast(const CastNode* node) {
  const PrimExpr value = Rewrite(node->value());
  PrimExpr e = CastTo(node->dtype(), value);
  const auto* cast = e.As<CastNode>();
  return cast != nullptr && cast->dtype() == node->dtype() &&
                 cast->value() == node->value()
             ? PrimExpr(node)
             : e;
}

PrimExpr RewriteSimplifier::VisitLet(const LetNode* node) {
  PrimExpr value = Rewrite(node->value());
  // Only trivial values are put in the place of their variables.
  if (IsConstantNumber(node->value()) || node->value().Is<VarNode>()) {
    analyzer_.Bind(node->var(), value);
    return Rewrite(node->body());
  }
  PrimExpr body = Rewrite(node->body());
  if (value == node->value() && body == node->body()) return PrimExpr(node);
  return Let(node->var(), std::move(value), std::move(body), node->span());
}

PrimExpr RewriteSimplifier::VisitCall(const CallNode* node) {
  PrimExpr e = AnalyzingRewriter::VisitCall(node);
  const auto* call = e.As<CallNode>();
  if (call == nullptr || call->args().empty()) return e;
  const PrimExpr& first = call->args()[0];
  if (call->op() == IntrinsicOp("likely")) {
    if (first.Is<IntImmNode>()) return first;
    // The condition of a loop's remainder is often known.
    PrimExpr literal = MatchLiteral(first);
    return literal.defined() ? literal : e;
  }
  if (call->op() == IntrinsicOp("shift_right") ||
      call->op() == IntrinsicOp("shift_left")) {
    const auto* value = first.As<IntImmNode>();
    const auto* by = call->args()[1].As<IntImmNode>();
    if (value == nullptr || by == nullptr || by->value() < 0 ||
        by->value() >= call->dtype().bits()) {
      return e;
    }
    const auto bits = static_cast<uint64_t>(value->value());
    int64_t shifted = 0;
    if (call->op() == IntrinsicOp("shift_left")) {
      shifted = static_cast<int64_t>(bits << by->value());
    } else if (call->dtype().is_uint()) {
      shifted = static_cast<int64_t>(bits >> by->value());
    } else {
      shifted = value->value() >> by->value();
    }
    return IntImm(call->dtype(), WrapToDType(shifted, call->dtype()));
  }
  if (call->op() == IntrinsicOp("ceil")) {
    if (first.Is<IntImmNode>()) return CastTo(call->dtype(), first);
    if (const auto* imm = first.As<FloatImmNode>()) {
      return CastTo(call->dtype(),
                    FloatImm(imm->dtype(), std::ceil(imm->value())));
    }
    const auto* log2 = first.As<CallNode>();
    if (log2 != nullptr && log2->op() == IntrinsicOp("log2")) {
      if (const auto* imm = log2->args()[0].As<FloatImmNode>()) {
        return FloatImm(call->dtype(), std::ceil(std::log2(imm->value())));
      }
    }
    return e;
  }
  if (call->op() == IntrinsicOp("if_then_else") && call->args().size() == 3) {
    // If both else values are one constant, conditions are joined.
    const auto* inner = call->args()[1].As<CallNode>();
    if (inner != nullptr && inner->op() == call->op() &&
        IsConstantNumber(inner->args()[2]) &&
        IsConstantNumber(call->args()[2]) &&
        analyzer_.CanProve(
            MakeBinary(BinaryOp::kEQ, inner->args()[2], call->args()[2]))) {
      return Call(call->dtype(), call->op(),
                  {MakeBinary(BinaryOp::kAnd, first, inner->args()[0]),
                   inner->args()[1], call->args()[2]});
    }
  }
  return e;
}

}  // namespace baton::tir
