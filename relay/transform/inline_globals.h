// InlineGlobals: puts the bodies of functions marked `Inline=1` in the place of
// their calls.
//
// A function is inlined if all that it calls is inlined too, it does not call
// itself, and it has no type parameters. Where it is used otherwise than by a
// call, it becomes a function literal; so it does where it is called if it is
// for another compiler (attributes `Compiler` and `Extern`). Functions that
// were inlined are removed; marked functions that nothing used stay.
//
// An argument that has an effect is bound by a let, so that it is evaluated
// once and in its place.

#ifndef BATON_RELAY_TRANSFORM_INLINE_GLOBALS_H_
#define BATON_RELAY_TRANSFORM_INLINE_GLOBALS_H_

#include "absl/status/statusor.h"
#include "baton/ir/module.h"
#include "baton/transform/pass.h"

namespace baton::relay {

// A module pass of level 1.
Pass InlineGlobals();

// The same for a module.
absl::StatusOr<IRModule> InlineGlobalsInModule(const IRModule& module);

}  // namespace baton::relay

#endif  // BATON_RELAY_TRANSFORM_INLINE_GLOBALS_H_
