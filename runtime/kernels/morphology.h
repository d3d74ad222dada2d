// Morphological operations on images.

#ifndef BATON_RUNTIME_KERNELS_MORPHOLOGY_H_
#define BATON_RUNTIME_KERNELS_MORPHOLOGY_H_

#include "absl/status/statusor.h"
#include "baton/base/tensor.h"
#include "baton/runtime/kernels/conv_kernels.h"

namespace baton::kernels {

// The largest sum of an element and its weight, over windows of `x` (NCHW)
// padded with zeros. `kernel` has the shape (channels, height, width). Both
// have one dtype, floats or integers. Ignores the layouts and groups of
// `params`.
absl::StatusOr<Tensor> Dilation2d(const Tensor& x, const Tensor& kernel,
                                  const Conv2dParams& params);

}  // namespace baton::kernels

#endif  // BATON_RUNTIME_KERNELS_MORPHOLOGY_H_
