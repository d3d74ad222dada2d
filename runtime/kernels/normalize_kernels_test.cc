#include "baton/runtime/kernels/normalize_kernels.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "absl/container/inlined_vector.h"
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

const DType kFloat32 = DType::Float(32);
const DType kDTypes[] = {DType::Float(32), DType::Float(64), DType::Float(16),
                         DType::BFloat(16)};

double Tolerance(DType dtype) {
  return dtype == DType::BFloat(16)  ? 1e-2
         : dtype == DType::Float(16) ? 2e-3
                                     : 1e-5;
}

std::vector<int64_t> ShapeOf(const Tensor& x) {
  return {x.shape().begin(), x.shape().end()};
}

// Normalizes by definition: elements with the same key(index) form a group.
std::vector<double> Naive(
    const Tensor& x, const Tensor& gamma, const Tensor& beta, size_t axis,
    double epsilon,
    const std::function<int64_t(const std::vector<int64_t>&)>& key) {
  const std::vector<double> v = Values(x);
  const std::vector<double> g = Values(gamma), b = Values(beta);
  std::vector<std::vector<double>> groups(v.size());
  size_t i = 0;
  ForEachIndex(ShapeOf(x), [&](const std::vector<int64_t>& index) {
    groups[static_cast<size_t>(key(index))].push_back(v[i++]);
  });
  std::vector<double> result;
  i = 0;
  ForEachIndex(ShapeOf(x), [&](const std::vector<int64_t>& index) {
    const std::vector<double>& group = groups[static_cast<size_t>(key(index))];
    double mean = 0, variance = 0;
    for (const double e : group) mean += e / static_cast<double>(group.size());
    for (const double e : group) {
      variance += (e - mean) * (e - mean) / static_cast<double>(group.size());
    }
    const size_t c = static_cast<size_t>(index[axis]);
    result.push_back((v[i++] - mean) / std::sqrt(variance + epsilon) * g[c] +
                     b[c]);
  });
  return result;
}

TEST(BatchNormTest, MatchesDefinition) {
  for (const DType dtype : kDTypes) {
    for (const int64_t axis : {0, 1, 2, -1}) {
      const Tensor x = Random(dtype, {2, 3, 5}, 1);
      const size_t k = static_cast<size_t>(axis < 0 ? axis + 3 : axis);
      const int64_t c = x.shape()[k];
      const Tensor gamma = Random(dtype, {c}, 2), beta = Random(dtype, {c}, 3);
      const Tensor mean = Random(dtype, {c}, 4);
      std::vector<double> variances;
      for (const double v : Values(Random(dtype, {c}, 5))) {
        variances.push_back(std::abs(v) + 0.1);
      }
      const Tensor variance = Make(dtype, {c}, variances);
      for (const bool center : {false, true}) {
        for (const bool scale : {false, true}) {
          NormParams params;
          params.axis = axis;
          params.epsilon = 1e-3;
          params.center = center;
          params.scale = scale;
          std::vector<double> expected;
          ForEachIndex({2, 3, 5}, [&](const std::vector<int64_t>& index) {
            const int64_t at = index[k];
            const double centred =
                x.AtAsDouble(Flat({2, 3, 5}, index)) - mean.AtAsDouble(at);
            expected.push_back(centred /
                                   std::sqrt(variance.AtAsDouble(at) + 1e-3) *
                                   (scale ? gamma.AtAsDouble(at) : 1) +
                               (center ? beta.AtAsDouble(at) : 0));
          });
          EXPECT_TRUE(Matches(BatchNorm(x, gamma, beta, mean, variance, params),
                              dtype, {2, 3, 5}, expected, Tolerance(dtype),
                              Tolerance(dtype) / 10));
        }
      }
    }
  }
}

TEST(BatchNormTest, Errors) {
  const Tensor x = Random(kFloat32, {2, 3});
  const Tensor c = Random(kFloat32, {3});
  const Tensor two = Random(kFloat32, {2});
  NormParams params;
  EXPECT_TRUE(Fails(BatchNorm(x, two, c, c, c, params).status(), "batch_norm",
                    "gamma"));
  EXPECT_TRUE(
      Fails(BatchNorm(x, c, two, c, c, params).status(), "batch_norm", "beta"));
  EXPECT_TRUE(
      Fails(BatchNorm(x, c, c, two, c, params).status(), "batch_norm", "mean"));
  EXPECT_TRUE(Fails(BatchNorm(x, c, c, c, x, params).status(), "batch_norm",
                    "variance"));
  EXPECT_TRUE(Fails(
      BatchNorm(Random(DType::Int(32), {2, 3}), c, c, c, c, params).status(),
      "batch_norm", "int32"));
  params.axis = 2;
  EXPECT_TRUE(
      Fails(BatchNorm(x, c, c, c, c, params).status(), "batch_norm", "axis 2"));
}

