// LiftThreadBinding: merges the loops of a kernel that are bound to one thread
// axis into one loop further out.
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

// A kernel is an outermost bound loop with its body. The loops of a kernel with
// one thread tag become one loop, directly inside of the innermost loop that
// encloses all of them. It has the annotations of all. An error if two of them
// are not proved to have the same range.
Pass LiftThreadBinding();

}  // namespace baton::tir

#endif  // BATON_TIR_TRANSFORM_LIFT_THREAD_BINDING_H_
