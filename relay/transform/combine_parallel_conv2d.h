// CombineParallelConv2d: combines convolutions of the same data into one that
// computes the channels of all of them.
//
//   nn.conv2d(x, w1), nn.conv2d(x, w2)
//   becomes
//       let y = nn.conv2d(x, concatenate((w1, w2)));
//       strided_slice(y, ...), strided_slice(y, ...)
//
// The convolutions must have equal attributes except for the channels, one
// group, and kernels of equal height and width. Element-wise operators that
// follow are combined as well, if their arguments have the channels of the
// convolution; see combine_parallel.h.

#ifndef BATON_RELAY_TRANSFORM_COMBINE_PARALLEL_CONV2D_H_
#define BATON_RELAY_TRANSFORM_COMBINE_PARALLEL_CONV2D_H_

#include "baton/relay/transform/combine_parallel.h"
#include "baton/transform/pass.h"

namespace baton::relay {

// A function pass of level 4, which requires InferType.
Pass CombineParallelConv2d(CombineParallelOptions options = {});

}  // namespace baton::relay

#endif  // BATON_RELAY_TRANSFORM_COMBINE_PARALLEL_CONV2D_H_