TEST(NormTest, LayerInstanceAndGroupMatchDefinition) {
  for (const DType dtype : kDTypes) {
    const Tensor x = Random(dtype, {2, 4, 3, 5}, 1);
    const double tolerance = Tolerance(dtype);
    for (const int64_t axis : {1, 2, 3}) {
      const int64_t c = x.shape()[static_cast<size_t>(axis)];
      const Tensor gamma = Random(dtype, {c}, 2), beta = Random(dtype, {c}, 3);
      NormParams params;
      params.axis = axis;
      const size_t k = static_cast<size_t>(axis);
      EXPECT_TRUE(Matches(LayerNorm(x, gamma, beta, params), dtype,
                          {2, 4, 3, 5},
                          Naive(x, gamma, beta, k, 1e-5,
                                [k](std::vector<int64_t> index) {
                                  index[k] = 0;
                                  return Flat({2, 4, 3, 5}, index);
                                }),
                          tolerance, tolerance / 10));
      EXPECT_TRUE(Matches(InstanceNorm(x, gamma, beta, params), dtype,
                          {2, 4, 3, 5},
                          Naive(x, gamma, beta, k, 1e-5,
                                [k](const std::vector<int64_t>& index) {
                                  return index[0] * 10 + index[k];
                                }),
                          tolerance, tolerance / 10));
      for (int64_t groups = 1; groups <= c; ++groups) {
        if (c % groups != 0) continue;
        EXPECT_TRUE(Matches(
            GroupNorm(x, gamma, beta, groups, params), dtype, {2, 4, 3, 5},
            Naive(x, gamma, beta, k, 1e-5,
                  [&](const std::vector<int64_t>& index) {
                    return index[0] * 10 + index[k] / (c / groups);
                  }),
            tolerance, tolerance / 10));
      }
    }
  }
}

// Passes move the channels: sums keep their order.
TEST(NormTest, OrderDoesNotDependOnTheLayout) {
  for (const int64_t size : {2, 3, 4, 9}) {
    const Tensor x = Random(kFloat32, {2, 3, size, size + 1}, 5);
    const Tensor gamma = Random(kFloat32, {3}, 2);
    const Tensor beta = Random(kFloat32, {3}, 3);
    const auto norm = size % 2 == 0 ? InstanceNorm : LayerNorm;
    NormParams params;
    params.axis = 1;
    const absl::StatusOr<Tensor> want = norm(x, gamma, beta, params);
    ASSERT_TRUE(want.ok());
    const absl::InlinedVector<int64_t, 6> orders[] = {{0, 2, 1, 3},
                                                      {0, 2, 3, 1}};
    for (size_t k = 0; k < 2; ++k) {
      params.axis = static_cast<int64_t>(k) + 2;
      const absl::StatusOr<Tensor> moved = Transpose(x, orders[k]);
      ASSERT_TRUE(moved.ok());
      const absl::StatusOr<Tensor> got = norm(*moved, gamma, beta, params);
      ASSERT_TRUE(got.ok());
      const absl::StatusOr<Tensor> expected = Transpose(*want, orders[k]);
      ASSERT_TRUE(expected.ok());
      EXPECT_TRUE(*got == *expected) << size << " " << k;
    }
  }
}

TEST(NormTest, Errors) {
  const Tensor x = Random(kFloat32, {2, 4});
  const Tensor c = Random(kFloat32, {4});
  NormParams params;
  EXPECT_TRUE(
      Fails(GroupNorm(x, c, c, 3, params).status(), "group_norm", "3 groups"));
  EXPECT_TRUE(
      Fails(GroupNorm(x, c, c, 0, params).status(), "group_norm", "0 groups"));
  EXPECT_TRUE(
      Fails(LayerNorm(x, x, c, params).status(), "layer_norm", "gamma"));
  params.axis = 5;
  EXPECT_TRUE(
      Fails(LayerNorm(x, c, c, params).status(), "layer_norm", "axis 5"));
  EXPECT_TRUE(
      Fails(InstanceNorm(x, c, c, params).status(), "instance_norm", "axis 5"));
}

