// What detectors do with feature maps and boxes.

#ifndef BATON_RUNTIME_KERNELS_DETECTION_H_
#define BATON_RUNTIME_KERNELS_DETECTION_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "baton/base/dtype.h"
#include "baton/base/tensor.h"

namespace baton::kernels {

struct RegionParams {
  int64_t height = 1;
  int64_t width = 1;
  // From coordinates of boxes to those of the feature map.
  double scale = 1;
  // For RoiAlign: samples along each side of a bin; 0 or less: as many as
  // elements.
  int64_t sample_ratio = -1;
  // For RoiAlign: the largest sample instead of their mean.
  bool max = false;
};

// `x` (NCHW) in regions, each resampled to one size. A row of `regions` is the
// image and the box left, top, right, bottom.
absl::StatusOr<Tensor> RoiAlign(const Tensor& x, const Tensor& regions,
                                const RegionParams& params);
// The largest element of each bin of the regions, whose corners are rounded; 0
// where there is none.
absl::StatusOr<Tensor> RoiPool(const Tensor& x, const Tensor& regions,
                               const RegionParams& params);

struct AnchorParams {
  std::vector<double> sizes;
  std::vector<double> ratios;
  std::vector<double> steps;    // down and right; not positive: the cell
  std::vector<double> offsets;  // of centers in a cell, down and right
  bool clip = false;
};
// (1, boxes, 4): for each cell of a map of `height` by `width`, boxes left,
// top, right, bottom of every size with the first ratio and of the first size
// with every other ratio.
absl::StatusOr<Tensor> AnchorBoxes(int64_t height, int64_t width,
                                   const AnchorParams& params, DType dtype);

struct DecodeParams {
  bool clip = true;
  double threshold = 0.01;
  std::vector<double> variances;
  bool keep_background = false;
};
struct CountedBoxes {
  Tensor boxes;
  Tensor count;  // int32, one an image
};
// For each anchor with a class other than the background (class 0), in front:
// class, score and box. `scores` (images, classes, anchors), `locations`
// (images, 4 * anchors), `anchors` (1, anchors, 4). The rest is zeros.
absl::StatusOr<CountedBoxes> DecodeBoxes(const Tensor& scores,
                                         const Tensor& locations,
                                         const Tensor& anchors,
                                         const DecodeParams& params);

struct ValidBoxes {
  Tensor count;    // int32 (images)
  Tensor boxes;    // those that are valid, in front; the rest is -1
  Tensor indices;  // int32 (images, boxes): where they were; the rest is -1
};
// The boxes (images, boxes, numbers) whose number `score_index` is above
// `threshold` and, unless `id_index` is negative, whose class is not negative.
absl::StatusOr<ValidBoxes> FilterBoxes(const Tensor& boxes, double threshold,
                                       int64_t id_index, int64_t score_index);

struct SuppressionParams {
  int64_t max_boxes = -1;
  double iou_threshold = 0.5;
  bool across_classes = false;
  int64_t top_k = -1;
  int64_t coord_start = 2;
  int64_t score_index = 1;
  int64_t id_index = 0;
  bool return_indices = true;
  bool invalid_to_bottom = false;
};
struct SuppressedBoxes {
  Tensor boxes;    // highest score first; -1 where one is suppressed
  Tensor indices;  // int32 (images, boxes), -1 where one is suppressed
  Tensor count;    // int32 (images, 1): how many indices are not
};
// The first `valid_count[i]` boxes of each image, without those that overlap a
// better one. `indices` says where the boxes were. With return_indices the
// indices that are left come first.
absl::StatusOr<SuppressedBoxes> SuppressBoxes(const Tensor& boxes,
                                              const Tensor& valid_count,
                                              const Tensor& indices,
                                              const SuppressionParams& params);

// Blocks of `stride` by `stride` elements of `x` (NCHW) as channels, in the
// order of Darknet.
absl::StatusOr<Tensor> Reorg(const Tensor& x, int64_t stride);

}  // namespace baton::kernels

#endif  // BATON_RUNTIME_KERNELS_DETECTION_H_
