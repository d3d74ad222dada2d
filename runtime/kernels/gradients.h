// Gradients of convolutions and pools over two spatial dimensions. Floats;
// half floats are computed in float32.

#ifndef BATON_RUNTIME_KERNELS_GRADIENTS_H_
#define BATON_RUNTIME_KERNELS_GRADIENTS_H_

#include <array>
#include <cstdint>

#include "absl/status/statusor.h"
#include "baton/base/tensor.h"
#include "baton/runtime/kernels/conv.h"
#include "baton/runtime/kernels/pool.h"

namespace baton::kernels {

// The gradient of MaxPool2d(x, params), whose result has the gradient `grad`,
// with respect to `x`: goes to the first largest element of each window.
absl::StatusOr<Tensor> MaxPool2dGrad(const Tensor& grad, const Tensor& x,
                                     const Pool2dParams& params);
// The same of AvgPool2d(x, params).
absl::StatusOr<Tensor> AvgPool2dGrad(const Tensor& grad, const Tensor& x,
                                     const Pool2dParams& params);

// The gradient of a convolution of `x` with respect to its kernel of the
// spatial extents `taps`; its result has the gradient `grad`. params.out_layout
// is the layout of `grad`, params.kernel_layout that of the result.
absl::StatusOr<Tensor> Conv2dBackwardWeight(const Tensor& grad, const Tensor& x,
                                            const std::array<int64_t, 2>& taps,
                                            const Conv2dParams& params);

}  // namespace baton::kernels

#endif  // BATON_RUNTIME_KERNELS_GRADIENTS_H_
