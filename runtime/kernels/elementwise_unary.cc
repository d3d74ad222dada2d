#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/runtime/kernels/elementwise_kernels.h"
#include "baton/runtime/kernels/internal/binary_dtypes.h"
#include "baton/runtime/kernels/internal/convert.h"
#include "baton/runtime/kernels/internal/half.h"
#include "baton/runtime/kernels/internal/math.h"
#include "baton/runtime/kernels/internal/unary.h"
#include "baton/runtime/kernels/internal/util.h"
#include "baton/runtime/kernels/internal/vectorize.h"
#include "baton/runtime/kernels/operand.h"

namespace baton::kernels {
namespace {

using internal::kMemoryBound;
using internal::kWidestFor;
using internal::Map;
using internal::Vectors;

// Applies fn(T) -> T to float32, float64 and half floats.
template <Vectors kWidest = kMemoryBound, typename Fn>
absl::StatusOr<Tensor> MapFloat(absl::string_view name, const Tensor& x,
                                const Fn& fn) {
  if (x.dtype() == DType::Float(16)) {
    return internal::MapFloat16<kWidest>(x, fn);
  }
  return internal::MapFloatRuns(name, x,
                                [&fn](const auto* from, int64_t n, auto* to) {
                                  internal::MapRun<kWidest>(from, n, to, fn);
                                });
}

// Applies fn(U, sign) -> U to floats of any size as they are stored, for
// functions of the sign alone, the bit `sign`.
template <typename Fn>
absl::StatusOr<Tensor> MapSign(absl::string_view name, Operand x,
                               const Fn& fn) {
  const auto map = [&]<typename U>(U sign) {
    return Map<U, U, kMemoryBound>(x, x->dtype(), [fn, sign](U v) BATON_LOOP {
      return static_cast<U>(fn(v, sign));
    });
  };
  if (x->dtype().is_half()) return map(uint16_t{0x8000});
  if (x->dtype() == DType::Float(32)) return map(uint32_t{1} << 31);
  if (x->dtype() == DType::Float(64)) return map(uint64_t{1} << 63);
  return internal::UnsupportedDType(name, x->dtype());
}

// Applies fn(T) -> T to integers.
template <typename Fn>
absl::StatusOr<Tensor> MapInteger(absl::string_view name, Operand x,
                                  const Fn& fn) {
  return internal::VisitNumeric(
      name, x->dtype(), [&]<typename T>() -> absl::StatusOr<Tensor> {
        if constexpr (std::is_integral_v<T>) {
          return Map<T, T, kWidestFor<T>>(x, x->dtype(), fn);
        } else {
          return internal::UnsupportedDType(name, x->dtype());
        }
      });
}

// Applies fn(T) -> T to floats and integers.
template <typename Fn>
absl::StatusOr<Tensor> MapNumeric(absl::string_view name, Operand x,
                                  const Fn& fn) {
  if (x->dtype().is_half()) return MapFloat(name, *x, fn);
  return internal::VisitNumeric(name, x->dtype(), [&]<typename T>() {
    return Map<T, T, kWidestFor<T>>(x, x->dtype(), fn);
  });
}

// Rounds floats with `instruction` on processors that have one for it, with
// `steps`, which compute the same, on others. Integers are whole already.
template <typename Instruction, typename Steps>
absl::StatusOr<Tensor> MapRounding(absl::string_view name, const Tensor& x,
                                   const Instruction& instruction,
                                   const Steps& steps) {
  if (x.dtype().is_integral() && !x.dtype().is_bool()) return x;
  if (internal::WidestVectors() == Vectors::k128) {
    return MapFloat<Vectors::k128>(name, x, steps);
  }
  return MapFloat(name, x, instruction);
}

// Computes a bool for each element; for integers it is `of_integer`.
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
    return Map<uint8_t, T, kMemoryBound>(
        wide, DType::Bool(), [fn](T v) BATON_LOOP -> uint8_t { return fn(v); });
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

absl::StatusOr<Tensor> Negative(Operand x) {
  if (x->dtype().is_float()) {
    return MapSign("negative", x,
                   [](auto v, auto sign) BATON_LOOP { return v ^ sign; });
  }
  if (x->dtype().is_bool()) {
    return internal::UnsupportedDType("negative", x->dtype());
  }
  return internal::VisitSize("negative", x->dtype(), [&]<typename U>() {
    return Map<U, U, kMemoryBound>(x, x->dtype(), [](U v) BATON_LOOP -> U {
      using W = internal::Wrapping<U>;
      return static_cast<U>(W(0) - static_cast<W>(v));
    });
  });
}

absl::StatusOr<Tensor> Abs(Operand x) {
  if (x->dtype().is_float()) {
    return MapSign("abs", x, [](auto v, auto sign) BATON_LOOP {
      return v & static_cast<decltype(v)>(~sign);
    });
  }
  if (x->dtype().is_uint() && !x->dtype().is_bool()) return *x;
  return MapInteger("abs", x, []<typename T>(T v) BATON_LOOP -> T {
    using U = internal::Wrapping<T>;
    return v < 0 ? static_cast<T>(U(0) - static_cast<U>(v)) : v;
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
  if (x->dtype().is_uint() && !x->dtype().is_bool()) return *x;
  return MapNumeric("relu", x, []<typename T>(T v) BATON_LOOP -> T {
    return v < 0 ? T(0) : v;
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
  return Map<uint8_t, uint8_t, kMemoryBound>(
      x, DType::Bool(), [](uint8_t v) BATON_LOOP -> uint8_t { return v == 0; });
}

absl::StatusOr<Tensor> BitwiseNot(const Tensor& x) {
  if (x.dtype().is_bool()) return LogicalNot(x);
  if (!x.dtype().is_integral()) {
    return internal::UnsupportedDType("bitwise_not", x.dtype());
  }
  return internal::VisitSize("bitwise_not", x.dtype(), [&]<typename U>() {
    return Map<U, U, kMemoryBound>(
        x, x.dtype(), [](U v) BATON_LOOP { return static_cast<U>(~v); });
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
