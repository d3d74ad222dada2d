#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/runtime/kernels/elementwise.h"
#include "baton/runtime/kernels/internal/binary.h"
#include "baton/runtime/kernels/internal/convert.h"
#include "baton/runtime/kernels/internal/math.h"
#include "baton/runtime/kernels/internal/util.h"
#include "baton/runtime/kernels/internal/vectorize.h"
#include "baton/runtime/kernels/operand.h"

namespace baton::kernels {
namespace {

using internal::Error;
using internal::Loops;
using internal::MapBinary;
using internal::Wrapping;

// fn(a, b), which computes half floats in float32.
template <typename Fn>
absl::StatusOr<Tensor> InFloat(absl::string_view name, Operand a, Operand b,
                               const Fn& fn) {
  if (!internal::IsHalf(a->dtype()) && !internal::IsHalf(b->dtype())) {
    return fn(a, b);
  }
  BATON_ASSIGN_OR_RETURN(Tensor x, internal::WidenHalf(name, *a));
  BATON_ASSIGN_OR_RETURN(Tensor y, internal::WidenHalf(name, *b));
  BATON_ASSIGN_OR_RETURN(const Tensor result, fn(std::move(x), std::move(y)));
  return internal::Convert(name, result, a->dtype());
}

// fn(T, T) -> T over floating and integer dtypes.
template <Loops kLoops, typename Fn>
absl::StatusOr<Tensor> MapNumeric(absl::string_view name, Operand a, Operand b,
                                  const Fn& fn) {
  BATON_RETURN_IF_ERROR(internal::CheckSameDType(name, *a, *b));
  return InFloat(name, a, b, [&](Operand x, Operand y) {
    return internal::VisitNumeric(name, x->dtype(), [&]<typename T>() {
      return MapBinary<T, T, kLoops>(name, x, y, x->dtype(), fn);
    });
  });
}

// fn(U, U) -> U over integers, as unsigned, and over bool as bytes 0 and 1.
template <typename Fn>
absl::StatusOr<Tensor> MapBits(absl::string_view name, Operand a, Operand b,
                               const Fn& fn) {
  BATON_RETURN_IF_ERROR(internal::CheckSameDType(name, *a, *b));
  const DType dtype = a->dtype();
  if (dtype.is_integral() && dtype.IsStorable()) {
    switch (dtype.bytes()) {
      case 1:
        return MapBinary<uint8_t, uint8_t, Loops::kWidest>(name, a, b, dtype,
                                                           fn);
      case 2:
        return MapBinary<uint16_t, uint16_t, Loops::kWidest>(name, a, b, dtype,
                                                             fn);
      case 4:
        return MapBinary<uint32_t, uint32_t, Loops::kWidest>(name, a, b, dtype,
                                                             fn);
      case 8:
        return MapBinary<uint64_t, uint64_t, Loops::kWidest>(name, a, b, dtype,
                                                             fn);
    }
  }
  return internal::UnsupportedDType(name, dtype);
}

// fn(T, T) -> T over floating dtypes.
template <typename Fn>
absl::StatusOr<Tensor> MapReal(absl::string_view name, Operand a, Operand b,
                               const Fn& fn) {
  BATON_RETURN_IF_ERROR(internal::CheckSameDType(name, *a, *b));
  return InFloat(name, a, b, [&](Operand x, Operand y) {
    return internal::VisitFloat(name, x->dtype(), [&]<typename T>() {
      return MapBinary<T, T, Loops::kWidest>(name, x, y, x->dtype(), fn);
    });
  });
}

// Sums, differences and products of integers have the same bits whether they
// are signed or not.
template <typename Fn>
absl::StatusOr<Tensor> MapWrapping(absl::string_view name, Operand a, Operand b,
                                   const Fn& fn) {
  if (a->dtype().is_integral() && !a->dtype().is_bool()) {
    return MapBits(name, a, b, [fn]<typename U>(U x, U y) BATON_LOOP {
      return static_cast<U>(
          fn(static_cast<Wrapping<U>>(x), static_cast<Wrapping<U>>(y)));
    });
  }
  return MapReal(name, a, b, fn);
}

// `bad(y)` of an element of the integer tensor `b` is an error, unless the
// result has no elements.
template <typename Bad>
absl::Status CheckIntegers(absl::string_view name, const Tensor& a,
                           const Tensor& b, absl::string_view what,
                           const Bad& bad) {
  if (!b.dtype().is_integral() || a.num_elements() == 0) {
    return absl::OkStatus();
  }
  const absl::StatusOr<Tensor> checked = internal::VisitNumeric(
      name, b.dtype(), [&]<typename T>() -> absl::StatusOr<Tensor> {
        const T* y = internal::Data<T>(b);
        int found = 0;
        internal::RunLoop([=, &found, n = b.num_elements()]() BATON_LOOP {
          // Without a way out of the loop, so that it becomes vectors.
          int any = 0;
          for (int64_t i = 0; i < n; ++i) any |= bad(y[i]) ? 1 : 0;
          found = any;
        });
        if (found != 0) return Error(name, what);
        return b;
      });
  return checked.status();
}

constexpr auto kIsZero = [](auto y) BATON_LOOP { return y == 0; };
constexpr auto kIsNegative = [](auto y) BATON_LOOP {
  if constexpr (std::is_unsigned_v<decltype(y)>) {
    return false;
  } else {
    return y < 0;
  }
};

// Whether PlainQuotient serves for a quotient of such numbers.
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

// What `quotient` leaves of x.
template <typename T>
BATON_LOOP inline T RemainderOf(T quotient, T x, T y) {
  using U = Wrapping<T>;
  return static_cast<T>(static_cast<U>(x) -
                        static_cast<U>(quotient) * static_cast<U>(y));
}

// Whether the quotient of x and y, which leaves `remainder`, is rounded down
// to one less than the truncated one: 1 or 0.
template <typename T>
BATON_LOOP inline int IsRoundedDown(T remainder, T y) {
  if constexpr (std::is_unsigned_v<T>) {
    return 0;
  } else {
    // A remainder has the sign of x.
    return (remainder != 0 ? 1 : 0) & ((remainder ^ y) < 0 ? 1 : 0);
  }
}

// Calls fn(left, right) with functions of i that read the operands of a run,
// which are T.
template <typename T, typename Fn>
void WithOperands(const internal::BinaryRun& run, const Fn& fn) {
  const T* x = static_cast<const T*>(run.a);
  const T* y = static_cast<const T*>(run.b);
  const auto all_x = [x](int64_t i) BATON_LOOP { return x[i]; };
  const auto all_y = [y](int64_t i) BATON_LOOP { return y[i]; };
  const auto one_x = [v = *x](int64_t) BATON_LOOP { return v; };
  const auto one_y = [v = *y](int64_t) BATON_LOOP { return v; };
  if (run.a_stride == 1 && run.b_stride == 1) return fn(all_x, all_y);
  if (run.a_stride == 1) return fn(all_x, one_y);
  if (run.b_stride == 1) return fn(one_x, all_y);
  fn(one_x, one_y);
}

// Of floats: remainder(T, T, bool& served) -> T where it serves, and
// exact(T, T) -> T elsewhere.
template <typename T, typename Fn, typename Exact>
void RunRemainders(const internal::BinaryRun& run, const Fn& remainder,
                   const Exact& exact) {
  WithOperands<T>(run, [&](const auto& left, const auto& right) {
    internal::RunWithExceptions(
        run.n, static_cast<T*>(run.out),
        [=](int64_t i, bool& served)
            BATON_LOOP { return remainder(left(i), right(i), served); },
        [=](int64_t i) { return exact(left(i), right(i)); });
  });
}

// Of integers, y != 0: fn(x, y, their truncated quotient).
template <typename T, typename Fn>
void DivisionRun(const internal::BinaryRun& run, const Fn& fn) {
  T* z = static_cast<T*>(run.out);
  WithOperands<T>(run, [&run, &fn, z](const auto& left, const auto& right) {
    internal::RunPlain(
        run.n, z,
        [=](int64_t i, bool& served) BATON_LOOP {
          const T x = left(i), y = right(i);
          served =
              ((IsPlainOperand(x) ? 1 : 0) & (IsPlainOperand(y) ? 1 : 0)) != 0;
          return fn(x, y, PlainQuotient(x, y));
        },
        [=](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) {
            z[i] = fn(left(i), right(i), Quotient(left(i), right(i)));
          }
        });
  });
}

// Of integers: fill<T>(run) computes a run, not in place.
template <typename Fill>
absl::StatusOr<Tensor> MapIntegerRuns(absl::string_view name, const Tensor& a,
                                      const Tensor& b, const Fill& fill) {
  BATON_RETURN_IF_ERROR(internal::CheckSameDType(name, a, b));
  return internal::VisitNumeric(
      name, a.dtype(), [&]<typename T>() -> absl::StatusOr<Tensor> {
        if constexpr (std::is_integral_v<T>) {
          return internal::ForEachBinaryRun(
              name, a, b, a.dtype(), [&](const internal::BinaryRun& run) {
                fill.template operator()<T>(run);
              });
        } else {
          return internal::UnsupportedDType(name, a.dtype());
        }
      });
}

// whole(x, y, quotient) of integers.
template <typename Whole>
absl::StatusOr<Tensor> MapIntegers(absl::string_view name, const Tensor& a,
                                   const Tensor& b, const Whole& whole) {
  return MapIntegerRuns(name, a, b,
                        [&]<typename T>(const internal::BinaryRun& run) {
                          DivisionRun<T>(run, whole);
                        });
}

// Of floats: fill<T>(run) computes a run, not in place.
template <typename Fill>
absl::StatusOr<Tensor> MapRealRuns(absl::string_view name, const Tensor& a,
                                   const Tensor& b, const Fill& fill) {
  BATON_RETURN_IF_ERROR(internal::CheckSameDType(name, a, b));
  return InFloat(name, a, b, [&](Operand x, Operand y) {
    return internal::VisitFloat(name, x->dtype(), [&]<typename T>() {
      return internal::ForEachBinaryRun(name, *x, *y, x->dtype(),
                                        [&](const internal::BinaryRun& run) {
                                          fill.template operator()<T>(run);
                                        });
    });
  });
}

// Of integers, y >= 0: squares, multiplied where a bit of the exponent is set,
// bit by bit for a block of elements, so that the loops become vectors.
template <typename T>
void IntegerPowerRun(const internal::BinaryRun& run) {
  using U = std::make_unsigned_t<T>;
  U* z = static_cast<U*>(run.out);
  WithOperands<T>(run, [&run, z](const auto& left, const auto& right) {
    internal::RunLoop([=, size = run.n]() BATON_LOOP {
      constexpr int64_t kBlock = 1024;
      U squares[kBlock];
      for (int64_t begin = 0; begin < size; begin += kBlock) {
        const int64_t n = std::min(kBlock, size - begin);
        U* powers = z + begin;
        U left_over = 0;
        for (int64_t i = 0; i < n; ++i) {
          powers[i] = 1;
          squares[i] = static_cast<U>(left(begin + i));
          left_over |= static_cast<U>(right(begin + i));
        }
        for (int bit = 0; left_over != 0; ++bit, left_over >>= 1) {
          for (int64_t i = 0; i < n; ++i) {
            const Wrapping<U> square = squares[i];
            const U product = static_cast<U>(powers[i] * square);
            const U exponent = static_cast<U>(right(begin + i));
            powers[i] = ((exponent >> bit) & 1) != 0 ? product : powers[i];
            squares[i] = static_cast<U>(square * square);
          }
        }
      }
    });
  });
}

// T is float or double.
template <typename T>
void PowerRun(const internal::BinaryRun& run) {
  T* z = static_cast<T*>(run.out);
  // Four vectors at a time.
  using Flag = std::conditional_t<sizeof(T) == 8, uint16_t, uint8_t>;
  WithOperands<T>(run, [&run, z](const auto& left, const auto& right) {
    internal::RunPlain<Flag>(
        run.n, z,
        [=](int64_t i, bool& served) BATON_LOOP {
          return internal::PlainPower(left(i), right(i), served);
        },
        [=](int64_t begin, int64_t end) {
          internal::RunWithExceptions(
              end - begin, z + begin,
              [=](int64_t i, bool& served) BATON_LOOP {
                const T x = left(begin + i), y = right(begin + i);
                served = internal::IsOrdinaryPower(x, y);
                return internal::Power(x, y);
              },
              [=](int64_t i) {
                return std::pow(left(begin + i), right(begin + i));
              });
        });
  });
}

absl::Status CheckShift(absl::string_view name, const Tensor& a,
                        const Tensor& b) {
  if (a.dtype().is_bool() || !a.dtype().is_integral()) {
    return internal::UnsupportedDType(name, a.dtype());
  }
  return CheckIntegers(
      name, a, b, "shift amount out of range", [](auto y) BATON_LOOP {
        return (kIsNegative(y) ? 1 : 0) |
               (y >= static_cast<decltype(y)>(8 * sizeof(y)) ? 1 : 0);
      });
}

// `v`, of rank 1, shaped to lie along `axis` of `x`.
absl::StatusOr<Tensor> AlongAxis(absl::string_view name, const Tensor& x,
                                 const Tensor& v, int64_t axis) {
  BATON_ASSIGN_OR_RETURN(const int normal,
                         internal::NormalizeAxis(name, axis, x.rank()));
  TensorShape shape(x.shape().size() - static_cast<size_t>(normal), 1);
  shape[0] = v.num_elements();
  return v.Reshaped(shape);
}

}  // namespace

