// InstrumentProfileIntrinsics: marks the begin and end of loops and functions
// for profilers.
//
//   for i in range(8):      T.start_profile_intrinsic(1)
//       ...                 for i in range(8):
//                               ...
//                           T.end_profile_intrinsic(1)

#ifndef BATON_TIR_TRANSFORM_INSTRUMENT_PROFILE_INTRINSICS_H_
#define BATON_TIR_TRANSFORM_INSTRUMENT_PROFILE_INTRINSICS_H_

#include "baton/transform/pass.h"

namespace baton::tir {

// A module pass. Functions and loops are numbered in one order, from 0 in each
// module, whether they are marked or not. Settings:
//
//   tir.lwp_disable_func_prof  functions are not marked
//   tir.instr_siblings         marks only loops that have sibling loops
//   tir.lwp_max_depth          without instr_siblings: marks loops up to this
//                              depth; outermost loops have depth 0
//   tir.lwp_min_height         marks only loops with at least so many levels of
//                              loops inside
//   tir.reset_start_id         accepted; numbers always begin at 0
//
// Loops inside of parallel loops are never marked.
Pass InstrumentProfileIntrinsics();

}  // namespace baton::tir

#endif  // BATON_TIR_TRANSFORM_INSTRUMENT_PROFILE_INTRINSICS_H_
