// ReduceBranchingThroughOvercompute: removes conditions of statements that have
// no effect where the condition is false.
//
//   for i in range(16):                 for i in range(16):
//       if i > 0:                           A[0] = A[0] + i * i
//           A[0] = A[0] + i * i

#ifndef BATON_TIR_TRANSFORM_REDUCE_BRANCHING_THROUGH_OVERCOMPUTE_H_
#define BATON_TIR_TRANSFORM_REDUCE_BRANCHING_THROUGH_OVERCOMPUTE_H_

#include "baton/transform/pass.h"

namespace baton::tir {

// Replaces an `if` by one of its two cases, if this case does what the other
// one does whenever the other one would run: after the removal of statements
// that have no effect there, they are equal. The setting
// `tir.ReduceBranchingThroughOvercompute` decides whether the proof tracks
// values that buffers hold.
Pass ReduceBranchingThroughOvercompute();

}  // namespace baton::tir

#endif  // BATON_TIR_TRANSFORM_REDUCE_BRANCHING_THROUGH_OVERCOMPUTE_H_
