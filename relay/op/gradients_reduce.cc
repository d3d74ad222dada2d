#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "baton/base/status_macros.h"
#include "baton/ir/attrs.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/op/gradient_helpers.h"
#include "baton/relay/op/gradients.h"
#include "baton/relay/op/tensor.h"

namespace baton::relay {
namespace {

using internal::Axes;
using internal::Exprs;
using internal::GradientsOr;
using internal::ScalarOf;
using internal::ShapeOfTyped;
using internal::TensorTypeOf;
using internal::Unknown;

// The axes that `call` reduces, sorted and not negative; null for all of them.
template <typename A>
absl::StatusOr<Axes> ReducedAxes(const Call& call, const A& attrs) {
  BATON_ASSIGN_OR_RETURN(const TensorTypeNode* const type,
                         TensorTypeOf(call, call->arg(0)));
  if (!attrs.axis.has_value() || attrs.axis->empty()) {
    if (attrs.exclude) return Unknown(call, "for no axis but excluded ones");
    return Axes();
  }
  const int64_t rank = type->rank();
  std::vector<bool> named(static_cast<size_t>(rank));
  for (const int64_t axis : *attrs.axis) {
    const int64_t at = axis < 0 ? axis + rank : axis;
    if (at < 0 || at >= rank) return Unknown(call, "for such an axis");
    named[static_cast<size_t>(at)] = true;
  }
  std::vector<int64_t> result;
  for (int64_t i = 0; i < rank; ++i) {
    if (named[static_cast<size_t>(i)] != attrs.exclude) result.push_back(i);
  }
  return Axes(std::move(result));
}

// Returns the numbers of the axes; all axes if none are given.
std::vector<int64_t> AllIfNone(const Axes& axes, size_t rank) {
  if (axes.has_value()) return *axes;
  std::vector<int64_t> result(rank);
  for (size_t i = 0; i < rank; ++i) result[i] = static_cast<int64_t>(i);
  return result;
}

// `expr` with the axes that a reduction dropped, with extent 1.
Expr WithDroppedAxes(Expr expr, absl::Span<const int64_t> axes) {
  for (const int64_t axis : axes) {
    expr = ExpandDims(std::move(expr), static_cast<int>(axis));
  }
  return expr;
}

BATON_EXTEND_OP("sum").Set(
    Gradients(), [](const Call& call, const Expr& grad) -> GradientsOr {
      const auto& attrs = AttrsOrDefaults<ReduceAttrs>(call->attrs());
      const Expr& data = call->arg(0);
      BATON_ASSIGN_OR_RETURN(const Axes axes, ReducedAxes(call, attrs));
      BATON_ASSIGN_OR_RETURN(const std::vector<int64_t> shape,
                             ShapeOfTyped(call, data));
      return Exprs{BroadcastToLike(
          attrs.keepdims ? grad
                         : WithDroppedAxes(grad, AllIfNone(axes, shape.size())),
          data)};
    });

BATON_EXTEND_OP("mean").Set(
    Gradients(), [](const Call& call, const Expr& grad) -> GradientsOr {
      const auto& attrs = AttrsOrDefaults<ReduceAttrs>(call->attrs());
      const Expr& data = call->arg(0);
      BATON_ASSIGN_OR_RETURN(const Axes reduced, ReducedAxes(call, attrs));
      BATON_ASSIGN_OR_RETURN(const std::vector<int64_t> shape,
                             ShapeOfTyped(call, data));
      const std::vector<int64_t> axes = AllIfNone(reduced, shape.size());
      double factor = 1;
      for (const int64_t axis : axes) {
        factor /= static_cast<double>(shape[static_cast<size_t>(axis)]);
      }
      const Expr spread = attrs.keepdims ? grad : WithDroppedAxes(grad, axes);
      return Exprs{
          BroadcastToLike(Multiply(spread, ScalarOf(factor, data)), data)};
    });

// The mean is an argument of its own. Its part in the derivative by the data is
// left to the gradient of `mean`, so the sum over both is right only if the
// argument is the mean of the data.
BATON_EXTEND_OP("variance")
    .Set(Gradients(), [](const Call& call, const Expr& grad) -> GradientsOr {
      const auto& attrs = AttrsOrDefaults<VarianceAttrs>(call->attrs());
      const Expr& data = call->arg(0);
      const Expr& mean = call->arg(1);
      BATON_ASSIGN_OR_RETURN(const Axes reduced, ReducedAxes(call, attrs));
      BATON_ASSIGN_OR_RETURN(const std::vector<int64_t> shape,
                             ShapeOfTyped(call, data));
      const std::vector<int64_t> axes = AllIfNone(reduced, shape.size());
      double count = 1;
      for (const int64_t axis : axes) {
        count *= static_cast<double>(shape[static_cast<size_t>(axis)]);
      }
      double mean_factor = -2;
      if (attrs.unbiased) {
        mean_factor = mean_factor * count / (count - 1);
        count -= 1;
      }
      const Expr spread = attrs.keepdims ? grad : WithDroppedAxes(grad, axes);
      return Exprs{
          Multiply(Multiply(spread, ScalarOf(2 / count, data)), data),
          Multiply(Multiply(ScalarOf(mean_factor, data), spread), mean)};
    });

// Elements that are all the largest share the gradient.
BATON_EXTEND_OP("max").Set(
    Gradients(), [](const Call& call, const Expr& grad) -> GradientsOr {
      const auto& attrs = AttrsOrDefaults<ReduceAttrs>(call->attrs());
      const Expr& x = call->arg(0);
      BATON_ASSIGN_OR_RETURN(const Axes axes, ReducedAxes(call, attrs));
      BATON_ASSIGN_OR_RETURN(const std::vector<int64_t> shape,
                             ShapeOfTyped(call, x));
      Expr repeated = call;
      Expr spread = grad;
      if (!axes.has_value()) {
        repeated = attrs.keepdims ? BroadcastToLike(repeated, x)
                                  : FullLike(x, repeated);
      } else {
        if (!attrs.keepdims) {
          repeated = WithDroppedAxes(repeated, *axes);
          spread = WithDroppedAxes(spread, *axes);
        }
        for (const int64_t axis : *axes) {
          repeated = Repeat(repeated, shape[static_cast<size_t>(axis)], axis);
        }
      }
      const Expr chosen = CastLike(Equal(repeated, x), spread);
      const Expr count = Sum(chosen, {.axis = axes, .keepdims = true});
      return Exprs{Divide(Multiply(chosen, spread), count)};
    });

}  // namespace
}  // namespace baton::relay
