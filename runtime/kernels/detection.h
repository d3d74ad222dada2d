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
  // For RoiAlign: pixels are centered at half coordinates, and boxes have the
  // sides that they say, of less than a pixel, too. Otherwise they are centered
  // at whole ones, and no side is shorter than one pixel.
  bool half_pixel = false;
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

struct ClassSuppressionParams {
  int64_t max_detections_per_class = 0;
  int64_t max_detections = 0;
  int64_t num_classes = 0;  // the last ones; those before are background
  double iou_threshold = 0;
  double score_threshold = 0;
};
struct Detections {
  Tensor boxes;    // float32 (images, max_detections, 4)
  Tensor classes;  // float32 (images, max_detections)
  Tensor scores;   // float32 (images, max_detections)
  Tensor count;    // int32 (images); behind them there are zeros
};
// The best boxes of all classes, highest score first, after those of each class
// that overlap a better one of it have been left out. `boxes` (images, boxes,
// 4) are top, left, bottom, right; `scores` (images, boxes, classes).
absl::StatusOr<Detections> SuppressByClass(
    const Tensor& boxes, const Tensor& scores,
    const ClassSuppressionParams& params);

struct ProposalParams {
  std::vector<double> scales;
  std::vector<double> ratios;
  int64_t feature_stride = 16;   // elements of the image between anchors
  double threshold = 0.7;        // boxes that overlap more are left out
  int64_t pre_nms_top_n = 6000;  // boxes that are considered; all if not > 0
  int64_t post_nms_top_n = 300;
  int64_t min_size = 16;  // of a box, before the scale of its image
  bool iou_loss = false;  // deltas are added to corners
};
// Rows of the image and the box left, top, right, bottom: the best boxes
// without overlaps, repeated if they are too few. `scores` (images, 2 *
// anchors, H, W), background first, `deltas` (images, 4 * anchors, H, W),
// `images` (images, 3) rows of height, width and scale.
absl::StatusOr<Tensor> Propose(const Tensor& scores, const Tensor& deltas,
                               const Tensor& images,
                               const ProposalParams& params);

// Blocks of `stride` by `stride` elements of `x` (NCHW) as channels, in the
// order of Darknet.
absl::StatusOr<Tensor> Reorg(const Tensor& x, int64_t stride);

}  // namespace baton::kernels

#endif  // BATON_RUNTIME_KERNELS_DETECTION_H_
