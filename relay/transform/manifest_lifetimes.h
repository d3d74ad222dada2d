// ManifestLifetimes: marks the end of the life of each variable.
//
//   let %y = add(%x, %x);     let %y = add(%x, %x);
//   let %z = add(%y, %y);     let %_ = memory.kill(%x);
//   %z                        let %z = add(%y, %y);
//                             let %_ = memory.kill(%y);
//                             %z
//
// A variable is killed after the let whose value uses it last. Names of the
// same value become one. A variable whose last use is in the result of a
// function or of a branch is not killed; nor is a variable that only one branch
// uses killed in the other. Values without a name are ignored: run
// ToANormalForm first. The bodies of nested functions stay unchanged.

#ifndef BATON_RELAY_TRANSFORM_MANIFEST_LIFETIMES_H_
#define BATON_RELAY_TRANSFORM_MANIFEST_LIFETIMES_H_

#include "baton/transform/pass.h"

namespace baton::relay {

// A function pass of level 0.
Pass ManifestLifetimes();

}  // namespace baton::relay

#endif  // BATON_RELAY_TRANSFORM_MANIFEST_LIFETIMES_H_