absl::StatusOr<Tensor> Add(Operand a, Operand b) {
  return MapWrapping("add", a, b,
                     [](auto x, auto y) BATON_LOOP { return x + y; });
}

absl::StatusOr<Tensor> Subtract(Operand a, Operand b) {
  return MapWrapping("subtract", a, b,
                     [](auto x, auto y) BATON_LOOP { return x - y; });
}

absl::StatusOr<Tensor> Multiply(Operand a, Operand b) {
  return MapWrapping("multiply", a, b,
                     [](auto x, auto y) BATON_LOOP { return x * y; });
}

absl::StatusOr<Tensor> Divide(Operand a, Operand b) {
  constexpr char kName[] = "divide";
  if (a->dtype().is_float()) {
    return MapReal(kName, a, b,
                   [](auto x, auto y) BATON_LOOP { return x / y; });
  }
  BATON_RETURN_IF_ERROR(
      CheckIntegers(kName, *a, *b, "integer division by zero", kIsZero));
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
      CheckIntegers(kName, a, b, "integer division by zero", kIsZero));
  return MapIntegers(
      kName, a, b, []<typename T>(T x, T y, T quotient) BATON_LOOP -> T {
        return static_cast<T>(static_cast<Wrapping<T>>(quotient) -
                              IsRoundedDown(RemainderOf(quotient, x, y), y));
      });
}

