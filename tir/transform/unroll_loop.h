// UnrollLoop: repeats the body of a loop for each value of its variable.
//
//   for i in T.unroll(2):          A[0] = x
//       A[i] = x                   A[1] = x

#ifndef BATON_TIR_TRANSFORM_UNROLL_LOOP_H_
#define BATON_TIR_TRANSFORM_UNROLL_LOOP_H_

#include "baton/transform/pass.h"

namespace baton::tir {

// Unrolls the loops marked as unrolled, and, within the limits of the setting
// `tir.UnrollLoop` and of the attributes `pragma_auto_unroll_max_step` and
// `pragma_unroll_explicit`, innermost serial loops of constant extent. If
// explicit unrolling is off, loops are only marked. The result is in SSA form.
// The extent of a loop that is marked must be constant.
Pass UnrollLoop();

}  // namespace baton::tir

#endif  // BATON_TIR_TRANSFORM_UNROLL_LOOP_H_
