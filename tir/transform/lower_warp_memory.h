// LowerWarpMemory: keeps memory of the scope `warp` in the registers of the
// threads of a warp.
//
//   A[threadIdx_x] = ...          A[0] = ...
//   ... A[31 - threadIdx_x]       ... T.tvm_warp_shuffle(mask, A[0],
//                                         31 - threadIdx_x, 32, 32)

#ifndef BATON_TIR_TRANSFORM_LOWER_WARP_MEMORY_H_
#define BATON_TIR_TRANSFORM_LOWER_WARP_MEMORY_H_

#include "baton/transform/pass.h"

namespace baton::tir {

// The index of a store must be a constant times threadIdx.x plus an offset. A
// thread keeps the elements that it stores, and loads those of other threads by
// a shuffle. Functions need the attribute `target` with the number of threads
// of a warp (`thread_warp_size`); if that is 1, nothing changes.
Pass LowerWarpMemory();

}  // namespace baton::tir

#endif  // BATON_TIR_TRANSFORM_LOWER_WARP_MEMORY_H_
