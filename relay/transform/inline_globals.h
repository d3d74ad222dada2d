// InlineGlobals: replaces calls of functions marked `Inline=1` by their bodies.
//
// A function is inlined if all functions that it calls are inlined too, it does
// not call itself, and it has no type parameters. Uses other than calls become
// function literals; so do calls if the function is for another compiler
// (attributes `Compiler` and `Extern`). Functions that were inlined are
// removed; marked functions without uses stay.
//
// An argument with an effect is bound by a let, so that it is evaluated once
// and in the right order.

#ifndef BATON_RELAY_TRANSFORM_INLINE_GLOBALS_H_
#define BATON_RELAY_TRANSFORM_INLINE_GLOBALS_H_

#include "absl/status/statusor.h"
#include "baton/ir/module.h"
#include "baton/transform/pass.h"

namespace baton::relay {

// A module pass of level 1.
Pass InlineGlobals();

// Runs the pass on a module.
absl::StatusOr<IRModule> InlineGlobalsInModule(const IRModule& module);

}  // namespace baton::relay

#endif  // BATON_RELAY_TRANSFORM_INLINE_GLOBALS_H_
