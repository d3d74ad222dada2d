#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/runtime/kernels/elementwise_kernels.h"
#include "baton/runtime/kernels/internal/binary.h"
#include "baton/runtime/kernels/internal/binary_dtypes.h"
#include "baton/runtime/kernels/internal/convert.h"
#include "baton/runtime/kernels/internal/integer_checks.h"
#include "baton/runtime/kernels/internal/math.h"
#include "baton/runtime/kernels/internal/util.h"
#include "baton/runtime/kernels/internal/vectorize.h"
#include "baton/runtime/kernels/operand.h"

// Quotients, remainders and powers.

namespace baton::kernels {
namespace {

using internal::InFloat;
using internal::MapReal;
using internal::Vectors;
using internal::Wrapping;

// The widest clone of a loop that divides integers.
template <typename T>
constexpr Vectors kWidestDivision =
    std::is_signed_v<T> ? Vectors::k512 : internal::kMemoryBound;

// Returns whether `v` is in the domain of PlainQuotient.
template <typename T>
BATON_LOOP inline bool IsPlainOperand(T v) {
  if constexpr (sizeof(T) < 8) {
    return true;
  } else {
    // From -2^51 (0 if T is unsigned) to 2^51.
    constexpr uint64_t kBias =
        std::is_signed_v<T> ? uint64_t{1} << 51 : uint64_t{0};
    constexpr int kBits = std::is_signed_v<T> ? 52 : 51;
    return (static_cast<uint64_t>(v) + kBias) >> kBits == 0;
  }
}

// Truncated quotient of integers, y != 0, computed in floats: they hold the
// operands, with a place to spare, so that no quotient is rounded to an integer
// that it is less than.
template <typename T>
BATON_LOOP inline T PlainQuotient(T x, T y) {
  if constexpr (sizeof(T) < 4) {
    const float quotient = static_cast<float>(x) / static_cast<float>(y);
    return static_cast<T>(static_cast<int32_t>(quotient));
  } else {
    // From this number on the last bits of a double are an integer.
    constexpr double kMagic = 0x1.8p52;
    constexpr uint64_t kMagicBits = std::bit_cast<uint64_t>(kMagic);
    const auto real = [](T v) BATON_LOOP {
      if constexpr (sizeof(T) == 4) {
        return static_cast<double>(v);
      } else {
        return std::bit_cast<double>(static_cast<uint64_t>(v) + kMagicBits) -
               kMagic;
      }
    };
    const double quotient = std::trunc(real(x) / real(y));
    return static_cast<T>(std::bit_cast<uint64_t>(quotient + kMagic) -
                          kMagicBits);
  }
}

template <typename T>
T Quotient(T x, T y) {
  if constexpr (std::is_signed_v<T>) {
    if (y == -1) {
      return static_cast<T>(Wrapping<T>(0) - static_cast<Wrapping<T>>(x));
    }
  }
  return static_cast<T>(x / y);
}

// Returns the remainder of x for `quotient`.
template <typename T>
BATON_LOOP inline T RemainderOf(T quotient, T x, T y) {
  using U = Wrapping<T>;
  return static_cast<T>(static_cast<U>(x) -
                        static_cast<U>(quotient) * static_cast<U>(y));
}

// Returns 1 if the quotient of x and y, with the remainder `remainder`, is
// rounded down to one less than the truncated one; else 0.
template <typename T>
BATON_LOOP inline int IsRoundedDown(T remainder, T y) {
  if constexpr (std::is_unsigned_v<T>) {
    return 0;
  } else {
    // A remainder has the sign of x.
    return (remainder != 0 ? 1 : 0) & ((remainder ^ y) < 0 ? 1 : 0);
  }
}

// Whole runs of T, without a computation in place: a tensor of the dtype of `a`
// that loop(const T*, const T*, int64_t n, T*) fills.
template <typename T, typename Loop>
absl::StatusOr<Tensor> MapRunsOf(absl::string_view name, const Tensor& a,
                                 const Tensor& b, const Loop& loop) {
  return internal::MapWholeRuns(
      name, a, b, a.dtype(),
      [&loop](const void* x, const void* y, void* z, int64_t n) {
        loop(static_cast<const T*>(x), static_cast<const T*>(y), n,
             static_cast<T*>(z));
      });
}

// fn(x, y, their truncated quotient) of integers T, y != 0.
template <typename T, typename Fn>
absl::StatusOr<Tensor> MapQuotient(absl::string_view name, const Tensor& a,
                                   const Tensor& b, const Fn& fn) {
  return MapRunsOf<T>(name, a, b,
                      [fn](const T* x, const T* y, int64_t n, T* z) {
                        internal::RunFastPath<int32_t, kWidestDivision<T>>(
                            n, z,
                            [=](int64_t i, bool& in_domain) BATON_LOOP {
                              in_domain = ((IsPlainOperand(x[i]) ? 1 : 0) &
                                           (IsPlainOperand(y[i]) ? 1 : 0)) != 0;
                              return fn(x[i], y[i], PlainQuotient(x[i], y[i]));
                            },
                            [=](int64_t begin, int64_t end) {
                              for (int64_t i = begin; i < end; ++i) {
                                z[i] = fn(x[i], y[i], Quotient(x[i], y[i]));
                              }
                            });
                      });
}

// As above for integers of any dtype. Rare dtypes are computed in a type that
// holds them all.
template <typename Fn>
absl::StatusOr<Tensor> MapIntegers(absl::string_view name, const Tensor& a,
                                   const Tensor& b, const Fn& fn) {
  BATON_RETURN_IF_ERROR(internal::CheckSameDType(name, a, b));
  const DType dtype = a.dtype();
  if (!dtype.is_integral() || !dtype.IsStorable() || dtype.is_bool()) {
    return internal::UnsupportedDType(name, dtype);
  }
  if (dtype == DType::Int(8)) return MapQuotient<int8_t>(name, a, b, fn);
  if (dtype == DType::Int(32)) return MapQuotient<int32_t>(name, a, b, fn);
  if (dtype == DType::Int(64)) return MapQuotient<int64_t>(name, a, b, fn);
  if (dtype == DType::UInt(64)) return MapQuotient<uint64_t>(name, a, b, fn);
  const DType wide = DType::Int(dtype == DType::UInt(32) ? 64 : 32);
  BATON_ASSIGN_OR_RETURN(const Tensor x, internal::Convert(name, a, wide));
  BATON_ASSIGN_OR_RETURN(const Tensor y, internal::Convert(name, b, wide));
  BATON_ASSIGN_OR_RETURN(const Tensor result, MapIntegers(name, x, y, fn));
  return internal::Convert(name, result, dtype);
}

// Runs a function of floats: remainder(T, T, bool& in_domain) -> T in its
// domain, and exact(T, T) -> T elsewhere.
template <typename Fn, typename Exact>
absl::StatusOr<Tensor> MapRemainders(absl::string_view name, const Tensor& a,
                                     const Tensor& b, const Fn& remainder,
                                     const Exact& exact) {
  BATON_RETURN_IF_ERROR(internal::CheckSameDType(name, a, b));
  return InFloat(name, a, b, [&](Operand left, Operand right) {
    return internal::VisitFloat(name, left->dtype(), [&]<typename T>() {
      return MapRunsOf<T>(
          name, *left, *right, [=](const T* x, const T* y, int64_t n, T* z) {
            internal::RunFastElements(
                n, z,
                [=](int64_t i, bool& in_domain)
                    BATON_LOOP { return remainder(x[i], y[i], in_domain); },
                [=](int64_t i) { return exact(x[i], y[i]); });
          });
    });
  });
}

// Powers of integers, as their bits, y >= 0: squares, multiplied where a bit of
// the exponent is set, bit by bit for a block of elements, so that the loops
// become vectors.
template <typename U>
void IntegerPowers(const U* x, const U* y, int64_t n, U* z) {
  constexpr Vectors kWidest =
      sizeof(U) == 2 ? internal::kMemoryBound : Vectors::k512;
  internal::RunLoop<kWidest>([=]() BATON_LOOP {
    constexpr int64_t kBlock = 1024;
    U squares[kBlock];
    for (int64_t begin = 0; begin < n; begin += kBlock) {
      const int64_t count = internal::WholeRuns(std::min(kBlock, n - begin));
      const U* exponents = y + begin;
      U* powers = z + begin;
      U left_over = 0;
      for (int64_t i = 0; i != count; ++i) {
        powers[i] = 1;
        squares[i] = x[begin + i];
        left_over |= exponents[i];
      }
      for (int bit = 0; left_over != 0; ++bit, left_over >>= 1) {
        for (int64_t i = 0; i != count; ++i) {
          const Wrapping<U> square = squares[i];
          const U product = static_cast<U>(powers[i] * square);
          powers[i] = ((exponents[i] >> bit) & 1) != 0 ? product : powers[i];
          squares[i] = static_cast<U>(square * square);
        }
      }
    }
  });
}

// T is float or double.
template <typename T>
void Powers(const T* x, const T* y, int64_t n, T* z) {
  // Four vectors at a time.
  using Flag = std::conditional_t<sizeof(T) == 8, uint16_t, uint8_t>;
  internal::RunFastPath<Flag>(
      n, z,
      [=](int64_t i, bool& in_domain)
          BATON_LOOP { return internal::PlainPower(x[i], y[i], in_domain); },
      [=](int64_t begin, int64_t end) {
        internal::RunFastElements(
            end - begin, z + begin,
            [=](int64_t i, bool& in_domain) BATON_LOOP {
              const T base = x[begin + i], exponent = y[begin + i];
              in_domain = internal::IsOrdinaryPower(base, exponent);
              return internal::Power(base, exponent);
            },
            [=](int64_t i) { return std::pow(x[begin + i], y[begin + i]); });
      });
}

}  // namespace

absl::StatusOr<Tensor> Divide(Operand a, Operand b) {
  constexpr char kName[] = "divide";
  if (a->dtype().is_float()) {
    return MapReal(kName, a, b,
                   [](auto x, auto y) BATON_LOOP { return x / y; });
  }
  BATON_RETURN_IF_ERROR(
      internal::CheckDivisors(kName, "integer division by zero", *a, *b));
  return MapIntegers(kName, *a, *b,
                     []<typename T>(T, T, T quotient)
                         BATON_LOOP -> T { return quotient; });
}

absl::StatusOr<Tensor> FloorDivide(const Tensor& a, const Tensor& b) {
  constexpr char kName[] = "floor_divide";
  if (a.dtype().is_float()) {
    return MapReal(kName, a, b, [](auto x, auto y) BATON_LOOP {
      return internal::Floor(x / y);
    });
  }
  BATON_RETURN_IF_ERROR(
      internal::CheckDivisors(kName, "integer division by zero", a, b));
  return MapIntegers(
      kName, a, b, []<typename T>(T x, T y, T quotient) BATON_LOOP -> T {
        return static_cast<T>(static_cast<Wrapping<T>>(quotient) -
                              IsRoundedDown(RemainderOf(quotient, x, y), y));
      });
}

absl::StatusOr<Tensor> Mod(const Tensor& a, const Tensor& b) {
  constexpr char kName[] = "mod";
  if (a.dtype().is_float()) {
    return MapRemainders(
        kName, a, b,
        [](auto x, auto y, bool& in_domain)
            BATON_LOOP { return internal::Remainder(x, y, in_domain); },
        [](auto x, auto y) { return std::fmod(x, y); });
  }
  BATON_RETURN_IF_ERROR(
      internal::CheckDivisors(kName, "integer modulo by zero", a, b));
  return MapIntegers(kName, a, b,
                     []<typename T>(T x, T y, T quotient) BATON_LOOP -> T {
                       return RemainderOf(quotient, x, y);
                     });
}

absl::StatusOr<Tensor> FloorMod(const Tensor& a, const Tensor& b) {
  constexpr char kName[] = "floor_mod";
  if (a.dtype().is_float()) {
    constexpr auto kFloored = []<typename T>(T remainder, T y) BATON_LOOP {
      const int differ = (remainder < T(0) ? 1 : 0) ^ (y < T(0) ? 1 : 0);
      const T other = remainder + y;
      return (differ & (remainder != T(0) ? 1 : 0)) != 0 ? other : remainder;
    };
    return MapRemainders(
        kName, a, b,
        [=](auto x, auto y, bool& in_domain) BATON_LOOP {
          return kFloored(internal::Remainder(x, y, in_domain), y);
        },
        [=](auto x, auto y) { return kFloored(std::fmod(x, y), y); });
  }
  BATON_RETURN_IF_ERROR(
      internal::CheckDivisors(kName, "integer modulo by zero", a, b));
  return MapIntegers(
      kName, a, b, []<typename T>(T x, T y, T quotient) BATON_LOOP -> T {
        const T remainder = RemainderOf(quotient, x, y);
        return static_cast<T>(static_cast<Wrapping<T>>(remainder) +
                              (IsRoundedDown(remainder, y) != 0
                                   ? static_cast<Wrapping<T>>(y)
                                   : 0));
      });
}

absl::StatusOr<Tensor> Power(const Tensor& a, const Tensor& b) {
  constexpr char kName[] = "power";
  BATON_RETURN_IF_ERROR(internal::CheckExponents(kName, a, b));
  BATON_RETURN_IF_ERROR(internal::CheckSameDType(kName, a, b));
  if (a.dtype().is_float()) {
    return InFloat(kName, a, b, [&](Operand x, Operand y) {
      // Squares are products for Powers, too, which is slower.
      if (y->num_elements() == 1 && y->AtAsDouble(0) == 2) {
        const TensorShape shape(y->shape().begin(), y->shape().end());
        if (shape.empty()) return Multiply(*x, *x);
      }
      return internal::VisitFloat(kName, x->dtype(), [&]<typename T>() {
        return MapRunsOf<T>(kName, *x, *y, Powers<T>);
      });
    });
  }
  if (a.dtype().is_bool()) return internal::UnsupportedDType(kName, a.dtype());
  return internal::VisitSize(kName, a.dtype(), [&]<typename U>() {
    return MapRunsOf<U>(kName, a, b, IntegerPowers<U>);
  });
}

}  // namespace baton::kernels
