// LowerWarpMemory: keeps memory of the scope `warp` in the registers of the threads
// of a warp.
//
//   A[threadIdx_x] = ...          A[0] = ...
//   ... A[31 - threadIdx_x]       ... T.tvm_warp_shuffle(mask, A[0], 31 - threadIdx_x, 32, 32)

#ifndef BATON_TIR_TRANSFORM_LOWER_WARP_MEMORY_H_
#define BATON_TIR_TRANSFORM_LOWER_WARP_MEMORY_H_

#include "baton/transform/pass.h"

namespace baton::tir {

// Each thread has the elements whose index it is a factor of in stores. Needs
// the attribute `target`, which says how many threads a warp has
// (`thread_warp_size`; nothing changes where that is 1).
Pass LowerWarpMemory();

}  // namespace baton::tir

#endif  // BATON_TIR_TRANSFORM_LOWER_WARP_MEMORY_H_
