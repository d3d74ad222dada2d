// ToANormalForm: binds every expression to a variable.
//
//   multiply(add(%x, 1f), %y)
//
// becomes
//
//   let %x1 = 1f;
//   let %x2 = add(%x, %x1);
//   let %x3 = multiply(%x2, %y);
//   %x3
//
// Level 1, a module pass. An expression that several scopes (function bodies,
// branches) share is bound in the scope around them, so that nothing is
// computed twice. A let is flattened and bound too: its result gets a separate
// variable. Variables, global variables, operators and constructors need none;
// nor does a call of on_device that fixes both sides, unless scopes share it.
// Functions with a `Compiler` attribute, and Primitive functions, stay
// unchanged. New nodes have no types until InferType runs.

#ifndef BATON_RELAY_TRANSFORM_TO_A_NORMAL_FORM_H_
#define BATON_RELAY_TRANSFORM_TO_A_NORMAL_FORM_H_

#include "absl/status/statusor.h"
#include "baton/relay/ir/expr.h"
#include "baton/transform/pass.h"

namespace baton::relay {

Pass ToANormalForm();

// Runs the pass on one function. An error if it has free variables.
absl::StatusOr<Function> ToANormalFormInFunction(const Function& function);

}  // namespace baton::relay

#endif  // BATON_RELAY_TRANSFORM_TO_A_NORMAL_FORM_H_
