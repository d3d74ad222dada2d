#include "baton/runtime/kernels/reduce_kernels.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
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

using internal::Fails;
using internal::Flat;
using internal::ForEachIndex;
using internal::Make;
using internal::MakeFloat;
using internal::Matches;
using internal::Random;
using internal::Values;
using internal::Within;

const DType kFloat32 = DType::Float(32);
const DType kInt32 = DType::Int(32);
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

using Group = std::vector<double>;

// The elements that are reduced together, for each element of the result.
std::vector<Group> Groups(const Tensor& x, const std::vector<bool>& reduced) {
  const std::vector<int64_t> shape(x.shape().begin(), x.shape().end());
  std::vector<int64_t> kept;
  for (size_t i = 0; i < shape.size(); ++i) {
    kept.push_back(reduced[i] ? 1 : shape[i]);
  }
  int64_t count = 1;
  for (const int64_t d : kept) count *= d;
  std::vector<Group> groups(static_cast<size_t>(count));
  const std::vector<double> values = Values(x);
  ForEachIndex(shape, [&](std::vector<int64_t> index) {
    const double value = values[static_cast<size_t>(Flat(shape, index))];
    for (size_t i = 0; i < index.size(); ++i) index[i] *= reduced[i] ? 0 : 1;
    groups[static_cast<size_t>(Flat(kept, index))].push_back(value);
  });
  return groups;
}

double SumOf(const Group& g) {
  double sum = 0;
  for (const double v : g) sum += v;
  return sum;
}

double VarianceOf(const Group& g) {
  const double mean = SumOf(g) / static_cast<double>(g.size());
  double sum = 0;
  for (const double v : g) sum += (v - mean) * (v - mean);
  return sum / static_cast<double>(g.size());
}

TEST(ReduceTest, AllAxesOfAllShapes) {
  const std::vector<std::vector<int64_t>> shapes = {
      {},        {7},          {3, 5},        {2, 3, 4},      {40, 600},
      {600, 17}, {2, 3, 4, 5}, {3, 1, 2, 33}, {2, 3, 2, 2, 3}};
  for (const std::vector<int64_t>& shape : shapes) {
    for (uint32_t mask = 1;
         mask < (1u << shape.size()) + (shape.empty() ? 1 : 0); ++mask) {
      ReduceParams params;
      ReduceParams excluded;
      excluded.exclude = true;
      std::vector<bool> reduced;
      std::vector<int64_t> kept, ones;
      for (size_t i = 0; i < shape.size(); ++i) {
        const bool r = (mask >> i & 1) != 0;
        reduced.push_back(r);
        // Axes in any order, some of them negative.
        if (r) {
          params.axes.insert(
              params.axes.begin(),
              static_cast<int64_t>(i) -
                  (i % 2 == 0 ? 0 : static_cast<int64_t>(shape.size())));
        } else {
          excluded.axes.push_back(static_cast<int64_t>(i));
          kept.push_back(shape[i]);
        }
        ones.push_back(r ? 1 : shape[i]);
      }
      SCOPED_TRACE(::testing::Message()
                   << ::testing::PrintToString(shape) << " " << mask);
      for (const DType dtype : {kFloat32, DType::Float(64), DType::Float(16),
                                kInt32, DType::Int(64), DType::Int(16)}) {
        const Tensor x = Random(dtype, shape, 1);
        const std::vector<Group> groups = Groups(x, reduced);
        const double relative =
            dtype.bits() == 16 && dtype.is_float() ? 1e-3 : 1e-6;
        std::vector<double> sum, bounds, mean, max, min, argmax, argmin;
        for (const Group& g : groups) {
          double magnitude = 0;
          for (const double v : g) magnitude += std::abs(v);
          double s = SumOf(g);
          if (dtype == DType::Int(16)) {
            s = static_cast<int16_t>(static_cast<int64_t>(s));
          }
          sum.push_back(s);
          bounds.push_back(dtype.is_float() ? magnitude * relative : 0);
          const double m = SumOf(g) / static_cast<double>(g.size());
          mean.push_back(dtype.is_float() ? m : std::trunc(m));
          const auto largest = std::max_element(g.begin(), g.end());
          const auto smallest = std::min_element(g.begin(), g.end());
          max.push_back(*largest);
          min.push_back(*smallest);
          argmax.push_back(static_cast<double>(largest - g.begin()));
          argmin.push_back(static_cast<double>(smallest - g.begin()));
        }
        EXPECT_TRUE(Within(Sum(x, params), dtype, kept, sum, bounds));
        EXPECT_TRUE(Within(Mean(x, params), dtype, kept, mean, bounds));
        EXPECT_TRUE(Matches(Max(x, params), dtype, kept, max, 0, 0));
        EXPECT_TRUE(Matches(Min(x, params), dtype, kept, min, 0, 0));
        EXPECT_TRUE(Matches(ArgMax(x, params), kInt32, kept, argmax, 0, 0));
        EXPECT_TRUE(Matches(ArgMin(x, params, false, DType::Int(64)),
                            DType::Int(64), kept, argmin, 0, 0));
        if (!excluded.axes.empty()) {
          EXPECT_TRUE(Within(Sum(x, excluded), dtype, kept, sum, bounds));
        }
        ReduceParams keep = params;
        keep.keepdims = true;
        EXPECT_TRUE(Matches(Max(x, keep), dtype, ones, max, 0, 0));
        if (!dtype.is_float()) continue;
        std::vector<double> variance, deviation;
        for (const Group& g : groups) {
          variance.push_back(VarianceOf(g));
          deviation.push_back(std::sqrt(VarianceOf(g)));
        }
        const double loose = std::max(relative, 1e-5);
        EXPECT_TRUE(
            Matches(Variance(x, params), dtype, kept, variance, loose, 1e-6));
        EXPECT_TRUE(
            Matches(Std(x, params), dtype, kept, deviation, loose, 1e-6));
      }
      const Tensor x = Random(DType::Bool(), shape, 2);
      std::vector<double> all, any;
      for (const Group& g : Groups(x, reduced)) {
        all.push_back(*std::min_element(g.begin(), g.end()));
        any.push_back(*std::max_element(g.begin(), g.end()));
      }
      EXPECT_TRUE(Matches(All(x, params), DType::Bool(), kept, all));
      EXPECT_TRUE(Matches(Any(x, params), DType::Bool(), kept, any));
    }
  }
}

