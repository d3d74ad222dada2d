#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/runtime/kernels/elementwise.h"
#include "baton/runtime/kernels/internal/convert.h"
#include "baton/runtime/kernels/internal/util.h"

namespace baton::kernels {
namespace {

template <typename R, typename T, typename Fn>
absl::StatusOr<Tensor> Map(const Tensor& x, DType dtype, const Fn& fn) {
  BATON_ASSIGN_OR_RETURN(MutableTensor result,
                         MutableTensor::Create(dtype, x.shape()));
  const T* from = static_cast<const T*>(x.data());
  R* to = static_cast<R*>(result.data());
  const int64_t n = x.num_elements();
  for (int64_t i = 0; i < n; ++i) to[i] = fn(from[i]);
  return std::move(result).Freeze();
}

// Applies fn(T) -> T to float32, float64 and half floats.
template <typename Fn>
absl::StatusOr<Tensor> MapFloat(absl::string_view name, const Tensor& x,
                                const Fn& fn) {
  BATON_ASSIGN_OR_RETURN(const Tensor wide, internal::WidenHalf(name, x));
  BATON_ASSIGN_OR_RETURN(
      const Tensor result,
      internal::VisitFloat(name, wide.dtype(), [&]<typename T>() {
        return Map<T, T>(wide, wide.dtype(), fn);
      }));
  return internal::Convert(name, result, x.dtype());
}

// Applies fn(T) -> T to integers as well.
template <typename Fn>
absl::StatusOr<Tensor> MapNumeric(absl::string_view name, const Tensor& x,
                                  const Fn& fn) {
  BATON_ASSIGN_OR_RETURN(const Tensor wide, internal::WidenHalf(name, x));
  BATON_ASSIGN_OR_RETURN(
      const Tensor result,
      internal::VisitNumeric(name, wide.dtype(), [&]<typename T>() {
        return Map<T, T>(wide, wide.dtype(), fn);
      }));
  return internal::Convert(name, result, x.dtype());
}

// Rounds floats with `fn`; integers are whole already.
template <typename Fn>
absl::StatusOr<Tensor> MapRounding(absl::string_view name, const Tensor& x,
                                   const Fn& fn) {
  if (x.dtype().is_integral() && !x.dtype().is_bool()) return x;
  return MapFloat(name, x, fn);
}

// Asks a question of each element; of an integer the answer is `of_integer`.
template <typename Fn>
absl::StatusOr<Tensor> MapQuestion(absl::string_view name, const Tensor& x,
                                   uint8_t of_integer, const Fn& fn) {
  BATON_ASSIGN_OR_RETURN(const Tensor wide, internal::WidenHalf(name, x));
  if (wide.dtype().is_integral()) {
    BATON_ASSIGN_OR_RETURN(MutableTensor result,
                           MutableTensor::Create(DType::Bool(), x.shape()));
    std::fill_n(static_cast<uint8_t*>(result.data()), x.num_elements(),
                of_integer);
    return std::move(result).Freeze();
  }
  return internal::VisitFloat(name, wide.dtype(), [&]<typename T>() {
    return Map<uint8_t, T>(wide, DType::Bool(),
                           [&fn](T v) -> uint8_t { return fn(v); });
  });
}

template <typename T>
T SigmoidOf(T x) {
  // exp of a negative value only: it cannot overflow.
  const T e = std::exp(-std::abs(x));
  return x >= 0 ? 1 / (1 + e) : e / (1 + e);
}

// `bound` in the range of T, without its fraction if T is an integer.
template <typename T>
T ClampBound(double bound) {
  if constexpr (std::is_integral_v<T>) {
    if (std::isnan(bound)) return 0;
    if (bound <= static_cast<double>(std::numeric_limits<T>::min())) {
      return std::numeric_limits<T>::min();
    }
    if (bound >= static_cast<double>(std::numeric_limits<T>::max())) {
      return std::numeric_limits<T>::max();
    }
  }
  return static_cast<T>(bound);
}

}  // namespace

#define BATON_FLOAT_FUNCTION(Name, name, expr)               \
  absl::StatusOr<Tensor> Name(const Tensor& x) {             \
    return MapFloat(name, x, [](auto v) { return (expr); }); \
  }

BATON_FLOAT_FUNCTION(Sqrt, "sqrt", std::sqrt(v))
BATON_FLOAT_FUNCTION(Rsqrt, "rsqrt", 1 / std::sqrt(v))
BATON_FLOAT_FUNCTION(Exp, "exp", std::exp(v))
BATON_FLOAT_FUNCTION(Log, "log", std::log(v))
BATON_FLOAT_FUNCTION(Log2, "log2", std::log2(v))
BATON_FLOAT_FUNCTION(Log10, "log10", std::log10(v))
BATON_FLOAT_FUNCTION(Sin, "sin", std::sin(v))
BATON_FLOAT_FUNCTION(Cos, "cos", std::cos(v))
BATON_FLOAT_FUNCTION(Tan, "tan", std::tan(v))
BATON_FLOAT_FUNCTION(Asin, "asin", std::asin(v))
BATON_FLOAT_FUNCTION(Acos, "acos", std::acos(v))
BATON_FLOAT_FUNCTION(Atan, "atan", std::atan(v))
BATON_FLOAT_FUNCTION(Sinh, "sinh", std::sinh(v))
BATON_FLOAT_FUNCTION(Cosh, "cosh", std::cosh(v))
BATON_FLOAT_FUNCTION(Tanh, "tanh", std::tanh(v))
BATON_FLOAT_FUNCTION(Asinh, "asinh", std::asinh(v))
BATON_FLOAT_FUNCTION(Acosh, "acosh", std::acosh(v))
BATON_FLOAT_FUNCTION(Atanh, "atanh", std::atanh(v))
BATON_FLOAT_FUNCTION(Sigmoid, "sigmoid", SigmoidOf(v))
BATON_FLOAT_FUNCTION(Erf, "erf", std::erf(v))

#undef BATON_FLOAT_FUNCTION

absl::StatusOr<Tensor> Negative(const Tensor& x) {
  return MapNumeric("negative", x, []<typename T>(T v) -> T {
    if constexpr (std::is_integral_v<T>) {
      using U = internal::Wrapping<T>;
      return static_cast<T>(U(0) - static_cast<U>(v));
    } else {
      return -v;
    }
  });
}

absl::StatusOr<Tensor> Abs(const Tensor& x) {
  return MapNumeric("abs", x, []<typename T>(T v) -> T {
    if constexpr (std::is_unsigned_v<T>) {
      return v;
    } else if constexpr (std::is_integral_v<T>) {
      using U = internal::Wrapping<T>;
      return v < 0 ? static_cast<T>(U(0) - static_cast<U>(v)) : v;
    } else {
      return std::abs(v);
    }
  });
}

absl::StatusOr<Tensor> Sign(const Tensor& x) {
  return MapNumeric("sign", x, []<typename T>(T v) -> T {
    if (v > 0) return 1;
    if constexpr (!std::is_unsigned_v<T>) {
      if (v < 0) return static_cast<T>(-1);
    }
    return v != v ? v : T(0);
  });
}

absl::StatusOr<Tensor> Relu(const Tensor& x) {
  return MapNumeric("relu", x, []<typename T>(T v) -> T {
    if constexpr (std::is_unsigned_v<T>) {
      return v;
    } else {
      return v < 0 ? T(0) : v;
    }
  });
}

absl::StatusOr<Tensor> Ceil(const Tensor& x) {
  return MapRounding("ceil", x, [](auto v) { return std::ceil(v); });
}

absl::StatusOr<Tensor> Floor(const Tensor& x) {
  return MapRounding("floor", x, [](auto v) { return std::floor(v); });
}

absl::StatusOr<Tensor> Round(const Tensor& x) {
  return MapRounding("round", x, [](auto v) { return std::nearbyint(v); });
}

absl::StatusOr<Tensor> Trunc(const Tensor& x) {
  return MapRounding("trunc", x, [](auto v) { return std::trunc(v); });
}

absl::StatusOr<Tensor> IsNan(const Tensor& x) {
  return MapQuestion("isnan", x, 0, [](auto v) { return std::isnan(v); });
}

absl::StatusOr<Tensor> IsInf(const Tensor& x) {
  return MapQuestion("isinf", x, 0, [](auto v) { return std::isinf(v); });
}

absl::StatusOr<Tensor> IsFinite(const Tensor& x) {
  return MapQuestion("isfinite", x, 1, [](auto v) { return std::isfinite(v); });
}

absl::StatusOr<Tensor> LogicalNot(const Tensor& x) {
  if (!x.dtype().is_bool()) {
    return internal::UnsupportedDType("logical_not", x.dtype());
  }
  return Map<uint8_t, uint8_t>(x, DType::Bool(),
                               [](uint8_t v) -> uint8_t { return v == 0; });
}

absl::StatusOr<Tensor> BitwiseNot(const Tensor& x) {
  if (x.dtype().is_bool()) return LogicalNot(x);
  if (!x.dtype().is_integral()) {
    return internal::UnsupportedDType("bitwise_not", x.dtype());
  }
  return internal::VisitNumeric(
      "bitwise_not", x.dtype(), [&]<typename T>() -> absl::StatusOr<Tensor> {
        if constexpr (std::is_integral_v<T>) {
          return Map<T, T>(x, x.dtype(),
                           [](T v) { return static_cast<T>(~v); });
        } else {
          return internal::UnsupportedDType("bitwise_not", x.dtype());
        }
      });
}

absl::StatusOr<Tensor> Clip(const Tensor& x, double low, double high) {
  return MapNumeric("clip", x, [low, high]<typename T>(T v) -> T {
    const T min = ClampBound<T>(low);
    const T max = ClampBound<T>(high);
    const T raised = v < min ? min : v;
    return raised > max ? max : raised;
  });
}

absl::StatusOr<Tensor> LeakyRelu(const Tensor& x, double alpha) {
  return MapFloat("leaky_relu", x, [alpha]<typename T>(T v) -> T {
    return v > 0 ? v : static_cast<T>(alpha) * v;
  });
}

}  // namespace baton::kernels
