#include "baton/instrument/special_inputs.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "baton/base/dtype.h"
#include "baton/base/number_range.h"
#include "baton/base/tensor.h"
#include "baton/relay/runtime/value.h"

namespace baton {
namespace {

using relay::Value;

// The numbers that are special in elements of T: Float16, BFloat16, float or
// double.
template <typename T>
std::vector<double> SpecialNumbersOf() {
  using Limits = std::numeric_limits<double>;
  double least = Limits::denorm_min();
  const double greatest = FiniteRange(DType::Of<T>())->high;
  if constexpr (std::is_same_v<T, float>) {
    least = std::numeric_limits<float>::denorm_min();
  } else if constexpr (std::is_same_v<T, Float16>) {
    least = 0x1p-24;
  } else if constexpr (std::is_same_v<T, BFloat16>) {
    least = 0x1p-133;
  }
  return {Limits::quiet_NaN(),
          Limits::infinity(),
          -Limits::infinity(),
          -0.0,
          0.0,
          least,
          greatest,
          -least,
          -greatest};
}

template <typename T>
Tensor WithNumbers(const Tensor& plain, const std::vector<double>& special) {
  std::vector<T> numbers;
  numbers.reserve(static_cast<size_t>(plain.num_elements()));
  for (int64_t i = 0; i < plain.num_elements(); ++i) {
    const double number =
        i % 3 == 0 ? special[static_cast<size_t>(i / 3) % special.size()]
                   : plain.AtAsDouble(i);
    if constexpr (std::is_same_v<T, double>) {
      numbers.push_back(number);
    } else {
      numbers.push_back(T(static_cast<float>(number)));
    }
  }
  return *Tensor::FromValues<T>(plain.shape(), numbers);
}

Value TensorWith(const Value& value, bool zeros_only) {
  if (!value.is_tensor()) return value;
  const Tensor& tensor = value.tensor();
  if (!tensor.dtype().is_float()) return value;
  return VisitDType(tensor.dtype(), [&]<typename T>() -> Value {
    if constexpr (std::is_integral_v<T>) {
      return value;
    } else {
      return WithNumbers<T>(tensor, zeros_only ? std::vector<double>{-0.0, 0.0}
                                               : SpecialNumbersOf<T>());
    }
  });
}

}  // namespace

namespace {

Value With(const Value& value, bool zeros_only) {
  if (!value.is_tuple()) return TensorWith(value, zeros_only);
  std::vector<Value> fields;
  fields.reserve(value.fields().size());
  for (const Value& field : value.fields()) {
    fields.push_back(TensorWith(field, zeros_only));
  }
  return Value::MakeTuple(std::move(fields));
}

}  // namespace

Value WithSpecialNumbers(const Value& value) { return With(value, false); }

Value WithZeros(const Value& value) { return With(value, true); }

}  // namespace baton
