// DetectLinearEquation and DetectClipBound.

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "baton/base/deep_stack.h"
#include "baton/base/dtype.h"
#include "baton/tir/arith/analyzer.h"
#include "baton/tir/arith/fold_wraps.h"
#include "baton/tir/arith/pattern.h"
#include "baton/tir/arith/var_map.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/fold.h"
#include "baton/tir/ir/functor.h"

namespace baton::tir {
namespace {

class Combiner : public NotedFolds {
 public:
  // Null operands and results are 0.
  PrimExpr Sum(const PrimExpr& a, const PrimExpr& b) {
    if (!a.defined()) return b;
    return b.defined() ? Combine(BinaryOp::kAdd, a, b) : a;
  }
  PrimExpr Difference(const PrimExpr& a, const PrimExpr& b) {
    if (!b.defined()) return a;
    return a.defined() ? Combine(BinaryOp::kSub, a, b) : Negate(b);
  }
  PrimExpr Product(const PrimExpr& a, const PrimExpr& b) {
    return a.defined() && b.defined() ? Combine(BinaryOp::kMul, a, b)
                                      : PrimExpr();
  }
};

// coeff * var + base; null parts are 0.
struct Linear {
  PrimExpr coeff;
  PrimExpr base;
};

std::optional<Linear> DetectLinear(const PrimExpr& e, const VarNode* var) {
  if (const auto* node = e.As<VarNode>()) {
    if (node != var) return Linear{{}, e};
    return Linear{MakeConst(DType(DType::Code::kInt, node->dtype().bits(),
                                  node->dtype().lanes()),
                            1),
                  {}};
  }
  const auto* node = e.As<BinaryNode>();
  if (node == nullptr || node->op() > BinaryOp::kMul) {
    if (UsesVar(e, var)) return std::nullopt;
    return Linear{{}, e};
  }
  return OnDeepStack([&]() -> std::optional<Linear> {
    std::optional<Linear> a = DetectLinear(node->a(), var);
    if (!a.has_value()) return a;
    std::optional<Linear> b = DetectLinear(node->b(), var);
    if (!b.has_value()) return b;
    Combiner combiner;
    Linear linear;
    switch (node->op()) {
      case BinaryOp::kAdd:
        linear = {combiner.Sum(a->coeff, b->coeff),
                  combiner.Sum(a->base, b->base)};
        break;
      case BinaryOp::kSub:
        linear = {combiner.Difference(a->coeff, b->coeff),
                  combiner.Difference(a->base, b->base)};
        break;
      default:
        if (a->coeff.defined()) std::swap(a, b);
        if (a->coeff.defined()) return std::nullopt;
        linear = {combiner.Product(a->base, b->coeff),
                  combiner.Product(a->base, b->base)};
        break;
    }
    if (combiner.is_out_of_range()) return std::nullopt;
    return linear;
  });
}

struct Interval {
  PrimExpr min;
  PrimExpr max;
};

// Narrows the interval of the one variable of `condition`; false if it is no
// inequality of one variable.
bool NarrowInterval(const PrimExpr& condition, VarMap<Interval>& intervals) {
  const VarNode* var = nullptr;
  bool several = false;
  PostOrderVisit(condition, [&](const PrimExpr& e) {
    const auto* node = e.As<VarNode>();
    if (node == nullptr || !intervals.Contains(node)) return;
    several = several || (var != nullptr && var != node);
    var = node;
  });
  const auto* compare = condition.As<BinaryNode>();
  if (var == nullptr || several || compare == nullptr ||
      !IsComparison(compare->op()) || compare->op() == BinaryOp::kNE ||
      !compare->a().dtype().is_int()) {
    return false;
  }
  const PrimExpr& a = compare->a();
  const PrimExpr& b = compare->b();
  const PrimExpr one = MakeConst(a.dtype(), 1);
  Combiner combiner;
  PrimExpr positive;  // the condition is that this is not negative
  switch (compare->op()) {
    case BinaryOp::kLT:
      positive = combiner.Difference(combiner.Difference(b, a), one);
      break;
    case BinaryOp::kLE:
      positive = combiner.Difference(b, a);
      break;
    case BinaryOp::kGT:
      positive = combiner.Difference(combiner.Difference(a, b), one);
      break;
    default:
      positive = combiner.Difference(a, b);
      break;
  }
  std::optional<Linear> linear = DetectLinear(positive, var);
  if (!linear.has_value()) return false;
  if (!linear->base.defined()) linear->base = MakeConst(var->dtype(), 0);
  if (!linear->coeff.defined()) linear->coeff = MakeConst(var->dtype(), 0);
  const bool equal = compare->op() == BinaryOp::kEQ;
  const PrimExpr coeff = Analyzer().Simplify(linear->coeff);
  Interval bound;
  if (IsOne(coeff)) {
    bound.min = combiner.Negate(linear->base);
    if (equal) bound.max = bound.min;
  } else if (IsConst(coeff, -1)) {
    bound.max = linear->base;
    if (equal) bound.min = bound.max;
  } else {
    return false;
  }
  if (combiner.is_out_of_range()) return false;
  Interval& known = *intervals.Find(var);
  if (bound.min.defined()) {
    known.min = known.min.defined()
                    ? MakeBinary(BinaryOp::kMax, known.min, bound.min)
                    : bound.min;
  }
  if (bound.max.defined()) {
    known.max = known.max.defined()
                    ? MakeBinary(BinaryOp::kMin, known.max, bound.max)
                    : bound.max;
  }
  return true;
}

}  // namespace

std::vector<PrimExpr> DetectLinearEquation(const PrimExpr& e,
                                           absl::Span<const Var> vars) {
  std::vector<PrimExpr> result;
  PrimExpr base = e;
  for (const Var& var : vars) {
    std::optional<Linear> linear = DetectLinear(base, var.get());
    if (!linear.has_value()) return {};
    const PrimExpr zero = MakeConst(var->dtype(), 0);
    result.push_back(linear->coeff.defined() ? linear->coeff : zero);
    base = linear->base.defined() ? linear->base : zero;
  }
  // A factor must not have the variables that come after its own.
  for (size_t i = 0; i + 1 < vars.size(); ++i) {
    for (size_t j = i + 1; j < vars.size(); ++j) {
      if (UsesVar(result[i], vars[j].get())) return {};
    }
  }
  result.push_back(std::move(base));
  return result;
}

std::vector<PrimExpr> DetectClipBound(const PrimExpr& e,
                                      absl::Span<const Var> vars) {
  Analyzer analyzer;
  VarMap<Interval> intervals;
  for (const Var& var : vars) intervals.Set(var, {});
  for (const PrimExpr& condition :
       ExtractConstraints(analyzer.Simplify(e), false)) {
    if (!NarrowInterval(condition, intervals)) return {};
  }
  std::vector<PrimExpr> result;
  for (const Var& var : vars) {
    const Interval& interval = *intervals.Find(var);
    for (const PrimExpr& bound : {interval.min, interval.max}) {
      result.push_back(bound.defined() ? analyzer.Simplify(bound) : bound);
    }
  }
  return result;
}

}  // namespace baton::tir
