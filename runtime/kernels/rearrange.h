// Functions that move elements between axes, and that mirror or mask them. Any
// dtype unless stated.

#ifndef BATON_RUNTIME_KERNELS_REARRANGE_H_
#define BATON_RUNTIME_KERNELS_REARRANGE_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/tensor.h"

namespace baton::kernels {

// Moves the channels of `x` (in a layout of N, C, H and W) into blocks of
// `block` * `block` elements. The position in the block is the slow part of the
// channel index, or the fast part if `depth_first`.
absl::StatusOr<Tensor> DepthToSpace(const Tensor& x, int64_t block,
                                    absl::string_view layout, bool depth_first);
// The inverse of DepthToSpace without `depth_first`.
absl::StatusOr<Tensor> SpaceToDepth(const Tensor& x, int64_t block,
                                    absl::string_view layout);

// Pads axes 1, 2, ... of `x` with `value` and moves blocks of them into axis 0.
absl::StatusOr<Tensor> SpaceToBatchNd(
    const Tensor& x, absl::Span<const int64_t> blocks,
    absl::Span<const std::vector<int64_t>> paddings, double value);
// The inverse of SpaceToBatchNd: moves parts of axis 0 into blocks and crops
// the result.
absl::StatusOr<Tensor> BatchToSpaceNd(
    const Tensor& x, absl::Span<const int64_t> blocks,
    absl::Span<const std::vector<int64_t>> crops);

// Adds widths[i] = {before, after} mirrored elements around axis i. Repeats the
// edge if `symmetric`.
absl::StatusOr<Tensor> MirrorPad(const Tensor& x,
                                 absl::Span<const std::vector<int64_t>> widths,
                                 bool symmetric);

// Spaces the elements of `x` strides[i] apart on axis i, with `value` in
// between.
absl::StatusOr<Tensor> Dilate(const Tensor& x,
                              absl::Span<const int64_t> strides, double value);

// Reverses the first lengths[i] elements of `x` along `seq_axis`, for each
// index i along `batch_axis`.
absl::StatusOr<Tensor> ReverseSequence(const Tensor& x, const Tensor& lengths,
                                       int64_t seq_axis, int64_t batch_axis);

// Replaces the elements of `x` after the first lengths[i] on `axis` (0 or 1) by
// `value`, for each index i on the other of the two axes.
absl::StatusOr<Tensor> SequenceMask(const Tensor& x, const Tensor& lengths,
                                    int64_t axis, double value);

// The matrices in the last two axes of `x`, with zeros below (above, if not
// `upper`) diagonal `k`.
absl::StatusOr<Tensor> Trilu(const Tensor& x, int64_t k, bool upper);

// Windows of the extents `window`, `strides` apart, over the axes of `x` from
// `axis` on. The result has the axes before `axis`, one axis for the windows
// along each of the other axes, and the axes of a window.
absl::StatusOr<Tensor> SlidingWindow(const Tensor& x, int64_t axis,
                                     absl::Span<const int64_t> window,
                                     absl::Span<const int64_t> strides);

// The coordinates of the grid that the vectors (or scalars) span, one tensor
// each. Swaps the first two axes if `xy`.
absl::StatusOr<std::vector<Tensor>> Meshgrid(absl::Span<const Tensor> vectors,
                                             bool xy);

}  // namespace baton::kernels

#endif  // BATON_RUNTIME_KERNELS_REARRANGE_H_
