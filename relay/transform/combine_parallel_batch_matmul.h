// CombineParallelBatchMatmul: combines batches of products with the same left
// operands into one batch of products.
//
//   nn.batch_matmul(x, w1, transpose_b=True), ...
//   becomes
//       let y = nn.batch_matmul(x, concatenate((w1, w2), axis=1), ...);
//       strided_slice(y, ...), strided_slice(y, ...)
//
// The right operands are transposed and the left ones are not. Element-wise
// operators that follow are combined as well; see combine_parallel.h.

#ifndef BATON_RELAY_TRANSFORM_COMBINE_PARALLEL_BATCH_MATMUL_H_
#define BATON_RELAY_TRANSFORM_COMBINE_PARALLEL_BATCH_MATMUL_H_

#include "baton/relay/transform/combine_parallel.h"
#include "baton/transform/pass.h"

namespace baton::relay {

// A function pass of level 4, which requires InferType.
Pass CombineParallelBatchMatmul(CombineParallelOptions options = {});

}  // namespace baton::relay

#endif  // BATON_RELAY_TRANSFORM_COMBINE_PARALLEL_BATCH_MATMUL_H_
