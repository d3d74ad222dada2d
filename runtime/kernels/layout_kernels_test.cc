#include "baton/runtime/kernels/layout_kernels.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
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
using internal::Matches;
using internal::Random;
using internal::Unwrap;
using internal::Values;

const DType kFloat32 = DType::Float(32);

TEST(TransposeTest, AllPermutations) {
  const std::vector<std::vector<int64_t>> shapes = {
      {}, {5}, {33, 20}, {3, 1, 4}, {2, 19, 17}, {2, 3, 4, 5}, {2, 0, 3}};
  for (const DType dtype :
       {DType::Int(8), DType::Float(16), kFloat32, DType::Int(64)}) {
    for (const std::vector<int64_t>& shape : shapes) {
      const Tensor x = Iota(dtype, shape);
      const std::vector<double> values = Values(x);
      std::vector<int64_t> axes(shape.size());
      std::iota(axes.begin(), axes.end(), int64_t{0});
      do {
        std::vector<int64_t> to;
        for (const int64_t a : axes)
          to.push_back(shape[static_cast<size_t>(a)]);
        std::vector<double> expected;
        ForEachIndex(to, [&](const std::vector<int64_t>& index) {
          std::vector<int64_t> from(shape.size());
          for (size_t i = 0; i < axes.size(); ++i) {
            from[static_cast<size_t>(axes[i])] = index[i];
          }
          expected.push_back(values[static_cast<size_t>(Flat(shape, from))]);
        });
        EXPECT_TRUE(Matches(Transpose(x, axes), dtype, to, expected, 0, 0))
            << ::testing::PrintToString(axes);
      } while (std::next_permutation(axes.begin(), axes.end()));
    }
  }
}

TEST(TransposeTest, DefaultsAndNegativeAxes) {
  const Tensor x = Iota(kFloat32, {2, 3});
  EXPECT_TRUE(Matches(Transpose(x, {}), kFloat32, {3, 2}, {0, 3, 1, 4, 2, 5}));
  EXPECT_TRUE(
      Matches(Transpose(x, {-1, -2}), kFloat32, {3, 2}, {0, 3, 1, 4, 2, 5}));
}

TEST(TransposeTest, SharesTheBufferIfNothingMoves) {
  const Tensor x = Iota(kFloat32, {1, 3, 1, 4});
  EXPECT_TRUE(Unwrap(Transpose(x, {0, 1, 2, 3})).SharesBufferWith(x));
  EXPECT_TRUE(Unwrap(Transpose(x, {1, 0, 3, 2})).SharesBufferWith(x));
  EXPECT_FALSE(Unwrap(Transpose(x, {3, 0, 1, 2})).SharesBufferWith(x));
}

TEST(TransposeTest, Errors) {
  const Tensor x = Iota(kFloat32, {2, 3});
  EXPECT_TRUE(Fails(Transpose(x, {0}).status(), "transpose", "permutation"));
  EXPECT_TRUE(Fails(Transpose(x, {0, 0}).status(), "transpose", "repeat"));
  EXPECT_TRUE(Fails(Transpose(x, {0, 2}).status(), "transpose", "axis 2"));
}

// Returns the index along each axis of a position under a layout.
std::map<char, int64_t> Decode(absl::string_view layout,
                               const std::vector<int64_t>& index) {
  // Every dimension's block; 0 for a capital.
  std::vector<std::pair<char, int64_t>> dims;
  int64_t number = 0;
  for (const char c : layout) {
    if (std::isdigit(c) != 0) {
      number = number * 10 + (c - '0');
    } else {
      dims.push_back({static_cast<char>(std::toupper(c)),
                      std::isupper(c) != 0 ? 0 : number});
      number = 0;
    }
  }
  std::map<char, int64_t> result;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i].second == 0) result[dims[i].first] = index[i];
  }
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i].second != 0) {
      int64_t& value = result[dims[i].first];
      value = value * dims[i].second + index[i];
    }
  }
  return result;
}

void CheckLayouts(const std::vector<int64_t>& shape, absl::string_view from,
                  absl::string_view to, const std::vector<int64_t>& to_shape) {
  SCOPED_TRACE(::testing::Message() << from << " -> " << to);
  for (const DType dtype :
       {DType::Int(8), DType::Int(16), kFloat32, DType::Int(64)}) {
    const Tensor x = Random(dtype, shape, 5);
    const std::vector<double> values = Values(x);
    std::map<std::map<char, int64_t>, double> by_meaning;
    ForEachIndex(shape, [&](const std::vector<int64_t>& index) {
      by_meaning[Decode(from, index)] =
          values[static_cast<size_t>(Flat(shape, index))];
    });
    std::vector<double> expected;
    ForEachIndex(to_shape, [&](const std::vector<int64_t>& index) {
      const auto found = by_meaning.find(Decode(to, index));
      expected.push_back(found == by_meaning.end() ? 0 : found->second);
    });
    EXPECT_TRUE(
        Matches(LayoutTransform(x, from, to), dtype, to_shape, expected, 0, 0));
  }
}

