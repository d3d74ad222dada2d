#include "baton/runtime/kernels/internal/testing.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/tensor.h"
#include "gtest/gtest.h"

namespace baton::kernels::internal {
namespace {

// A tensor whose element i is next(i).
template <typename Fn>
Tensor Generate(DType dtype, absl::Span<const int64_t> shape, const Fn& next) {
  absl::StatusOr<MutableTensor> result = MutableTensor::Create(dtype, shape);
  if (!result.ok()) {
    ADD_FAILURE() << result.status();
    return Tensor();
  }
  VisitDType(dtype, [&]<typename T>() {
    int64_t i = 0;
    for (T& x : result->span<T>()) {
      const double value = next(i++);
      if constexpr (std::is_same_v<T, bool>) {
        x = value != 0;
      } else if constexpr (std::is_integral_v<T>) {
        x = static_cast<T>(static_cast<int64_t>(value));
      } else {
        x = static_cast<T>(value);
      }
    }
  });
  return std::move(*result).Freeze();
}

}  // namespace

Tensor Make(DType dtype, absl::Span<const int64_t> shape,
            const std::vector<double>& values) {
  const Tensor result = Generate(dtype, shape, [&values](int64_t i) {
    return values.at(static_cast<size_t>(i));
  });
  EXPECT_EQ(result.num_elements(), static_cast<int64_t>(values.size()));
  return result;
}

Tensor MakeFloat(absl::Span<const int64_t> shape,
                 const std::vector<double>& values) {
  return Make(DType::Float(32), shape, values);
}

Tensor Random(DType dtype, absl::Span<const int64_t> shape, uint32_t seed) {
  std::mt19937 engine(seed);
  return Generate(dtype, shape, [&](int64_t) -> double {
    const uint32_t bits = engine();
    if (dtype.is_bool()) return bits % 2;
    if (dtype.is_uint()) return bits % 201;
    if (dtype.is_int()) return static_cast<double>(bits % 201) - 100;
    return static_cast<double>(bits) / 2147483647.5 - 1;
  });
}

Tensor Iota(DType dtype, absl::Span<const int64_t> shape) {
  return Generate(dtype, shape,
                  [](int64_t i) { return static_cast<double>(i); });
}

std::vector<double> Values(const Tensor& x) {
  std::vector<double> values;
  for (int64_t i = 0; i < x.num_elements(); ++i) {
    values.push_back(x.AtAsDouble(i));
  }
  return values;
}

Tensor Unwrap(absl::StatusOr<Tensor> result) {
  if (result.ok()) return *std::move(result);
  ADD_FAILURE() << result.status();
  return Tensor();
}

::testing::AssertionResult Matches(const absl::StatusOr<Tensor>& result,
                                   DType dtype, absl::Span<const int64_t> shape,
                                   const std::vector<double>& expected,
                                   double relative, double absolute) {
  std::vector<double> bounds;
  for (const double value : expected) {
    bounds.push_back(std::abs(value) * relative + absolute);
  }
  return Within(result, dtype, shape, expected, bounds);
}

::testing::AssertionResult Within(const absl::StatusOr<Tensor>& result,
                                  DType dtype, absl::Span<const int64_t> shape,
                                  const std::vector<double>& expected,
                                  const std::vector<double>& bounds) {
  if (!result.ok()) return ::testing::AssertionFailure() << result.status();
  if (result->dtype() != dtype || result->shape() != shape) {
    return ::testing::AssertionFailure() << "is a " << result->TypeToString();
  }
  if (result->num_elements() != static_cast<int64_t>(expected.size())) {
    return ::testing::AssertionFailure()
           << expected.size() << " values expected for "
           << result->TypeToString();
  }
  for (size_t i = 0; i < expected.size(); ++i) {
    const double actual = result->AtAsDouble(static_cast<int64_t>(i));
    const bool close = actual == expected[i] ||
                       (std::isnan(actual) && std::isnan(expected[i])) ||
                       std::abs(actual - expected[i]) <= bounds[i];
    if (!close) {
      return ::testing::AssertionFailure()
             << "element " << i << " of " << result->TypeToString() << " is "
             << actual << ", not " << expected[i] << " (within " << bounds[i]
             << ")";
    }
  }
  return ::testing::AssertionSuccess();
}

::testing::AssertionResult Fails(const absl::Status& status,
                                 absl::string_view kernel,
                                 absl::string_view text) {
  if (absl::IsInvalidArgument(status) &&
      absl::StartsWith(status.message(), kernel) &&
      absl::StrContains(status.message(), text)) {
    return ::testing::AssertionSuccess();
  }
  return ::testing::AssertionFailure() << "status is " << status;
}

int64_t Flat(absl::Span<const int64_t> shape, absl::Span<const int64_t> index) {
  int64_t flat = 0;
  for (size_t i = 0; i < shape.size(); ++i) flat = flat * shape[i] + index[i];
  return flat;
}

}  // namespace baton::kernels::internal