TEST(SoftmaxTest, MatchesDefinition) {
  for (const DType dtype : kDTypes) {
    for (const int64_t axis : {0, 1, 2, -1}) {
      const Tensor x = Random(dtype, {3, 4, 5}, 1);
      const size_t k = static_cast<size_t>(axis < 0 ? axis + 3 : axis);
      std::vector<double> softmax, log_softmax;
      ForEachIndex({3, 4, 5}, [&](std::vector<int64_t> index) {
        const double here = x.AtAsDouble(Flat({3, 4, 5}, index));
        double sum = 0;
        for (index[k] = 0; index[k] < x.shape()[k]; ++index[k]) {
          sum += std::exp(x.AtAsDouble(Flat({3, 4, 5}, index)));
        }
        softmax.push_back(std::exp(here) / sum);
        log_softmax.push_back(here - std::log(sum));
      });
      EXPECT_TRUE(Matches(Softmax(x, axis), dtype, {3, 4, 5}, softmax,
                          Tolerance(dtype)));
      EXPECT_TRUE(Matches(LogSoftmax(x, axis), dtype, {3, 4, 5}, log_softmax,
                          Tolerance(dtype)));
    }
  }
  // No overflow.
  EXPECT_TRUE(Matches(Softmax(MakeFloat({2}, {1000, 1000}), 0), kFloat32, {2},
                      {0.5, 0.5}));
  EXPECT_TRUE(Matches(LogSoftmax(MakeFloat({2}, {-1000, 1000}), 0), kFloat32,
                      {2}, {-2000, 0}));
  EXPECT_TRUE(
      Matches(Softmax(Make(kFloat32, {2, 0}, {}), 1), kFloat32, {2, 0}, {}));
  EXPECT_TRUE(
      Matches(Softmax(Make(kFloat32, {0, 2}, {}), 1), kFloat32, {0, 2}, {}));
  EXPECT_TRUE(
      Fails(Softmax(Random(kFloat32, {2}), 1).status(), "softmax", "axis 1"));
  EXPECT_TRUE(Fails(LogSoftmax(Random(DType::Int(8), {2}), 0).status(),
                    "log_softmax", "int8"));
}

// Rows of all lengths, whatever rows are beside them.
TEST(SoftmaxTest, RowsAreIndependent) {
  constexpr int64_t kRows = 67;
  constexpr float kInf = std::numeric_limits<float>::infinity();
  for (int64_t n = 1; n < 70; ++n) {
    const Tensor random = Random(kFloat32, {kRows, n}, 1);
    std::vector<double> values = Values(random);
    // An element of a row is no number, all are infinite, or but one are.
    const auto at = [&](int64_t row, int64_t i) -> double& {
      return values[static_cast<size_t>(row * n + i)];
    };
    at(1, n / 2) = std::nan("");
    at(3, n - 1) = std::nan("");
    at(4, 0) = kInf;
    for (int64_t i = 0; i < n; ++i) at(6, i) = at(65, i) = -kInf;
    at(65, n / 3) = 2;
    const Tensor x = Make(kFloat32, {kRows, n}, values);
    for (const bool log : {false, true}) {
      const auto softmax = [log](const Tensor& of) {
        return log ? LogSoftmax(of, 1) : Softmax(of, 1);
      };
      const absl::StatusOr<Tensor> all = softmax(x);
      ASSERT_TRUE(all.ok());
      for (int64_t row = 0; row < kRows; ++row) {
        const std::vector<double> one(values.begin() + row * n,
                                      values.begin() + (row + 1) * n);
        const bool is_nan = row == 1 || row == 3 || row == 4 || row == 6;
        double largest = -kInf;
        for (const double v : one) largest = std::max(largest, v);
        double sum = 0;
        for (const double v : one) sum += std::exp(v - largest);
        const absl::StatusOr<Tensor> alone =
            softmax(Make(kFloat32, {1, n}, one));
        ASSERT_TRUE(alone.ok());
        for (int64_t i = 0; i < n; ++i) {
          SCOPED_TRACE(::testing::Message() << n << " " << row << " " << i);
          const double got = all->AtAsDouble(row * n + i);
          if (is_nan) {
            ASSERT_TRUE(std::isnan(got));
            continue;
          }
          ASSERT_EQ(got, alone->AtAsDouble(i));
          const double to = one[static_cast<size_t>(i)] - largest;
          if (log && std::isinf(to)) {
            ASSERT_EQ(got, -kInf);
          } else {
            const double want = log ? to - std::log(sum) : std::exp(to) / sum;
            ASSERT_NEAR(got, want, 2e-6 * (1 + std::abs(want)));
          }
        }
      }
    }
  }
}