TEST(ReduceTest, NoAxesMeansAll) {
  const Tensor x = MakeFloat({2, 2}, {1, 2, 3, 4});
  EXPECT_TRUE(Matches(Sum(x, {}), kFloat32, {}, {10}));
  EXPECT_TRUE(
      Matches(Sum(x, {.axes = {}, .keepdims = true}), kFloat32, {1, 1}, {10}));
  EXPECT_TRUE(Matches(Prod(x, {.axes = {1}}), kFloat32, {2}, {2, 12}));
  EXPECT_TRUE(Matches(Sum(x, {.axes = {0, 1}, .exclude = true}), kFloat32,
                      {2, 2}, {1, 2, 3, 4}));
  EXPECT_TRUE(
      Matches(Variance(x, {}, /*unbiased=*/true), kFloat32, {}, {5.0 / 3}));
  EXPECT_TRUE(Matches(Std(x, {}, /*unbiased=*/true), kFloat32, {},
                      {std::sqrt(5.0 / 3)}));
}

// Adding up one value many times rounds to the same side again and again.
TEST(ReduceTest, LongSumsStayAccurate) {
  const int64_t n = 3000000;
  const Tensor x = MakeFloat({n}, std::vector<double>(n, 0.1));
  const double sum = static_cast<double>(n) * static_cast<double>(0.1f);
  EXPECT_TRUE(Matches(Sum(x, {}), kFloat32, {}, {sum}, 1e-7));
  const absl::StatusOr<Tensor> column = x.Reshaped({n / 2, 2});
  EXPECT_TRUE(Matches(Sum(*column, {.axes = {0}}), kFloat32, {2},
                      {sum / 2, sum / 2}, 1e-7));
}

// Numbers whose sum, in double, is another one in nearly any other order.
Tensor OfManySizes(std::vector<int64_t> shape, uint32_t seed) {
  const Tensor plain = Random(kFloat32, shape, seed);
  std::vector<double> values = Values(plain);
  constexpr double kSizes[] = {1, 0x1p70, 1, -0x1p70, 0x1p-20, 0, -0.0};
  for (size_t i = 0; i < values.size(); ++i) {
    const size_t k = (i * 2654435761u >> 7) % std::size(kSizes);
    values[i] = k % 2 == 1 && k < 4 ? kSizes[k] : values[i] * kSizes[k];
  }
  return MakeFloat(shape, values);
}

