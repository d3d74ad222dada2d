// FirstOrderGradient: makes functions also return the gradients of their
// parameters.
//
//   fn (%x, %y) { multiply(%x, %y) }
//     -> fn (%x, %y) { ... (multiply(%x, %y), (gradient of %x, of %y)) }
//
// Reverse-mode differentiation of dataflow programs: calls of operators that
// have a gradient (relay/op/gradients.h), tuples, constants, and calls of
// function literals. Each value is bound to a variable, and so is the sum of
// its gradients, initially zeros. The calls are then visited from last to
// first, and each adds to the sums of its arguments. The gradient of the result
// is ones: gradients are those of the sum of all elements of the result.

#ifndef BATON_RELAY_TRANSFORM_FIRST_ORDER_GRADIENT_H_
#define BATON_RELAY_TRANSFORM_FIRST_ORDER_GRADIENT_H_

#include "absl/status/statusor.h"
#include "baton/relay/ir/expr.h"
#include "baton/transform/pass.h"

namespace baton::relay {

// Returns `function`, which has types, as a function that returns (result,
// (gradient of a parameter, ...)). New nodes have no types. The error shows all
// places that cannot be differentiated: lets, branches, references, data types,
// calls of anything but operators and function literals, operators without a
// gradient.
absl::StatusOr<Function> FirstOrderGradientInFunction(const Function& function);

// A module pass of level 0. Converts each function.
Pass FirstOrderGradient();

}  // namespace baton::relay

#endif  // BATON_RELAY_TRANSFORM_FIRST_ORDER_GRADIENT_H_
