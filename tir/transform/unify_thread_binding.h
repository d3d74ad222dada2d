// UnifyThreadBinding: makes all loops of a kernel that are bound to one thread
// a single one, around the kernel.
//
//   for b in T.thread_binding(8, thread="blockIdx.x"):
//       for i in T.thread_binding(32, thread="threadIdx.x"): ...
//       for j in T.thread_binding(32, thread="threadIdx.x"): ...
//
// becomes loops over blockIdx.x and threadIdx.x, whose body is the sequence.

#ifndef BATON_TIR_TRANSFORM_UNIFY_THREAD_BINDING_H_
#define BATON_TIR_TRANSFORM_UNIFY_THREAD_BINDING_H_

#include "baton/transform/pass.h"

namespace baton::tir {

// An error if two loops of one thread in a kernel have different extents.
// Annotations stay at the place of their loop, as those of a loop of one
// iteration.
Pass UnifyThreadBinding();

}  // namespace baton::tir

#endif  // BATON_TIR_TRANSFORM_UNIFY_THREAD_BINDING_H_
