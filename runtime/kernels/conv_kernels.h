// Convolutions and transposed convolutions over one, two and three spatial
// dimensions.
//
// Data and kernel are both floating or both integral. Half floats are computed
// in float32; integers in 32 bits, or 64 where one of the three dtypes has 64,
// and wrap. The result is then converted to the output dtype. The error of a
// float32 sum is at most 1e-5 times the sum of the magnitudes of its terms;
// convolutions add in one order for all layouts (blocked/sums.h). Padding adds
// nothing, not even to infinite weights.
//
// Data, kernel and result may have any layout that LayoutTransform supports.
// Data in channels-first and channels-last order are used directly; other
// layouts are converted to channels-first.

#ifndef BATON_RUNTIME_KERNELS_CONV_KERNELS_H_
#define BATON_RUNTIME_KERNELS_CONV_KERNELS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "baton/base/dtype.h"
#include "baton/base/tensor.h"

namespace baton::kernels {

// Spatial values are in the order (depth,) height, width. Padding lists the
// amounts before each dimension, then those after each: for two dimensions
// {top, left, bottom, right}.
template <size_t N>
struct ConvParams {
  ConvParams() {
    strides.fill(1);
    dilation.fill(1);
  }

  std::array<int64_t, N> strides;
  std::array<int64_t, 2 * N> padding{};
  std::array<int64_t, N> dilation;
  int64_t groups = 1;
  // If empty: NCW, NCHW or NCDHW.
  std::string data_layout;
  // If empty: OIW, OIHW or OIDHW; for transposed convolutions IOW, IOHW, IODHW.
  std::string kernel_layout;
  // If empty: the data layout.
  std::string out_layout;
  // If void: the dtype of the data.
  DType out_dtype;
};
using Conv1dParams = ConvParams<1>;
using Conv2dParams = ConvParams<2>;
using Conv3dParams = ConvParams<3>;

template <size_t N>
struct ConvTransposeParams : ConvParams<N> {
  // Extends the result at its end; each value is less than the stride.
  std::array<int64_t, N> output_padding{};
};
using Conv1dTransposeParams = ConvTransposeParams<1>;
using Conv2dTransposeParams = ConvTransposeParams<2>;
using Conv3dTransposeParams = ConvTransposeParams<3>;

// Cross-correlation of `data` [N, C, spatial] with `kernel` [O, C / groups,
// taps]. If groups = C = kernel's O, the kernel may also be [C, M, taps] and
// gives C * M channels (a depthwise convolution with channel multiplier M).
absl::StatusOr<Tensor> Conv1d(const Tensor& data, const Tensor& kernel,
                              const Conv1dParams& params);
absl::StatusOr<Tensor> Conv2d(const Tensor& data, const Tensor& kernel,
                              const Conv2dParams& params);
absl::StatusOr<Tensor> Conv3d(const Tensor& data, const Tensor& kernel,
                              const Conv3dParams& params);

// The gradient of the convolution with respect to its data: `data`
// [N, C, spatial] with `kernel` [C, O / groups, taps] gives O channels of
// extent (in - 1) * stride + (taps - 1) * dilation + 1 - padding +
// output_padding.
absl::StatusOr<Tensor> Conv1dTranspose(const Tensor& data, const Tensor& kernel,
                                       const Conv1dTransposeParams& params);
absl::StatusOr<Tensor> Conv2dTranspose(const Tensor& data, const Tensor& kernel,
                                       const Conv2dTransposeParams& params);
absl::StatusOr<Tensor> Conv3dTranspose(const Tensor& data, const Tensor& kernel,
                                       const Conv3dTransposeParams& params);

}  // namespace baton::kernels

#endif  // BATON_RUNTIME_KERNELS_CONV_KERNELS_H_
