#include "baton/runtime/kernels/shape_kernels.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/optional.h"
#include "baton/base/dtype.h"
#include "baton/base/tensor.h"
#include "baton/runtime/kernels/internal/testing.h"
#include "gtest/gtest.h"

namespace baton::kernels {
namespace {

using internal::Fails;
using internal::Flat;
using internal::ForEachIndex;
using internal::Iota;
using internal::Make;
using internal::MakeFloat;
using internal::Matches;
using internal::Random;
using internal::Unwrap;
using internal::Values;

const DType kFloat32 = DType::Float(32);
const DType kInt32 = DType::Int(32);
const DType kInt64 = DType::Int(64);
// One dtype of each size.
const DType kDTypes[] = {DType::Int(8), DType::BFloat(16), DType::Float(32),
                         DType::Int(64)};
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

std::vector<int64_t> ShapeOf(const absl::StatusOr<Tensor>& x) {
  const Tensor t = Unwrap(x);
  return {t.shape().begin(), t.shape().end()};
}

// Passes if result[index] is x[from(index)] for every index.
template <typename Fn>
::testing::AssertionResult Selects(const absl::StatusOr<Tensor>& result,
                                   const Tensor& x,
                                   const std::vector<int64_t>& shape,
                                   const Fn& from) {
  const std::vector<double> values = Values(x);
  std::vector<double> expected;
  ForEachIndex(shape, [&](const std::vector<int64_t>& index) {
    expected.push_back(
        values[static_cast<size_t>(Flat(x.shape(), from(index)))]);
  });
  return Matches(result, x.dtype(), shape, expected, 0, 0);
}

using Shape = std::vector<int64_t>;

TEST(ReshapeTest, Codes) {
  const Tensor x = Iota(kFloat32, {2, 3, 4, 5});
  EXPECT_EQ(ShapeOf(Reshape(x, {6, 20})), (Shape{6, 20}));
  EXPECT_EQ(ShapeOf(Reshape(x, {-1})), (Shape{120}));
  EXPECT_EQ(ShapeOf(Reshape(x, {0, -1})), (Shape{2, 60}));
  EXPECT_EQ(ShapeOf(Reshape(x, {0, 0, -1})), (Shape{2, 3, 20}));
  EXPECT_EQ(ShapeOf(Reshape(x, {4, 0, -1})), (Shape{4, 3, 10}));
  EXPECT_EQ(ShapeOf(Reshape(x, {-2})), (Shape{2, 3, 4, 5}));
  EXPECT_EQ(ShapeOf(Reshape(x, {2, -2})), (Shape{2, 3, 4, 5}));
  EXPECT_EQ(ShapeOf(Reshape(x, {-2, 1, 1})), (Shape{2, 3, 4, 5, 1, 1}));
  EXPECT_EQ(ShapeOf(Reshape(x, {-3, -3})), (Shape{6, 20}));
  EXPECT_EQ(ShapeOf(Reshape(x, {0, -3, 0})), (Shape{2, 12, 5}));
  EXPECT_EQ(ShapeOf(Reshape(x, {-4, 1, 2, -2})), (Shape{1, 2, 3, 4, 5}));
  EXPECT_EQ(ShapeOf(Reshape(x, {0, 0, -4, -1, 2, 0})), (Shape{2, 3, 2, 2, 5}));
  EXPECT_TRUE(Unwrap(Reshape(x, {-1})).SharesBufferWith(x));
  const Tensor empty = Make(kFloat32, {0, 3}, {});
  EXPECT_EQ(ShapeOf(Reshape(empty, {0, 3, 7})), (Shape{0, 3, 7}));
  EXPECT_EQ(ShapeOf(Reshape(empty, {-1, 7})), (Shape{0, 7}));
  EXPECT_EQ(ShapeOf(Reshape(MakeFloat({1}, {1}), {})), (Shape{}));
}

TEST(ReshapeTest, Errors) {
  const Tensor x = Iota(kFloat32, {2, 3});
  for (const Shape& bad :
       std::vector<Shape>{{5},
                          {-1, -1},
                          {-1, 4},
                          {0, 0, 0},
                          {-3, -3},
                          {-5},
                          {-4, 2},
                          {-4, -1, -1, 3},
                          {-4, 2, 2, 3},
                          {-4, 0, 2, 3},
                          {int64_t{1} << 40, int64_t{1} << 40},
                          {-1, int64_t{1} << 40, int64_t{1} << 40}}) {
    EXPECT_FALSE(Reshape(x, bad).ok()) << ::testing::PrintToString(bad);
  }
  EXPECT_TRUE(Fails(Reshape(x, {5}).status(), "reshape", "float32[2, 3]"));
}

TEST(ShapeTest, FlattenExpandAndSqueeze) {
  const Tensor x = Iota(kFloat32, {2, 1, 3, 1});
  EXPECT_EQ(ShapeOf(BatchFlatten(x)), (Shape{2, 3}));
  EXPECT_TRUE(
      Fails(BatchFlatten(MakeFloat({}, {1})).status(), "batch_flatten"));
  EXPECT_EQ(ShapeOf(ExpandDims(x, 0)), (Shape{1, 2, 1, 3, 1}));
  EXPECT_EQ(ShapeOf(ExpandDims(x, 4, 2)), (Shape{2, 1, 3, 1, 1, 1}));
  EXPECT_EQ(ShapeOf(ExpandDims(x, -1)), (Shape{2, 1, 3, 1, 1}));
  EXPECT_EQ(ShapeOf(ExpandDims(x, -5, 0)), (Shape{2, 1, 3, 1}));
  EXPECT_TRUE(Fails(ExpandDims(x, 5).status(), "expand_dims", "axis 5"));
  EXPECT_TRUE(Fails(ExpandDims(x, 0, -1).status(), "expand_dims"));
  EXPECT_EQ(ShapeOf(Squeeze(x)), (Shape{2, 3}));
  EXPECT_EQ(ShapeOf(Squeeze(x, Shape{-1})), (Shape{2, 1, 3}));
  EXPECT_EQ(ShapeOf(Squeeze(x, Shape{})), (Shape{2, 1, 3, 1}));
  EXPECT_TRUE(Fails(Squeeze(x, Shape{0}).status(), "squeeze", "axis 0"));
  EXPECT_TRUE(Fails(Squeeze(x, Shape{4}).status(), "squeeze", "axis 4"));
  EXPECT_TRUE(Unwrap(Squeeze(x)).SharesBufferWith(x));
}

TEST(ConcatenateTest, AlongEachAxis) {
  for (const DType dtype : kDTypes) {
    for (const int64_t axis : {0, 1, 2, -1}) {
      const size_t k = static_cast<size_t>(axis < 0 ? axis + 3 : axis);
      std::vector<Tensor> parts;
      Shape shape = {2, 3, 4};
      int64_t total = 0;
      for (const int64_t extent : {3, 0, 1, 5}) {
        shape[k] = extent;
        total += extent;
        parts.push_back(Random(dtype, shape, static_cast<uint32_t>(extent)));
      }
      shape[k] = total;
      std::vector<double> expected;
      ForEachIndex(shape, [&](Shape index) {
        size_t part = 0;
        while (index[k] >= parts[part].shape()[k]) {
          index[k] -= parts[part++].shape()[k];
        }
        expected.push_back(
            parts[part].AtAsDouble(Flat(parts[part].shape(), index)));
      });
      const absl::StatusOr<Tensor> all = Concatenate(parts, axis);
      EXPECT_TRUE(Matches(all, dtype, shape, expected, 0, 0));
      // The split gives the tensors back.
      const auto split = SplitAt(Unwrap(all), {3, 3, 4}, axis);
      ASSERT_TRUE(split.ok()) << split.status();
      ASSERT_EQ(split->size(), parts.size());
      for (size_t i = 0; i < parts.size(); ++i)
        EXPECT_EQ((*split)[i], parts[i]);
    }
  }
  const Tensor x = MakeFloat({2}, {1, 2});
  EXPECT_TRUE(Unwrap(Concatenate({x}, 0)).SharesBufferWith(x));
}

TEST(ConcatenateTest, Errors) {
  const Tensor x = MakeFloat({2}, {1, 2});
  EXPECT_TRUE(Fails(Concatenate({}, 0).status(), "concatenate", "no tensors"));
  EXPECT_TRUE(Fails(Concatenate({x}, 1).status(), "concatenate", "axis 1"));
  EXPECT_TRUE(Fails(Concatenate({x, Iota(kInt32, {2})}, 0).status(),
                    "concatenate", "dtypes"));
  EXPECT_TRUE(Fails(Concatenate({x, Iota(kFloat32, {2, 1})}, 0).status(),
                    "concatenate", "fit"));
  EXPECT_TRUE(Fails(
      Concatenate({Iota(kFloat32, {2, 3}), Iota(kFloat32, {2, 2})}, 0).status(),
      "concatenate", "fit"));
}

TEST(StackTest, AlongEachAxis) {
  const Tensor x = Iota(kFloat32, {2}), y = MakeFloat({2}, {5, 6});
  EXPECT_TRUE(Matches(Stack({x, y}, 0), kFloat32, {2, 2}, {0, 1, 5, 6}));
  EXPECT_TRUE(Matches(Stack({x, y}, 1), kFloat32, {2, 2}, {0, 5, 1, 6}));
  EXPECT_TRUE(Matches(Stack({x, y}, -1), kFloat32, {2, 2}, {0, 5, 1, 6}));
  EXPECT_TRUE(Fails(Stack({x, y}, 2).status(), "stack", "axis 2"));
  EXPECT_TRUE(Fails(Stack({}, 0).status(), "stack", "no tensors"));
  EXPECT_TRUE(
      Fails(Stack({x, Iota(kFloat32, {3})}, 0).status(), "stack", "shapes"));
}

TEST(SplitTest, SectionsAndErrors) {
  const Tensor x = Iota(kFloat32, {2, 4});
  const auto parts = Split(x, 2, 1);
  ASSERT_TRUE(parts.ok());
  ASSERT_EQ(parts->size(), 2u);
  EXPECT_TRUE(Matches((*parts)[0], kFloat32, {2, 2}, {0, 1, 4, 5}));
  EXPECT_TRUE(Matches((*parts)[1], kFloat32, {2, 2}, {2, 3, 6, 7}));
  EXPECT_TRUE(Fails(Split(x, 3, 1).status(), "split", "3 equal parts"));
  EXPECT_TRUE(Fails(Split(x, 0, 1).status(), "split"));
  EXPECT_TRUE(Fails(Split(x, 2, 2).status(), "split", "axis 2"));
  EXPECT_TRUE(
      Fails(Split(Make(kFloat32, {0}, {}), INT64_MAX, 0).status(), "split"));
  EXPECT_TRUE(Fails(SplitAt(x, {3, 2}, 1).status(), "split", "ascend"));
  EXPECT_TRUE(Fails(SplitAt(x, {5}, 1).status(), "split", "ascend"));
  EXPECT_TRUE(Fails(SplitAt(x, {-1}, 1).status(), "split", "ascend"));
}

TEST(StridedSliceTest, AsInPython) {
  constexpr int64_t kMax = INT64_MAX;
  constexpr int64_t kMin = INT64_MIN;
  const int64_t positions[] = {kMin, -9, -7, -6, -3, -1, 0, 2, 5, 6, 7, kMax};
  const Tensor x = Iota(kInt32, {6});
  for (const int64_t begin : positions) {
    for (const int64_t end : positions) {
      for (const int64_t stride : {kMin, int64_t{-7}, int64_t{-2}, int64_t{-1},
                                   int64_t{1}, int64_t{3}, kMax}) {
        // slice.indices() of Python.
        const auto clamp = [&](int64_t p) {
          const int64_t low = stride > 0 ? 0 : -1;
          const int64_t high = stride > 0 ? 6 : 5;
          if (p < 0) p = p < -6 ? low : p + 6;
          return p < low ? low : p > high ? high : p;
        };
        std::vector<double> expected;
        const int64_t stop = clamp(end);
        for (__int128 i = clamp(begin); stride > 0 ? i < stop : i > stop;
             i += stride) {
          expected.push_back(static_cast<double>(i));
        }
        EXPECT_TRUE(Matches(StridedSlice(x, {.begin = {begin},
                                             .end = {end},
                                             .strides = {stride},
                                             .axes = absl::nullopt,
                                             .end_is_size = false}),
                            kInt32, {static_cast<int64_t>(expected.size())},
                            expected))
            << begin << ":" << end << ":" << stride;
      }
    }
  }
}

TEST(StridedSliceTest, SeveralAxes) {
  for (const DType dtype : kDTypes) {
    const Tensor x = Iota(dtype, {4, 3, 5});
    StridedSliceParams params;
    params.begin = {1, 0};
    params.end = {4, 3};
    params.strides = {2};
    EXPECT_TRUE(Selects(StridedSlice(x, params), x, {2, 3, 5}, [](Shape i) {
      return Shape{1 + 2 * i[0], i[1], i[2]};
    }));
    params.axes = Shape{-1, 0};
    params.begin = {4, 1};
    params.end = {0, 3};
    params.strides = {-2, 1};
    EXPECT_TRUE(Selects(StridedSlice(x, params), x, {2, 3, 2}, [](Shape i) {
      return Shape{1 + i[0], i[1], 4 - 2 * i[2]};
    }));
    params.axes = absl::nullopt;
    params.begin = {1, 2, -2};
    params.end = {2, -1, 100};
    params.end_is_size = true;
    EXPECT_TRUE(Selects(StridedSlice(x, params), x, {2, 1, 2}, [](Shape i) {
      return Shape{1 + i[0], 2 + i[1], 3 + i[2]};
    }));
    params = {};
    EXPECT_TRUE(Unwrap(StridedSlice(x, params)).SharesBufferWith(x));
  }
  const Tensor empty = Make(kFloat32, {0, 2}, {});
  StridedSliceParams params;
  params.begin = {-1};
  params.end = {5};
  params.strides = {-1};
  EXPECT_EQ(ShapeOf(StridedSlice(empty, params)), (Shape{0, 2}));
}

TEST(StridedSliceTest, Errors) {
  const Tensor x = Iota(kFloat32, {4, 3});
  StridedSliceParams params;
  params.begin = {0};
  EXPECT_TRUE(Fails(StridedSlice(x, params).status(), "strided_slice", "fit"));
  params.end = {2};
  params.strides = {0};
  EXPECT_TRUE(
      Fails(StridedSlice(x, params).status(), "strided_slice", "stride 0"));
  params.strides = {1, 1};
  EXPECT_TRUE(Fails(StridedSlice(x, params).status(), "strided_slice", "fit"));
  params.strides = {};
  params.axes = Shape{2};
  EXPECT_TRUE(
      Fails(StridedSlice(x, params).status(), "strided_slice", "axis 2"));
  params.begin = params.end = {0, 0};
  params.axes = Shape{1, -1};
  EXPECT_TRUE(
      Fails(StridedSlice(x, params).status(), "strided_slice", "repeated"));
  params.begin = params.end = {0, 0, 0};
  params.axes = absl::nullopt;
  EXPECT_TRUE(Fails(StridedSlice(x, params).status(), "strided_slice", "fit"));
}

TEST(PadTest, AllModes) {
  for (const DType dtype : kDTypes) {
    const Tensor x = Iota(dtype, {3, 4});
    const Tensor value = MakeFloat({}, {9});
    const Shape before = {1, 2}, after = {2, 0}, shape = {6, 6};
    std::vector<double> constant, edge, reflect;
    ForEachIndex(shape, [&](const Shape& index) {
      const auto clamp = [](int64_t p, int64_t n) {
        return p < 0 ? 0 : p >= n ? n - 1 : p;
      };
      const auto mirror = [](int64_t p, int64_t n) {
        return p < 0 ? -p : p >= n ? 2 * n - 2 - p : p;
      };
      const int64_t r = index[0] - 1, c = index[1] - 2;
      const bool inside = r >= 0 && r < 3 && c >= 0 && c < 4;
      constant.push_back(inside ? static_cast<double>(r * 4 + c) : 9);
      edge.push_back(static_cast<double>(clamp(r, 3) * 4 + clamp(c, 4)));
      reflect.push_back(static_cast<double>(mirror(r, 3) * 4 + mirror(c, 4)));
    });
    EXPECT_TRUE(Matches(Pad(x, before, after, PadMode::kConstant, value), dtype,
                        shape, constant));
    EXPECT_TRUE(Matches(Pad(x, before, after, PadMode::kEdge, value), dtype,
                        shape, edge));
    EXPECT_TRUE(Matches(Pad(x, before, after, PadMode::kReflect, value), dtype,
                        shape, reflect));
    EXPECT_TRUE(Unwrap(Pad(x, {0, 0}, {0, 0}, PadMode::kConstant, value))
                    .SharesBufferWith(x));
  }
  const Tensor empty = Make(kFloat32, {0, 2}, {});
  const Tensor one = MakeFloat({}, {1});
  EXPECT_TRUE(Matches(Pad(empty, {1, 0}, {0, 1}, PadMode::kConstant, one),
                      kFloat32, {1, 3}, {1, 1, 1}));
  EXPECT_EQ(ShapeOf(Pad(empty, {0, 1}, {0, 1}, PadMode::kEdge, one)),
            (Shape{0, 4}));
}

TEST(PadTest, NegativeWidthsCutOff) {
  const Tensor x = Iota(kFloat32, {2, 4});
  const Tensor nine = MakeFloat({}, {9});
  const auto padded = [&](const std::vector<int64_t>& before,
                          const std::vector<int64_t>& after) {
    return Pad(x, before, after, PadMode::kConstant, nine);
  };
  EXPECT_TRUE(Matches(padded({0, -1}, {0, -2}), kFloat32, {2, 1}, {1, 5}));
  EXPECT_TRUE(
      Matches(padded({-1, 1}, {1, -2}), kFloat32, {2, 3}, {9, 4, 5, 9, 9, 9}));
  // The shape is the same, the elements are not.
  EXPECT_TRUE(Matches(padded({0, -1}, {0, 1}), kFloat32, {2, 4},
                      {1, 2, 3, 9, 5, 6, 7, 9}));
  // Nothing of `x` is left.
  EXPECT_TRUE(Matches(padded({-3, 0}, {2, 0}), kFloat32, {1, 4}, {9, 9, 9, 9}));
  EXPECT_TRUE(Matches(padded({0, -4}, {0, 0}), kFloat32, {2, 0}, {}));
  EXPECT_TRUE(Matches(padded({0, INT64_MIN}, {0, INT64_MAX}), kFloat32, {2, 3},
                      {9, 9, 9, 9, 9, 9}));
}

TEST(PadTest, Errors) {
  const Tensor x = Iota(kFloat32, {3});
  const Tensor zero = MakeFloat({}, {0});
  EXPECT_TRUE(
      Fails(Pad(x, {1, 1}, {1}, PadMode::kConstant, zero).status(), "pad"));
  EXPECT_TRUE(Fails(Pad(x, {-1}, {1}, PadMode::kEdge, zero).status(), "pad",
                    "negative"));
  EXPECT_TRUE(Fails(Pad(x, {-2}, {-2}, PadMode::kConstant, zero).status(),
                    "pad", "cut off more"));
  EXPECT_TRUE(Fails(Pad(x, {3}, {0}, PadMode::kReflect, zero).status(), "pad",
                    "does not fit"));
  EXPECT_TRUE(Fails(
      Pad(Make(kFloat32, {0}, {}), {1}, {0}, PadMode::kEdge, zero).status(),
      "pad", "does not fit"));
  EXPECT_TRUE(Fails(Pad(x, {1}, {0}, PadMode::kConstant, x).status(), "pad",
                    "one element"));
  EXPECT_TRUE(Fails(Pad(x, {INT64_MAX}, {1}, PadMode::kConstant, zero).status(),
                    "pad", "too large"));
  EXPECT_FALSE(Pad(x, {INT64_MAX - 10}, {0}, PadMode::kEdge, zero).ok());
}

TEST(TakeTest, AxesAndModes) {
  for (const DType dtype : kDTypes) {
    const Tensor x = Iota(dtype, {2, 3, 4});
    const Tensor at = Make(kInt64, {2, 2}, {0, 2, 1, 0});
    const int64_t index[2][2] = {{0, 2}, {1, 0}};
    EXPECT_TRUE(Selects(Take(x, at, 1), x, {2, 2, 2, 4}, [&](Shape i) {
      return Shape{i[0], index[i[1]][i[2]], i[3]};
    }));
    EXPECT_TRUE(Selects(Take(x, at, -1), x, {2, 3, 2, 2}, [&](Shape i) {
      return Shape{i[0], i[1], index[i[2]][i[3]]};
    }));
    EXPECT_TRUE(Selects(Take(x, at, 1, IndexMode::kClip, 1), x, {2, 2, 4},
                        [&](Shape i) {
                          return Shape{i[0], index[i[0]][i[1]], i[2]};
                        }));
    EXPECT_TRUE(Selects(Take(x, at, 2, IndexMode::kClip, 1), x, {2, 3, 2},
                        [&](Shape i) {
                          return Shape{i[0], i[1], index[i[0]][i[2]]};
                        }));
  }
  const Tensor x = MakeFloat({2, 2}, {1, 2, 3, 4});
  EXPECT_TRUE(Matches(Take(x, Make(kInt32, {3}, {3, 9, -5}), absl::nullopt),
                      kFloat32, {3}, {4, 4, 1}));
  EXPECT_TRUE(
      Matches(Take(x, Make(DType::Int(8), {}, {-3}), 0, IndexMode::kWrap),
              kFloat32, {2}, {3, 4}));
  EXPECT_TRUE(Matches(Take(x, Make(kInt32, {0}, {}), 0), kFloat32, {0, 2}, {}));
}

TEST(TakeTest, Errors) {
  const Tensor x = MakeFloat({2, 2}, {1, 2, 3, 4});
  EXPECT_TRUE(
      Fails(Take(x, Make(kInt32, {}, {2}), 0, IndexMode::kCheck).status(),
            "take", "index 2"));
  EXPECT_TRUE(Fails(Take(x, x, 0).status(), "take", "integers"));
  EXPECT_TRUE(
      Fails(Take(x, Make(kInt32, {}, {0}), 2).status(), "take", "axis 2"));
  for (const IndexMode mode :
       {IndexMode::kClip, IndexMode::kWrap, IndexMode::kCheck}) {
    EXPECT_TRUE(
        Fails(Take(Make(kFloat32, {0, 2}, {}), Make(kInt32, {}, {0}), 0, mode)
                  .status(),
              "take", "out of range"));
  }
  EXPECT_TRUE(Fails(
      Take(x, Make(kInt32, {3}, {0, 0, 0}), 1, IndexMode::kClip, 1).status(),
      "take", "batch"));
}

TEST(GatherTest, AlongAxisAndNd) {
  const Tensor x = Iota(kFloat32, {2, 3});
  EXPECT_TRUE(Matches(Gather(x, 1, Make(kInt64, {2, 2}, {2, 0, -1, 1})),
                      kFloat32, {2, 2}, {2, 0, 5, 4}));
  EXPECT_TRUE(Matches(Gather(x, 0, Make(kInt64, {1, 3}, {1, 0, 1})), kFloat32,
                      {1, 3}, {3, 1, 5}));
  EXPECT_TRUE(Fails(Gather(x, 1, Make(kInt64, {2, 1}, {3, 0})).status(),
                    "gather", "index 3"));
  EXPECT_TRUE(
      Fails(Gather(x, 1, Make(kInt64, {1, 1}, {0})).status(), "gather", "fit"));
  EXPECT_TRUE(Matches(GatherNd(x, Make(kInt64, {2, 2}, {1, 0, 2, -3})),
                      kFloat32, {2}, {5, 0}));
  EXPECT_TRUE(Matches(GatherNd(x, Make(kInt64, {1, 2}, {1, 0})), kFloat32,
                      {2, 3}, {3, 4, 5, 0, 1, 2}));
  const Tensor batched = Iota(kFloat32, {2, 3, 2});
  EXPECT_TRUE(Matches(GatherNd(batched, Make(kInt64, {1, 2}, {2, 1}), 1),
                      kFloat32, {2, 2}, {4, 5, 8, 9}));
  EXPECT_TRUE(Fails(GatherNd(x, Make(kInt64, {3, 1}, {0, 0, 0})).status(),
                    "gather_nd", "fit"));
  EXPECT_TRUE(Fails(GatherNd(x, Make(kInt64, {2, 1}, {0, 3})).status(),
                    "gather_nd", "index 3"));
}

TEST(RepetitionTest, TileRepeatReverseAndBroadcast) {
  for (const DType dtype : kDTypes) {
    const Tensor x = Iota(dtype, {2, 3});
    EXPECT_TRUE(Selects(Tile(x, {2, 3}), x, {4, 9}, [](Shape i) {
      return Shape{i[0] % 2, i[1] % 3};
    }));
    EXPECT_TRUE(Selects(Tile(x, {2}), x, {2, 6}, [](Shape i) {
      return Shape{i[0], i[1] % 3};
    }));
    EXPECT_TRUE(Selects(Tile(x, {2, 1, 1}), x, {2, 2, 3}, [](Shape i) {
      return Shape{i[1], i[2]};
    }));
    EXPECT_EQ(ShapeOf(Tile(x, {0, 1})), (Shape{0, 3}));
    EXPECT_TRUE(Selects(Repeat(x, 2, 0), x, {4, 3}, [](Shape i) {
      return Shape{i[0] / 2, i[1]};
    }));
    EXPECT_TRUE(Selects(Repeat(x, 3, -1), x, {2, 9}, [](Shape i) {
      return Shape{i[0], i[1] / 3};
    }));
    EXPECT_TRUE(Selects(Reverse(x, 0), x, {2, 3}, [](Shape i) {
      return Shape{1 - i[0], i[1]};
    }));
    EXPECT_TRUE(Selects(Reverse(x, -1), x, {2, 3}, [](Shape i) {
      return Shape{i[0], 2 - i[1]};
    }));
    EXPECT_TRUE(Selects(BroadcastTo(x, {4, 2, 3}), x, {4, 2, 3}, [](Shape i) {
      return Shape{i[1], i[2]};
    }));
    const Tensor column = Iota(dtype, {2, 1});
    EXPECT_TRUE(
        Selects(BroadcastTo(column, {2, 5}), column, {2, 5}, [](Shape i) {
          return Shape{i[0], 0};
        }));
  }
  const Tensor x = Iota(kFloat32, {2, 3});
  EXPECT_TRUE(Fails(Tile(x, {-1}).status(), "tile", "negative"));
  EXPECT_TRUE(Fails(Tile(x, {INT64_MAX}).status(), "tile", "too large"));
  EXPECT_TRUE(Fails(Repeat(x, -1, 0).status(), "repeat", "negative"));
  EXPECT_TRUE(Fails(Repeat(x, 2, 2).status(), "repeat", "axis 2"));
  EXPECT_TRUE(Fails(Reverse(x, 2).status(), "reverse", "axis 2"));
  EXPECT_TRUE(Fails(BroadcastTo(x, {3}).status(), "broadcast_to"));
  EXPECT_TRUE(Fails(BroadcastTo(x, {2, 4}).status(), "broadcast_to"));
  EXPECT_FALSE(BroadcastTo(x, {-1, 2, 3}).ok());
  EXPECT_FALSE(BroadcastTo(x, {int64_t{1} << 60, 2, 3}).ok());
}

TEST(CollapseSumToTest, UndoesBroadcasting) {
  const Tensor x = Iota(kFloat32, {2, 2, 3});
  EXPECT_TRUE(Matches(CollapseSumTo(x, {3}), kFloat32, {3}, {18, 22, 26}));
  EXPECT_TRUE(Matches(CollapseSumTo(x, {2, 1}), kFloat32, {2, 1}, {24, 42}));
  EXPECT_TRUE(Unwrap(CollapseSumTo(x, {2, 2, 3})).SharesBufferWith(x));
  EXPECT_TRUE(Fails(CollapseSumTo(x, {4}).status(), "collapse_sum_to"));
  EXPECT_TRUE(
      Fails(CollapseSumTo(x, {1, 2, 2, 3}).status(), "collapse_sum_to"));
}

TEST(WhereTest, Broadcasts) {
  for (const DType dtype : kDTypes) {
    const Tensor c = Make(DType::Bool(), {2, 1}, {1, 0});
    const Tensor x = Make(dtype, {3}, {1, 2, 3});
    const Tensor y = Make(dtype, {}, {9});
    EXPECT_TRUE(Matches(Where(c, x, y), dtype, {2, 3}, {1, 2, 3, 9, 9, 9}));
  }
  EXPECT_TRUE(Matches(Where(Make(kInt32, {2}, {0, 5}), MakeFloat({}, {1}),
                            MakeFloat({}, {kNan})),
                      kFloat32, {2}, {kNan, 1}));
  EXPECT_TRUE(
      Fails(Where(MakeFloat({}, {1}), MakeFloat({}, {1}), Make(kInt32, {}, {1}))
                .status(),
            "where", "dtypes"));
  EXPECT_TRUE(Fails(Where(Make(DType::Bool(), {2}, {0, 1}), Iota(kInt32, {3}),
                          Iota(kInt32, {}))
                        .status(),
                    "where", "broadcast"));
}

TEST(CreationTest, FullArangeAndOneHot) {
  EXPECT_TRUE(Matches(Full(MakeFloat({}, {2.5}), {2, 2}), kFloat32, {2, 2},
                      {2.5, 2.5, 2.5, 2.5}));
  EXPECT_TRUE(
      Matches(Full(MakeFloat({1}, {2.5}), {2}, kInt32), kInt32, {2}, {2, 2}));
  for (const DType dtype : kDTypes) {
    for (const int64_t n : {0, 1, 5, 130}) {
      // Zeros too, into memory that held others before.
      for (const double v : {7.0, 0.0}) {
        EXPECT_TRUE(Matches(Full(MakeFloat({}, {v}), {n, 3}, dtype), dtype,
                            {n, 3},
                            std::vector<double>(static_cast<size_t>(n * 3), v)))
            << dtype.ToString() << " " << n;
      }
    }
  }
  EXPECT_TRUE(Unwrap(Full(MakeFloat({}, {-0.0}), {2})) ==
              MakeFloat({2}, {-0.0, -0.0}));
  EXPECT_TRUE(Fails(Full(MakeFloat({2}, {1, 2}), {2}).status(), "full"));
  EXPECT_FALSE(Full(MakeFloat({}, {1}), {-2}).ok());
  const auto arange = [](DType from, double a, double b, double c, DType to) {
    return Arange(Make(from, {}, {a}), Make(from, {}, {b}), Make(from, {}, {c}),
                  to);
  };
  EXPECT_TRUE(Matches(arange(kInt32, 1, 8, 3, kInt32), kInt32, {3}, {1, 4, 7}));
  EXPECT_TRUE(
      Matches(arange(kInt32, 1, 7, 3, kFloat32), kFloat32, {2}, {1, 4}));
  EXPECT_TRUE(
      Matches(arange(kInt32, 3, -3, -2, kInt64), kInt64, {3}, {3, 1, -1}));
  EXPECT_TRUE(Matches(arange(kInt32, 3, 3, 1, kInt64), kInt64, {0}, {}));
  EXPECT_TRUE(Matches(arange(kFloat32, 0, 1, 0.25, kFloat32), kFloat32, {4},
                      {0, 0.25, 0.5, 0.75}));
  EXPECT_TRUE(
      Matches(arange(kFloat32, 1, 0, 0.25, kFloat32), kFloat32, {0}, {}));
  EXPECT_TRUE(Matches(arange(kFloat32, 0, 1e3, 300.5, DType::Int(8)),
                      DType::Int(8), {4}, {0, 44, 89, -123}));
  EXPECT_TRUE(Matches(arange(kInt32, 254, 260, 2, DType::UInt(8)),
                      DType::UInt(8), {3}, {254, 0, 2}));
  EXPECT_TRUE(Matches(arange(kFloat32, 1, 2, 0.5, DType::Float(16)),
                      DType::Float(16), {2}, {1, 1.5}));
  EXPECT_TRUE(Matches(arange(kInt64, -0x1p62, 0x1p62, 0x1p61, kInt64), kInt64,
                      {4}, {-0x1p62, -0x1p61, 0, 0x1p61}));
  for (const DType dtype : {kFloat32, DType::Float(64), kInt64}) {
    std::vector<double> values;  // of several parts
    for (int i = 0; i < 2500; ++i) {
      const double value = -100 + i * 0.375;
      values.push_back(dtype.is_float() ? value : std::trunc(value));
    }
    EXPECT_TRUE(Matches(
        arange(DType::Float(64), -100, -100 + 2500 * 0.375, 0.375, dtype),
        dtype, {2500}, values));
  }
  EXPECT_TRUE(Fails(arange(kInt32, 0, 5, 0, kInt32).status(), "arange"));
  EXPECT_TRUE(Fails(arange(kFloat32, 0, 5, 0, kFloat32).status(), "arange"));
  EXPECT_TRUE(Fails(arange(kFloat32, 0, kNan, 1, kFloat32).status(), "arange"));
  EXPECT_TRUE(Fails(arange(kFloat32, 0, kInf, 1, kFloat32).status(), "arange"));
  EXPECT_FALSE(arange(kFloat32, 0, 2e18, 1, kFloat32).ok());
  const Tensor at = Make(kInt32, {3}, {1, -1, 0});
  EXPECT_TRUE(Matches(
      OneHot(at, MakeFloat({}, {5}), MakeFloat({}, {2}), 2, -1, kFloat32),
      kFloat32, {3, 2}, {2, 5, 2, 2, 5, 2}));
  EXPECT_TRUE(Matches(
      OneHot(at, Make(kInt32, {}, {1}), Make(kInt32, {}, {0}), 2, 0, kInt32),
      kInt32, {2, 3}, {0, 0, 1, 1, 0, 0}));
  EXPECT_TRUE(Fails(OneHot(at, at, at, 2, 0, kInt32).status(), "one_hot"));
  EXPECT_TRUE(
      Fails(OneHot(at, MakeFloat({}, {5}), MakeFloat({}, {2}), -1, 0, kInt32)
                .status(),
            "one_hot", "depth"));
}

TEST(CastTest, Numbers) {
  const Tensor x = MakeFloat({6}, {1.9, -1.9, 300, kNan, kInf, -kInf});
  EXPECT_TRUE(Matches(Cast(x, DType::Int(8)), DType::Int(8), {6},
                      {1, -1, 44, 0, -1, 0}));
  EXPECT_TRUE(
      Matches(Cast(x, DType::Bool()), DType::Bool(), {6}, {1, 1, 1, 1, 1, 1}));
  EXPECT_TRUE(
      Matches(Cast(x, kInt64), kInt64, {6}, {1, -1, 300, 0, 0x1p63, -0x1p63}));
  EXPECT_TRUE(Matches(Cast(x, DType::Float(16)), DType::Float(16), {6},
                      {1.9, -1.9, 300, kNan, kInf, -kInf}, 1e-3));
  EXPECT_TRUE(Matches(Cast(MakeFloat({3}, {-1, 1e10, 0x1p63}), DType::UInt(64)),
                      DType::UInt(64), {3}, {0x1p64, 1e10, 0x1p63}));
  EXPECT_TRUE(Matches(Cast(Make(kInt32, {3}, {-1, 256, 70000}), DType::UInt(8)),
                      DType::UInt(8), {3}, {255, 0, 112}));
  EXPECT_TRUE(Matches(Cast(Make(DType::Bool(), {2}, {0, 1}), kFloat32),
                      kFloat32, {2}, {0, 1}));
  EXPECT_TRUE(Unwrap(Cast(x, kFloat32)).SharesBufferWith(x));
  EXPECT_TRUE(Fails(Cast(x, DType()).status(), "cast", "void"));
  EXPECT_TRUE(Fails(Cast(x, DType::Int(4)).status(), "cast", "int4"));
}

TEST(CastTest, BetweenAllDTypes) {
  const DType all[] = {
      kFloat32,       DType::Float(64), DType::Float(16), DType::BFloat(16),
      DType::Int(8),  DType::Int(16),   kInt32,           kInt64,
      DType::UInt(8), DType::UInt(16),  DType::UInt(32),  DType::UInt(64)};
  const std::vector<double> values = {0, 1, 2, 100, 127};
  for (const DType from : all) {
    for (const DType to : all) {
      EXPECT_TRUE(Matches(Cast(Make(from, {5}, values), to), to, {5}, values));
    }
  }
}

// Elements that do not fit among others that do: bounded by what int64 holds,
// then wrapped. Longer than the blocks that are looked at together.
TEST(CastTest, FloatsBeyondIntegers) {
  const std::vector<double> given = {1.9,  -1.9,  300,  -300, 3e9,   -3e9,
                                     1e25, -1e25, kNan, kInf, -kInf, -0.0};
  std::vector<double> values(1500, 2.5);
  values.insert(values.end(), given.begin(), given.end());
  values.resize(3000, -7.25);
  const auto wide = [](double x) -> int64_t {
    if (std::isnan(x)) return 0;
    if (x >= 0x1p63) return std::numeric_limits<int64_t>::max();
    if (x <= -0x1p63) return std::numeric_limits<int64_t>::min();
    return static_cast<int64_t>(x);
  };
  for (const DType from : {DType::Float(32), DType::Float(64)}) {
    const Tensor x = Make(from, {3000}, values);
    const Tensor as_int8 = Unwrap(Cast(x, DType::Int(8)));
    const Tensor as_uint16 = Unwrap(Cast(x, DType::UInt(16)));
    const Tensor as_int32 = Unwrap(Cast(x, DType::Int(32)));
    const Tensor as_int64 = Unwrap(Cast(x, DType::Int(64)));
    for (size_t i = 0; i < values.size(); ++i) {
      const int64_t expected = wide(x.AtAsDouble(static_cast<int64_t>(i)));
      EXPECT_EQ(as_int8.span<int8_t>()[i], static_cast<int8_t>(expected));
      EXPECT_EQ(as_uint16.span<uint16_t>()[i], static_cast<uint16_t>(expected));
      EXPECT_EQ(as_int32.span<int32_t>()[i], static_cast<int32_t>(expected));
      EXPECT_EQ(as_int64.span<int64_t>()[i], expected);
    }
  }
}

}  // namespace
}  // namespace baton::kernels
