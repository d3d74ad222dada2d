#include "baton/runtime/kernels/detection.h"

#include <cmath>

#include "absl/status/statusor.h"
#include "baton/base/dtype.h"
#include "baton/base/tensor.h"
#include "baton/runtime/kernels/internal/testing.h"
#include "gtest/gtest.h"

namespace baton::kernels {
namespace {

using ::baton::kernels::internal::Fails;
using ::baton::kernels::internal::Iota;
using ::baton::kernels::internal::Make;
using ::baton::kernels::internal::MakeFloat;
using ::baton::kernels::internal::Matches;

constexpr DType kFloat = DType::Float(32);
constexpr DType kInt32 = DType::Int(32);

absl::StatusOr<Tensor> Ok(const Tensor& x) { return x; }

TEST(RoiTest, AlignsAndPools) {
  const Tensor x = Iota(kFloat, {1, 1, 4, 4});
  const Tensor regions = MakeFloat({2, 5}, {0, 0, 0, 3, 3, 0, 2, 0, 6, 2});
  RegionParams params;
  params.height = 1;
  params.width = 1;
  params.sample_ratio = 1;
  // The elements at (1.5, 1.5) and, with the scale 1/2, at (0.5, 2).
  EXPECT_TRUE(Matches(RoiAlign(x, MakeFloat({1, 5}, {0, 0, 0, 3, 3}), params),
                      kFloat, {1, 1, 1, 1}, {7.5}));
  params.scale = 0.5;
  EXPECT_TRUE(Matches(RoiAlign(x, MakeFloat({1, 5}, {0, 2, 0, 6, 2}), params),
                      kFloat, {1, 1, 1, 1}, {4}));
  params.scale = 1;
  params.sample_ratio = 2;
  params.max = true;
  EXPECT_TRUE(Matches(RoiAlign(x, MakeFloat({1, 5}, {0, 0, 0, 3, 3}), params),
                      kFloat, {1, 1, 1, 1}, {2.25 * 4 + 2.25}));
  params.height = 2;
  params.width = 2;
  EXPECT_TRUE(Matches(RoiPool(x, regions, params), kFloat, {2, 1, 2, 2},
                      {5, 7, 13, 15, 7, 0, 11, 0}));
  EXPECT_TRUE(
      Fails(RoiPool(x, MakeFloat({1, 5}, {1, 0, 0, 1, 1}), params).status(),
            "roi_pool", "image 1 is none of the 1"));
}

TEST(DetectionTest, AnchorsAreDecoded) {
  EXPECT_TRUE(Matches(
      AnchorBoxes(1, 2, {{0.5}, {1, 4}, {-1, -1}, {0.5, 0.5}, false}, kFloat),
      kFloat, {1, 4, 4},
      {0.125, 0.25, 0.375, 0.75, 0, 0.375, 0.5, 0.625, 0.625, 0.25, 0.875, 0.75,
       0.5, 0.375, 1, 0.625}));
  const Tensor scores = MakeFloat({1, 3, 2}, {0.1, 0.9, 0.2, 0.0, 0.7, 0.001});
  const Tensor locations = MakeFloat({1, 8}, {0, 0, 0, 0, 1, 0, 0, 0});
  const Tensor anchors = MakeFloat({1, 2, 4}, {0.2, 0.2, 0.4, 0.6, 0, 0, 1, 1});
  const absl::StatusOr<CountedBoxes> boxes = DecodeBoxes(
      scores, locations, anchors, {true, 0.01, {0.1, 0.1, 0.2, 0.2}, false});
  ASSERT_TRUE(boxes.ok()) << boxes.status();
  EXPECT_TRUE(Matches(Ok(boxes->boxes), kFloat, {1, 2, 6},
                      {1, 0.7, 0.2, 0.2, 0.4, 0.6, 0, 0, 0, 0, 0, 0}));
  EXPECT_TRUE(Matches(Ok(boxes->count), kInt32, {1}, {1}));
}

TEST(DetectionTest, BoxesAreFilteredAndSuppressed) {
  // Class, score, box. The second is about the first, the third is not.
  const Tensor data =
      MakeFloat({1, 4, 6}, {0, 0.8, 1, 20, 25, 45, 1, 0.1, 30, 60, 50, 80,
                            0, 0.7, 4, 21, 19, 40, 2, 0.9, 35, 61, 52, 79});
  const absl::StatusOr<ValidBoxes> valid = FilterBoxes(data, 0.5, 0, 1);
  ASSERT_TRUE(valid.ok()) << valid.status();
  EXPECT_TRUE(Matches(Ok(valid->count), kInt32, {1}, {3}));
  EXPECT_TRUE(Matches(Ok(valid->indices), kInt32, {1, 4}, {0, 2, 3, -1}));
  EXPECT_TRUE(Matches(Ok(valid->boxes), kFloat, {1, 4, 6},
                      {0, 0.8, 1,  20, 25, 45, 0,  0.7, 4,  21, 19, 40,
                       2, 0.9, 35, 61, 52, 79, -1, -1,  -1, -1, -1, -1}));
  SuppressionParams params;
  params.iou_threshold = 0.45;  // the two overlap by 0.475
  absl::StatusOr<SuppressedBoxes> kept =
      SuppressBoxes(valid->boxes, valid->count, valid->indices, params);
  ASSERT_TRUE(kept.ok()) << kept.status();
  EXPECT_TRUE(Matches(Ok(kept->indices), kInt32, {1, 4}, {3, 0, -1, -1}));
  EXPECT_TRUE(Matches(Ok(kept->count), kInt32, {1, 1}, {2}));
  params.return_indices = false;
  params.iou_threshold = 0.9;
  kept = SuppressBoxes(valid->boxes, valid->count, valid->indices, params);
  ASSERT_TRUE(kept.ok());
  EXPECT_TRUE(Matches(Ok(kept->boxes), kFloat, {1, 4, 6},
                      {2, 0.9, 35, 61, 52, 79, 0,  0.8, 1,  20, 25, 45,
                       0, 0.7, 4,  21, 19, 40, -1, -1,  -1, -1, -1, -1}));
  params.max_boxes = 1;
  kept = SuppressBoxes(valid->boxes, valid->count, valid->indices, params);
  ASSERT_TRUE(kept.ok());
  EXPECT_EQ(kept->boxes.span<float>()[6], -1);
  params.score_index = 6;
  EXPECT_TRUE(
      Fails(SuppressBoxes(valid->boxes, valid->count, valid->indices, params)
                .status(),
            "non_max_suppression", "no position 6"));
}

TEST(DetectionTest, Reorganizes) {
  EXPECT_TRUE(Matches(Reorg(Iota(kFloat, {1, 4, 2, 2}), 2), kFloat,
                      {1, 16, 1, 1},
                      {0, 2, 8, 10, 1, 3, 9, 11, 4, 6, 12, 14, 5, 7, 13, 15}));
  EXPECT_TRUE(Fails(Reorg(Iota(kFloat, {1, 3, 2, 2}), 2).status(), "yolo_reorg",
                    "no multiple"));
}

}  // namespace
}  // namespace baton::kernels