absl::StatusOr<Tensor> Mod(const Tensor& a, const Tensor& b) {
  constexpr char kName[] = "mod";
  if (a.dtype().is_float()) {
    return MapRealRuns(
        kName, a, b, []<typename T>(const internal::BinaryRun& run) {
          RunRemainders<T>(
              run,
              [](T x, T y, bool& served)
                  BATON_LOOP { return internal::Remainder(x, y, served); },
              [](T x, T y) { return std::fmod(x, y); });
        });
  }
  BATON_RETURN_IF_ERROR(
      CheckIntegers(kName, a, b, "integer modulo by zero", kIsZero));
  return MapIntegers(kName, a, b,
                     []<typename T>(T x, T y, T quotient) BATON_LOOP -> T {
                       return RemainderOf(quotient, x, y);
                     });
}

absl::StatusOr<Tensor> FloorMod(const Tensor& a, const Tensor& b) {
  constexpr char kName[] = "floor_mod";
  if (a.dtype().is_float()) {
    return MapRealRuns(
        kName, a, b, []<typename T>(const internal::BinaryRun& run) {
          const auto floored = [](T remainder, T y) BATON_LOOP {
            const int differ = (remainder < T(0) ? 1 : 0) ^ (y < T(0) ? 1 : 0);
            const T other = remainder + y;
            return (differ & (remainder != T(0) ? 1 : 0)) != 0 ? other
                                                               : remainder;
          };
          RunRemainders<T>(
              run,
              [=](T x, T y, bool& served) BATON_LOOP {
                return floored(internal::Remainder(x, y, served), y);
              },
              [=](T x, T y) { return floored(std::fmod(x, y), y); });
        });
  }
  BATON_RETURN_IF_ERROR(
      CheckIntegers(kName, a, b, "integer modulo by zero", kIsZero));
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
  if (a.dtype().is_float()) {
    return MapRealRuns(
        kName, a, b,
        []<typename T>(const internal::BinaryRun& run) { PowerRun<T>(run); });
  }
  BATON_RETURN_IF_ERROR(CheckIntegers(
      kName, a, b, "integer raised to a negative power", kIsNegative));
  return MapIntegerRuns(kName, a, b,
                        []<typename T>(const internal::BinaryRun& run) {
                          IntegerPowerRun<T>(run);
                        });
}

