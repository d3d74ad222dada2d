// Correlation of the patches of two feature maps.

#ifndef BATON_RUNTIME_KERNELS_CORRELATION_H_
#define BATON_RUNTIME_KERNELS_CORRELATION_H_

#include <array>
#include <cstdint>

#include "absl/status/statusor.h"
#include "baton/base/tensor.h"

namespace baton::kernels {

struct CorrelationParams {
  int64_t kernel_size = 1;  // side of a patch, odd
  int64_t max_displacement = 1;
  int64_t stride1 = 1;                  // between patches of the first map
  int64_t stride2 = 1;                  // between displacements
  std::array<int64_t, 4> padding = {};  // top, left, bottom, right
  // True: the product of two elements. False: their absolute difference.
  bool is_multiply = true;
};
// The result has the shape (N, displacements, patches down, patches across). An
// element is the mean, over the elements of a patch of `x` and its channels, of
// the products or differences with the displaced patch of `y`. The
// displacements are the multiples of `stride2` up to `max_displacement` in all
// four directions, row by row. Both are NCHW, of one shape and a floating type.
absl::StatusOr<Tensor> Correlation(const Tensor& x, const Tensor& y,
                                   const CorrelationParams& params);

}  // namespace baton::kernels

#endif  // BATON_RUNTIME_KERNELS_CORRELATION_H_
