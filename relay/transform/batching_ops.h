// BatchingOps: CombineParallelConv2d, CombineParallelDense and
// CombineParallelBatchMatmul, with their default options.

#ifndef BATON_RELAY_TRANSFORM_BATCHING_OPS_H_
#define BATON_RELAY_TRANSFORM_BATCHING_OPS_H_

#include "baton/transform/pass.h"

namespace baton::relay {

// A sequence: each of its passes runs from level 4 on.
Pass BatchingOps();

}  // namespace baton::relay

#endif  // BATON_RELAY_TRANSFORM_BATCHING_OPS_H_
