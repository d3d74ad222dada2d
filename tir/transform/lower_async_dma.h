// LowerAsyncDMA: replaces asynchronous copies by calls of the DMA engine.
//
//   T.attr(0, "async_commit_queue_scope", 0)
//   for i in range(128):                     T.dma_copy(0, T.address_of(B[0]),
//       B[i] = A[i]                                     T.address_of(A[0]), 128,
//                                                       T.bool(False))

#ifndef BATON_TIR_TRANSFORM_LOWER_ASYNC_DMA_H_
#define BATON_TIR_TRANSFORM_LOWER_ASYNC_DMA_H_

#include "baton/transform/pass.h"

namespace baton::tir {

// Replaces loops in the scope of a queue that copy one contiguous region to
// another, and waits for queues with such copies. The last argument of
// `T.dma_copy` is the setting `tir.experimental_dma_bypass_cache`.
Pass LowerAsyncDMA();

}  // namespace baton::tir

#endif  // BATON_TIR_TRANSFORM_LOWER_ASYNC_DMA_H_