TEST(L2NormalizeTest, MatchesDefinition) {
  const Tensor x = MakeFloat({2, 2}, {3, 4, 1e30, 0});
  EXPECT_TRUE(
      Matches(L2Normalize(x, 1e-12, {1}), kFloat32, {2, 2}, {0.6, 0.8, 1, 0}));
  EXPECT_TRUE(
      Matches(L2Normalize(x, 100, {0}), kFloat32, {2, 2}, {3e-30, 0.4, 1, 0}));
  EXPECT_TRUE(Matches(L2Normalize(MakeFloat({2}, {3, 4}), 1e-12, {}), kFloat32,
                      {2}, {0.6, 0.8}));
  EXPECT_TRUE(
      Fails(L2Normalize(x, 1e-12, {2}).status(), "l2_normalize", "axis 2"));
  EXPECT_TRUE(Fails(L2Normalize(Random(DType::Int(8), {2}), 1, {0}).status(),
                    "l2_normalize", "int8"));
}

// Squares are added in the order of the axes that are given.
TEST(L2NormalizeTest, OrderIsThatOfTheAxes) {
  const Tensor plain = Random(kFloat32, {2, 5, 3, 7}, 8);
  std::vector<double> values = Values(plain);
  // In double, 1 is lost beside 2^60, and not beside what has no such neighbour.
  for (size_t i = 0; i < values.size(); i += 5) values[i] = 0x1p30;
  for (size_t i = 2; i < values.size(); i += 3) values[i] *= 0x1p4;
  const Tensor x = MakeFloat({2, 5, 3, 7}, values);
  const absl::StatusOr<Tensor> moved = Transpose(x, {0, 3, 1, 2});
  ASSERT_TRUE(moved.ok());
  const absl::StatusOr<Tensor> want = L2Normalize(x, 1e-12, {2, 3});
  const absl::StatusOr<Tensor> got = L2Normalize(*moved, 1e-12, {3, 1});
  ASSERT_TRUE(want.ok() && got.ok());
  const absl::StatusOr<Tensor> expected = Transpose(*want, {0, 3, 1, 2});
  ASSERT_TRUE(expected.ok());
  EXPECT_TRUE(*got == *expected);
}

TEST(LrnTest, MatchesDefinition) {
  for (const int64_t axis : {1, 3}) {
    for (const int64_t size : {1, 3, 5, 99}) {
      LrnParams params;
      params.axis = axis;
      params.size = size;
      params.bias = 1.5;
      params.alpha = 0.3;
      params.beta = 0.6;
      const Tensor x = Random(kFloat32, {2, 6, 3, 4}, 1);
      const std::vector<int64_t> shape = {2, 6, 3, 4};
      const size_t k = static_cast<size_t>(axis);
      std::vector<double> expected;
      ForEachIndex(shape, [&](std::vector<int64_t> index) {
        const double here = x.AtAsDouble(Flat(shape, index));
        const int64_t middle = index[k];
        double squares = 0;
        for (index[k] = std::max<int64_t>(0, middle - size / 2);
             index[k] <= std::min(shape[k] - 1, middle + size / 2);
             ++index[k]) {
          const double v = x.AtAsDouble(Flat(shape, index));
          squares += v * v;
        }
        expected.push_back(
            here /
            std::pow(1.5 + 0.3 / static_cast<double>(size) * squares, 0.6));
      });
      EXPECT_TRUE(Matches(Lrn(x, params), kFloat32, {2, 6, 3, 4}, expected));
    }
  }
  LrnParams even;
  even.size = 4;
  EXPECT_TRUE(
      Fails(Lrn(Random(kFloat32, {1, 2}), even).status(), "lrn", "size 4"));
}

}  // namespace
}  // namespace baton::kernels
