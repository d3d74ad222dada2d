// InferType: infers the types of all expressions.
//
// Level 0, a module pass. Returns the module itself if it is fully typed. One
// run reports all type errors of a module. See relay/ir/infer_type.h.
//
// With the `threads` setting, functions that use no others are typed in
// parallel. The result does not depend on the number of threads. In a module of
// several functions, an untyped expression that two functions share may become
// two.

#ifndef BATON_RELAY_TRANSFORM_INFER_TYPE_H_
#define BATON_RELAY_TRANSFORM_INFER_TYPE_H_

#include "baton/transform/pass.h"

namespace baton::relay {

Pass InferType();

}  // namespace baton::relay

#endif  // BATON_RELAY_TRANSFORM_INFER_TYPE_H_
