// ReduceBranchingThroughOvercompute: computes in all cases what does no harm in
// some.
//
//   for i in range(16):                 for i in range(16):
//       if i > 0:                           A[0] = A[0] + i * i
//           A[0] = A[0] + i * i

#ifndef BATON_TIR_TRANSFORM_REDUCE_BRANCHING_THROUGH_OVERCOMPUTE_H_
#define BATON_TIR_TRANSFORM_REDUCE_BRANCHING_THROUGH_OVERCOMPUTE_H_

#include "baton/transform/pass.h"

namespace baton::tir {

// Replaces a branch by one of its cases, if that case without its statements of
// no effect is the other one under the other condition. The setting
// `tir.ReduceBranchingThroughOvercompute` says whether values of buffers are
// followed.
Pass ReduceBranchingThroughOvercompute();

}  // namespace baton::tir

#endif  // BATON_TIR_TRANSFORM_REDUCE_BRANCHING_THROUGH_OVERCOMPUTE_H_
