// The rules that every program keeps, typed or not:
//
// - every variable is bound once, by one parameter or one let;
// - a variable is used in the scope of its binder only: a function's body, a
//   let's body, and a let's value if that is a function; this holds for every
//   path to the use, also where a node is shared by several scopes;
// - in a module, no variable is free and every global function used exists;
// - a projection takes a field that its tuple has, as far as that is known;
// - no operand is missing.

#ifndef BATON_RELAY_IR_WELL_FORMED_H_
#define BATON_RELAY_IR_WELL_FORMED_H_

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "baton/ir/diagnostics.h"
#include "baton/ir/module.h"
#include "baton/relay/ir/expr.h"

namespace baton {

// OK, or InvalidArgument with all that is wrong.
absl::Status CheckWellFormed(const IRModule& module);
// The same for those functions only whose index among those of the module is
// one for which `which` is true.
absl::Status CheckWellFormed(const IRModule& module,
                             absl::FunctionRef<bool(int)> which);
// The same for an expression; it may have free variables and use any global
// function.
absl::Status CheckWellFormed(const Expr& expr);

// Adds what is wrong to `diagnostics`.
void CheckWellFormed(const IRModule& module, Diagnostics& diagnostics);

}  // namespace baton

#endif  // BATON_RELAY_IR_WELL_FORMED_H_
