// Gradients of operators, for automatic differentiation.

#ifndef BATON_RELAY_OP_GRADIENTS_H_
#define BATON_RELAY_OP_GRADIENTS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "baton/ir/op.h"
#include "baton/relay/ir/expr.h"

namespace baton::relay {

// Returns the gradients of the arguments of `call`, given the gradient `grad`
// of its result. `call` and its arguments have types. Each gradient has the
// type of its argument; for a tuple it is a tuple. The results are untyped
// expressions over `call`, its arguments, and `grad`, each of which may occur
// several times.
//
// An argument without differentiable influence (indices, conditions, shapes)
// gets zeros. An error if the gradient is not implemented for such a call.
//
// Reference behaviour: the operator attribute FPrimalGradient of TVM, and the
// gradients in python/tvm/relay/op/_tensor_grad.py.
using GradientFn = absl::StatusOr<std::vector<Expr>> (*)(const Call& call,
                                                         const Expr& grad);
OpProperty<GradientFn>& Gradients();

}  // namespace baton::relay

#endif  // BATON_RELAY_OP_GRADIENTS_H_
