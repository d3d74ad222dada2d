#include "baton/runtime/kernels/detection.h"

#include <cstdint>
#include <limits>

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

TEST(RoiTest, PixelsCanBeCenteredAtHalfCoordinates) {
  const Tensor x = Iota(kFloat, {1, 1, 4, 4});
  RegionParams params;
  params.height = 1;
  params.width = 2;
  params.half_pixel = true;
  // A box of half a pixel: samples at y = 1.25 - 0.5 and x = 1.125 - 0.5 and
  // 1.375 - 0.5.
  const Tensor small = MakeFloat({1, 5}, {0, 1, 1, 1.5, 1.5});
  EXPECT_TRUE(Matches(RoiAlign(x, small, params), kFloat, {1, 1, 1, 2},
                      {0.75 * 4 + 0.625, 0.75 * 4 + 0.875}));
  // Nothing, not even a sample.
  EXPECT_TRUE(Matches(RoiAlign(x, MakeFloat({1, 5}, {0, 1, 1, 1, 1}), params),
                      kFloat, {1, 1, 1, 2}, {0, 0}));
  params.half_pixel = false;
  // At least a pixel: samples at y = 1.5 and x = 1.25 and 1.75.
  EXPECT_TRUE(Matches(RoiAlign(x, small, params), kFloat, {1, 1, 1, 2},
                      {1.5 * 4 + 1.25, 1.5 * 4 + 1.75}));
}

TEST(RoiTest, AsManySamplesAsPixels) {
  const Tensor x = Iota(kFloat, {1, 2, 4, 4});
  RegionParams params;
  params.height = 1;
  params.width = 1;
  // Three samples along y, two along x, in each channel.
  EXPECT_TRUE(
      Matches(RoiAlign(x, MakeFloat({1, 5}, {0, 0.5, 0, 2.5, 3}), params),
              kFloat, {1, 2, 1, 1}, {1.5 * 4 + 1.5, 1.5 * 4 + 1.5 + 16}));
  params.height = 1 << 20;
  params.sample_ratio = 1024;
  EXPECT_TRUE(
      Fails(RoiAlign(x, MakeFloat({1, 5}, {0, 0, 0, 1, 1}), params).status(),
            "roi_align", "are too many"));
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

TEST(SuppressByClassTest, BestBoxesOfAllClasses) {
  // The second box overlaps the first by 9 / 11 of their union, the third is
  // elsewhere, the fourth is empty.
  const Tensor boxes = MakeFloat(
      {1, 4, 4}, {0, 0, 1, 1, 0, 0.1, 1, 1.1, 2, 2, 3, 3, 5, 5, 5, 5});
  // Background and two classes.
  const Tensor scores = MakeFloat({1, 4, 3}, {1, 0.8, 0.2,   //
                                              1, 0.9, 0.3,   //
                                              1, 0.7, 0.95,  //
                                              1, 0.1, 0.6});
  ClassSuppressionParams params = {.max_detections_per_class = 3,
                                   .max_detections = 5,
                                   .num_classes = 2,
                                   .iou_threshold = 0.5,
                                   .score_threshold = 0.25};
  absl::StatusOr<Detections> found = SuppressByClass(boxes, scores, params);
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_TRUE(Matches(Ok(found->boxes), kFloat, {1, 5, 4},
                      {2, 2, 3, 3, 0, 0.1, 1, 1.1, 2, 2, 3, 3,  //
                       5, 5, 5, 5, 0, 0.1, 1, 1.1}));
  EXPECT_TRUE(Matches(Ok(found->classes), kFloat, {1, 5}, {1, 0, 0, 1, 1}));
  EXPECT_TRUE(
      Matches(Ok(found->scores), kFloat, {1, 5}, {0.95, 0.9, 0.7, 0.6, 0.3}));
  EXPECT_TRUE(Matches(Ok(found->count), kInt32, {1}, {5}));

  params.max_detections_per_class = 1;
  params.iou_threshold = 0.9;
  found = SuppressByClass(boxes, scores, params);
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_TRUE(Matches(Ok(found->scores), kFloat, {1, 5}, {0.95, 0.9, 0, 0, 0}));
  EXPECT_TRUE(Matches(Ok(found->count), kInt32, {1}, {2}));

  params.num_classes = 4;
  EXPECT_TRUE(Fails(SuppressByClass(boxes, scores, params).status(),
                    "regular_non_max_suppression", "4 of 3 classes"));
  params.num_classes = std::numeric_limits<int64_t>::min();
  EXPECT_TRUE(Fails(SuppressByClass(boxes, scores, params).status(),
                    "regular_non_max_suppression", "is out of range"));
  EXPECT_TRUE(
      Fails(SuppressByClass(boxes, MakeFloat({1, 1, 1}, {0}), params).status(),
            "regular_non_max_suppression", "do not fit"));
}

// The values that the reference's own test expects.
TEST(ProposeTest, BoxesOfAnchors) {
  const Tensor scores =
      MakeFloat({1, 2, 3, 3}, {0.3, 0.6, 0.2, 0.4, 0.7, 0.5, 0.1, 0.4, 0.3,  //
                               0.7, 0.5, 0.3, 0.6, 0.4, 0.8, 0.9, 0.2, 0.5});
  const Tensor deltas =
      MakeFloat({1, 4, 3, 3}, {0.5, 1.0, 0.6, 0.8, 1.2, 2.0, 0.9, 1.0, 0.8,  //
                               0.5, 1.0, 0.7, 0.8, 1.2, 1.6, 2.1, 1.5, 0.7,  //
                               1.0, 0.5, 0.7, 1.5, 0.9, 1.6, 1.4, 1.5, 0.8,  //
                               1.0, 0.5, 0.6, 1.5, 0.9, 2.0, 1.8, 1.0, 0.9});
  const Tensor images = MakeFloat({1, 3}, {48, 48, 1});
  ProposalParams params = {.scales = {0.5},
                           .ratios = {0.5},
                           .pre_nms_top_n = 200,
                           .post_nms_top_n = 4};
  EXPECT_TRUE(Matches(Propose(scores, deltas, images, params), kFloat, {4, 5},
                      {0, 0,         2.8451548, 28.38012, 18.154846,  //
                       0, 0,         15.354933, 41.96971, 41.245064,  //
                       0, 18.019852, 1.0538368, 51.98015, 25.946163,  //
                       0, 27.320923, -1.266357, 55.0,     24.666357}));
  params.iou_loss = true;
  EXPECT_TRUE(Matches(Propose(scores, deltas, images, params), kFloat, {4, 5},
                      {0, -5.25,     -2.5,       21.75, 19.0,  //
                       0, 11.25,     -2.0,       37.25, 18.5,  //
                       0, 26.849998, -2.3000002, 53.45, 18.6,  //
                       0, -4.95,     13.799999,  22.25, 35.5}));
  // With one box before suppression, the others are repetitions of it.
  params.pre_nms_top_n = 1;
  params.post_nms_top_n = 2;
  EXPECT_TRUE(Matches(Propose(scores, deltas, images, params), kFloat, {2, 5},
                      {0, -5.25, -2.5, 21.75, 19.0,  //
                       0, -5.25, -2.5, 21.75, 19.0}));
  params.scales = {1, 2};
  EXPECT_TRUE(Fails(Propose(scores, deltas, images, params).status(),
                    "proposal", "2 anchors"));
}

}  // namespace
}  // namespace baton::kernels
