#include "baton/onnx/ops/narrow_casts.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/base/dtype.h"
#include "baton/base/tensor.h"
#include "baton/onnx/narrow_float.h"
#include "baton/relay/ir/constant.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/op/tensor/elementwise.h"
#include "baton/relay/op/tensor/indexing.h"

namespace baton::onnx {
namespace {

using relay::Add;
using relay::Cast;
using relay::Multiply;
using relay::Where;

constexpr DType kFloat32 = DType::Float(32);
constexpr DType kInt32 = DType::Int(32);

// The type of the exponents' bits in the type of floats to compute in.
struct Bits {
  DType type;
  int64_t exponent_mask;
};

Expr Scalar(DType dtype, double value) { return relay::Const(value, dtype); }

// The power of two of the exponent alone.
Expr ToExponent(const Expr& x, bool saturates, absl::string_view rounding) {
  const auto integer = [](int32_t value) {
    return relay::Const(Tensor::Scalar<int32_t>(value));
  };
  const Expr shift = integer(23);
  // The bits of NaN would exceed the largest integer once they are rounded.
  const Expr bits = relay::Minimum(
      relay::BitwiseAnd(relay::Reinterpret(x, kInt32), integer(0x7fffffff)),
      integer(0x7f800000));
  Expr sum = bits;
  if (rounding == "up") {
    sum = Add(bits, integer(0x7fffff));
  } else if (rounding == "nearest") {
    // A tie goes up, but that between zero and the smallest power.
    const Expr is_normal =
        relay::Minimum(relay::RightShift(bits, shift), integer(1));
    sum = Add(Add(bits, integer(0x3fffff)), is_normal);
  }
  const Expr nan = Scalar(kFloat32, std::numeric_limits<double>::quiet_NaN());
  Expr exponent = relay::RightShift(std::move(sum), shift);
  if (saturates) exponent = relay::Minimum(std::move(exponent), integer(254));
  const Expr power = relay::Reinterpret(
      Where(relay::Equal(exponent, integer(0)), integer(0x400000),
            relay::LeftShift(exponent, shift)),
      kFloat32);
  Expr is_none = relay::IsNan(x);
  if (!saturates) {
    is_none = relay::LogicalOr(
        std::move(is_none),
        relay::LogicalOr(relay::Greater(exponent, integer(254)),
                         relay::Less(bits, integer(0x400000))));
  }
  return Where(is_none, nan, power);
}

}  // namespace

absl::StatusOr<Expr> ToNarrowFloat(const Expr& x, DType from,
                                   const NarrowFloat& format, bool saturates,
                                   absl::string_view rounding) {
  if (!format.is_signed) {
    if (rounding != "up" && rounding != "down" && rounding != "nearest") {
      return absl::InvalidArgumentError(
          absl::StrCat("round_mode is '", rounding, "'"));
    }
    return ToExponent(from == kFloat32 ? x : Cast(x, kFloat32), saturates,
                      rounding);
  }
  const bool has_nan =
      format.has_infinity || format.is_nan_last || format.is_nan_minus_zero;
  saturates = saturates || !has_nan;
  // A value of float64 is rounded once, from there.
  const bool is_wide = from == DType::Float(64);
  const DType real_type = is_wide ? from : kFloat32;
  const Bits bits = is_wide ? Bits{DType::Int(64), 0x7ff0000000000000}
                            : Bits{kInt32, 0x7f800000};
  const Expr real = from == real_type ? x : Cast(x, real_type);
  // Beyond four times the largest value nothing changes.
  const double bound = saturates ? format.max : 4 * format.max;
  const Expr bounded = relay::Clip(real, -bound, bound);
  // The distance of the values around: that of the smallest normal value, or
  // more.
  const Expr mask = is_wide ? relay::Const(Tensor::Scalar(bits.exponent_mask))
                            : relay::Const(Tensor::Scalar(
                                  static_cast<int32_t>(bits.exponent_mask)));
  const Expr power = relay::Reinterpret(
      relay::BitwiseAnd(relay::Reinterpret(bounded, bits.type), mask),
      real_type);
  const Expr unit = Multiply(
      relay::Maximum(power,
                     Scalar(real_type, std::ldexp(1, format.min_exponent()))),
      Scalar(real_type, std::ldexp(1, -format.mantissa_bits)));
  Expr rounded = Multiply(relay::Round(relay::Divide(bounded, unit)), unit);
  if (!saturates) {
    const Expr beyond =
        format.has_infinity
            ? Multiply(rounded, Scalar(real_type, HUGE_VAL))
            : Scalar(real_type, std::numeric_limits<double>::quiet_NaN());
    rounded = Where(
        relay::Greater(relay::Abs(rounded), Scalar(real_type, format.max)),
        beyond, rounded);
  }
  // There is no minus zero where its pattern is NaN.
  if (format.is_nan_minus_zero) {
    rounded = Add(std::move(rounded), Scalar(real_type, 0));
  }
  rounded = Where(relay::IsNan(real), has_nan ? real : Scalar(real_type, 0),
                  std::move(rounded));
  return is_wide ? Cast(std::move(rounded), kFloat32) : rounded;
}

Expr ToNarrowInteger(const Expr& x, DType dtype, int bits) {
  Expr whole = Cast(x, kInt32);
  const Expr shift = relay::Const(Tensor::Scalar<int32_t>(32 - bits));
  const Expr mask = relay::Const(Tensor::Scalar<int32_t>((1 << bits) - 1));
  whole =
      dtype.is_uint()
          ? relay::BitwiseAnd(std::move(whole), mask)
          : relay::RightShift(relay::LeftShift(std::move(whole), shift), shift);
  return Cast(std::move(whole), dtype);
}

}  // namespace baton::onnx
