// LambdaLift: makes global functions of function literals.
//
//   fn (%y) { add(%y, 1) }     @lifted_name..., with the parameters of the
//                              literal
//   fn (%y) { add(%x, %y) }    @lifted_name...(%x), a function marked
//                              `Closure=1` that returns the literal
//
// A literal that a let binds may call itself; there, the global name replaces
// it. Functions that are marked Primitive or for another compiler, or have type
// parameters, stay unchanged with their bodies. Equal literals share one
// function.

#ifndef BATON_RELAY_TRANSFORM_LAMBDA_LIFT_H_
#define BATON_RELAY_TRANSFORM_LAMBDA_LIFT_H_

#include "absl/status/statusor.h"
#include "baton/ir/module.h"
#include "baton/transform/pass.h"

namespace baton::relay {

// A module pass of level 1. Variables that literals use should have types: they
// become parameters. The names of new functions contain hashes, which may
// change from version to version.
Pass LambdaLift();

// Runs the pass on a module.
absl::StatusOr<IRModule> LambdaLiftInModule(const IRModule& module);

}  // namespace baton::relay

#endif  // BATON_RELAY_TRANSFORM_LAMBDA_LIFT_H_