// The order of a sum depends on the number of elements alone: it is one order
// for rows, for columns and for planes, of which passes make one another.
TEST(ReduceTest, OrderDoesNotDependOnTheLayout) {
  using Reduction =
      absl::StatusOr<Tensor> (*)(const Tensor& x, const ReduceParams& params);
  for (const int64_t n : {1, 2, 7, 8, 9, 15, 31, 32, 33, 40, 64, 77, 301}) {
    for (const int64_t inner : {2, 63, 64, 65, 300, 600}) {
      const Tensor x =
          OfManySizes({2, n, inner}, static_cast<uint32_t>(n * inner));
      const absl::StatusOr<Tensor> rows = Transpose(x, {0, 2, 1});
      ASSERT_TRUE(rows.ok());
      const absl::StatusOr<Tensor> planes = rows->Reshaped({2, inner, 1, n});
      ASSERT_TRUE(planes.ok());
      for (const Reduction reduce :
           {Reduction{Sum}, Reduction{Mean}, Reduction{Prod}, Reduction{Max},
            Reduction{Min}}) {
        const absl::StatusOr<Tensor> of_columns = reduce(x, {.axes = {1}});
        const absl::StatusOr<Tensor> of_rows = reduce(*rows, {.axes = {2}});
        const absl::StatusOr<Tensor> of_planes =
            reduce(*planes, {.axes = {2, 3}});
        ASSERT_TRUE(of_columns.ok() && of_rows.ok() && of_planes.ok());
        EXPECT_TRUE(*of_columns == *of_rows) << n << " by " << inner;
        EXPECT_TRUE(*of_planes == *of_rows) << n << " by " << inner;
      }
    }
  }
}

TEST(ReduceTest, IntegersWrap) {
  const Tensor x = Make(DType::Int(8), {4}, {100, 100, 100, -50});
  EXPECT_TRUE(Matches(Sum(x, {}), DType::Int(8), {}, {-6}));
  EXPECT_TRUE(Matches(Mean(x, {}), DType::Int(8), {}, {62}));
  EXPECT_TRUE(Matches(Mean(Make(DType::Int(8), {2}, {-3, 0}), {}),
                      DType::Int(8), {}, {-1}));
  EXPECT_TRUE(Matches(Prod(x, {}), DType::Int(8), {}, {-128}));
}

TEST(ReduceTest, NanAndInfinity) {
  const Tensor x = MakeFloat({2, 2}, {1, kNan, kInf, -kInf});
  EXPECT_TRUE(Matches(Max(x, {.axes = {1}}), kFloat32, {2}, {kNan, kInf}));
  EXPECT_TRUE(Matches(Min(x, {.axes = {1}}), kFloat32, {2}, {kNan, -kInf}));
  EXPECT_TRUE(Matches(Max(x, {.axes = {0}}), kFloat32, {2}, {kInf, kNan}));
  EXPECT_TRUE(Matches(ArgMax(x, {.axes = {1}}), kInt32, {2}, {1, 0}));
}

TEST(ReduceTest, SelectLastIndex) {
  const Tensor x = Make(kInt32, {5}, {3, 7, 1, 7, 1});
  EXPECT_TRUE(Matches(ArgMax(x, {}), kInt32, {}, {1}));
  EXPECT_TRUE(Matches(ArgMax(x, {}, true), kInt32, {}, {3}));
  EXPECT_TRUE(Matches(ArgMin(x, {}), kInt32, {}, {2}));
  EXPECT_TRUE(Matches(ArgMin(x, {}, true), kInt32, {}, {4}));
}

// Longer than the blocks in which they are looked for.
TEST(ReduceTest, PositionsInLongRows) {
  const auto check = [](DType dtype, int64_t n, double best, int64_t first,
                        int64_t second) {
    std::vector<double> values = Values(Random(dtype, {n}));
    values[static_cast<size_t>(first)] = best;
    values[static_cast<size_t>(second)] = best;
    const Tensor x = Make(dtype, {n}, values);
    EXPECT_TRUE(
        Matches(ArgMax(x, {}), kInt32, {}, {static_cast<double>(first)}));
    EXPECT_TRUE(Matches(ArgMax(x, {}, /*select_last_index=*/true), kInt32, {},
                        {static_cast<double>(second)}));
  };
  for (const int64_t n : {511, 512, 513, 1500}) {
    for (const int64_t first : {int64_t{0}, int64_t{300}, n - 10}) {
      for (const int64_t second : {first, n - 1}) {
        for (const DType dtype : {kFloat32, DType::Float(64)}) {
          check(dtype, n, 2, first, second);
          check(dtype, n, std::numeric_limits<double>::quiet_NaN(), first,
                second);
        }
        for (const int bits : {8, 16, 64}) {
          check(DType::Int(bits), n, 120, first, second);
        }
      }
    }
  }
}

