// Convolutions that sample their data at offsets that are an input
// (arXiv:1703.06211).

#ifndef BATON_RUNTIME_KERNELS_DEFORMABLE_CONV_H_
#define BATON_RUNTIME_KERNELS_DEFORMABLE_CONV_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "baton/base/tensor.h"
#include "baton/runtime/kernels/conv_kernels.h"

namespace baton::kernels {

struct DeformableConv2dParams : Conv2dParams {
  int64_t deformable_groups = 1;  // channels of a group share their offsets
};
// The convolution of `data` with `kernel`, where each tap reads at an offset
// down and right of its position. `offset` has two channels for each tap and
// deformable group, in the layout of the data, with the spatial size of the
// result. Reads between elements interpolate; reads outside of the data give
// zeros.
absl::StatusOr<Tensor> DeformableConv2d(const Tensor& data,
                                        const Tensor& offset,
                                        const Tensor& kernel,
                                        const DeformableConv2dParams& params);

}  // namespace baton::kernels

#endif  // BATON_RUNTIME_KERNELS_DEFORMABLE_CONV_H_
