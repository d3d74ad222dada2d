// InferType: gives every expression its type.
//
// Level 0, a module pass. Returns the module itself if all of it has types.
// All type errors of a module are reported in one run. See
// relay/ir/infer_type.h.
//
// With the `threads` setting, functions that use no others are typed at the
// same time. The result does not depend on the number of threads. In a module
// of several functions, an untyped expression that is part of two of them may
// become two.

#ifndef BATON_RELAY_TRANSFORM_INFER_TYPE_H_
#define BATON_RELAY_TRANSFORM_INFER_TYPE_H_

#include "baton/transform/pass.h"

namespace baton::relay {

Pass InferType();

}  // namespace baton::relay

#endif  // BATON_RELAY_TRANSFORM_INFER_TYPE_H_
