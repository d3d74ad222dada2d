#include "baton/runtime/kernels/resize.h"

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

TEST(ResizeTest, Linear) {
  const Tensor x = MakeFloat({1, 1, 4}, {0, 1, 2, 3});
  ResizeParams params;
  params.size = {8};
  EXPECT_TRUE(Matches(Resize(x, params), kFloat, {1, 1, 8},
                      {0, 0.25, 0.75, 1.25, 1.75, 2.25, 2.75, 3}));
  params.coordinates = "align_corners";
  params.size = {7};
  EXPECT_TRUE(Matches(Resize(x, params), kFloat, {1, 1, 7},
                      {0, 0.5, 1, 1.5, 2, 2.5, 3}));
  params.coordinates = "asymmetric";
  params.size = {2};
  EXPECT_TRUE(Matches(Resize(x, params), kFloat, {1, 1, 2}, {0, 2}));
}

TEST(ResizeTest, EveryAxis) {
  const Tensor x = MakeFloat({1, 1, 2, 2}, {1, 2, 3, 4});
  ResizeParams params;
  params.coordinates = "align_corners";
  params.size = {3, 3};
  EXPECT_TRUE(Matches(Resize(x, params), kFloat, {1, 1, 3, 3},
                      {1, 1.5, 2, 2, 2.5, 3, 3, 3.5, 4}));
  const Tensor volume = Iota(kFloat, {1, 1, 2, 2, 2});
  params.size = {1, 1, 3};
  EXPECT_TRUE(
      Matches(Resize(volume, params), kFloat, {1, 1, 1, 1, 3}, {0, 0.5, 1}));
}

TEST(ResizeTest, NearestRoundsAsTold) {
  const Tensor x = Make(DType::Int(32), {1, 1, 4}, {10, 11, 12, 13});
  ResizeParams params;
  params.method = "nearest_neighbor";
  params.coordinates = "asymmetric";
  params.size = {6};
  const auto with = [&](const char* rounding) {
    params.rounding = rounding;
    return Resize(x, params);
  };
  // At 0, 2/3, 4/3, 2, 8/3, 10/3.
  EXPECT_TRUE(Matches(with("floor"), DType::Int(32), {1, 1, 6},
                      {10, 10, 11, 12, 12, 13}));
  EXPECT_TRUE(Matches(with("ceil"), DType::Int(32), {1, 1, 6},
                      {10, 11, 12, 12, 13, 13}));
  EXPECT_TRUE(Matches(with("round"), DType::Int(32), {1, 1, 6},
                      {10, 11, 11, 12, 13, 13}));
  EXPECT_TRUE(Fails(with("up").status(), "resize", "rounding up"));
}

TEST(ResizeTest, Cubic) {
  // A straight line stays one where no edge is near.
  const Tensor x = MakeFloat({1, 1, 6}, {0, 1, 2, 3, 4, 5});
  ResizeParams params;
  params.method = "cubic";
  params.coordinates = "align_corners";
  params.size = {11};
  const Tensor result = internal::Unwrap(Resize(x, params));
  for (int i = 4; i < 7; ++i) {
    EXPECT_NEAR(result.span<float>()[i], 0.5 * i, 1e-6);
  }
  // Weights of the four neighbours at the middle: -1/16, 9/16, 9/16, -1/16.
  EXPECT_NEAR(result.span<float>()[1], (0 * 8 + 9 * 1 - 2) / 16.0, 1e-6);
  params.cubic_exclude = true;
  const Tensor without = internal::Unwrap(Resize(x, params));
  EXPECT_NEAR(without.span<float>()[1], (9.0 - 2) / 17, 1e-6);
}

TEST(ResizeTest, Regions) {
  const Tensor x = MakeFloat({1, 1, 5}, {0, 1, 2, 3, 4});
  ResizeParams params;
  params.coordinates = "tf_crop_and_resize";
  params.extrapolation_value = -7;
  params.size = {3};
  params.roi = {0.25, 0.75};
  EXPECT_TRUE(Matches(Resize(x, params), kFloat, {1, 1, 3}, {1, 2, 3}));
  params.roi = {0.5, 1.5};
  EXPECT_TRUE(Matches(Resize(x, params), kFloat, {1, 1, 3}, {2, 4, -7}));
}

TEST(ResizeTest, Refuses) {
  ResizeParams params;
  params.size = {2};
  EXPECT_TRUE(Fails(Resize(Iota(kFloat, {1, 1, 0}), params).status(), "resize",
                    "cannot be resized"));
  EXPECT_TRUE(Fails(Resize(Iota(kFloat, {1, 1, 2, 2}), params).status(),
                    "resize", "1 extents do not fit"));
  params.method = "best";
  EXPECT_TRUE(Fails(Resize(Iota(kFloat, {1, 1, 2}), params).status(), "resize",
                    "method best"));
}

TEST(CropAndResizeTest, TakesBoxesOfImages) {
  const Tensor x = MakeFloat({2, 1, 2, 2}, {0, 1, 2, 3, 10, 11, 12, 13});
  const Tensor boxes = MakeFloat({2, 4}, {0, 0, 1, 1, 0, 0, 0.5, 2});
  const Tensor image = Make(DType::Int(32), {2}, {1, 0});
  EXPECT_TRUE(Matches(CropAndResize(x, boxes, image, 2, 2, "bilinear", 9),
                      kFloat, {2, 1, 2, 2}, {10, 11, 12, 13, 0, 9, 1, 9}));
  const Tensor none = Make(DType::Int(32), {2}, {0, 2});
  EXPECT_TRUE(Fails(CropAndResize(x, boxes, none, 2, 2, "bilinear", 9).status(),
                    "crop_and_resize", "image 2 is none of the 2"));
}

TEST(GridSampleTest, IdentityAndPadding) {
  const Tensor x = MakeFloat({1, 1, 2, 3}, {1, 2, 3, 4, 5, 6});
  const Tensor same = MakeFloat({1, 2, 3}, {1, 0, 0, 0, 1, 0});
  const Tensor grid = internal::Unwrap(AffineGrid(same, 2, 3));
  EXPECT_TRUE(Matches(absl::StatusOr<Tensor>(grid), kFloat, {1, 2, 2, 3},
                      {-1, 0, 1, -1, 0, 1, -1, -1, -1, 1, 1, 1}, 1e-6, 1e-6));
  EXPECT_TRUE(Matches(GridSample(x, grid, {}), kFloat, {1, 1, 2, 3},
                      {1, 2, 3, 4, 5, 6}, 1e-5));
  // Left of the image, in the middle, and below it.
  const Tensor points = MakeFloat({1, 2, 1, 3}, {-2, 0, 0, -1, 0, 3});
  GridSampleParams params;
  EXPECT_TRUE(Matches(GridSample(x, points, params), kFloat, {1, 1, 1, 3},
                      {0, 3.5, 0}));
  params.padding = "border";
  EXPECT_TRUE(Matches(GridSample(x, points, params), kFloat, {1, 1, 1, 3},
                      {1, 3.5, 5}));
  params.padding = "reflection";
  EXPECT_TRUE(Matches(GridSample(x, points, params), kFloat, {1, 1, 1, 3},
                      {2, 3.5, 2}));
  params.method = "nearest";
  params.padding = "border";
  EXPECT_TRUE(
      Matches(GridSample(x, points, params), kFloat, {1, 1, 1, 3}, {1, 2, 5}));
}

}  // namespace
}  // namespace baton::kernels
