// ManifestLifetimes: says where the life of each variable ends.
//
//   let %y = add(%x, %x);     let %y = add(%x, %x);
//   let %z = add(%y, %y);     let %_ = memory.kill(%x);
//   %z                        let %z = add(%y, %y);
//                             let %_ = memory.kill(%y);
//                             %z
//
// A variable is killed after the let whose value uses it last. Names that mean
// the same value become one. What is used last in the result of a function or
// of a branch is not killed; nor is what only one branch uses killed in the
// other. Values that a program keeps without a name are not seen: run
// ToANormalForm before. The bodies of functions inside of functions stay as
// they are.

#ifndef BATON_RELAY_TRANSFORM_MANIFEST_LIFETIMES_H_
#define BATON_RELAY_TRANSFORM_MANIFEST_LIFETIMES_H_

#include "baton/transform/pass.h"

namespace baton::relay {

// A function pass of level 0.
Pass ManifestLifetimes();

}  // namespace baton::relay

#endif  // BATON_RELAY_TRANSFORM_MANIFEST_LIFETIMES_H_
