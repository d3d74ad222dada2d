// LowerThreadAllreduce: reduces over threads by shared memory or by shuffles in
// a warp.
//
//   T.tvm_thread_allreduce(1, A[tx], True, B[0], tx)
//
// stores A[tx] to shared memory, adds pairs of elements with barriers between,
// and reads the result where B[0] was read.

#ifndef BATON_TIR_TRANSFORM_LOWER_THREAD_ALLREDUCE_H_
#define BATON_TIR_TRANSFORM_LOWER_THREAD_ALLREDUCE_H_

#include "baton/transform/pass.h"

namespace baton::tir {

// The function needs an attribute `target`: CUDA and Metal shuffle within
// warps of `thread_warp_size` threads, and reduce up to the square of it in two
// rounds; ROCm shuffles whole warps of 32-bit integers. Extents of threads must
// be constants.
Pass LowerThreadAllreduce();

}  // namespace baton::tir

#endif  // BATON_TIR_TRANSFORM_LOWER_THREAD_ALLREDUCE_H_
