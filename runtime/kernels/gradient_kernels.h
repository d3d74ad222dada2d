// Gradients of convolutions and pools over two spatial dimensions. Floating
// dtypes only; half floats are computed in float32.

#ifndef BATON_RUNTIME_KERNELS_GRADIENT_KERNELS_H_
#define BATON_RUNTIME_KERNELS_GRADIENT_KERNELS_H_

#include <array>
#include <cstdint>

#include "absl/status/statusor.h"
#include "baton/base/tensor.h"
#include "baton/runtime/kernels/conv_kernels.h"
#include "baton/runtime/kernels/pool_kernels.h"

namespace baton::kernels {

// The gradient of MaxPool2d(x, params) with respect to `x`, where `grad` is the
// gradient of its result. The gradient of a window goes to its first largest
// element.
absl::StatusOr<Tensor> MaxPool2dGrad(const Tensor& grad, const Tensor& x,
                                     const Pool2dParams& params);
// The gradient of AvgPool2d(x, params) with respect to `x`.
absl::StatusOr<Tensor> AvgPool2dGrad(const Tensor& grad, const Tensor& x,
                                     const Pool2dParams& params);

// The gradient of a convolution of `x` with respect to its kernel, whose
// spatial extents are `taps`. `grad` is the gradient of its result.
// params.out_layout is the layout of `grad`, params.kernel_layout that of the
// result.
absl::StatusOr<Tensor> Conv2dBackwardWeight(const Tensor& grad, const Tensor& x,
                                            const std::array<int64_t, 2>& taps,
                                            const Conv2dParams& params);

}  // namespace baton::kernels

#endif  // BATON_RUNTIME_KERNELS_GRADIENT_KERNELS_H_
