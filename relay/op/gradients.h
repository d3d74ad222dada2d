// Gradients of operators: what automatic differentiation asks of them.

#ifndef BATON_RELAY_OP_GRADIENTS_H_
#define BATON_RELAY_OP_GRADIENTS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "baton/ir/op.h"
#include "baton/relay/ir/expr.h"

namespace baton::relay {

// The gradients of the arguments of `call`, given that of its result. `call`
// and its arguments have types. Each gradient has the type of its argument; one
// of a tuple is a tuple. The result is untyped expressions over `call`, its
// arguments, and `grad`, each of which may occur several times.
//
// An argument that has no influence that a derivative could tell (indices,
// conditions, shapes) gets zeros. An error if the gradient is not known for
// such a call.
//
// Reference behaviour: the operator attribute FPrimalGradient of TVM, and the
// gradients in python/tvm/relay/op/_tensor_grad.py.
using GradientFn = absl::StatusOr<std::vector<Expr>> (*)(const Call& call,
                                                         const Expr& grad);
OpAttrMap<GradientFn>& Gradients();

}  // namespace baton::relay

#endif  // BATON_RELAY_OP_GRADIENTS_H_
