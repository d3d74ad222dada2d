#include "baton/instrument/nearby_inputs.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/tensor.h"
#include "baton/relay/runtime/value.h"

namespace baton {
namespace {

using relay::Value;

template <typename T>
T Rounded(double number) {
  if constexpr (std::is_same_v<T, double>) {
    return number;
  } else if constexpr (!std::is_integral_v<T>) {
    return T(static_cast<float>(number));
  } else {
    using Limits = std::numeric_limits<T>;
    return static_cast<T>(std::clamp(std::round(number),
                                     static_cast<double>(Limits::min()),
                                     static_cast<double>(Limits::max())));
  }
}

Value TensorMovedBy(const Value& value, double tolerance, NearbyInputs which) {
  if (!value.is_tensor()) return value;
  const Tensor& tensor = value.tensor();
  const DType dtype = tensor.dtype();
  constexpr int kMostBits = 16;  // of integers that are quantized numbers
  const bool is_short =
      dtype.is_integral() && !dtype.is_bool() && dtype.bits() <= kMostBits;
  if (!dtype.is_float() && !is_short) return value;
  const int64_t size = tensor.num_elements();
  double largest = 0;
  for (int64_t i = 0; i < size; ++i) {
    const double x = std::fabs(tensor.AtAsDouble(i));
    if (std::isfinite(x)) largest = std::max(largest, x);
  }
  const double step = std::max(tolerance * largest, is_short ? 1.0 : 0.0);
  std::mt19937 random(0);  // the same numbers on every machine
  return VisitDType(dtype, [&]<typename T>() -> Value {
    absl::StatusOr<MutableTensor> moved =
        MutableTensor::Create(dtype, tensor.shape());
    if (!moved.ok()) return value;
    const absl::Span<T> elements = moved->span<T>();
    for (int64_t i = 0; i < size; ++i) {
      const bool up = which == NearbyInputs::kAbove ||
                      (which == NearbyInputs::kEitherWay && random() % 2 == 0);
      elements[static_cast<size_t>(i)] =
          Rounded<T>(tensor.AtAsDouble(i) + (up ? step : -step));
    }
    return std::move(*moved).Freeze();
  });
}

}  // namespace

Value MovedBy(const Value& value, double tolerance, NearbyInputs which) {
  if (!value.is_tuple()) return TensorMovedBy(value, tolerance, which);
  std::vector<Value> fields;
  fields.reserve(value.fields().size());
  for (const Value& field : value.fields()) {
    fields.push_back(TensorMovedBy(field, tolerance, which));
  }
  return Value::MakeTuple(std::move(fields));
}

}  // namespace baton
