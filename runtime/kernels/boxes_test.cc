#include "baton/runtime/kernels/boxes.h"

#include <cstdint>
#include <vector>

#include "baton/base/tensor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton::kernels {
namespace {

using ::testing::ElementsAre;

// Three boxes; the second overlaps the first by 2/3, and has its corners the
// other way around.
const Tensor& Boxes() {
  static const auto& boxes = *new Tensor(*Tensor::FromValues<float>(
      {1, 3, 4}, {0, 0, 1, 1, 1, 1.2f, 0, 0.2f, 0, 5, 1, 6}));
  return boxes;
}

std::vector<int64_t> Chosen(const std::vector<float>& scores, int64_t max_boxes,
                            double iou, double score) {
  const auto result = AllClassNonMaxSuppression(
      Boxes(),
      *Tensor::FromValues<float>(
          {1, static_cast<int64_t>(scores.size()) / 3, 3}, scores),
      max_boxes, iou, score);
  EXPECT_TRUE(result.ok());
  const auto all = result->first.span<int64_t>();
  return {all.begin(), all.begin() + 3 * result->second};
}

TEST(AllClassNonMaxSuppressionTest, BetterBoxesSuppress) {
  EXPECT_THAT(Chosen({0.5f, 0.9f, 0.1f}, 10, 0.5, 0),
              ElementsAre(0, 0, 1, 0, 0, 2));
  EXPECT_THAT(Chosen({0.5f, 0.9f, 0.1f}, 10, 0.7, 0),
              ElementsAre(0, 0, 1, 0, 0, 0, 0, 0, 2));
}

TEST(AllClassNonMaxSuppressionTest, LimitsHold) {
  EXPECT_THAT(Chosen({0.5f, 0.9f, 0.1f}, 1, 0.7, 0), ElementsAre(0, 0, 1));
  EXPECT_THAT(Chosen({0.5f, 0.9f, 0.1f}, 10, 0.7, 0.5), ElementsAre(0, 0, 1));
  EXPECT_THAT(Chosen({0.5f, 0.9f, 0.1f}, 0, 0.7, 0), ElementsAre());
}

TEST(AllClassNonMaxSuppressionTest, ClassesDoNotSuppressEachOther) {
  EXPECT_THAT(Chosen({0.9f, 0, 0, 0, 0.9f, 0}, 10, 0.5, 0.1),
              ElementsAre(0, 0, 0, 0, 1, 1));
}

TEST(AllClassNonMaxSuppressionTest, ShapesMustFit) {
  EXPECT_FALSE(
      AllClassNonMaxSuppression(
          Boxes(), *Tensor::FromValues<float>({1, 1, 2}, {1, 2}), 1, 0.5, 0)
          .ok());
}

}  // namespace
}  // namespace baton::kernels
