#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
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
#include "baton/runtime/kernels/internal/half.h"
#include "baton/runtime/kernels/internal/math.h"
#include "baton/runtime/kernels/internal/util.h"
#include "baton/runtime/kernels/internal/vectorize.h"
#include "baton/runtime/kernels/operand.h"

namespace baton::kernels {
namespace {

template <typename R, typename T, typename Fn>
absl::StatusOr<Tensor> Map(Operand x, DType dtype, const Fn& fn) {
  const T* const from = static_cast<const T*>(x->data());
  std::optional<MutableTensor> result = x.Reuse(dtype, x->shape());
  if (!result.has_value()) {
    BATON_ASSIGN_OR_RETURN(result,
                           MutableTensor::Uninitialized(dtype, x->shape()));
  }
  internal::MapRun(from, x->num_elements(), static_cast<R*>(result->data()),
                   fn);
  return std::move(*result).Freeze();
}

// Bfloat16: run(from, n, to) computes float32, some at a time, so that what
// lies between the conversions stays in the nearest cache.
template <typename Run>
absl::StatusOr<Tensor> MapBFloat16(const Tensor& x, const Run& run) {
  BATON_ASSIGN_OR_RETURN(MutableTensor result,
                         MutableTensor::Uninitialized(x.dtype(), x.shape()));
  const uint16_t* from = static_cast<const uint16_t*>(x.data());
  uint16_t* to = static_cast<uint16_t*>(result.data());
  constexpr int64_t kBlock = 1024;
  float arguments[kBlock];
  float values[kBlock];
  for (int64_t i = 0; i < x.num_elements(); i += kBlock) {
    const int64_t n = std::min(kBlock, x.num_elements() - i);
    internal::WidenHalves(x.dtype(), from + i, n, arguments);
    run(arguments, n, values);
    internal::NarrowToHalves(x.dtype(), values, n, to + i);
  }
  return std::move(result).Freeze();
}

// Calls run(from, n, to) for elements of float32 and float64, and for bfloat16
// as float32.
template <typename Run>
absl::StatusOr<Tensor> MapFloatRuns(absl::string_view name, const Tensor& x,
                                    const Run& run) {
  if (x.dtype() == DType::BFloat(16)) return MapBFloat16(x, run);
  return internal::VisitFloat(
      name, x.dtype(), [&]<typename T>() -> absl::StatusOr<Tensor> {
        BATON_ASSIGN_OR_RETURN(
            MutableTensor result,
            MutableTensor::Uninitialized(x.dtype(), x.shape()));
        run(static_cast<const T*>(x.data()), x.num_elements(),
            static_cast<T*>(result.data()));
        return std::move(result).Freeze();
      });
}

// Float16: run(from, n, to) computes the elements as they are stored.
template <typename Run>
absl::StatusOr<Tensor> MapFloat16(const Tensor& x, const Run& run) {
  BATON_ASSIGN_OR_RETURN(MutableTensor result,
                         MutableTensor::Uninitialized(x.dtype(), x.shape()));
  run(static_cast<const uint16_t*>(x.data()), x.num_elements(),
      static_cast<uint16_t*>(result.data()));
  return std::move(result).Freeze();
}

// Applies fn(float) -> float to float16.
template <typename Fn>
absl::StatusOr<Tensor> MapFloat16As(const Tensor& x, const Fn& fn) {
  return MapFloat16(x, [fn](const uint16_t* from, int64_t n, uint16_t* to) {
    internal::MapHalves(from, n, to, fn);
  });
}

enum class Steps { kFew, kMany };

// Applies fn(T) -> T to float32, float64 and half floats. Functions of many
// steps are interleaved.
template <Steps kSteps = Steps::kFew, typename Fn>
absl::StatusOr<Tensor> MapFloat(absl::string_view name, const Tensor& x,
                                const Fn& fn) {
  if (x.dtype() == DType::Float(16)) return MapFloat16As(x, fn);
  return MapFloatRuns(name, x, [fn](const auto* from, int64_t n, auto* to) {
    if constexpr (kSteps == Steps::kMany) {
      internal::MapInterleaved(from, n, to, fn);
    } else {
      internal::MapRun(from, n, to, fn);
    }
  });
}

// The same, of float16 with fn16(float) -> float.
template <typename Fn, typename Fn16>
absl::StatusOr<Tensor> MapFloat(absl::string_view name, const Tensor& x,
                                const Fn& fn, const Fn16& fn16) {
  if (x.dtype() == DType::Float(16)) return MapFloat16As(x, fn16);
  return MapFloat(name, x, fn);
}

// Of float32, float64 and bfloat16: plain(v, served), which takes fewer steps,
// and fn(v) in blocks where that does not serve for all.
template <typename Plain, typename Fn>
absl::StatusOr<Tensor> MapPlain(absl::string_view name, const Tensor& x,
                                const Plain& plain, const Fn& fn) {
  return MapFloatRuns(name, x, [=](const auto* from, int64_t n, auto* to) {
    internal::RunPlain(
        n, to,
        [=](int64_t i, bool& served)
            BATON_LOOP { return plain(from[i], served); },
        [=](int64_t begin, int64_t end) {
          internal::MapRun(from + begin, end - begin, to + begin, fn);
        });
  });
}

// Applies fn(T) -> T where IsNearZero, as finite numbers of float16 are, and
// exact(T) -> T elsewhere.
template <typename Fn, typename Exact>
absl::StatusOr<Tensor> MapAngle(absl::string_view name, const Tensor& x,
                                const Fn& fn, const Exact& exact) {
  if (x.dtype() == DType::Float(16)) return MapFloat16As(x, fn);
  return MapFloatRuns(name, x, [=](const auto* from, int64_t n, auto* to) {
    internal::RunWithExceptions(
        n, to,
        [from, fn](int64_t i, bool& served) BATON_LOOP {
          served = internal::IsNearZero(from[i]);
          return fn(from[i]);
        },
        [from, exact](int64_t i) { return exact(from[i]); });
  });
}

// Applies plain(float) -> float to blocks of float16 that are all positive and
// finite, and fn(float) -> float to others.
template <typename Plain, typename Fn>
absl::StatusOr<Tensor> MapFloat16Logarithm(const Tensor& x, const Plain& plain,
                                           const Fn& fn) {
  return MapFloat16(x, [=](const uint16_t* from, int64_t n, uint16_t* to) {
    constexpr int64_t kBlock = 2048;
    for (int64_t i = 0; i < n; i += kBlock) {
      const uint16_t* in = from + i;
      const int64_t count = std::min(kBlock, n - i);
      uint16_t any = 0;
      internal::RunLoop([=, &any]() BATON_LOOP {
        uint16_t exceptions = 0;
        for (int64_t j = 0; j < count; ++j) {
          // The bits of those that are positive and finite are 1 to 0x7bff.
          exceptions |= static_cast<uint16_t>(in[j] - 1u) < 0x7bffu ? 0 : 1;
        }
        any = exceptions;
      });
      if (any == 0) {
        internal::MapHalves(in, count, to + i, plain);
      } else {
        internal::MapHalves(in, count, to + i, fn);
      }
    }
  });
}

// Applies fn(bits) to half floats as they are stored, for functions of the sign
// alone.
template <typename Fn>
absl::StatusOr<Tensor> MapSign(Operand x, const Fn& fn) {
  return Map<uint16_t, uint16_t>(x, x->dtype(), fn);
}

// Applies fn(T) -> T to integers as well.
template <typename Fn>
absl::StatusOr<Tensor> MapNumeric(absl::string_view name, Operand x,
                                  const Fn& fn) {
  if (internal::IsHalf(x->dtype())) return MapFloat(name, *x, fn);
  return internal::VisitNumeric(name, x->dtype(), [&]<typename T>() {
    return Map<T, T>(x, x->dtype(), fn);
  });
}

// Rounds floats with `instruction` on processors that have one for it, with
// `steps`, which compute the same, on others. Integers are whole already.
template <typename Instruction, typename Steps>
absl::StatusOr<Tensor> MapRounding(absl::string_view name, const Tensor& x,
                                   const Instruction& instruction,
                                   const Steps& steps) {
  if (x.dtype().is_integral() && !x.dtype().is_bool()) return x;
  if (internal::WidestVectors() == internal::Vectors::k128) {
    return MapFloat(name, x, steps);
  }
  return MapFloat(name, x, instruction);
}

// Asks a question of each element; of an integer the answer is `of_integer`.
template <typename Fn>
absl::StatusOr<Tensor> MapQuestion(absl::string_view name, const Tensor& x,
                                   uint8_t of_integer, const Fn& fn) {
  BATON_ASSIGN_OR_RETURN(const Tensor wide, internal::WidenHalf(name, x));
  if (wide.dtype().is_integral()) {
    BATON_ASSIGN_OR_RETURN(MutableTensor result, MutableTensor::Uninitialized(
                                                     DType::Bool(), x.shape()));
    std::fill_n(static_cast<uint8_t*>(result.data()), x.num_elements(),
                of_integer);
    return std::move(result).Freeze();
  }
  return internal::VisitFloat(name, wide.dtype(), [&]<typename T>() {
    return Map<uint8_t, T>(wide, DType::Bool(),
                           [fn](T v) BATON_LOOP -> uint8_t { return fn(v); });
  });
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

#define BATON_FLOAT_FUNCTION(Name, name, steps, expr)                          \
  absl::StatusOr<Tensor> Name(const Tensor& x) {                               \
    return MapFloat<steps>(name, x, [](auto v) BATON_LOOP { return (expr); }); \
  }

BATON_FLOAT_FUNCTION(Sqrt, "sqrt", Steps::kFew, std::sqrt(v))
BATON_FLOAT_FUNCTION(Rsqrt, "rsqrt", Steps::kFew, 1 / std::sqrt(v))
BATON_FLOAT_FUNCTION(Asin, "asin", Steps::kFew, internal::Asin(v))
BATON_FLOAT_FUNCTION(Atan, "atan", Steps::kMany, internal::Atan(v))
BATON_FLOAT_FUNCTION(Asinh, "asinh", Steps::kMany, internal::Asinh(v))
BATON_FLOAT_FUNCTION(Acosh, "acosh", Steps::kMany, internal::Acosh(v))
BATON_FLOAT_FUNCTION(Atanh, "atanh", Steps::kMany, internal::Atanh(v))
BATON_FLOAT_FUNCTION(Sigmoid, "sigmoid", Steps::kFew, internal::Sigmoid(v))
BATON_FLOAT_FUNCTION(Erf, "erf", Steps::kMany, internal::Erf(v))

#undef BATON_FLOAT_FUNCTION

// With fewer steps for float16.
#define BATON_FLOAT_FUNCTION(Name, name)                              \
  absl::StatusOr<Tensor> Name(const Tensor& x) {                      \
    return MapFloat(                                                  \
        name, x, [](auto v) BATON_LOOP { return internal::Name(v); }, \
        [](float v) BATON_LOOP { return internal::half::Name(v); });  \
  }

BATON_FLOAT_FUNCTION(Acos, "acos")
BATON_FLOAT_FUNCTION(Sinh, "sinh")
BATON_FLOAT_FUNCTION(Cosh, "cosh")
BATON_FLOAT_FUNCTION(Tanh, "tanh")

#undef BATON_FLOAT_FUNCTION

absl::StatusOr<Tensor> Exp(const Tensor& x) {
  if (x.dtype() == DType::Float(16)) {
    return MapFloat16As(
        x, [](float v) BATON_LOOP { return internal::half::Exp(v); });
  }
  return MapPlain(
      "exp", x,
      [](auto v, bool& served) BATON_LOOP {
        served = internal::IsPlainExp(v);
        return internal::PlainExp(v);
      },
      [](auto v) BATON_LOOP { return internal::Exp(v); });
}

#define BATON_LOGARITHM(Name, name)                                          \
  absl::StatusOr<Tensor> Name(const Tensor& x) {                             \
    if (x.dtype() == DType::Float(16)) {                                     \
      return MapFloat16Logarithm(                                            \
          x,                                                                 \
          [](float v) BATON_LOOP { return internal::half::Plain##Name(v); }, \
          [](float v) BATON_LOOP { return internal::half::Name(v); });       \
    }                                                                        \
    return MapPlain(                                                         \
        name, x,                                                             \
        []<typename T>(T v, bool& served) BATON_LOOP {                       \
          served = internal::IsNormalPositive(v);                            \
          return internal::Normal##Name(v, T(0));                            \
        },                                                                   \
        [](auto v) BATON_LOOP { return internal::Name(v); });                \
  }

BATON_LOGARITHM(Log, "log")
BATON_LOGARITHM(Log2, "log2")
BATON_LOGARITHM(Log10, "log10")

#undef BATON_LOGARITHM

absl::StatusOr<Tensor> Sin(const Tensor& x) {
  return MapAngle(
      "sin", x, [](auto v) BATON_LOOP { return internal::Sin(v); },
      [](auto v) { return std::sin(v); });
}

absl::StatusOr<Tensor> Cos(const Tensor& x) {
  return MapAngle(
      "cos", x, [](auto v) BATON_LOOP { return internal::Cos(v); },
      [](auto v) { return std::cos(v); });
}

absl::StatusOr<Tensor> Tan(const Tensor& x) {
  return MapAngle(
      "tan", x, [](auto v) BATON_LOOP { return internal::Tan(v); },
      [](auto v) { return std::tan(v); });
}

absl::StatusOr<Tensor> Negative(Operand x) {
  if (internal::IsHalf(x->dtype())) {
    return MapSign(x, [](uint16_t v) BATON_LOOP -> uint16_t {
      return static_cast<uint16_t>(v ^ 0x8000u);
    });
  }
  return MapNumeric("negative", x, []<typename T>(T v) BATON_LOOP -> T {
    if constexpr (std::is_integral_v<T>) {
      using U = internal::Wrapping<T>;
      return static_cast<T>(U(0) - static_cast<U>(v));
    } else {
      return -v;
    }
  });
}

absl::StatusOr<Tensor> Abs(Operand x) {
  if (internal::IsHalf(x->dtype())) {
    return MapSign(x, [](uint16_t v) BATON_LOOP -> uint16_t {
      return static_cast<uint16_t>(v & 0x7fffu);
    });
  }
  return MapNumeric("abs", x, []<typename T>(T v) BATON_LOOP -> T {
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

absl::StatusOr<Tensor> Sign(Operand x) {
  return MapNumeric("sign", x, []<typename T>(T v) BATON_LOOP -> T {
    if (v > 0) return 1;
    if constexpr (!std::is_unsigned_v<T>) {
      if (v < 0) return static_cast<T>(-1);
    }
    return v != v ? v : T(0);
  });
}

absl::StatusOr<Tensor> Relu(Operand x) {
  return MapNumeric("relu", x, []<typename T>(T v) BATON_LOOP -> T {
    if constexpr (std::is_unsigned_v<T>) {
      return v;
    } else {
      return v < 0 ? T(0) : v;
    }
  });
}

absl::StatusOr<Tensor> Ceil(const Tensor& x) {
  return MapRounding(
      "ceil", x, [](auto v) BATON_LOOP { return std::ceil(v); },
      [](auto v) BATON_LOOP { return internal::Ceil(v); });
}

absl::StatusOr<Tensor> Floor(const Tensor& x) {
  return MapRounding(
      "floor", x, [](auto v) BATON_LOOP { return std::floor(v); },
      [](auto v) BATON_LOOP { return internal::Floor(v); });
}

absl::StatusOr<Tensor> Round(const Tensor& x) {
  return MapRounding(
      "round", x, [](auto v) BATON_LOOP { return std::nearbyint(v); },
      [](auto v) BATON_LOOP { return internal::Round(v); });
}

absl::StatusOr<Tensor> Trunc(const Tensor& x) {
  return MapRounding(
      "trunc", x, [](auto v) BATON_LOOP { return std::trunc(v); },
      [](auto v) BATON_LOOP { return internal::Trunc(v); });
}

absl::StatusOr<Tensor> IsNan(const Tensor& x) {
  return MapQuestion("isnan", x, 0,
                     [](auto v) BATON_LOOP { return std::isnan(v); });
}

absl::StatusOr<Tensor> IsInf(const Tensor& x) {
  return MapQuestion("isinf", x, 0,
                     [](auto v) BATON_LOOP { return std::isinf(v); });
}

absl::StatusOr<Tensor> IsFinite(const Tensor& x) {
  return MapQuestion("isfinite", x, 1,
                     [](auto v) BATON_LOOP { return std::isfinite(v); });
}

absl::StatusOr<Tensor> LogicalNot(const Tensor& x) {
  if (!x.dtype().is_bool()) {
    return internal::UnsupportedDType("logical_not", x.dtype());
  }
  return Map<uint8_t, uint8_t>(
      x, DType::Bool(), [](uint8_t v) BATON_LOOP -> uint8_t { return v == 0; });
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
                           [](T v) BATON_LOOP { return static_cast<T>(~v); });
        } else {
          return internal::UnsupportedDType("bitwise_not", x.dtype());
        }
      });
}

absl::StatusOr<Tensor> Clip(Operand x, double low, double high) {
  return MapNumeric("clip", x, [low, high]<typename T>(T v) BATON_LOOP -> T {
    const T min = ClampBound<T>(low);
    const T max = ClampBound<T>(high);
    const T raised = v < min ? min : v;
    return raised > max ? max : raised;
  });
}

absl::StatusOr<Tensor> LeakyRelu(const Tensor& x, double alpha) {
  return MapFloat("leaky_relu", x, [alpha]<typename T>(T v) BATON_LOOP -> T {
    return v > 0 ? v : static_cast<T>(alpha) * v;
  });
}

}  // namespace baton::kernels
