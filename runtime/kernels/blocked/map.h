// The size of a feature map of float32, for kernels that convert it between the
// planar and the blocked layout or apply operations to each element.

#ifndef BATON_RUNTIME_KERNELS_BLOCKED_MAP_H_
#define BATON_RUNTIME_KERNELS_BLOCKED_MAP_H_

#include <cstdint>

#include "baton/runtime/kernels/blocked/blocked_conv.h"

namespace baton::kernels::blocked {

struct MapParams {
  int64_t batch = 1;
  int64_t channels = 1;
  // Height times width.
  int64_t positions = 1;
  // The number of elements from one image to the next; 0 if images are
  // adjacent.
  int64_t x_batch_stride = 0;
  int64_t y_batch_stride = 0;
  int64_t residual_batch_stride = 0;
};

// The number of independent parts of the work: ranges [begin, end) of them can
// run on different threads.
constexpr int64_t MapItems(const MapParams& params) {
  return params.batch * BlocksOf(params.channels);
}

}  // namespace baton::kernels::blocked

#endif  // BATON_RUNTIME_KERNELS_BLOCKED_MAP_H_
