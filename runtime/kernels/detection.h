// Kernels of object detection: regions, anchors, box decoding and suppression.

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
  // The factor from coordinates of boxes to those of the feature map.
  double scale = 1;
  // For RoiAlign: the samples along each side of a bin; if not positive, as
  // many as elements.
  int64_t sample_ratio = -1;
  // For RoiAlign: takes the largest sample instead of the mean.
  bool max = false;
  // For RoiAlign: pixels are centered at half coordinates, and boxes may have
  // sides of less than a pixel. Otherwise pixels are centered at whole
  // coordinates, and sides are at least one pixel.
  bool half_pixel = false;
};

// Resamples regions of `x` (NCHW) to one size. A row of `regions` is the image
// and the box left, top, right, bottom.
absl::StatusOr<Tensor> RoiAlign(const Tensor& x, const Tensor& regions,
                                const RegionParams& params);
// The largest element of each bin of the regions, whose corners are rounded; 0
// for an empty bin.
absl::StatusOr<Tensor> RoiPool(const Tensor& x, const Tensor& regions,
                               const RegionParams& params);

struct AnchorParams {
  std::vector<double> sizes;
  std::vector<double> ratios;
  // The distance of centers, down and right; if not positive, that of cells.
  std::vector<double> steps;
  std::vector<double> offsets;  // of centers in a cell, down and right
  bool clip = false;            // to [0, 1]
};
// (1, boxes, 4): for each cell of a map of `height` by `width`, boxes left,
// top, right, bottom of every size with the first ratio and of the first size
// with every other ratio.
absl::StatusOr<Tensor> AnchorBoxes(int64_t height, int64_t width,
                                   const AnchorParams& params, DType dtype);

struct DecodeParams {
  bool clip = true;  // corners to [0, 1]
  // A class of a smaller score counts as background.
  double threshold = 0.01;
  // The factors of the four numbers of a location.
  std::vector<double> variances;
  // Keeps boxes of the background, as class 0. Otherwise drops them and numbers
  // the other classes from 0.
  bool keep_background = false;
};
struct CountedBoxes {
  Tensor boxes;
  Tensor count;  // int32, one for each image
};
// For each anchor whose class is not the background (class 0), in front: class,
// score and box; then zeros. `scores` (images, classes, anchors), `locations`
// (images, 4 * anchors), `anchors` (1, anchors, 4).
absl::StatusOr<CountedBoxes> DecodeBoxes(const Tensor& scores,
                                         const Tensor& locations,
                                         const Tensor& anchors,
                                         const DecodeParams& params);

struct ValidBoxes {
  Tensor count;  // int32 (images)
  Tensor boxes;  // the valid boxes in front; the rest is -1
  // int32 (images, boxes): their positions before; the rest is -1.
  Tensor indices;
};
// The boxes (images, boxes, numbers) whose number `score_index` is above
// `threshold` and, unless `id_index` is negative, whose class is not negative.
absl::StatusOr<ValidBoxes> FilterBoxes(const Tensor& boxes, double threshold,
                                       int64_t id_index, int64_t score_index);

struct SuppressionParams {
  int64_t max_boxes = -1;       // the most that remain; negative: no limit
  double iou_threshold = 0.5;   // boxes with as much overlap are suppressed
  bool across_classes = false;  // boxes of other classes suppress as well
  int64_t top_k = -1;           // the best boxes to consider; negative: all
  // The positions, in a box, of its first coordinate, its score and its class;
  // id_index is negative if boxes have no class.
  int64_t coord_start = 2;
  int64_t score_index = 1;
  int64_t id_index = 0;
  bool return_indices = true;
  bool invalid_to_bottom = false;  // moves the remaining boxes to the front
};
struct SuppressedBoxes {
  Tensor boxes;    // highest score first; -1 for a suppressed box
  Tensor indices;  // int32 (images, boxes); -1 for a suppressed box
  Tensor count;    // int32 (images, 1): the number of remaining indices
};
// The first `valid_count[i]` boxes of image i, without boxes that overlap a
// better one. `indices` are the original positions of the boxes. With
// return_indices the remaining indices come first.
absl::StatusOr<SuppressedBoxes> SuppressBoxes(const Tensor& boxes,
                                              const Tensor& valid_count,
                                              const Tensor& indices,
                                              const SuppressionParams& params);

struct ClassSuppressionParams {
  int64_t max_detections_per_class = 0;
  int64_t max_detections = 0;
  int64_t num_classes = 0;  // the last ones; the first ones are background
  double iou_threshold = 0;
  double score_threshold = 0;
};
struct Detections {
  Tensor boxes;    // float32 (images, max_detections, 4)
  Tensor classes;  // float32 (images, max_detections)
  Tensor scores;   // float32 (images, max_detections)
  Tensor count;    // int32 (images); entries after the count are zeros
};
// The best boxes of all classes, highest score first, after suppressing the
// boxes of each class that overlap a better one of the class. `boxes` (images,
// boxes, 4) are top, left, bottom, right; `scores` (images, boxes, classes).
absl::StatusOr<Detections> SuppressByClass(
    const Tensor& boxes, const Tensor& scores,
    const ClassSuppressionParams& params);

struct ProposalParams {
  std::vector<double> scales;
  std::vector<double> ratios;
  int64_t feature_stride = 16;  // elements of the image between anchors
  double threshold = 0.7;       // boxes with more overlap are suppressed
  // The number of considered boxes; all if not positive.
  int64_t pre_nms_top_n = 6000;
  int64_t post_nms_top_n = 300;  // the number of returned boxes
  int64_t min_size = 16;         // of a box, before the scale of its image
  bool iou_loss = false;         // deltas are added to corners
};
// Rows of the image and the box left, top, right, bottom: the best boxes
// without overlaps, repeated if they are too few. `scores` (images, 2 *
// anchors, H, W), background first; `deltas` (images, 4 * anchors, H, W);
// `images` (images, 3), with rows of height, width and scale.
absl::StatusOr<Tensor> Propose(const Tensor& scores, const Tensor& deltas,
                               const Tensor& images,
                               const ProposalParams& params);

// Moves blocks of `stride` by `stride` elements of `x` (NCHW) to channels, in
// the order of Darknet.
absl::StatusOr<Tensor> Reorg(const Tensor& x, int64_t stride);

}  // namespace baton::kernels

#endif  // BATON_RUNTIME_KERNELS_DETECTION_H_