absl::StatusOr<Tensor> Maximum(Operand a, Operand b) {
  if (a->dtype().is_bool()) {
    return MapBits("maximum", a, b,
                   [](auto x, auto y) BATON_LOOP { return x | y; });
  }
  return MapNumeric<Loops::kWidest>("maximum", a, b,
                                    []<typename T>(T x, T y) BATON_LOOP -> T {
                                      return x > y || x != x ? x : y;
                                    });
}

absl::StatusOr<Tensor> Minimum(Operand a, Operand b) {
  if (a->dtype().is_bool()) {
    return MapBits("minimum", a, b,
                   [](auto x, auto y) BATON_LOOP { return x & y; });
  }
  return MapNumeric<Loops::kWidest>("minimum", a, b,
                                    []<typename T>(T x, T y) BATON_LOOP -> T {
                                      return x < y || x != x ? x : y;
                                    });
}

absl::StatusOr<Tensor> BitwiseAnd(const Tensor& a, const Tensor& b) {
  return MapBits("bitwise_and", a, b,
                 [](auto x, auto y) BATON_LOOP { return x & y; });
}

absl::StatusOr<Tensor> BitwiseOr(const Tensor& a, const Tensor& b) {
  return MapBits("bitwise_or", a, b,
                 [](auto x, auto y) BATON_LOOP { return x | y; });
}

