#include "baton/runtime/kernels/boxes.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"

namespace baton::kernels {
namespace {

struct Box {
  explicit Box(const float* corners)
      : top(std::min(corners[0], corners[2])),
        left(std::min(corners[1], corners[3])),
        bottom(std::max(corners[0], corners[2])),
        right(std::max(corners[1], corners[3])) {}

  float Area() const { return (bottom - top) * (right - left); }

  float top, left, bottom, right;
};

bool Overlap(const Box& a, const Box& b, double threshold) {
  const float height = std::min(a.bottom, b.bottom) - std::max(a.top, b.top);
  const float width = std::min(a.right, b.right) - std::max(a.left, b.left);
  if (!(height > 0) || !(width > 0)) return false;
  const float intersection = height * width;
  const float whole = a.Area() + b.Area() - intersection;
  return whole > 0 && intersection / whole > threshold;
}

}  // namespace

absl::StatusOr<std::pair<Tensor, int64_t>> AllClassNonMaxSuppression(
    const Tensor& boxes, const Tensor& scores, int64_t max_boxes,
    double iou_threshold, double score_threshold) {
  if (boxes.dtype() != DType::Float(32) || scores.dtype() != boxes.dtype() ||
      boxes.rank() != 3 || scores.rank() != 3 || boxes.shape()[2] != 4 ||
      boxes.shape()[0] != scores.shape()[0] ||
      boxes.shape()[1] != scores.shape()[2]) {
    return absl::InvalidArgumentError(
        absl::StrCat("boxes ", boxes.TypeToString(), " and scores ",
                     scores.TypeToString(), " do not fit"));
  }
  const int64_t images = scores.shape()[0];
  const int64_t classes = scores.shape()[1];
  const int64_t count = scores.shape()[2];
  BATON_ASSIGN_OR_RETURN(
      MutableTensor result,
      MutableTensor::Create(DType::Int(64), {images * classes * count, 3}));
  int64_t found = 0;
  std::vector<int64_t> candidates;
  std::vector<std::pair<int64_t, Box>> chosen;
  for (int64_t image = 0; image < images; ++image) {
    const float* const corners = boxes.span<float>().data() + image * count * 4;
    for (int64_t c = 0; c < classes; ++c) {
      const float* const score =
          scores.span<float>().data() + (image * classes + c) * count;
      candidates.clear();
      for (int64_t i = 0; i < count; ++i) {
        if (score[i] > score_threshold) candidates.push_back(i);
      }
      std::stable_sort(
          candidates.begin(), candidates.end(),
          [score](int64_t a, int64_t b) { return score[a] > score[b]; });
      chosen.clear();
      for (const int64_t i : candidates) {
        if (static_cast<int64_t>(chosen.size()) >= max_boxes) break;
        const Box box(corners + i * 4);
        const bool is_new =
            std::none_of(chosen.begin(), chosen.end(), [&](const auto& better) {
              return Overlap(better.second, box, iou_threshold);
            });
        if (is_new) chosen.emplace_back(i, box);
      }
      for (const auto& [i, box] : chosen) {
        const std::array<int64_t, 3> row = {image, c, i};
        std::copy(row.begin(), row.end(),
                  result.span<int64_t>().begin() + 3 * found++);
      }
    }
  }
  return std::pair(std::move(result).Freeze(), found);
}

}  // namespace baton::kernels
