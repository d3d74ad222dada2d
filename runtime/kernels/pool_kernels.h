// Pooling over one, two and three spatial dimensions.
//
// The layout names batch, channels and the spatial dimensions D, H and W, in
// any order in which the spatial dimensions are adjacent and ordered, as in
// NCHW, NHWC or NCHW16c; empty means NCW, NCHW or NCDHW. The result has the
// layout and dtype of the input: float32, float64, half floats (computed in
// float32) or integers of 8 to 64 bits.

#ifndef BATON_RUNTIME_KERNELS_POOL_KERNELS_H_
#define BATON_RUNTIME_KERNELS_POOL_KERNELS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/tensor.h"

namespace baton::kernels {

// Padding lists the amounts before each dimension, then those after each: for
// two dimensions {top, left, bottom, right}.
template <size_t N>
struct PoolParams {
  PoolParams() {
    pool_size.fill(1);
    strides.fill(1);
    dilation.fill(1);
  }

  std::array<int64_t, N> pool_size;
  std::array<int64_t, N> strides;
  std::array<int64_t, N> dilation;
  std::array<int64_t, 2 * N> padding{};
  // Rounds the number of windows up instead of down.
  bool ceil_mode = false;
  // For averages: divide by the size of the window; if false, by the number of
  // elements of the input in the window (1 if none).
  bool count_include_pad = false;
  std::string layout;
};
using Pool1dParams = PoolParams<1>;
using Pool2dParams = PoolParams<2>;
using Pool3dParams = PoolParams<3>;

// Padding is never the maximum: a window with only padding gives the lowest
// finite value. A NaN in the window is the maximum.
absl::StatusOr<Tensor> MaxPool1d(const Tensor& x, const Pool1dParams& params);
absl::StatusOr<Tensor> MaxPool2d(const Tensor& x, const Pool2dParams& params);
absl::StatusOr<Tensor> MaxPool3d(const Tensor& x, const Pool3dParams& params);

// The kernel of MaxPool2d on bytes in NCHW. Nothing but the constructor
// allocates.
class MaxPoolOfBytes {
 public:
  // A dimension of a plane. The result has `out` elements.
  struct Axis {
    int64_t in = 1;
    int64_t kernel = 1;
    int64_t stride = 1;
    int64_t dilation = 1;
    int64_t pad_before = 0;
    int64_t out = 1;
  };
  MaxPoolOfBytes(bool is_signed, const Axis& h, const Axis& w);

  int64_t workspace_bytes() const;
  // Pools `planes` planes.
  void Run(const void* x, int64_t planes, void* workspace, void* y) const;

 private:
  struct Impl;
  std::shared_ptr<const Impl> impl_;
};

// Averages of integers are truncated toward zero.
absl::StatusOr<Tensor> AvgPool1d(const Tensor& x, const Pool1dParams& params);
absl::StatusOr<Tensor> AvgPool2d(const Tensor& x, const Pool2dParams& params);
absl::StatusOr<Tensor> AvgPool3d(const Tensor& x, const Pool3dParams& params);

// Pool over all spatial dimensions, which become 1. They must not be empty.
absl::StatusOr<Tensor> GlobalMaxPool2d(const Tensor& x,
                                       absl::string_view layout = "NCHW");
absl::StatusOr<Tensor> GlobalAvgPool2d(const Tensor& x,
                                       absl::string_view layout = "NCHW");

// Pools to the extents `output_size` (none: unchanged; one: for all
// dimensions). Output i of n covers [floor(i * in / n), ceil((i + 1) * in /
// n)). The layout has one, two or three spatial dimensions.
absl::StatusOr<Tensor> AdaptiveMaxPool(const Tensor& x,
                                       absl::Span<const int64_t> output_size,
                                       absl::string_view layout = "NCHW");
absl::StatusOr<Tensor> AdaptiveAvgPool(const Tensor& x,
                                       absl::Span<const int64_t> output_size,
                                       absl::string_view layout = "NCHW");

}  // namespace baton::kernels

#endif  // BATON_RUNTIME_KERNELS_POOL_KERNELS_H_
