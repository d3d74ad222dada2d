// Computes the offsets of elements from indices.

#ifndef BATON_RUNTIME_KERNELS_INTERNAL_PLACES_H_
#define BATON_RUNTIME_KERNELS_INTERNAL_PLACES_H_

#include <cstdint>

#include "baton/runtime/kernels/internal/vectorize.h"

namespace baton::kernels::internal {

// Adds index[i] * stride to places[i] for all i < n. Indices are in [-extent,
// extent); negative ones count from the end. If an index is out of range,
// returns false and adds nothing.
inline bool AddPlaces(const int64_t* index, int64_t n, int64_t extent,
                      int64_t stride, int64_t* places) {
  int wrong = 0;
  RunLoop([=, &wrong]() BATON_LOOP {
    int any = 0;
    for (int64_t i = 0; i < n; ++i) {
      const int64_t at = index[i] + (index[i] < 0 ? extent : 0);
      const int beyond = (at < 0 ? 1 : 0) | (at >= extent ? 1 : 0);
      any |= beyond;
      places[i] += (beyond != 0 ? 0 : at) * stride;
    }
    wrong = any;
  });
  return wrong == 0;
}

}  // namespace baton::kernels::internal

#endif  // BATON_RUNTIME_KERNELS_INTERNAL_PLACES_H_
