// Binding expressions by lets, each in the scope that it belongs to: what
// ToANormalForm and ToBasicBlockNormalForm share.

#ifndef BATON_RELAY_TRANSFORM_LET_INSERTION_H_
#define BATON_RELAY_TRANSFORM_LET_INSERTION_H_

#include "absl/status/statusor.h"
#include "baton/ir/module.h"
#include "baton/relay/ir/expr.h"

namespace baton::relay {

enum class LetInsertion {
  // Every expression but variables, global variables, operators and
  // constructors. What is bound is made anew, without types.
  kEverything,
  // Those whose scope encloses the scope of their first use (ScopeGraph), until
  // there are none. What does not change stays the same node.
  kLifted,
};

// `function` with the expressions that `what` says bound to new variables, in
// the scope that they belong to (ScopeGraph). Lets that bind or end a let are
// flattened. A name that a let binds is known by the let's variable from there
// on, unless the variable makes a polymorphic function a plain one. Primitive
// functions stay as they are. If nothing changes the
// result is `function`.
//
// What is bound inside the argument of an `on_device` that fixes both its
// argument and its result, or in a function with a `virtual_device`, is put on
// that device by an `on_device` of its own.
//
// An error if a variable is not bound. Reference behaviour: `Fill` of TVM,
// which stops after one round even if that leaves lifted expressions.
absl::StatusOr<Function> InsertLets(const Function& function,
                                    LetInsertion what);

// The same for all functions of `module` but those with a `Compiler`.
absl::StatusOr<IRModule> InsertLets(const IRModule& module, LetInsertion what);

}  // namespace baton::relay

#endif  // BATON_RELAY_TRANSFORM_LET_INSERTION_H_
