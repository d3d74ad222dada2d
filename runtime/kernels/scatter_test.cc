#include "baton/runtime/kernels/scatter.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "baton/base/dtype.h"
#include "baton/base/tensor.h"
#include "baton/runtime/kernels/internal/testing.h"
#include "gtest/gtest.h"

namespace baton::kernels {
namespace {

using ::baton::kernels::internal::Fails;
using ::baton::kernels::internal::Make;
using ::baton::kernels::internal::MakeFloat;
using ::baton::kernels::internal::Matches;

constexpr DType kFloat = DType::Float(32);
constexpr DType kInt32 = DType::Int(32);

TEST(ScatterElementsTest, CombinesAlongAnAxis) {
  const Tensor data = MakeFloat({2, 3}, {1, 2, 3, 4, 5, 6});
  const Tensor indices = Make(kInt32, {2, 2}, {0, 2, -2, 1});
  const Tensor updates = MakeFloat({2, 2}, {10, 20, 30, 40});
  const auto scatter = [&](ScatterMode mode) {
    return ScatterElements(data, indices, updates, 1, mode);
  };
  EXPECT_TRUE(Matches(scatter(ScatterMode::kUpdate), kFloat, {2, 3},
                      {10, 2, 20, 4, 40, 6}));
  EXPECT_TRUE(Matches(scatter(ScatterMode::kAdd), kFloat, {2, 3},
                      {11, 2, 23, 4, 75, 6}));
  EXPECT_TRUE(Matches(scatter(ScatterMode::kMul), kFloat, {2, 3},
                      {10, 2, 60, 4, 6000, 6}));
  EXPECT_TRUE(
      Matches(scatter(ScatterMode::kMin), kFloat, {2, 3}, {1, 2, 3, 4, 5, 6}));
  EXPECT_TRUE(Matches(scatter(ScatterMode::kMax), kFloat, {2, 3},
                      {10, 2, 20, 4, 40, 6}));
  EXPECT_TRUE(Matches(scatter(ScatterMode::kMean), kFloat, {2, 3},
                      {5.5, 2, 11.5, 4, 25, 6}));
}

// More indices than are gathered at a time; the rows are of several lengths.
TEST(ScatterElementsTest, ManyIndicesComeInTheirOrder) {
  for (const int64_t row : {7, 5000}) {
    const int64_t rows = 5000 / row;
    const int64_t n = rows * row;
    std::vector<double> indices;
    std::vector<double> expected(static_cast<size_t>(rows * 3), -1);
    for (int64_t i = 0; i < n; ++i) {
      const int64_t at = i % 5 % 3;
      indices.push_back(static_cast<double>(i % 2 == 0 ? at : at - 3));
      expected[static_cast<size_t>(i / row * 3 + at)] = static_cast<double>(i);
    }
    const Tensor data =
        Make(kInt32, {rows, 3},
             std::vector<double>(static_cast<size_t>(rows * 3), -1));
    const Tensor updates = internal::Iota(kInt32, {rows, row});
    EXPECT_TRUE(
        Matches(ScatterElements(data, Make(kInt32, {rows, row}, indices),
                                updates, 1, ScatterMode::kUpdate),
                kInt32, {rows, 3}, expected));
    indices.back() = 3;
    EXPECT_TRUE(Fails(ScatterElements(data, Make(kInt32, {rows, row}, indices),
                                      updates, 1, ScatterMode::kUpdate)
                          .status(),
                      "scatter_elements", "index 3"));
  }
}

TEST(ScatterElementsTest, Refuses) {
  const Tensor data = MakeFloat({2}, {1, 2});
  const Tensor one = MakeFloat({1}, {5});
  EXPECT_TRUE(Fails(ScatterElements(data, Make(kInt32, {1}, {2}), one, 0,
                                    ScatterMode::kUpdate)
                        .status(),
                    "scatter_elements", "index 2"));
  EXPECT_TRUE(
      Fails(ScatterElements(data, one, one, 0, ScatterMode::kUpdate).status(),
            "scatter_elements", "float32"));
  EXPECT_TRUE(Fails(ScatterElements(data, Make(kInt32, {2}, {0, 1}), one, 0,
                                    ScatterMode::kUpdate)
                        .status(),
                    "scatter_elements", "do not fit"));
}

TEST(ScatterNdTest, PlacesElementsAndParts) {
  const Tensor data = MakeFloat({2, 2}, {0, 0, 0, 0});
  EXPECT_TRUE(
      Matches(ScatterNd(data, Make(kInt32, {2, 3}, {1, 1, 0, 0, 1, 0}),
                        MakeFloat({3}, {2, 3, 0}), ScatterMode::kUpdate),
              kFloat, {2, 2}, {0, 0, 2, 3}));
  EXPECT_TRUE(
      Matches(ScatterNd(data, Make(kInt32, {1, 2}, {1, 1}),
                        MakeFloat({2, 2}, {1, 2, 3, 4}), ScatterMode::kAdd),
              kFloat, {2, 2}, {0, 0, 4, 6}));
  EXPECT_TRUE(Fails(ScatterNd(data, Make(kInt32, {1, 1}, {2}),
                              MakeFloat({1, 2}, {1, 2}), ScatterMode::kAdd)
                        .status(),
                    "scatter_nd", "index 2"));
  EXPECT_TRUE(Fails(ScatterNd(data, Make(kInt32, {3, 1}, {0, 0, 0}),
                              MakeFloat({1}, {1}), ScatterMode::kAdd)
                        .status(),
                    "scatter_nd", "do not fit"));
}

TEST(CoordinatesTest, GoBothWays) {
  EXPECT_TRUE(Matches(UnravelIndex(Make(kInt32, {3}, {22, 41, 37}), {7, 6}),
                      kInt32, {2, 3}, {3, 6, 6, 4, 5, 1}));
  EXPECT_TRUE(Fails(UnravelIndex(Make(kInt32, {1}, {42}), {7, 6}).status(),
                    "unravel_index", "42"));
  EXPECT_TRUE(Matches(ArgWhere(MakeFloat({2, 2}, {0, 1, 2, 0})), kInt32, {2, 2},
                      {0, 1, 1, 0}));
  EXPECT_TRUE(Matches(ArgWhere(MakeFloat({2}, {0, 0})), kInt32, {0, 1}, {}));
  EXPECT_TRUE(Matches(ArgWhere(MakeFloat({}, {1})), kInt32, {1, 0}, {}));
  EXPECT_TRUE(Matches(ArgWhere(MakeFloat({3, 0}, {})), kInt32, {0, 2}, {}));
}

TEST(ArgWhereTest, OfEveryDType) {
  const std::vector<int64_t> shape = {2, 3, 300};
  for (const DType dtype : {DType::Bool(), DType::Int(8), DType::UInt(16),
                            DType::Int(32), DType::Int(64), DType::Float(16),
                            DType::BFloat(16), kFloat, DType::Float(64)}) {
    std::vector<double> values;
    std::vector<double> places;
    internal::ForEachIndex(shape, [&](const std::vector<int64_t>& index) {
      const size_t i = values.size();
      const bool zero = i * 7919 % 61 < 30;
      values.push_back(!zero ? 1 : dtype.is_float() && i % 2 == 0 ? -0.0 : 0.0);
      if (dtype.is_float() && i % 31 == 0) values.back() = std::nan("");
      if (values.back() == 0) return;
      places.insert(places.end(), index.begin(), index.end());
    });
    EXPECT_TRUE(Matches(ArgWhere(internal::Make(dtype, shape, values)), kInt32,
                        {static_cast<int64_t>(places.size() / 3), 3}, places))
        << dtype.ToString();
  }
}

TEST(StridedSetTest, ReplacesASlice) {
  const Tensor data =
      MakeFloat({3, 4}, {1, 4, 7, 10, 2, 5, 8, 11, 3, 6, 9, 12});
  const Tensor part = MakeFloat({2, 3}, {11, 22, 33, 44, 55, 66});
  EXPECT_TRUE(Matches(StridedSet(data, part, {0, 1}, {2, 4}, {1, 1}), kFloat,
                      {3, 4}, {1, 11, 22, 33, 2, 44, 55, 66, 3, 6, 9, 12}));
  // Backwards, and every other row.
  EXPECT_TRUE(Matches(StridedSet(data, part, {0, -1}, {3, 0}, {2, -1}), kFloat,
                      {3, 4}, {1, 33, 22, 11, 2, 5, 8, 11, 3, 66, 55, 44}));
  EXPECT_TRUE(Fails(StridedSet(data, part, {0}, {2}, {}).status(),
                    "strided_set", "the shape (2, 4)"));
  EXPECT_TRUE(Fails(StridedSet(data, part, {0}, {2}, {0}).status(),
                    "strided_set", "a stride is 0"));
  EXPECT_TRUE(Matches(StridedSet(data, MakeFloat({1, 4}, {0, 0, 0, 0}),
                                 {INT64_MIN}, {INT64_MAX}, {INT64_MAX}),
                      kFloat, {3, 4}, {0, 0, 0, 0, 2, 5, 8, 11, 3, 6, 9, 12}));
}

TEST(MatrixSetDiagTest, ReplacesDiagonals) {
  const Tensor data =
      Make(kInt32, {3, 4}, {7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7});
  EXPECT_TRUE(Matches(
      MatrixSetDiag(data, Make(kInt32, {3}, {1, 2, 3}), 1, 1, true, false),
      kInt32, {3, 4}, {7, 1, 7, 7, 7, 7, 2, 7, 7, 7, 7, 3}));
  const Tensor several = Make(kInt32, {3, 3}, {1, 2, 3, 4, 5, 6, 8, 9, 0});
  EXPECT_TRUE(Matches(MatrixSetDiag(data, several, -1, 1, true, false), kInt32,
                      {3, 4}, {4, 1, 7, 7, 8, 5, 2, 7, 7, 9, 6, 3}));
  EXPECT_TRUE(Matches(MatrixSetDiag(data, several, -1, 1, true, true), kInt32,
                      {3, 4}, {4, 1, 7, 7, 9, 5, 2, 7, 7, 0, 6, 3}));
  EXPECT_TRUE(Fails(MatrixSetDiag(data, several, 2, 4, true, true).status(),
                    "matrix_set_diag", "cannot be"));
}

TEST(ScatterNdTest, ManyIndicesComeInTheirOrder) {
  const int64_t n = 3000;
  std::vector<double> index(2 * n), updates(n), expected(7 * 5, -1);
  for (int64_t i = 0; i < n; ++i) {
    index[i] = static_cast<double>(i % 7 - (i % 2 == 0 ? 7 : 0));
    index[n + i] = static_cast<double>(i / 3 % 5);
    updates[i] = static_cast<double>(i);
    expected[i % 7 * 5 + i / 3 % 5] = updates[i];
  }
  const Tensor data = Make(DType::Int(32), {7, 5}, std::vector<double>(35, -1));
  const Tensor values = Make(DType::Int(32), {n}, updates);
  EXPECT_TRUE(Matches(ScatterNd(data, Make(DType::Int(64), {2, n}, index),
                                values, ScatterMode::kUpdate),
                      DType::Int(32), {7, 5}, expected));
  index[n + 2500] = 5;
  EXPECT_TRUE(Fails(ScatterNd(data, Make(DType::Int(64), {2, n}, index), values,
                              ScatterMode::kUpdate)
                        .status(),
                    "scatter_nd", "index 5"));
}

}  // namespace
}  // namespace baton::kernels
