// Binds expressions by lets, each in its scope: the common code of
// ToANormalForm and ToBasicBlockNormalForm.

#ifndef BATON_RELAY_TRANSFORM_LET_INSERTION_H_
#define BATON_RELAY_TRANSFORM_LET_INSERTION_H_

#include "absl/status/statusor.h"
#include "baton/ir/module.h"
#include "baton/relay/ir/expr.h"

namespace baton::relay {

// Selects the expressions to bind.
enum class LetInsertion {
  // All expressions except variables, global variables, operators and
  // constructors. Bound expressions are new nodes, without types.
  kEverything,
  // Expressions whose scope encloses the scope of their first use (ScopeGraph),
  // until there are none. Unchanged expressions keep their nodes.
  kLifted,
};

// Binds the expressions of `function` that `what` selects to new variables, in
// their scopes (ScopeGraph). Lets that bind or end a let are flattened. If a
// let binds a name to an expression, uses of the expression in the body become
// the let's variable, unless the variable makes a polymorphic function a plain
// one. Primitive functions stay unchanged. If nothing changes, returns
// `function`.
//
// An expression that is bound inside the argument of an `on_device` that fixes
// both its argument and its result, or in a function with a `virtual_device`,
// gets a separate `on_device` for that device.
//
// An error if a variable is not bound. Reference behaviour: `Fill` of TVM,
// which stops after one round even if that leaves lifted expressions.
absl::StatusOr<Function> InsertLets(const Function& function,
                                    LetInsertion what);

// As above, for all functions of `module` without a `Compiler` attribute.
absl::StatusOr<IRModule> InsertLets(const IRModule& module, LetInsertion what);

}  // namespace baton::relay

#endif  // BATON_RELAY_TRANSFORM_LET_INSERTION_H_