TEST(LayoutTransformTest, MatchesTheMeaningOfLayouts) {
  CheckLayouts({2, 3, 4, 5}, "NCHW", "NHWC", {2, 4, 5, 3});
  CheckLayouts({2, 4, 5, 3}, "NHWC", "NCHW", {2, 3, 4, 5});
  CheckLayouts({3, 3, 8, 20}, "HWIO", "OIHW", {20, 8, 3, 3});
  CheckLayouts({20, 8, 3, 3}, "OIHW", "HWIO", {3, 3, 8, 20});
  CheckLayouts({2, 32, 5, 7}, "NCHW", "NCHW16c", {2, 2, 5, 7, 16});
  CheckLayouts({2, 2, 5, 7, 16}, "NCHW16c", "NCHW", {2, 32, 5, 7});
  CheckLayouts({2, 2, 5, 7, 16}, "NCHW16c", "NHWC", {2, 5, 7, 32});
  CheckLayouts({1, 2, 3, 3, 16}, "NCHW16c", "NCHW4c", {1, 8, 3, 3, 4});
  CheckLayouts({1, 8, 3, 3, 4}, "NCHW4c", "NCHW16c", {1, 2, 3, 3, 16});
  CheckLayouts({4, 8, 3, 3}, "OIHW", "OIHW4i2o", {2, 2, 3, 3, 4, 2});
  CheckLayouts({2, 2, 3, 3, 4, 2}, "OIHW4i2o", "OIHW", {4, 8, 3, 3});
  CheckLayouts({3, 3, 8, 4}, "HWIO", "OIHW4i2o", {2, 2, 3, 3, 4, 2});
  CheckLayouts({16, 32, 1, 2}, "OIHW", "OIHW4i16o4i", {1, 2, 1, 2, 4, 16, 4});
  CheckLayouts({1, 2, 1, 2, 4, 16, 4}, "OIHW4i16o4i", "OIHW", {16, 32, 1, 2});
  CheckLayouts({6, 8}, "AB", "BA2a", {8, 3, 2});
  CheckLayouts({2, 3, 1}, "NCW", "NWC1c", {2, 1, 3, 1});
}

TEST(LayoutTransformTest, BlocksThatDoNotNest) {
  CheckLayouts({1, 2, 5, 6}, "NCW6c", "NCW4c", {1, 3, 5, 4});
  CheckLayouts({1, 3, 5, 4}, "NCW4c", "NCW6c", {1, 2, 5, 6});
}

TEST(LayoutTransformTest, FillsUpWithZeros) {
  CheckLayouts({2, 3, 4, 5}, "NCHW", "NCHW4c", {2, 1, 4, 5, 4});
  CheckLayouts({1, 17, 2, 2}, "NCHW", "NCHW16c", {1, 2, 2, 2, 16});
  CheckLayouts({1, 1, 2, 6}, "NCW6c", "NCW4c", {1, 2, 2, 4});
}

TEST(LayoutTransformTest, EmptyAndSame) {
  CheckLayouts({2, 0, 4, 5}, "NCHW", "NHWC", {2, 4, 5, 0});
  CheckLayouts({2, 0, 4, 5}, "NCHW", "NCHW4c", {2, 0, 4, 5, 4});
  const Tensor x = Iota(kFloat32, {2, 3});
  EXPECT_TRUE(Unwrap(LayoutTransform(x, "NC", "NC")).SharesBufferWith(x));
}

TEST(LayoutTransformTest, Errors) {
  const Tensor x = Iota(kFloat32, {2, 4, 2, 2});
  const auto fails = [&x](absl::string_view from, absl::string_view to,
                          absl::string_view text) {
    return Fails(LayoutTransform(x, from, to).status(), "layout_transform",
                 text);
  };
  EXPECT_TRUE(fails("NCHW", "NCH", "different axes"));
  EXPECT_TRUE(fails("NCHW", "NCHD", "different axes"));
  EXPECT_TRUE(fails("NCHW16c", "NCHW", "cannot have layout"));
  EXPECT_TRUE(fails("NHW4c", "NHWC", "is missing"));
  EXPECT_TRUE(fails("NCH4c", "NHC", "dimension 3 must be 4"));
  EXPECT_TRUE(fails("NCHW", "NCHW4d", "is missing"));
  EXPECT_TRUE(fails("NCHW", "NCHWc", "has no size"));
  EXPECT_TRUE(fails("NCHW", "NCHW0c", "has no size"));
  EXPECT_TRUE(fails("NCHW", "NCHW4", "size 4 at the end"));
  EXPECT_TRUE(fails("NCHW", "NC4HW", "before the primal axis H"));
  EXPECT_TRUE(fails("NCHW", "NCHWN", "given twice"));
  EXPECT_TRUE(fails("NCHW", "NC H W", "neither a letter nor a digit"));
  EXPECT_TRUE(fails("NCHW", "NCHW99999999999999999999c", "out of range"));
  EXPECT_TRUE(fails("NCHW", "NCHW1000000c1000000c1000000c", "out of range"));
}

}  // namespace
}  // namespace baton::kernels
