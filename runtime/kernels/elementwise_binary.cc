#include <cstddef>
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
#include "baton/runtime/kernels/internal/integer_checks.h"
#include "baton/runtime/kernels/internal/util.h"
#include "baton/runtime/kernels/internal/vectorize.h"
#include "baton/runtime/kernels/operand.h"

namespace baton::kernels {
namespace {

using internal::Error;
using internal::InFloat;
using internal::kMemoryBound;
using internal::MapBinary;
using internal::MapReal;
using internal::Vectors;
using internal::Wrapping;

constexpr auto kAdd = [](auto x, auto y) BATON_LOOP { return x + y; };
constexpr auto kSubtract = [](auto x, auto y) BATON_LOOP { return x - y; };
constexpr auto kMultiply = [](auto x, auto y) BATON_LOOP { return x * y; };
constexpr auto kAnd = [](auto x, auto y) BATON_LOOP { return x & y; };
constexpr auto kOr = [](auto x, auto y) BATON_LOOP { return x | y; };
constexpr auto kXor = [](auto x, auto y) BATON_LOOP { return x ^ y; };

// fn(T, T) -> T over floating and integer dtypes.
template <typename Fn>
absl::StatusOr<Tensor> MapNumeric(absl::string_view name, Operand a, Operand b,
                                  const Fn& fn) {
  BATON_RETURN_IF_ERROR(internal::CheckSameDType(name, *a, *b));
  return InFloat(name, a, b, [&](Operand x, Operand y) {
    return internal::VisitNumeric(name, x->dtype(), [&]<typename T>() {
      return MapBinary<T, T, internal::kWidestFor<T>>(name, x, y, x->dtype(),
                                                      fn);
    });
  });
}

// fn(W, W) of integers of any dtype, where W is unsigned and is truncated to
// their size: for functions whose results have the same low bits whether the
// operands are signed or not.
template <typename Fn>
absl::StatusOr<Tensor> MapTruncated(absl::string_view name, Operand a,
                                    Operand b, const Fn& fn) {
  BATON_RETURN_IF_ERROR(internal::CheckSameDType(name, *a, *b));
  const DType dtype = a->dtype();
  if (dtype.is_bool()) return internal::UnsupportedDType(name, dtype);
  return internal::VisitSize(name, dtype, [&]<typename U>() {
    constexpr Vectors kWidest = sizeof(U) == 8 ? Vectors::k512 : kMemoryBound;
    return MapBinary<U, U, kWidest>(
        name, a, b, dtype, [fn](U x, U y) BATON_LOOP -> U {
          return static_cast<U>(
              fn(static_cast<Wrapping<U>>(x), static_cast<Wrapping<U>>(y)));
        });
  });
}

// fn(x, y) of floats and integers, for functions as MapTruncated wants them.
template <typename Fn>
absl::StatusOr<Tensor> MapWrapping(absl::string_view name, Operand a, Operand b,
                                   const Fn& fn) {
  if (a->dtype().is_integral()) return MapTruncated(name, a, b, fn);
  return MapReal(name, a, b, fn);
}

// fn(U, U) over integers and bools, as unsigned integers of their size.
template <typename Fn>
absl::StatusOr<Tensor> MapBits(absl::string_view name, Operand a, Operand b,
                               const Fn& fn) {
  BATON_RETURN_IF_ERROR(internal::CheckSameDType(name, *a, *b));
  const DType dtype = a->dtype();
  return internal::VisitSize(name, dtype, [&]<typename U>() {
    return MapBinary<U, U, kMemoryBound>(name, a, b, dtype, fn);
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
  return MapWrapping("add", a, b, kAdd);
}

absl::StatusOr<Tensor> Subtract(Operand a, Operand b) {
  return MapWrapping("subtract", a, b, kSubtract);
}

absl::StatusOr<Tensor> Multiply(Operand a, Operand b) {
  return MapWrapping("multiply", a, b, kMultiply);
}

absl::StatusOr<Tensor> Maximum(Operand a, Operand b) {
  if (a->dtype().is_bool()) return MapBits("maximum", a, b, kOr);
  return MapNumeric("maximum", a, b, []<typename T>(T x, T y) BATON_LOOP -> T {
    return x > y || x != x ? x : y;
  });
}

absl::StatusOr<Tensor> Minimum(Operand a, Operand b) {
  if (a->dtype().is_bool()) return MapBits("minimum", a, b, kAnd);
  return MapNumeric("minimum", a, b, []<typename T>(T x, T y) BATON_LOOP -> T {
    return x < y || x != x ? x : y;
  });
}

absl::StatusOr<Tensor> BitwiseAnd(const Tensor& a, const Tensor& b) {
  return MapBits("bitwise_and", a, b, kAnd);
}

absl::StatusOr<Tensor> BitwiseOr(const Tensor& a, const Tensor& b) {
  return MapBits("bitwise_or", a, b, kOr);
}

absl::StatusOr<Tensor> BitwiseXor(const Tensor& a, const Tensor& b) {
  return MapBits("bitwise_xor", a, b, kXor);
}

absl::StatusOr<Tensor> LeftShift(const Tensor& a, const Tensor& b) {
  constexpr char kName[] = "left_shift";
  BATON_RETURN_IF_ERROR(internal::CheckShiftAmounts(kName, a, b));
  return MapTruncated(kName, a, b,
                      [](auto x, auto y) BATON_LOOP { return x << y; });
}

absl::StatusOr<Tensor> RightShift(const Tensor& a, const Tensor& b) {
  constexpr char kName[] = "right_shift";
  BATON_RETURN_IF_ERROR(internal::CheckShiftAmounts(kName, a, b));
  BATON_RETURN_IF_ERROR(internal::CheckSameDType(kName, a, b));
  const auto shift = [](auto x, auto y) BATON_LOOP {
    return static_cast<decltype(x)>(x >> y);
  };
  return internal::VisitSize(kName, a.dtype(), [&]<typename U>() {
    // Processors have these for elements of 32 and 64 bits only.
    constexpr Vectors kWidest = sizeof(U) == 8 ? Vectors::k512 : kMemoryBound;
    if (a.dtype().code() == DType::Code::kUInt) {
      return MapBinary<U, U, kWidest>(kName, a, b, a.dtype(), shift);
    }
    using T = std::make_signed_t<U>;
    return MapBinary<T, T, kWidest>(kName, a, b, a.dtype(), shift);
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
  return MapWrapping(kName, x, aligned, kAdd);
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
      return MapBinary<T, T, kMemoryBound>(
          kName, u, v, u->dtype(), [](T value, T slope) BATON_LOOP {
            return value > 0 ? value : value * slope;
          });
    });
  });
}

}  // namespace baton::kernels
