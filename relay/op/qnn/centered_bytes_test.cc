#include "baton/relay/op/qnn/centered_bytes.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <random>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/tensor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton::relay::qnn {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;

Tensor Matrix(const std::vector<uint8_t>& values) {
  return *Tensor::FromValues<uint8_t>(
      {2, static_cast<int64_t>(values.size()) / 2}, values);
}

// The elements, then the shape; empty if there is no result.
std::vector<int64_t> ValuesOf(
    const absl::StatusOr<std::optional<Tensor>>& result) {
  std::vector<int64_t> values;
  if (!result.ok() || !result->has_value()) return values;
  const Tensor& tensor = **result;
  EXPECT_EQ(tensor.dtype(), DType::Int(8));
  for (int64_t i = 0; i < tensor.num_elements(); ++i) {
    values.push_back(tensor.AtAsInt64(i));
  }
  values.insert(values.end(), tensor.shape().begin(), tensor.shape().end());
  return values;
}

TEST(CenteredBytesTest, ZeroPointsAreAlongEitherAxis) {
  const Tensor bytes = Matrix({128, 3, 7, 130, 5, 9});
  EXPECT_THAT(ValuesOf(CenteredBytes(bytes, {128, 4, 8}, 1)),
              ElementsAre(0, -1, -1, 2, 1, 1, 2, 3));
  EXPECT_THAT(ValuesOf(CenteredBytes(bytes, {10, 20}, 0)),
              ElementsAre(118, -7, -3, 110, -15, -11, 2, 3));
  EXPECT_THAT(ValuesOf(CenteredBytes(bytes, {100}, 1)),
              ElementsAre(28, -97, -93, 30, -95, -91, 2, 3));
}

TEST(CenteredBytesTest, LargestAndLeastElementsFitWhereverTheyAre) {
  // In vectors, behind them, and in later pieces.
  for (const int64_t size : {1, 15, 16, 17, 200, 65536, 65537, 65552, 140003}) {
    for (const int64_t zero : {-60, -1, 0, 1, 77, 127, 128, 180, 255, 300}) {
      for (const int64_t at : {int64_t{0}, size / 2, size - 1}) {
        for (const bool is_signed : {false, true}) {
          const int64_t least = is_signed ? -128 : 0;
          // The elements that fit, as far as there are any.
          const int64_t low = std::max(least, zero - 128);
          const int64_t high = std::min(least + 255, zero + 127);
          if (low > high) continue;
          for (const int64_t odd : {low, high, low - 1, high + 1}) {
            if (odd < least || odd > least + 255) continue;
            std::vector<uint8_t> values(static_cast<size_t>(size),
                                        static_cast<uint8_t>(low));
            values[static_cast<size_t>(at)] = static_cast<uint8_t>(odd);
            const Tensor bytes =
                is_signed ? *Tensor::FromValues<int8_t>(
                                {size}, std::vector<int8_t>(values.begin(),
                                                            values.end()))
                          : *Tensor::FromValues<uint8_t>({size}, values);
            const absl::StatusOr<std::optional<Tensor>> result =
                CenteredBytes(bytes, {zero}, 0);
            ASSERT_TRUE(result.ok());
            const bool fits = odd >= low && odd <= high;
            ASSERT_EQ(result->has_value(), fits)
                << size << " " << zero << " " << at << " " << odd;
            if (!fits) continue;
            const absl::Span<const int8_t> got = (*result)->span<int8_t>();
            std::vector<int8_t> want(static_cast<size_t>(size),
                                     static_cast<int8_t>(low - zero));
            want[static_cast<size_t>(at)] = static_cast<int8_t>(odd - zero);
            ASSERT_TRUE(std::equal(want.begin(), want.end(), got.begin()))
                << size << " " << zero << " " << at << " " << odd;
          }
        }
      }
    }
  }
}

TEST(CenteredBytesTest, TransposesInTiles) {
  std::vector<uint8_t> values;
  for (int i = 0; i < 300; ++i) values.push_back(static_cast<uint8_t>(i % 100));
  const Tensor bytes = *Tensor::FromValues<uint8_t>({150, 2}, values);
  std::vector<int64_t> expected;
  for (int column = 0; column < 2; ++column) {
    for (int row = 0; row < 150; ++row) {
      expected.push_back((row * 2 + column) % 100 - (column == 0 ? 1 : 3));
    }
  }
  expected.insert(expected.end(), {2, 150});
  EXPECT_THAT(ValuesOf(TransposedCenteredBytes(bytes, {1, 3})),
              ElementsAreArray(expected));
}

TEST(CenteredBytesTest, TransposesMatricesOfAllSizes) {
  std::mt19937 random(1);
  for (int round = 0; round < 60; ++round) {
    const int64_t rows = 1 + static_cast<int64_t>(random() % 140);
    const int64_t columns = 1 + static_cast<int64_t>(random() % 40);
    std::vector<int8_t> bytes;
    for (int64_t i = 0; i < rows * columns; ++i) {
      bytes.push_back(static_cast<int8_t>(random() % 128));
    }
    std::vector<int64_t> zeros;
    for (int64_t c = 0; c < columns; ++c) {
      zeros.push_back(static_cast<int64_t>(random() % 3));
    }
    std::vector<int64_t> expected;
    for (int64_t c = 0; c < columns; ++c) {
      for (int64_t r = 0; r < rows; ++r) {
        expected.push_back(bytes[static_cast<size_t>(r * columns + c)] -
                           zeros[static_cast<size_t>(c)]);
      }
    }
    expected.insert(expected.end(), {columns, rows});
    EXPECT_THAT(
        ValuesOf(TransposedCenteredBytes(
            *Tensor::FromValues<int8_t>({rows, columns}, bytes), zeros)),
        ElementsAreArray(expected));
    const std::vector<uint8_t> unsigned_bytes(bytes.begin(), bytes.end());
    EXPECT_THAT(
        ValuesOf(TransposedCenteredBytes(
            *Tensor::FromValues<uint8_t>({rows, columns}, unsigned_bytes),
            zeros)),
        ElementsAreArray(expected));
  }
}

TEST(CenteredBytesTest, ElementsThatDoNotFitHaveNoResult) {
  for (const int64_t zero : {0, 129, -1, 1 << 20}) {
    EXPECT_THAT(ValuesOf(CenteredBytes(Matrix({0, 128}), {zero}, 0)),
                ElementsAre())
        << zero;
  }
  for (const int64_t zero : {std::numeric_limits<int64_t>::min(),
                             std::numeric_limits<int64_t>::max()}) {
    EXPECT_THAT(ValuesOf(CenteredBytes(Matrix({0, 1}), {zero}, 0)),
                ElementsAre())
        << zero;
  }
  EXPECT_THAT(ValuesOf(CenteredBytes(Matrix({0, 255}), {0, 128}, 0)),
              ElementsAre(0, 127, 2, 1));
  EXPECT_THAT(ValuesOf(TransposedCenteredBytes(Matrix({0, 255}), {100})),
              ElementsAre());
}

TEST(CenteredBytesTest, CenteredBytesStayWhereTheyAre) {
  const Tensor bytes = *Tensor::FromValues<int8_t>({2}, {1, -2});
  const absl::StatusOr<std::optional<Tensor>> same =
      CenteredBytes(bytes, {0, 0}, 0);
  EXPECT_TRUE((*same)->SharesBufferWith(bytes));
}

}  // namespace
}  // namespace baton::relay::qnn
