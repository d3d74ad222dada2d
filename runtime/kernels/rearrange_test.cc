#include "baton/runtime/kernels/rearrange.h"

#include <cstdint>
#include <limits>
#include <vector>

#include "absl/status/statusor.h"
#include "baton/base/dtype.h"
#include "baton/base/tensor.h"
#include "baton/runtime/kernels/internal/testing.h"
#include "baton/runtime/kernels/layout_kernels.h"
#include "gtest/gtest.h"

namespace baton::kernels {
namespace {

using ::baton::kernels::internal::Fails;
using ::baton::kernels::internal::Flat;
using ::baton::kernels::internal::ForEachIndex;
using ::baton::kernels::internal::Iota;
using ::baton::kernels::internal::Make;
using ::baton::kernels::internal::MakeFloat;
using ::baton::kernels::internal::Matches;
using ::baton::kernels::internal::Unwrap;
using ::baton::kernels::internal::Values;

constexpr DType kFloat = DType::Float(32);
constexpr DType kInt32 = DType::Int(32);

TEST(DepthToSpaceTest, Blocks) {
  // Two channels of the result, blocks of 2 * 2.
  const Tensor x = Iota(kFloat, {1, 8, 1, 1});
  EXPECT_TRUE(Matches(DepthToSpace(x, 2, "NCHW", /*depth_first=*/false), kFloat,
                      {1, 2, 2, 2}, {0, 2, 4, 6, 1, 3, 5, 7}));
  EXPECT_TRUE(Matches(DepthToSpace(x, 2, "NCHW", /*depth_first=*/true), kFloat,
                      {1, 2, 2, 2}, {0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_TRUE(Fails(DepthToSpace(x, 3, "NCHW", false).status(),
                    "depth_to_space", "do not fit"));
}

TEST(DepthToSpaceTest, GoesBothWays) {
  const Tensor x = Iota(kFloat, {2, 12, 3, 5});
  const Tensor there = Unwrap(DepthToSpace(x, 2, "NCHW", false));
  EXPECT_TRUE(Matches(SpaceToDepth(there, 2, "NCHW"), kFloat, {2, 12, 3, 5},
                      Values(x)));
  const Tensor nhwc = Unwrap(LayoutTransform(x, "NCHW", "NHWC"));
  EXPECT_TRUE(Matches(DepthToSpace(nhwc, 2, "NHWC", false), kFloat,
                      {2, 6, 10, 3},
                      Values(Unwrap(LayoutTransform(there, "NCHW", "NHWC")))));
}

TEST(SpaceToBatchTest, GoesBothWays) {
  const Tensor x = Iota(kFloat, {1, 3, 4, 1});
  const std::vector<std::vector<int64_t>> widths = {{1, 0}, {0, 0}};
  const Tensor batches = Unwrap(SpaceToBatchNd(x, {2, 2}, widths, -1));
  EXPECT_TRUE(Matches(batches, kFloat, {4, 2, 2, 1},
                      {-1, -1, 4, 6, -1, -1, 5, 7, 0, 2, 8, 10, 1, 3, 9, 11}));
  EXPECT_TRUE(Matches(BatchToSpaceNd(batches, {2, 2}, widths), kFloat,
                      {1, 3, 4, 1}, Values(x)));
  EXPECT_TRUE(Fails(SpaceToBatchNd(x, {2, 3}, widths, 0).status(),
                    "space_to_batch_nd", "do not fit"));
  EXPECT_TRUE(Fails(BatchToSpaceNd(x, {2, 2}, widths).status(),
                    "batch_to_space_nd", "do not fit"));
}

TEST(SpaceToBatchTest, RefusesBlocksWhoseProductOverflows) {
  constexpr int64_t kHuge = int64_t{1} << 32;
  const std::vector<std::vector<int64_t>> none = {{0, 0}, {0, 0}};
  const Tensor one = Iota(kFloat, {1, 1, 1, 1});
  const std::vector<std::vector<int64_t>> crops = {{kHuge - 1, 0},
                                                   {kHuge - 1, 0}};
  EXPECT_TRUE(Fails(BatchToSpaceNd(one, {kHuge, kHuge}, crops).status(),
                    "batch_to_space_nd", "do not fit"));
  const Tensor empty = Iota(kFloat, {0, 1, 1, 1});
  EXPECT_FALSE(BatchToSpaceNd(empty, {kHuge, kHuge}, none).ok());
  EXPECT_TRUE(Fails(BatchToSpaceNd(one, {1, 1}, {{-1, 0}, {0, 0}}).status(),
                    "batch_to_space_nd", "negative"));
  const Tensor no_rows = Iota(kFloat, {2, 0, 0, 1});
  EXPECT_TRUE(Fails(SpaceToBatchNd(no_rows, {kHuge, kHuge}, none, 0).status(),
                    "space_to_batch_nd", "too large"));
  EXPECT_TRUE(
      Fails(DepthToSpace(one, kHuge, "NCHW", /*depth_first=*/true).status(),
            "depth_to_space", "do not fit"));
  EXPECT_TRUE(
      Fails(SpaceToDepth(Iota(kFloat, {1, 1, 0, 0}), kHuge, "NCHW").status(),
            "space_to_depth", "too large"));
}

TEST(MirrorPadTest, WithAndWithoutTheEdge) {
  const Tensor x = MakeFloat({3}, {1, 2, 3});
  EXPECT_TRUE(Matches(MirrorPad(x, {{2, 1}}, /*symmetric=*/true), kFloat, {6},
                      {2, 1, 1, 2, 3, 3}));
  EXPECT_TRUE(Matches(MirrorPad(x, {{2, 1}}, /*symmetric=*/false), kFloat, {6},
                      {3, 2, 1, 2, 3, 2}));
  EXPECT_TRUE(Fails(MirrorPad(x, {{3, 0}}, false).status(), "mirror_pad"));
}

TEST(DilateTest, SpreadsElements) {
  EXPECT_TRUE(Matches(Dilate(MakeFloat({2, 2}, {1, 2, 3, 4}), {1, 2}, 9),
                      kFloat, {2, 3}, {1, 9, 2, 3, 9, 4}));
  EXPECT_TRUE(Fails(Dilate(MakeFloat({1}, {1}), {0}, 0).status(), "dilate"));
}

TEST(SequenceTest, ReversesAndMasks) {
  const Tensor x = Iota(kFloat, {3, 2});
  const Tensor lengths = Make(kInt32, {2}, {3, 1});
  EXPECT_TRUE(Matches(ReverseSequence(x, lengths, 0, 1), kFloat, {3, 2},
                      {4, 1, 2, 3, 0, 5}));
  EXPECT_TRUE(Matches(SequenceMask(x, lengths, 0, -1), kFloat, {3, 2},
                      {0, 1, 2, -1, 4, -1}));
  EXPECT_TRUE(Matches(SequenceMask(x, Make(kInt32, {3}, {0, 1, 2}), 1, -1),
                      kFloat, {3, 2}, {-1, -1, 2, -1, 4, 5}));
  EXPECT_TRUE(
      Fails(ReverseSequence(x, Make(kInt32, {2}, {4, 0}), 0, 1).status(),
            "reverse_sequence", "length 4"));
}

TEST(TriluTest, KeepsATriangle) {
  const Tensor x = MakeFloat({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_TRUE(Matches(Trilu(x, 0, true), kFloat, {2, 3}, {1, 2, 3, 0, 5, 6}));
  EXPECT_TRUE(Matches(Trilu(x, 0, false), kFloat, {2, 3}, {1, 0, 0, 4, 5, 0}));
  EXPECT_TRUE(Matches(Trilu(x, 1, true), kFloat, {2, 3}, {0, 2, 3, 0, 0, 6}));
}

TEST(MeshgridTest, BothIndexings) {
  const std::vector<Tensor> vectors = {MakeFloat({2}, {1, 2}),
                                       MakeFloat({3}, {3, 4, 5})};
  const absl::StatusOr<std::vector<Tensor>> ij = Meshgrid(vectors, false);
  ASSERT_TRUE(ij.ok());
  EXPECT_TRUE(Matches((*ij)[0], kFloat, {2, 3}, {1, 1, 1, 2, 2, 2}));
  EXPECT_TRUE(Matches((*ij)[1], kFloat, {2, 3}, {3, 4, 5, 3, 4, 5}));
  const absl::StatusOr<std::vector<Tensor>> xy = Meshgrid(vectors, true);
  ASSERT_TRUE(xy.ok());
  EXPECT_TRUE(Matches((*xy)[0], kFloat, {3, 2}, {1, 2, 1, 2, 1, 2}));
  EXPECT_TRUE(Matches((*xy)[1], kFloat, {3, 2}, {3, 3, 4, 4, 5, 5}));
}

TEST(SlidingWindowTest, ListsWindows) {
  const Tensor x = internal::Iota(DType::Int(32), {2, 4});
  EXPECT_TRUE(internal::Matches(SlidingWindow(x, 1, {2}, {2}), DType::Int(32),
                                {2, 2, 2}, {0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_TRUE(internal::Matches(SlidingWindow(x, 0, {2, 3}, {1, 1}),
                                DType::Int(32), {1, 2, 2, 3},
                                {0, 1, 2, 4, 5, 6, 1, 2, 3, 5, 6, 7}));
  EXPECT_TRUE(internal::Fails(SlidingWindow(x, 1, {5}, {1}).status(),
                              "sliding_window", "does not fit"));
}

// Any two axes, also the same one twice, with axes before, between and after
// them.
TEST(ReverseSequenceTest, AllPairsOfAxes) {
  const std::vector<int64_t> shape = {3, 4, 2, 5};
  const Tensor x = Iota(kFloat, shape);
  for (int seq = 0; seq < 4; ++seq) {
    for (int batch = 0; batch < 4; ++batch) {
      std::vector<double> lengths;
      for (int64_t i = 0; i < shape[batch]; ++i) {
        lengths.push_back(static_cast<double>((i * 3 + 2) % (shape[seq] + 1)));
      }
      std::vector<double> expected;
      ForEachIndex(shape, [&](std::vector<int64_t> index) {
        const auto length = static_cast<int64_t>(lengths[index[batch]]);
        if (index[seq] < length) index[seq] = length - 1 - index[seq];
        expected.push_back(static_cast<double>(Flat(shape, index)));
      });
      EXPECT_TRUE(Matches(
          ReverseSequence(x, Make(kInt32, {shape[batch]}, lengths), seq, batch),
          kFloat, shape, expected))
          << seq << " " << batch;
    }
  }
}

TEST(TriluTest, AnyDiagonal) {
  const std::vector<int64_t> shape = {2, 3, 5};
  const Tensor x = Iota(kFloat, shape);
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  for (const int64_t k :
       {-kMax - 1, int64_t{-4}, int64_t{-3}, int64_t{-2}, int64_t{0},
        int64_t{1}, int64_t{4}, int64_t{5}, int64_t{6}, kMax}) {
    for (const bool upper : {true, false}) {
      std::vector<double> expected;
      ForEachIndex(shape, [&](const std::vector<int64_t>& index) {
        const int64_t diagonal = index[2] - index[1];
        const bool zero = upper ? diagonal < k : diagonal > k;
        expected.push_back(zero ? 0.0
                                : static_cast<double>(Flat(shape, index)));
      });
      EXPECT_TRUE(Matches(Trilu(x, k, upper), kFloat, shape, expected))
          << k << " " << upper;
    }
  }
}

}  // namespace
}  // namespace baton::kernels
