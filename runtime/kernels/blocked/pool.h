// Pools of blocked float32 maps.

#ifndef BATON_RUNTIME_KERNELS_BLOCKED_POOL_H_
#define BATON_RUNTIME_KERNELS_BLOCKED_POOL_H_

#include <cstdint>

#include "baton/runtime/kernels/blocked/conv.h"

namespace baton::kernels::blocked {

struct PoolParams {
  int64_t batch = 1;
  int64_t channels = 1;
  Axis h;
  Axis w;
  // For averages: divide by the size of the window, not by the number of its
  // elements inside of the map.
  bool count_include_pad = false;
  // Elements from one image to the next, where they are not adjacent (0).
  int64_t x_batch_stride = 0;
  int64_t y_batch_stride = 0;
};

// Items of work of MaxPool and AvgPool.
constexpr int64_t PoolItems(const PoolParams& params) {
  return params.batch * BlocksOf(params.channels) * params.h.out;
}

// Items of work of global pools, which read `h.in` and `w.in` alone.
constexpr int64_t GlobalPoolItems(const PoolParams& params) {
  return params.batch * BlocksOf(params.channels);
}

}  // namespace baton::kernels::blocked

#endif  // BATON_RUNTIME_KERNELS_BLOCKED_POOL_H_
