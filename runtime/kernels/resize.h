// Resamples images: resize, crop and grid sampling.
//
// Data is in the layout NCW, NCHW or NCDHW and has float32, float64, half
// floats (computed in float32) or integers (computed in float32, truncated).

#ifndef BATON_RUNTIME_KERNELS_RESIZE_H_
#define BATON_RUNTIME_KERNELS_RESIZE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/tensor.h"

namespace baton::kernels {

struct ResizeParams {
  // Extents of the result, one for each spatial axis.
  std::vector<int64_t> size;
  // For tf_crop_and_resize: the begins of the region on all axes, then the
  // ends, as fractions of the extents.
  std::vector<double> roi;
  std::string method = "linear";  // nearest_neighbor, linear or cubic
  // The conversion from a position in the result to one in the data:
  // half_pixel, align_corners, asymmetric, pytorch_half_pixel,
  // tf_half_pixel_for_nn or tf_crop_and_resize.
  std::string coordinates = "half_pixel";
  // For nearest_neighbor: round, round_prefer_floor, round_prefer_ceil, floor
  // or ceil. If empty: round for align_corners, otherwise floor.
  std::string rounding;
  double cubic_alpha = -0.5;
  // Excludes elements outside of the data instead of repeating the edge.
  bool cubic_exclude = false;
  // For tf_crop_and_resize: the value outside of the data.
  double extrapolation_value = 0;
};

// The elements along an axis of the data, with weights, whose weighted sum is
// an element of the result.
struct ResizeTaps {
  std::array<int64_t, 4> index{};
  std::array<double, 4> weight{};
  int count = 0;
  bool outside = false;  // the position is outside of the data
};

// The taps of each position of the result, for each spatial axis; `extents` are
// those of the data.
absl::StatusOr<std::vector<std::vector<ResizeTaps>>> ResizeTapsOf(
    absl::Span<const int64_t> extents, const ResizeParams& params);

// The spatial axes in the order in which they are resampled: those that shrink
// come first, so that nothing between is larger than both the data and the
// result.
std::vector<size_t> ResizeOrder(absl::Span<const int64_t> extents,
                                absl::Span<const std::vector<ResizeTaps>> taps);

// Resamples the spatial axes of `x`: all after the first two. An element along
// an axis is 0 + weight * element + ..., in the order of the taps.
absl::StatusOr<Tensor> Resize(const Tensor& x, const ResizeParams& params);

// Regions of the images `x` (NCHW), each resampled to `height` and `width`.
// `boxes` (boxes, 4) are top, left, bottom and right as fractions of the
// extents; `image` is the image index of each box.
absl::StatusOr<Tensor> CropAndResize(const Tensor& x, const Tensor& boxes,
                                     const Tensor& image, int64_t height,
                                     int64_t width, absl::string_view method,
                                     double extrapolation_value);

// Sampling points of the affine transformations `x` (batch, 2, 3): (batch, 2,
// height, width), column first, then row. The image is [-1, 1] x [-1, 1].
absl::StatusOr<Tensor> AffineGrid(const Tensor& x, int64_t height,
                                  int64_t width);

struct GridSampleParams {
  std::string method = "bilinear";  // nearest, bilinear or bicubic
  std::string padding = "zeros";    // zeros, border or reflection
  // True: -1 and 1 are the centers of the outer elements. False: their edges.
  bool align_corners = true;
};
// `x` at the points `grid` (batch, 2 or 3, spatial), which lists the fastest
// axis first.
absl::StatusOr<Tensor> GridSample(const Tensor& x, const Tensor& grid,
                                  const GridSampleParams& params);

}  // namespace baton::kernels

#endif  // BATON_RUNTIME_KERNELS_RESIZE_H_
