// LiftThreadBinding: moves loops that are bound to threads to where they have
// all loops of one thread inside.
//
//   for i in range(4):                      for tx in T.thread_binding(...):
//       for t in T.thread_binding(32, ..):      for i in range(4):
//           A[i, t] = ...                           A[i, tx] = ...
//       for t in T.thread_binding(32, ..):          B[i, tx] = ...
//           B[i, t] = ...

#ifndef BATON_TIR_TRANSFORM_LIFT_THREAD_BINDING_H_
#define BATON_TIR_TRANSFORM_LIFT_THREAD_BINDING_H_

#include "baton/transform/pass.h"

namespace baton::tir {

// Loops of one thread tag in a kernel (the outermost bound loop and all inside)
// become one, inside of the innermost loop around all of them; their
// annotations are united.
Pass LiftThreadBinding();

}  // namespace baton::tir

#endif  // BATON_TIR_TRANSFORM_LIFT_THREAD_BINDING_H_
