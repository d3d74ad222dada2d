// Selects boxes in images (non-maximum suppression).

#ifndef BATON_RUNTIME_KERNELS_BOXES_H_
#define BATON_RUNTIME_KERNELS_BOXES_H_

#include <cstdint>
#include <utility>

#include "absl/status/statusor.h"
#include "baton/base/tensor.h"

namespace baton::kernels {

// For each image and class, the boxes whose score is above `score_threshold`
// and that do not overlap a chosen box of the class with a higher score by more
// than `iou_threshold` (intersection over union), highest score first, at most
// `max_boxes` of them.
//
// `boxes`: float32 (images, boxes, 4), two opposite corners y, x, y, x;
// `scores`: float32 (images, classes, boxes). Of boxes with equal scores the
// first counts as higher. The result is int64 (images * classes * boxes, 3),
// with image, class and box of each chosen box, then zeros; and the number of
// chosen boxes.
absl::StatusOr<std::pair<Tensor, int64_t>> AllClassNonMaxSuppression(
    const Tensor& boxes, const Tensor& scores, int64_t max_boxes,
    double iou_threshold, double score_threshold);

}  // namespace baton::kernels

#endif  // BATON_RUNTIME_KERNELS_BOXES_H_
