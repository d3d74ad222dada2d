// Verifies the rules for every Relay program, typed or not:
//
// - every variable is bound once, by one parameter or one let;
// - a variable is used only in the scope of its binder: a function's body, a
//   let's body, and a let's value if that is a function; this applies to every
//   path to the use, also where several scopes share a node;
// - in a module, no variable is free and every global function used exists;
// - a projection takes a field that its tuple has, where the tuple is known;
// - no operand is missing.

#ifndef BATON_RELAY_IR_WELL_FORMED_H_
#define BATON_RELAY_IR_WELL_FORMED_H_

#include "absl/status/status.h"
#include "baton/ir/diagnostics.h"
#include "baton/ir/expr.h"
#include "baton/ir/function_verifier.h"  // IWYU pragma: export
#include "baton/ir/module.h"
#include "baton/relay/ir/expr.h"

namespace baton::relay {

// Checks that `expr` follows the rules; it may have free variables and use any
// global function. OK, or InvalidArgument with all violations. CheckWellFormed
// for modules, and CheckTypes, are in ir/function_verifier.h; this library
// registers Relay's verifier with them.
absl::Status CheckWellFormed(const Expr& expr);

// Adds the errors of a function, which `module` contains under the name of
// `var`, to `diagnostics`.
void CheckFunctionWellFormed(const IRModule& module, const GlobalVar& var,
                             const Function& function,
                             Diagnostics& diagnostics);

}  // namespace baton::relay

#endif  // BATON_RELAY_IR_WELL_FORMED_H_
