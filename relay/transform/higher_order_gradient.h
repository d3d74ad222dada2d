// HigherOrderGradient: makes a function also return the gradients of its
// parameters. The function may contain lets, branches, closures, recursion,
// references, data types, and calls of other functions.
//
//   def @main(%x) { @f(%x) }
//     -> def @main(%x) { ... (@f(%x), (gradient of %x,)) }
//
// Reverse-mode differentiation by references and closures. Each tensor t
// becomes a pair (t, ref(gradient of t)), and each function takes one more
// argument: a reference to a closure that propagates gradients backwards. A
// call of an operator replaces that closure by one that adds to the gradients
// of its arguments, then calls the previous closure. In the end the gradient of
// the result is set to ones and the last closure is called. If the result is a
// tuple, only its first tensor counts.
//
// The converted forms of the called functions are added to the module: @f_grad
// for @f. A function that is primitive or for another compiler becomes a plain
// one. Annotations of checkpoints (annotation.checkpoint) are dropped.

#ifndef BATON_RELAY_TRANSFORM_HIGHER_ORDER_GRADIENT_H_
#define BATON_RELAY_TRANSFORM_HIGHER_ORDER_GRADIENT_H_

#include <string>

#include "absl/status/statusor.h"
#include "baton/base/fields.h"
#include "baton/ir/module.h"
#include "baton/transform/pass.h"

namespace baton::relay {

struct HigherOrderGradientOptions {
  std::string function = "main";

  template <typename V>
  static void VisitFields(V& v) {
    v("function", &HigherOrderGradientOptions::function,
      "The function that becomes one that returns (result, (gradient, ...)).");
  }
};

// Returns `module` with the function options.function replaced, and with the
// functions that it needs. The parameters of the function must be tensors. The
// error shows all operators without a gradient.
absl::StatusOr<IRModule> HigherOrderGradientInModule(
    const IRModule& module, const HigherOrderGradientOptions& options = {});

// A module pass of level 0. A module without the function stays unchanged.
Pass HigherOrderGradient(HigherOrderGradientOptions options = {});

}  // namespace baton::relay

#endif  // BATON_RELAY_TRANSFORM_HIGHER_ORDER_GRADIENT_H_
