// Pools of blocked float32 maps.

#ifndef BATON_RUNTIME_KERNELS_BLOCKED_BLOCKED_POOL_H_
#define BATON_RUNTIME_KERNELS_BLOCKED_BLOCKED_POOL_H_

#include <cstdint>

#include "baton/runtime/kernels/blocked/blocked_conv.h"

namespace baton::kernels::blocked {

struct PoolParams {
  int64_t batch = 1;
  int64_t channels = 1;
  Axis h;
  Axis w;
  // For averages: divide by the size of the window, not by the number of its
  // elements inside of the map.
  bool count_include_pad = false;
  // The number of elements from one image to the next; 0 if images are
  // adjacent.
  int64_t x_batch_stride = 0;
  int64_t y_batch_stride = 0;
};

// The number of independent parts of the work of MaxPool and AvgPool.
constexpr int64_t PoolItems(const PoolParams& params) {
  return params.batch * BlocksOf(params.channels) * params.h.out;
}

// The number of independent parts of the work of global pools, which use only
// `in` of `h` and `w`.
constexpr int64_t GlobalPoolItems(const PoolParams& params) {
  return params.batch * BlocksOf(params.channels);
}

}  // namespace baton::kernels::blocked

#endif  // BATON_RUNTIME_KERNELS_BLOCKED_BLOCKED_POOL_H_
