#include "baton/ir/attrs.h"
#include "baton/ir/op.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/op/gradient_helpers.h"
#include "baton/relay/op/gradients.h"
#include "baton/relay/op/tensor.h"

namespace baton::relay {
namespace {

using internal::Exprs;
using internal::GradientsOr;
using internal::ScalarOf;
using internal::ZeroGradients;

// Registers the gradient of an operator with one operand: an expression of the
// operand `x`, ones of its shape, the call `y` and the gradient `grad` of `y`.
#define BATON_GRADIENT_(op, gradient)                                          \
  BATON_EXTEND_OP(op).Set(Gradients(),                                         \
                          [](const Call& y, const Expr& grad) -> GradientsOr { \
                            [[maybe_unused]] const Expr& x = y->arg(0);        \
                            [[maybe_unused]] const Expr ones = OnesLike(x);    \
                            return Exprs{gradient};                            \
                          })

// d log_base(x) / dx = 1 / (log(base) * x)
Expr LogGradient(double base, const Expr& x, const Expr& grad) {
  return Divide(Multiply(grad, OnesLike(x)),
                Multiply(Log(ScalarOf(base, x)), x));
}
Expr SqrtGradient(const Expr& x, const Expr& grad) {
  const Expr half = ScalarOf(0.5, x);
  return Multiply(Multiply(grad, half), Power(x, Negative(half)));
}
Expr ReluGradient(const Expr& x, const Expr& grad) {
  const Expr zeros = ZerosLike(x);
  return Where(Less(x, zeros), zeros, grad);
}
constexpr double kTwoOverRootOfPi = 1.1283791670955126;

BATON_GRADIENT_("log", Divide(Multiply(grad, ones), x));
BATON_GRADIENT_("log2", LogGradient(2, x, grad));
BATON_GRADIENT_("log10", LogGradient(10, x, grad));
BATON_GRADIENT_("exp", Multiply(grad, Exp(x)));
BATON_GRADIENT_("sqrt", SqrtGradient(x, grad));

BATON_GRADIENT_("sin", Multiply(grad, Cos(x)));
BATON_GRADIENT_("cos", Multiply(grad, Multiply(Negative(ones), Sin(x))));
BATON_GRADIENT_("tan", Divide(grad, Multiply(Cos(x), Cos(x))));
BATON_GRADIENT_("sinh", Multiply(grad, Cosh(x)));
BATON_GRADIENT_("cosh", Multiply(grad, Sinh(x)));
BATON_GRADIENT_("tanh", Multiply(grad, Subtract(OnesLike(y), Multiply(y, y))));
BATON_GRADIENT_("asin", Divide(Multiply(grad, ones),
                               Sqrt(Subtract(ones, Multiply(x, x)))));
BATON_GRADIENT_("acos",
                Multiply(grad, Divide(Negative(ones),
                                      Sqrt(Subtract(ones, Multiply(x, x))))));
BATON_GRADIENT_("atan",
                Divide(Multiply(grad, ones), Add(ones, Multiply(x, x))));
BATON_GRADIENT_("asinh",
                Divide(Multiply(grad, ones), Sqrt(Add(ones, Multiply(x, x)))));
BATON_GRADIENT_("acosh", Divide(Multiply(grad, ones),
                                Sqrt(Subtract(Multiply(x, x), ones))));
BATON_GRADIENT_("atanh",
                Divide(Multiply(grad, ones), Subtract(ones, Multiply(x, x))));

BATON_GRADIENT_("sigmoid",
                Multiply(Multiply(grad, y), Subtract(OnesLike(y), y)));
BATON_GRADIENT_("erf", Multiply(Multiply(ScalarOf(kTwoOverRootOfPi, x),
                                         Exp(Multiply(Negative(x), x))),
                                grad));
BATON_GRADIENT_("nn.relu", ReluGradient(x, Multiply(ones, grad)));
BATON_GRADIENT_("abs",
                Where(Less(x, ZerosLike(x)), Multiply(Negative(ones), grad),
                      Multiply(ones, grad)));
BATON_GRADIENT_("negative", Negative(grad));
BATON_GRADIENT_("copy", grad);
BATON_GRADIENT_("cast", CastLike(grad, x));
// The annotation requests that values are computed again; here they are kept.
BATON_GRADIENT_("annotation.checkpoint", grad);
// Functions on a device get it when what they share is bound.
BATON_GRADIENT_("on_device", grad);

BATON_EXTEND_OP("clip").Set(
    Gradients(), [](const Call& call, const Expr& grad) -> GradientsOr {
      const auto& attrs = AttrsOrDefaults<ClipAttrs>(call->attrs());
      const Expr& x = call->arg(0);
      const Expr lowest = BroadcastToLike(ScalarOf(attrs.a_min, x), x);
      const Expr highest = BroadcastToLike(ScalarOf(attrs.a_max, x), x);
      const Expr zeros = ZerosLike(x);
      return Exprs{
          Where(Less(x, lowest), zeros,
                Where(Less(highest, x), zeros, Multiply(OnesLike(x), grad)))};
    });

BATON_EXTEND_OP("add").Set(Gradients(),
                           [](const Call& call,
                              const Expr& grad) -> GradientsOr {
                             return Exprs{CollapseSumLike(grad, call->arg(0)),
                                          CollapseSumLike(grad, call->arg(1))};
                           });
BATON_EXTEND_OP("subtract")
    .Set(Gradients(), [](const Call& call, const Expr& grad) -> GradientsOr {
      return Exprs{CollapseSumLike(grad, call->arg(0)),
                   CollapseSumLike(Negative(grad), call->arg(1))};
    });
BATON_EXTEND_OP("multiply")
    .Set(Gradients(), [](const Call& call, const Expr& grad) -> GradientsOr {
      const Expr& x = call->arg(0);
      const Expr& y = call->arg(1);
      return Exprs{CollapseSumLike(Multiply(grad, y), x),
                   CollapseSumLike(Multiply(grad, x), y)};
    });
BATON_EXTEND_OP("divide").Set(
    Gradients(), [](const Call& call, const Expr& grad) -> GradientsOr {
      const Expr& x = call->arg(0);
      const Expr& y = call->arg(1);
      return Exprs{
          CollapseSumLike(Divide(grad, y), x),
          CollapseSumLike(Negative(Divide(Multiply(grad, call), y)), y)};
    });
BATON_EXTEND_OP("where").Set(
    Gradients(), [](const Call& call, const Expr& grad) -> GradientsOr {
      const Expr& condition = call->arg(0);
      const Expr zeros = ZerosLike(grad);
      return Exprs{
          ZerosLike(condition),
          CollapseSumLike(Where(condition, grad, zeros), call->arg(1)),
          CollapseSumLike(Where(condition, zeros, grad), call->arg(2))};
    });

// Truth values are constant but for single points. So the gradients of nn.relu,
// abs and clip, which compare, can be differentiated again.
BATON_EXTEND_OP("equal").Set(Gradients(), ZeroGradients);
BATON_EXTEND_OP("greater").Set(Gradients(), ZeroGradients);
BATON_EXTEND_OP("greater_equal").Set(Gradients(), ZeroGradients);
BATON_EXTEND_OP("less").Set(Gradients(), ZeroGradients);
BATON_EXTEND_OP("less_equal").Set(Gradients(), ZeroGradients);
BATON_EXTEND_OP("not_equal").Set(Gradients(), ZeroGradients);
BATON_EXTEND_OP("logical_and").Set(Gradients(), ZeroGradients);
BATON_EXTEND_OP("logical_not").Set(Gradients(), ZeroGradients);
BATON_EXTEND_OP("logical_or").Set(Gradients(), ZeroGradients);
BATON_EXTEND_OP("logical_xor").Set(Gradients(), ZeroGradients);

BATON_EXTEND_OP("cast_like")
    .Set(Gradients(), [](const Call& call, const Expr& grad) -> GradientsOr {
      return Exprs{CastLike(grad, call->arg(0)), ZerosLike(call->arg(1))};
    });

#undef BATON_GRADIENT_

}  // namespace
}  // namespace baton::relay
