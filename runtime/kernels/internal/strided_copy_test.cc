#include "baton/runtime/kernels/internal/strided_copy.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

#include "gtest/gtest.h"

namespace baton::kernels::internal {
namespace {

// Copies with StridedCopy and element by element and compares all of dst.
void Check(int size, const std::vector<int64_t>& shape, int64_t src_offset,
           const std::vector<int64_t>& src_strides, int64_t src_elements,
           const std::vector<int64_t>& dst_strides, int64_t dst_elements) {
  std::vector<char> src(static_cast<size_t>(src_elements * size));
  std::mt19937 engine(7);
  for (char& c : src) c = static_cast<char>(engine());
  std::vector<char> expected(static_cast<size_t>(dst_elements * size), 'x');
  std::vector<char> actual = expected;
  int64_t total = 1;
  for (const int64_t d : shape) total *= d;
  for (int64_t i = 0; i < total; ++i) {
    int64_t rest = i, from = src_offset, to = 0;
    for (size_t d = shape.size(); d-- > 0;) {
      from += rest % shape[d] * src_strides[d];
      to += rest % shape[d] * dst_strides[d];
      rest /= shape[d];
    }
    std::memcpy(expected.data() + to * size, src.data() + from * size,
                static_cast<size_t>(size));
  }
  StridedCopy(size, shape, src.data() + src_offset * size, src_strides,
              actual.data(), dst_strides);
  EXPECT_EQ(actual, expected);
}

std::vector<int64_t> Dense(const std::vector<int64_t>& shape) {
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;) {
    strides[i - 1] = strides[i] * shape[i];
  }
  return strides;
}

TEST(StridedCopyTest, AllPermutations) {
  const std::vector<std::vector<int64_t>> shapes = {
      {5, 7},        {64, 48},     {17, 33},        {2, 3, 4},
      {3, 35, 20},   {40, 2, 19},  {16, 3, 3, 20},  {2, 16, 5, 4},
      {3, 4, 2, 18}, {1, 9, 1, 8}, {2, 3, 2, 4, 3}, {130, 70}};
  for (const int size : {1, 2, 4, 8}) {
    for (const std::vector<int64_t>& shape : shapes) {
      std::vector<size_t> order(shape.size());
      std::iota(order.begin(), order.end(), size_t{0});
      do {
        std::vector<int64_t> to(shape.size());
        for (size_t i = 0; i < order.size(); ++i) to[i] = shape[order[i]];
        const std::vector<int64_t> dense = Dense(shape);
        std::vector<int64_t> from(shape.size());
        for (size_t i = 0; i < order.size(); ++i) from[i] = dense[order[i]];
        const int64_t total =
            std::accumulate(shape.begin(), shape.end(), int64_t{1},
                            [](int64_t a, int64_t b) { return a * b; });
        SCOPED_TRACE(::testing::Message()
                     << "size " << size << ", shape "
                     << ::testing::PrintToString(to) << " from "
                     << ::testing::PrintToString(from));
        Check(size, to, 0, from, total, Dense(to), total);
      } while (std::next_permutation(order.begin(), order.end()));
    }
  }
}

TEST(StridedCopyTest, BroadcastSliceAndReverse) {
  for (const int size : {1, 2, 4, 8}) {
    Check(size, {3, 4, 5}, 0, {0, 1, 0}, 4, {20, 5, 1}, 60);
    Check(size, {3, 4}, 0, {0, 0}, 1, {4, 1}, 12);
    Check(size, {3, 4}, 2, {20, 3}, 60, {4, 1}, 12);
    Check(size, {6}, 5, {-1}, 6, {1}, 6);
    Check(size, {4, 6}, 18, {-6, 1}, 24, {6, 1}, 24);
    Check(size, {20, 30}, 19, {-1, 20}, 600, {30, 1}, 600);
    Check(size, {20, 30}, 29 * 20, {1, -20}, 600, {30, 1}, 600);
    Check(size, {3, 37}, 36, {37, -1}, 111, {37, 1}, 111);
    Check(size, {3, 37}, 1, {75, 2}, 225, {37, 1}, 111);
    // Into a part of a larger tensor.
    Check(size, {5, 6}, 0, {6, 1}, 30, {11, 1}, 60);
    Check(size, {5, 6}, 0, {1, 5}, 30, {11, 1}, 60);
    Check(size, {5, 6}, 0, {6, 1}, 30, {22, 3}, 120);
  }
}

TEST(StridedCopyTest, EmptyAndScalar) {
  Check(4, {3, 0, 2}, 0, {0, 2, 1}, 1, {2, 2, 1}, 1);
  Check(4, {}, 0, {}, 1, {}, 1);
  Check(4, {1, 1}, 0, {1, 1}, 1, {1, 1}, 1);
}

}  // namespace
}  // namespace baton::kernels::internal