TEST(ReduceTest, Empty) {
  const Tensor x = Make(kFloat32, {2, 0, 3}, {});
  EXPECT_TRUE(Matches(Sum(x, {.axes = {1}}), kFloat32, {2, 3},
                      std::vector<double>(6, 0)));
  EXPECT_TRUE(Matches(Prod(x, {.axes = {1, 2}}), kFloat32, {2}, {1, 1}));
  EXPECT_TRUE(Matches(Mean(x, {.axes = {0, 1, 2}}), kFloat32, {}, {kNan}));
  EXPECT_TRUE(Matches(Sum(x, {.axes = {0}}), kFloat32, {0, 3}, {}));
  EXPECT_TRUE(Matches(Max(x, {.axes = {0}}), kFloat32, {0, 3}, {}));
  EXPECT_TRUE(Matches(Sum(x, {.axes = {0, 2}}), kFloat32, {0}, {}));
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(Matches(Max(x, {.axes = {1}}), kFloat32, {2, 3},
                      std::vector<double>(6, -kInfinity)));
  EXPECT_TRUE(
      Matches(Min(x, {.axes = {1, 2}}), kFloat32, {2}, {kInfinity, kInfinity}));
  EXPECT_TRUE(Matches(Max(Make(DType::Int(8), {0}, {}), {}), DType::Int(8), {},
                      {-128}));
  EXPECT_TRUE(Fails(ArgMin(x, {}).status(), "argmin", "no elements"));
  EXPECT_TRUE(Fails(Mean(Make(kInt32, {0}, {}), {}).status(), "mean"));
  const Tensor b = Make(DType::Bool(), {0, 2}, {});
  EXPECT_TRUE(Matches(All(b, {.axes = {0}}), DType::Bool(), {2}, {1, 1}));
  EXPECT_TRUE(Matches(Any(b, {.axes = {0}}), DType::Bool(), {2}, {0, 0}));
}

TEST(ReduceTest, Errors) {
  const Tensor x = MakeFloat({2, 2}, {1, 2, 3, 4});
  EXPECT_TRUE(Fails(Sum(x, {.axes = {2}}).status(), "sum", "axis 2"));
  EXPECT_TRUE(Fails(Sum(x, {.axes = {-3}}).status(), "sum", "axis -3"));
  EXPECT_TRUE(
      Fails(Sum(Random(DType::Bool(), {2}), {}).status(), "sum", "bool"));
  EXPECT_TRUE(Fails(All(x, {}).status(), "all", "float32"));
  EXPECT_TRUE(Fails(Std(Random(kInt32, {2}), {}).status(), "std", "int32"));
  EXPECT_TRUE(
      Fails(ArgMax(x, {}, false, DType::Int(8)).status(), "argmax", "int8"));
}

// The first or last of equals, and of NaNs, in lines longer than blocks of
// vectors, along the last axis and another.
TEST(ArgExtremumTest, EqualsAndNansInLongLines) {
  for (const int64_t n : {1, 31, 33, 63, 64, 65, 128, 129, 300}) {
    for (const bool with_nan : {false, true}) {
      std::vector<double> line;
      for (int64_t i = 0; i < n; ++i) {
        line.push_back(with_nan && (i == n / 2 || i == n / 3)
                           ? kNan
                           : static_cast<double>(i * 7 % 5));
      }
      const Tensor x = MakeFloat({1, n}, line);
      const Tensor columns = MakeFloat({n, 2}, [&] {
        std::vector<double> twice;
        for (const double v : line) twice.insert(twice.end(), 2, v);
        return twice;
      }());
      for (const bool last : {false, true}) {
        for (const bool max : {false, true}) {
          int64_t expected = 0;
          for (int64_t i = 1; i < n; ++i) {
            const double a = line[static_cast<size_t>(i)];
            const double b = line[static_cast<size_t>(expected)];
            const bool better = max ? a > b : a < b;
            const bool equal = a == b || (std::isnan(a) && std::isnan(b));
            if (better || (std::isnan(a) && !std::isnan(b)) ||
                (last && equal)) {
              expected = i;
            }
          }
          const double at = static_cast<double>(expected);
          const auto extremum = max ? ArgMax : ArgMin;
          EXPECT_TRUE(Matches(extremum(x, {.axes = {1}}, last, kInt32), kInt32,
                              {1}, {at}))
              << n << " " << last;
          EXPECT_TRUE(Matches(extremum(columns, {.axes = {0}}, last, kInt32),
                              kInt32, {2}, {at, at}))
              << n << " " << last;
        }
      }
      EXPECT_TRUE(Matches(
          Max(x, {.axes = {1}}), kFloat32, {1},
          {with_nan ? kNan : *std::max_element(line.begin(), line.end())}));
    }
  }
}

}  // namespace
}  // namespace baton::kernels