absl::StatusOr<Tensor> BitwiseXor(const Tensor& a, const Tensor& b) {
  return MapBits("bitwise_xor", a, b,
                 [](auto x, auto y) BATON_LOOP { return x ^ y; });
}

absl::StatusOr<Tensor> LeftShift(const Tensor& a, const Tensor& b) {
  BATON_RETURN_IF_ERROR(CheckShift("left_shift", a, b));
  return MapBits("left_shift", a, b, []<typename U>(U x, U y) BATON_LOOP {
    return static_cast<U>(static_cast<Wrapping<U>>(x) << y);
  });
}

absl::StatusOr<Tensor> RightShift(const Tensor& a, const Tensor& b) {
  BATON_RETURN_IF_ERROR(CheckShift("right_shift", a, b));
  return MapNumeric<Loops::kWidest>(
      "right_shift", a, b, []<typename T>(T x, T y) BATON_LOOP -> T {
        if constexpr (std::is_integral_v<T>) {
          return static_cast<T>(x >> y);
        } else {
          return x;  // Not reached: the operands are integers.
        }
      });
}

absl::StatusOr<Tensor> BiasAdd(Operand x, const Tensor& bias, int64_t axis) {
  constexpr char kName[] = "bias_add";
  BATON_RETURN_IF_ERROR(internal::CheckRank(kName, "the bias", bias, 1));
  BATON_ASSIGN_OR_RETURN(const int normal,
                         internal::NormalizeAxis(kName, axis, x->rank()));
  if (bias.num_elements() != x->shape()[static_cast<size_t>(normal)]) {
    return Error(kName, "bias ", bias.TypeToString(), " does not fit axis ",
                 axis, " of ", x->TypeToString());
  }
  BATON_ASSIGN_OR_RETURN(const Tensor aligned,
                         AlongAxis(kName, *x, bias, axis));
  return MapWrapping(kName, x, aligned,
                     [](auto u, auto v) BATON_LOOP { return u + v; });
}

absl::StatusOr<Tensor> Prelu(const Tensor& x, const Tensor& alpha,
                             int64_t axis) {
  constexpr char kName[] = "prelu";
  BATON_RETURN_IF_ERROR(internal::CheckRank(kName, "alpha", alpha, 1));
  BATON_RETURN_IF_ERROR(internal::CheckSameDType(kName, x, alpha));
  BATON_ASSIGN_OR_RETURN(const int normal,
                         internal::NormalizeAxis(kName, axis, x.rank()));
  if (alpha.num_elements() != 1 &&
      alpha.num_elements() != x.shape()[static_cast<size_t>(normal)]) {
    return Error(kName, "alpha ", alpha.TypeToString(), " does not fit axis ",
                 axis, " of ", x.TypeToString());
  }
  BATON_ASSIGN_OR_RETURN(const Tensor aligned,
                         AlongAxis(kName, x, alpha, axis));
  return InFloat(kName, x, aligned, [&](Operand u, Operand v) {
    return internal::VisitFloat(kName, u->dtype(), [&]<typename T>() {
      return MapBinary<T, T, Loops::kEach>(
          kName, u, v, u->dtype(),
          [](T value, T slope) { return value > 0 ? value : value * slope; });
    });
  });
}

}  // namespace baton::kernels
