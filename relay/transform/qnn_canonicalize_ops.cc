#include "baton/relay/transform/qnn_canonicalize_ops.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/fields.h"
#include "baton/base/layout.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/attrs.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"
#include "baton/relay/analysis/broadcast_axes.h"
#include "baton/relay/ir/constant.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/op/nn.h"
#include "baton/relay/op/qnn/qnn.h"
#include "baton/relay/op/tensor.h"
#include "baton/relay/op/window_math.h"
#include "baton/relay/transform/fold_constant.h"
#include "baton/relay/transform/legalize.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_registry.h"

namespace baton::relay {
namespace {

using ::baton::relay::qnn::Quantization;

constexpr DType kInt32 = DType::Int(32);
constexpr DType kInt64 = DType::Int(64);
constexpr DType kFloat32 = DType::Float(32);

using Args = absl::Span<const Expr>;

// Types, shapes and constants.

absl::StatusOr<const TensorTypeNode*> TensorTypeOf(const Expr& expr) {
  const TensorTypeNode* type = expr->tensor_type();
  if (type == nullptr) {
    return absl::FailedPreconditionError(
        "a tensor has no type; run InferType first");
  }
  return type;
}

// Extent `axis` of `type`, which must be a number.
absl::StatusOr<int64_t> Extent(const TensorTypeNode& type, int axis) {
  if (axis < 0 || axis >= type.rank() || !type.dim(axis).is_const()) {
    return absl::UnimplementedError(
        absl::StrCat("extent ", axis, " of a tensor is not a number"));
  }
  return type.dim(axis).value();
}

absl::StatusOr<std::vector<int64_t>> StaticShape(const TensorTypeNode& type) {
  std::vector<int64_t> shape;
  for (int i = 0; i < type.rank(); ++i) {
    BATON_ASSIGN_OR_RETURN(shape.emplace_back(), Extent(type, i));
  }
  return shape;
}

bool IsScalarConstant(const Expr& expr) {
  return ConstantScalar(expr).has_value();
}

// Returns whether both are constant scalars of one type and value.
bool SameScalar(const Expr& a, const Expr& b) {
  const Tensor* x = ConstantTensor(a);
  const Tensor* y = ConstantTensor(b);
  return x != nullptr && y != nullptr && x->rank() == 0 && *x == *y;
}

// Returns whether `expr` is the int32 scalar `value`.
bool IsInt(const Expr& expr, int32_t value) {
  const Tensor* tensor = ConstantTensor(expr);
  return tensor != nullptr && tensor->rank() == 0 &&
         *tensor == Tensor::Scalar(value);
}

absl::StatusOr<double> ScalarOf(const Expr& expr, absl::string_view what) {
  const std::optional<double> value = ConstantScalar(expr);
  if (!value.has_value()) {
    return absl::UnimplementedError(
        absl::StrCat(what, " is not a constant scalar"));
  }
  return *value;
}

absl::StatusOr<std::vector<double>> VectorOf(const Expr& expr,
                                             absl::string_view what) {
  const Tensor* tensor = ConstantTensor(expr);
  if (tensor == nullptr) {
    return absl::UnimplementedError(absl::StrCat(what, " is not a constant"));
  }
  std::vector<double> values;
  for (int64_t i = 0; i < tensor->num_elements(); ++i) {
    values.push_back(tensor->AtAsDouble(i));
  }
  return values;
}

template <typename T>
absl::StatusOr<Expr> VectorConstant(const std::vector<T>& values) {
  BATON_ASSIGN_OR_RETURN(
      Tensor tensor,
      Tensor::FromValues<T>({static_cast<int64_t>(values.size())}, values));
  return Expr(Const(std::move(tensor)));
}

int NormalizedAxis(int axis, int rank) {
  if (axis >= 0) return axis;
  return rank > 0 ? rank + axis : 0;
}

// `parameter`, a scalar or a vector along `axis`, to be broadcast against a
// tensor of that rank.
Expr AlongAxis(Expr parameter, int rank, int axis) {
  return ExpandBiasToMatchAxis(Reshape(std::move(parameter), {-1}), rank,
                               {axis});
}

absl::StatusOr<qnn::Range> RangeOf(DType dtype) {
  const std::optional<qnn::Range> range = qnn::RangeOf(dtype);
  if (!range.has_value()) {
    return absl::UnimplementedError(
        absl::StrCat(dtype.ToString(), " is not a quantized type"));
  }
  return *range;
}

// `data`, limited to the range of `dtype`, as such.
absl::StatusOr<Expr> Narrowed(Expr data, DType dtype) {
  BATON_ASSIGN_OR_RETURN(const qnn::Range range, RangeOf(dtype));
  return Cast(Clip(std::move(data), range.low, range.high), dtype);
}

// Narrowed, of floats of type `from`. The largest integer of 32 bits is no
// float32: the clip ends one above it, which the cast wraps.
absl::StatusOr<Expr> NarrowedFloat(const Expr& data, DType from, DType dtype) {
  BATON_ASSIGN_OR_RETURN(Expr narrow, Narrowed(data, dtype));
  if (from != kFloat32 || dtype.bits() < 32) return narrow;
  BATON_ASSIGN_OR_RETURN(const qnn::Range range, RangeOf(dtype));
  const auto high = static_cast<double>(range.high);
  return Where(GreaterEqual(data, Const(high + 1, kFloat32)),
               Const(high, dtype), std::move(narrow));
}

// Fixed-point numbers.

// `significand` * 2^(shift - 31), with a significand of 31 bits.
struct FixedPoint {
  int32_t significand = 0;
  int32_t shift = 0;

  int left() const { return std::max(shift, 0); }
  int right() const { return std::max(-shift, 0); }
};

absl::StatusOr<FixedPoint> ToFixedPoint(double value) {
  if (value == 0) return FixedPoint();
  if (!std::isfinite(value)) {
    return absl::InvalidArgumentError("a ratio of scales is not finite");
  }
  int exponent = 0;
  const double fraction = std::frexp(value, &exponent);
  auto significand = static_cast<int64_t>(
      std::round(fraction * static_cast<double>(int64_t{1} << 31)));
  if (significand == int64_t{1} << 31) {
    significand /= 2;
    ++exponent;
  }
  // A shift of 64 bits and more has no meaning.
  if (exponent > 31 || exponent < -31) {
    return absl::UnimplementedError(
        absl::StrCat("a ratio of scales, ", value, ", is out of range"));
  }
  return FixedPoint{static_cast<int32_t>(significand), exponent};
}

Expr FixedPointMultiply(Expr data, const FixedPoint& factor) {
  return Call(BATON_OP("fixed_point_multiply"), {std::move(data)},
              Attrs::Make(FixedPointMultiplyAttrs{
                  .multiplier = factor.significand, .shift = factor.shift}));
}

absl::StatusOr<Expr> FixedPointMultiplyPerAxis(
    Expr data, const std::vector<FixedPoint>& factors, int axis) {
  std::vector<int32_t> significands;
  std::vector<int32_t> lefts;
  std::vector<int32_t> rights;
  FixedPointMultiplyPerAxisAttrs attrs;
  attrs.axes = {axis};
  for (const FixedPoint& factor : factors) {
    significands.push_back(factor.significand);
    lefts.push_back(factor.left());
    rights.push_back(factor.right());
    attrs.is_lshift_required |= factor.left() != 0;
    attrs.is_rshift_required |= factor.right() != 0;
  }
  BATON_ASSIGN_OR_RETURN(Expr significand, VectorConstant(significands));
  BATON_ASSIGN_OR_RETURN(Expr left, VectorConstant(lefts));
  BATON_ASSIGN_OR_RETURN(Expr right, VectorConstant(rights));
  return Expr(Call(BATON_OP("fixed_point_multiply_per_axis"),
                   {std::move(data), std::move(significand), std::move(left),
                    std::move(right)},
                   Attrs::Make(std::move(attrs))));
}

// Multiplies as above with ties rounded away from zero, in 64 bits. `factors`
// are one for all, or one for each index along `axis`.
absl::StatusOr<Expr> MultiplyToNearest(Expr data,
                                       const std::vector<FixedPoint>& factors,
                                       bool by_channel,
                                       const TensorTypeNode& type, int axis) {
  BATON_ASSIGN_OR_RETURN(const std::vector<int64_t> shape, StaticShape(type));
  const auto parameter =
      [&](const std::vector<int64_t>& values) -> absl::StatusOr<Expr> {
    if (!by_channel) return Expr(Const(values[0]));
    BATON_ASSIGN_OR_RETURN(Expr vector, VectorConstant(values));
    return ExpandBiasToMatchAxis(std::move(vector), type.rank(), {axis});
  };
  std::vector<int64_t> significands;
  std::vector<int64_t> lefts;
  std::vector<int64_t> rights;
  std::vector<int64_t> halves;
  std::vector<int64_t> less;
  bool shifts_left = false;
  for (const FixedPoint& factor : factors) {
    significands.push_back(factor.significand);
    lefts.push_back(factor.left());
    shifts_left = shifts_left || factor.left() != 0;
    rights.push_back(factor.right() + 31);
    halves.push_back(int64_t{1} << (rights.back() - 1));
    less.push_back(halves.back() - 1);
  }
  data = Cast(std::move(data), kInt64);
  if (shifts_left) {
    BATON_ASSIGN_OR_RETURN(Expr left, parameter(lefts));
    data = LeftShift(std::move(data), std::move(left));
  }
  BATON_ASSIGN_OR_RETURN(Expr significand, parameter(significands));
  data = Multiply(std::move(data), std::move(significand));
  BATON_ASSIGN_OR_RETURN(Expr half, parameter(halves));
  BATON_ASSIGN_OR_RETURN(Expr less_than_half, parameter(less));
  const auto fill = [&](Expr value) {
    return by_channel ? BroadcastTo(std::move(value), shape)
                      : Full(std::move(value), shape, kInt64);
  };
  Expr rounding = Where(GreaterEqual(data, Zeros(shape, kInt64)),
                        fill(std::move(half)), fill(std::move(less_than_half)));
  data = Add(std::move(data), std::move(rounding));
  BATON_ASSIGN_OR_RETURN(Expr right, parameter(rights));
  return Cast(RightShift(std::move(data), std::move(right)), kInt32);
}

// Requantization.

struct Requantization {
  Quantization from;
  Quantization to;
  int axis = -1;
  std::string rounding = "UPWARD";
  std::string compute_dtype = "int64";
  DType out_dtype = kInt32;

  bool upward() const { return rounding == "UPWARD"; }
};

// The ratios of the scales: one, or one a channel.
absl::StatusOr<std::vector<double>> ScaleRatios(const Requantization& params) {
  BATON_ASSIGN_OR_RETURN(const double to,
                         ScalarOf(params.to.scale, "the scale of the result"));
  if (to == 0) {
    return absl::InvalidArgumentError("the scale of the result is 0");
  }
  BATON_ASSIGN_OR_RETURN(
      std::vector<double> ratios,
      VectorOf(params.from.scale, "the scale of the argument"));
  for (double& ratio : ratios) ratio /= to;
  return ratios;
}

// `data`, cast to the type that is computed in, less the zero point.
Expr WithoutZeroPoint(Expr data, const Requantization& params, int rank,
                      DType dtype) {
  data = Cast(std::move(data), dtype);
  if (IsInt(params.from.zero_point, 0)) return data;
  return Subtract(std::move(data),
                  Cast(AlongAxis(params.from.zero_point, rank,
                                 NormalizedAxis(params.axis, rank)),
                       dtype));
}

// The largest zero point; that of a few bits where it is not known, as zero
// points are numbers of the quantized type.
double LargestZeroPoint(const Expr& zero_point) {
  const Tensor* known = ConstantTensor(zero_point);
  if (known == nullptr) return 0x1p16;
  double largest = 0;
  for (int64_t i = 0; i < known->num_elements(); ++i) {
    largest = std::max(largest, std::abs(known->AtAsDouble(i)));
  }
  return largest;
}

// True if no number on the way from `data` to its new quantization is beyond
// int32.
bool StaysInInt32(DType data, const Requantization& params,
                  const std::vector<double>& ratios) {
  constexpr double kEnd = 0x1p31;
  const double end = std::ldexp(1.0, data.bits() - (data.is_int() ? 1 : 0));
  const double from_zero = LargestZeroPoint(params.from.zero_point);
  const double to_zero = LargestZeroPoint(params.to.zero_point);
  // Both ends are reached only where nothing is added.
  const auto fits = [](double number, double added) {
    return added == 0 ? number <= kEnd : number + added < kEnd;
  };
  double ratio = 0;
  for (const double each : ratios) {
    // Scales are positive.
    if (!(each >= 0)) return true;
    ratio = std::max(ratio, each);
  }
  return fits(end, from_zero) && (!data.is_uint() || data.bits() < 32) &&
         fits((end + from_zero) * ratio, to_zero);
}

// A factor of fixed point in 64 bits, as tensors that broadcast to the data:
// x becomes (x * significand + half) >> right.
struct Factor64 {
  Expr most, least;  // beyond, the result is saturated whatever is added
  Expr significand;
  Expr half, less_than_half;
  Expr low_bits, right;  // `right` in two parts
};

// Bits of a number of 34 that are multiplied apart: the significand has 31, and
// `half` up to 62.
constexpr int kLowBits = 16;

absl::StatusOr<Factor64> Factor64Of(
    const std::vector<FixedPoint>& factors, const std::vector<double>& ratios,
    absl::FunctionRef<absl::StatusOr<Expr>(const std::vector<int64_t>&)>
        parameter) {
  std::vector<int64_t> most, least, significands, halves, less, lows, rights;
  for (size_t i = 0; i < factors.size(); ++i) {
    const int right = 31 - factors[i].shift;
    const int low = std::min(right, kLowBits);
    most.push_back(static_cast<int64_t>(
        std::ceil(0x1p33 / std::max(ratios[i], 0.25)) + 1));
    least.push_back(-most.back());
    significands.push_back(factors[i].significand);
    halves.push_back(right == 0 ? 0 : int64_t{1} << (right - 1));
    less.push_back(std::max<int64_t>(halves.back() - 1, 0));
    lows.push_back(low);
    rights.push_back(right - low);
  }
  Factor64 result;
  BATON_ASSIGN_OR_RETURN(result.most, parameter(most));
  BATON_ASSIGN_OR_RETURN(result.least, parameter(least));
  BATON_ASSIGN_OR_RETURN(result.significand, parameter(significands));
  BATON_ASSIGN_OR_RETURN(result.half, parameter(halves));
  BATON_ASSIGN_OR_RETURN(result.less_than_half, parameter(less));
  BATON_ASSIGN_OR_RETURN(result.low_bits, parameter(lows));
  BATON_ASSIGN_OR_RETURN(result.right, parameter(rights));
  return result;
}

// The factor of a ratio that is computed, a tensor of float64, by the steps of
// ToFixedPoint and of the function above.
Factor64 ComputedFactor64(const Expr& ratio) {
  const auto real = [](double value) {
    return Expr(Const(value, DType::Float(64)));
  };
  const auto integer = [](int64_t value) { return Expr(Const(value)); };
  // The exponent, of which a logarithm may be off by one, and the fraction from
  // 1 to 2 that it leaves.
  const Expr guess = Floor(Log2(Maximum(ratio, real(0x1p-40))));
  const Expr rest = Divide(ratio, Power(real(2), guess));
  const Expr is_low = Less(rest, real(1));
  const Expr is_high = GreaterEqual(rest, real(2));
  const Expr fraction = Where(is_low, Multiply(rest, real(2)),
                              Where(is_high, Multiply(rest, real(0.5)), rest));
  const Expr exponent = Where(is_low, Subtract(guess, real(1)),
                              Where(is_high, Add(guess, real(1)), guess));
  const Expr rounded =
      Cast(Floor(Add(Multiply(fraction, real(0x1p30)), real(0.5))), kInt64);
  const Expr is_whole = Equal(rounded, integer(int64_t{1} << 31));
  const Expr shift =
      Add(Cast(exponent, kInt64), Where(is_whole, integer(2), integer(1)));
  const Expr right =
      Minimum(Maximum(Subtract(integer(31), shift), integer(0)), integer(62));
  Factor64 result;
  result.significand = Where(is_whole, integer(int64_t{1} << 30), rounded);
  result.most =
      Add(Cast(Ceil(Divide(real(0x1p33), Maximum(ratio, real(0.25)))), kInt64),
          integer(1));
  result.least = Subtract(integer(0), result.most);
  result.low_bits = Minimum(right, integer(kLowBits));
  result.right = Subtract(right, result.low_bits);
  result.half = Where(
      Equal(right, integer(0)), integer(0),
      LeftShift(integer(1), Maximum(Subtract(right, integer(1)), integer(0))));
  result.less_than_half =
      Maximum(Subtract(result.half, integer(1)), integer(0));
  return result;
}

Expr TimesFactor64(Expr data, const Factor64& factor, bool upward) {
  const Expr x = Maximum(Minimum(std::move(data), factor.most), factor.least);
  const Expr rounding = upward ? factor.half
                               : Where(GreaterEqual(x, Const<int64_t>(0)),
                                       factor.half, factor.less_than_half);
  const Expr high = RightShift(x, factor.low_bits);
  const Expr low = Subtract(x, LeftShift(high, factor.low_bits));
  return RightShift(
      Add(Multiply(high, factor.significand),
          RightShift(Add(Multiply(low, factor.significand), rounding),
                     factor.low_bits)),
      factor.right);
}

// Requantizes numbers that may be beyond int32: in 64 bits, saturated at the
// end. Numbers that are so large that their product would be beyond int32 are
// bounded first.
absl::StatusOr<Expr> RequantizeIn64Bits(const Expr& data,
                                        const TensorTypeNode& type,
                                        const Requantization& params,
                                        const std::optional<Factor64>& factor) {
  Expr result = WithoutZeroPoint(data, params, type.rank(), kInt64);
  if (factor.has_value()) {
    result = TimesFactor64(std::move(result), *factor, params.upward());
  }
  if (!IsInt(params.to.zero_point, 0)) {
    result = Add(std::move(result), Cast(params.to.zero_point, kInt64));
  }
  return Narrowed(std::move(result), params.out_dtype);
}

// True if a scale is computed when the program runs.
bool HasComputedScale(const Requantization& params) {
  return ConstantTensor(params.from.scale) == nullptr ||
         ConstantTensor(params.to.scale) == nullptr;
}

// The quotient of the scales in float64, to be broadcast to the data.
Expr ComputedRatio(const TensorTypeNode& type, const Requantization& params) {
  const DType wide = DType::Float(64);
  Expr ratio =
      Divide(Cast(params.from.scale, wide), Cast(params.to.scale, wide));
  if (type.rank() == 0) return ratio;
  return AlongAxis(std::move(ratio), type.rank(),
                   NormalizedAxis(params.axis, type.rank()));
}

absl::StatusOr<Expr> RequantizeInIntegers(const Expr& data,
                                          const TensorTypeNode& type,
                                          const Requantization& params) {
  if (HasComputedScale(params)) {
    return RequantizeIn64Bits(data, type, params,
                              ComputedFactor64(ComputedRatio(type, params)));
  }
  BATON_ASSIGN_OR_RETURN(const std::vector<double> ratios, ScaleRatios(params));
  const bool by_channel = !IsScalarConstant(params.from.scale);
  std::vector<FixedPoint> factors;
  if (by_channel || !SameScalar(params.from.scale, params.to.scale)) {
    for (const double ratio : ratios) {
      BATON_ASSIGN_OR_RETURN(factors.emplace_back(), ToFixedPoint(ratio));
    }
  }
  // For int32 without a factor the text is that of the reference, whose sum may
  // wrap.
  if ((!factors.empty() || type.dtype().bits() < 32) &&
      !StaysInInt32(type.dtype(), params, ratios)) {
    const auto parameter =
        [&](const std::vector<int64_t>& values) -> absl::StatusOr<Expr> {
      if (values.size() == 1) return Expr(Const(values[0]));
      BATON_ASSIGN_OR_RETURN(Expr vector, VectorConstant(values));
      return ExpandBiasToMatchAxis(std::move(vector), type.rank(),
                                   {NormalizedAxis(params.axis, type.rank())});
    };
    std::optional<Factor64> factor;
    if (!factors.empty()) {
      BATON_ASSIGN_OR_RETURN(factor, Factor64Of(factors, ratios, parameter));
    }
    return RequantizeIn64Bits(data, type, params, factor);
  }
  Expr result = WithoutZeroPoint(data, params, type.rank(), kInt32);
  if (!factors.empty()) {
    const int axis = NormalizedAxis(params.axis, type.rank());
    if (!params.upward()) {
      BATON_ASSIGN_OR_RETURN(
          result, MultiplyToNearest(std::move(result), factors, by_channel,
                                    type, axis));
    } else if (by_channel) {
      BATON_ASSIGN_OR_RETURN(
          result, FixedPointMultiplyPerAxis(std::move(result), factors, axis));
    } else {
      result = FixedPointMultiply(std::move(result), factors[0]);
    }
  }
  if (!IsInt(params.to.zero_point, 0)) {
    result = Add(Cast(params.to.zero_point, kInt32), std::move(result));
  }
  if (params.out_dtype == kInt32) return result;
  return Narrowed(std::move(result), params.out_dtype);
}

// To the nearest integers, ties away from zero.
Expr RoundedToNearest(const Expr& data, DType dtype) {
  const Expr sign = Where(Less(data, Const(0.0, dtype)), Const(-1.0, dtype),
                          Const(1.0, dtype));
  const Expr biased = Add(data, Multiply(Const(0.5, dtype), sign));
  const Expr integer = Cast(Multiply(biased, sign), kInt64);
  return Where(IsFinite(data), Multiply(Cast(integer, dtype), sign), data);
}

// To the nearest integers, ties up.
Expr RoundedUpward(const Expr& data, DType dtype) {
  const Expr biased = Add(data, Const(0.5, dtype));
  const Expr truncated = Cast(Cast(biased, kInt64), dtype);
  const Expr is_floor = LogicalOr(Equal(biased, truncated),
                                  GreaterEqual(biased, Const(0.0, dtype)));
  const Expr floor =
      Where(is_floor, truncated, Subtract(truncated, Const(1.0, dtype)));
  return Where(IsFinite(data), floor, data);
}

absl::StatusOr<Expr> RequantizeInFloats(const Expr& data,
                                        const TensorTypeNode& type,
                                        const Requantization& params,
                                        DType dtype) {
  Expr result = WithoutZeroPoint(data, params, type.rank(), dtype);
  if (HasComputedScale(params)) {
    result =
        Multiply(std::move(result), Cast(ComputedRatio(type, params), dtype));
  } else {
    BATON_ASSIGN_OR_RETURN(const std::vector<double> ratios,
                           ScaleRatios(params));
    if (!IsScalarConstant(params.from.scale)) {
      Expr factor;
      if (dtype == kFloat32) {
        BATON_ASSIGN_OR_RETURN(factor, VectorConstant(std::vector<float>(
                                           ratios.begin(), ratios.end())));
      } else {
        BATON_ASSIGN_OR_RETURN(factor, VectorConstant(ratios));
      }
      result = Multiply(
          std::move(result),
          ExpandBiasToMatchAxis(std::move(factor), type.rank(),
                                {NormalizedAxis(params.axis, type.rank())}));
    } else if (!SameScalar(params.from.scale, params.to.scale)) {
      result = Multiply(Const(ratios[0], dtype), std::move(result));
    }
  }
  if (!IsInt(params.to.zero_point, 0)) {
    result = Add(std::move(result), Cast(params.to.zero_point, dtype));
  }
  result = params.upward() ? RoundedUpward(result, dtype)
                           : RoundedToNearest(result, dtype);
  return NarrowedFloat(result, dtype, params.out_dtype);
}

absl::StatusOr<Expr> RequantizeData(const Expr& data,
                                    const TensorTypeNode& type,
                                    const Requantization& params) {
  if (!params.upward() && params.rounding != "TONEAREST") {
    return absl::InvalidArgumentError(absl::StrCat(
        "rounding: expected UPWARD or TONEAREST, got ", params.rounding));
  }
  if (params.compute_dtype == "int64") {
    return RequantizeInIntegers(data, type, params);
  }
  if (params.compute_dtype == "float32") {
    return RequantizeInFloats(data, type, params, kFloat32);
  }
  if (params.compute_dtype == "float64") {
    return RequantizeInFloats(data, type, params, DType::Float(64));
  }
  return absl::InvalidArgumentError(
      absl::StrCat("compute_dtype: expected int64, float32 or float64, got ",
                   params.compute_dtype));
}

// `data` as int32, in the quantization `to`.
absl::StatusOr<Expr> RequantizeOrWiden(const Expr& data,
                                       const TensorTypeNode& type,
                                       const Quantization& from,
                                       const Quantization& to, int axis = -1) {
  if (SameScalar(from.scale, to.scale) &&
      SameScalar(from.zero_point, to.zero_point)) {
    return Cast(data, kInt32);
  }
  return RequantizeData(data, type, {.from = from, .to = to, .axis = axis});
}

// `expr`, a scale or a zero point, as the constant that it is computed to be.
absl::StatusOr<Expr> Computed(const Expr& expr) {
  if (ConstantTensor(expr) != nullptr) return expr;
  return FoldConstantInExpr(expr, {.fold_qnn = true});
}

absl::StatusOr<Expr> LowerRequantize(const CallNode& call, Args args) {
  const auto& attrs = AttrsOrDefaults<RequantizeAttrs>(call.attrs());
  BATON_ASSIGN_OR_RETURN(const TensorTypeNode* type, TensorTypeOf(call.arg(0)));
  Requantization params = {.axis = attrs.axis, .out_dtype = attrs.out_dtype};
  BATON_ASSIGN_OR_RETURN(params.from.scale, Computed(args[1]));
  BATON_ASSIGN_OR_RETURN(params.from.zero_point, Computed(args[2]));
  BATON_ASSIGN_OR_RETURN(params.to.scale, Computed(args[3]));
  BATON_ASSIGN_OR_RETURN(params.to.zero_point, Computed(args[4]));
  if (attrs.rounding != "None") params.rounding = attrs.rounding;
  if (attrs.compute_dtype != "None") {
    params.compute_dtype = attrs.compute_dtype;
  }
  return RequantizeData(args[0], *type, params);
}

// Between real and quantized numbers.

// `parameter`, of a tensor of that rank, to be broadcast along `axis` if it is
// not a scalar.
absl::StatusOr<Expr> Broadcastable(const Expr& parameter, const Expr& typed,
                                   int rank, int axis) {
  if (IsScalarConstant(parameter)) return parameter;
  BATON_ASSIGN_OR_RETURN(const TensorTypeNode* type, TensorTypeOf(typed));
  if (type->rank() == 0) return parameter;
  if (axis < 0) axis += rank;
  return ExpandBiasToMatchAxis(parameter, rank, {axis});
}

// The scale and zero point in the arguments `first` and `first + 1` of `call`,
// for a tensor of that rank.
absl::StatusOr<Quantization> QuantizationIn(const CallNode& call, Args args,
                                            int first, int rank, int axis) {
  BATON_ASSIGN_OR_RETURN(
      Expr scale, Broadcastable(args[first], call.arg(first), rank, axis));
  BATON_ASSIGN_OR_RETURN(
      Expr zero_point,
      Broadcastable(args[first + 1], call.arg(first + 1), rank, axis));
  return Quantization{std::move(scale), std::move(zero_point)};
}

absl::StatusOr<Expr> QuantizeData(Expr data, Quantization to, DType dtype) {
  return NarrowedFloat(Add(Round(Divide(std::move(data), std::move(to.scale))),
                           Cast(std::move(to.zero_point), kFloat32)),
                       kFloat32, dtype);
}

// `type` is the element type of `data`.
Expr DequantizeData(Expr data, DType type, Quantization from) {
  // The distance of numbers of 32 bits may have 33.
  const bool is_wide =
      (type.bits() >= 32 && !(type.is_int() && IsInt(from.zero_point, 0))) ||
      LargestZeroPoint(from.zero_point) > 0x1p30;
  Expr shifted = is_wide ? Subtract(Cast(std::move(data), kInt64),
                                    Cast(std::move(from.zero_point), kInt64))
                         : Subtract(Cast(std::move(data), kInt32),
                                    std::move(from.zero_point));
  return Multiply(Cast(std::move(shifted), kFloat32), std::move(from.scale));
}

absl::StatusOr<Expr> LowerQuantize(const CallNode& call, Args args) {
  const auto& attrs = AttrsOrDefaults<QuantizeAttrs>(call.attrs());
  BATON_ASSIGN_OR_RETURN(const TensorTypeNode* type, TensorTypeOf(call.arg(0)));
  BATON_ASSIGN_OR_RETURN(
      Quantization to, QuantizationIn(call, args, 1, type->rank(), attrs.axis));
  return QuantizeData(args[0], std::move(to), attrs.out_dtype);
}

absl::StatusOr<Expr> LowerDequantize(const CallNode& call, Args args) {
  const auto& attrs = AttrsOrDefaults<DequantizeAttrs>(call.attrs());
  BATON_ASSIGN_OR_RETURN(const TensorTypeNode* type, TensorTypeOf(call.arg(0)));
  BATON_ASSIGN_OR_RETURN(
      Quantization from,
      QuantizationIn(call, args, 1, type->rank(), attrs.axis));
  Expr result = DequantizeData(args[0], type->dtype(), std::move(from));
  if (attrs.out_dtype == kFloat32) return result;
  constexpr double kMaxFloat16 = 65504;
  return Cast(Clip(std::move(result), -kMaxFloat16, kMaxFloat16),
              attrs.out_dtype);
}

template <Expr (*kFunction)(Expr)>
absl::StatusOr<Expr> LowerUnary(const CallNode& call, Args args) {
  BATON_ASSIGN_OR_RETURN(const TensorTypeNode* type, TensorTypeOf(call.arg(0)));
  BATON_ASSIGN_OR_RETURN(Quantization from,
                         QuantizationIn(call, args, 1, type->rank(), -1));
  BATON_ASSIGN_OR_RETURN(Quantization to,
                         QuantizationIn(call, args, 3, type->rank(), -1));
  Expr real = DequantizeData(args[0], type->dtype(), std::move(from));
  return QuantizeData(kFunction(std::move(real)), std::move(to), type->dtype());
}

absl::StatusOr<Expr> LowerLeakyRelu(const CallNode& call, Args args) {
  const double alpha = AttrsOrDefaults<LeakyReluAttrs>(call.attrs()).alpha;
  BATON_ASSIGN_OR_RETURN(const TensorTypeNode* type, TensorTypeOf(call.arg(0)));
  const Expr data = Cast(args[0], kInt32);
  const Expr from_zero = Cast(args[2], kInt32);
  const Expr to_zero = Cast(args[4], kInt32);
  BATON_ASSIGN_OR_RETURN(
      const Expr positive,
      RequantizeOrWiden(data, *type, {args[1], from_zero}, {args[3], to_zero}));
  // Below the zero point: alpha * q + (1 - alpha) * zero_point.
  BATON_ASSIGN_OR_RETURN(const FixedPoint slope, ToFixedPoint(alpha));
  BATON_ASSIGN_OR_RETURN(const FixedPoint rest, ToFixedPoint(1 - alpha));
  const Expr negative = Add(FixedPointMultiply(positive, slope),
                            FixedPointMultiply(to_zero, rest));
  return Narrowed(Where(Less(data, from_zero), negative, positive),
                  type->dtype());
}

// I-BERT's integer softmax with shifts for exponentials: algorithm 1 of
// arXiv:2207.01405.
absl::StatusOr<Expr> LowerSoftmax(const CallNode& call, Args args) {
  const std::vector<int64_t> axis = {
      AttrsOrDefaults<SoftmaxAttrs>(call.attrs()).axis};
  BATON_ASSIGN_OR_RETURN(const TensorTypeNode* type, TensorTypeOf(call.arg(0)));
  BATON_ASSIGN_OR_RETURN(const double scale,
                         ScalarOf(args[1], "the scale of the argument"));
  if (!(scale > 0 && scale <= 1)) {
    return absl::UnimplementedError(
        "the scale of the argument is not in (0, 1]");
  }
  const auto over_axis = [&](Expr (*reduce)(Expr, ReduceAttrs), Expr data) {
    return reduce(std::move(data), {.axis = axis, .keepdims = true});
  };
  constexpr int kBits = 8;
  constexpr int kSumBits = 30;
  const Expr data = Subtract(Cast(args[0], kInt32), args[2]);
  BATON_ASSIGN_OR_RETURN(
      const Expr one,
      Narrowed(Const(std::round(1.0f / static_cast<float>(scale))), kInt32));
  const Expr x = Subtract(data, over_axis(Max, data));
  const Expr log2 =
      Subtract(Add(x, RightShift(x, Const(1))), RightShift(x, Const(4)));
  const Expr quotient = Clip(Divide(log2, Negative(one)), 0, 20);
  const Expr max_quotient = over_axis(Max, quotient);
  const Expr rest = Subtract(log2, Multiply(quotient, Negative(one)));
  const Expr power = Add(RightShift(rest, Const(1)), one);
  const Expr exps = LeftShift(power, Subtract(max_quotient, quotient));
  const Expr sums = over_axis(Sum, exps);
  const Expr result =
      RightShift(Multiply(Divide(Const(1 << kSumBits), sums), exps),
                 Const(kSumBits - (kBits - 1)));
  return RequantizeData(result, *type,
                        {.from = {Const(1.0f / (1 << (kBits - 1))), Const(0)},
                         .to = {args[3], args[4]},
                         .axis = 0,
                         .out_dtype = DType::Int(kBits)});
}

// Operators that combine tensors.

struct BinaryOperands {
  Expr lhs;  // as int32, in the quantization of the result
  Expr rhs;
  Expr zero_point;  // of the result
  DType dtype;      // of the result
};

absl::StatusOr<BinaryOperands> RequantizedOperands(const CallNode& call,
                                                   Args args) {
  const auto& attrs = AttrsOrDefaults<BroadcastAttrs>(call.attrs());
  BATON_ASSIGN_OR_RETURN(const TensorTypeNode* lhs, TensorTypeOf(call.arg(0)));
  BATON_ASSIGN_OR_RETURN(const TensorTypeNode* rhs, TensorTypeOf(call.arg(1)));
  const Quantization to = {args[6], args[7]};
  BinaryOperands operands = {.zero_point = args[7], .dtype = lhs->dtype()};
  BATON_ASSIGN_OR_RETURN(
      operands.lhs,
      RequantizeOrWiden(args[0], *lhs, {args[2], args[3]}, to, attrs.lhs_axis));
  BATON_ASSIGN_OR_RETURN(
      operands.rhs,
      RequantizeOrWiden(args[1], *rhs, {args[4], args[5]}, to, attrs.rhs_axis));
  return operands;
}

// Each operand comes with the zero point of the result; `kRestore` makes it one
// again.
template <Expr (*kFunction)(Expr, Expr), Expr (*kRestore)(Expr, Expr)>
absl::StatusOr<Expr> LowerSum(const CallNode& call, Args args) {
  BATON_ASSIGN_OR_RETURN(BinaryOperands operands,
                         RequantizedOperands(call, args));
  Expr result = kFunction(std::move(operands.lhs), std::move(operands.rhs));
  if (!IsInt(operands.zero_point, 0)) {
    result = kRestore(std::move(result), operands.zero_point);
  }
  return Narrowed(std::move(result), operands.dtype);
}

absl::StatusOr<Expr> LowerMultiply(const CallNode& call, Args args) {
  const auto& attrs = AttrsOrDefaults<BroadcastAttrs>(call.attrs());
  BATON_ASSIGN_OR_RETURN(const TensorTypeNode* lhs, TensorTypeOf(call.arg(0)));
  BATON_ASSIGN_OR_RETURN(const TensorTypeNode* rhs, TensorTypeOf(call.arg(1)));
  const bool by_tensor = IsScalarConstant(args[2]) && IsScalarConstant(args[4]);
  if (!by_tensor && attrs.lhs_axis != attrs.rhs_axis) {
    return absl::UnimplementedError("the channels are not on the same axis");
  }
  const auto shifted = [&](int i, const TensorTypeNode& type,
                           const Expr& zero_point, int axis) {
    Expr data = Cast(args[i], kInt32);
    if (IsInt(zero_point, 0)) return data;
    if (by_tensor) return Subtract(std::move(data), zero_point);
    return Subtract(std::move(data),
                    Cast(AlongAxis(zero_point, type.rank(),
                                   NormalizedAxis(axis, type.rank())),
                         kInt32));
  };
  Expr product = Multiply(shifted(0, *lhs, args[3], attrs.lhs_axis),
                          shifted(1, *rhs, args[5], attrs.rhs_axis));
  Requantization params = {.from = {Expr(), Const(0)},
                           .to = {args[6], args[7]},
                           .out_dtype = lhs->dtype()};
  BATON_ASSIGN_OR_RETURN(const std::vector<double> lhs_scales,
                         VectorOf(args[2], "the scale of the left operand"));
  BATON_ASSIGN_OR_RETURN(const std::vector<double> rhs_scales,
                         VectorOf(args[4], "the scale of the right operand"));
  if (by_tensor) {
    params.from.scale = Const(static_cast<float>(lhs_scales[0]) *
                              static_cast<float>(rhs_scales[0]));
  } else {
    std::vector<float> scales;
    const size_t size = std::max(lhs_scales.size(), rhs_scales.size());
    for (size_t i = 0; i < size; ++i) {
      scales.push_back(
          static_cast<float>(lhs_scales[lhs_scales.size() == 1 ? 0 : i] *
                             rhs_scales[rhs_scales.size() == 1 ? 0 : i]));
    }
    BATON_ASSIGN_OR_RETURN(params.from.scale, VectorConstant(scales));
    params.axis = attrs.lhs_axis;
  }
  return RequantizeData(product, *lhs, params);
}

absl::StatusOr<Expr> LowerConcatenate(const CallNode& call, Args args) {
  const TupleTypeNode* type = call.arg(0)->tuple_type();
  const auto* scales = args[1].As<TupleNode>();
  const auto* zero_points = args[2].As<TupleNode>();
  if (type == nullptr) {
    return absl::FailedPreconditionError(
        "the tensors have no types; run InferType first");
  }
  const size_t size = type->fields().size();
  if (scales == nullptr || scales->fields().size() != size ||
      zero_points == nullptr || zero_points->fields().size() != size) {
    return absl::UnimplementedError(
        "the scales and the zero points are not tuples of a field a tensor");
  }
  const auto* tuple = args[0].As<TupleNode>();
  std::vector<Expr> fields;
  for (size_t i = 0; i < size; ++i) {
    Expr field =
        tuple != nullptr ? tuple->fields()[i] : Expr(TupleGetItem(args[0], i));
    const Expr& scale = scales->fields()[i];
    const Expr& zero_point = zero_points->fields()[i];
    if (!SameScalar(scale, args[3]) || !SameScalar(zero_point, args[4])) {
      const auto* tensor = type->fields()[i].As<TensorTypeNode>();
      if (tensor == nullptr) {
        return absl::FailedPreconditionError("a field is not a tensor");
      }
      BATON_ASSIGN_OR_RETURN(field,
                             RequantizeData(field, *tensor,
                                            {.from = {scale, zero_point},
                                             .to = {args[3], args[4]},
                                             .out_dtype = tensor->dtype()}));
    }
    fields.push_back(std::move(field));
  }
  return Concatenate(std::move(fields),
                     AttrsOrDefaults<ConcatenateAttrs>(call.attrs()).axis);
}

absl::StatusOr<Expr> LowerAvgPool2D(const CallNode& call, Args args) {
  BATON_ASSIGN_OR_RETURN(const TensorTypeNode* type, TensorTypeOf(call.arg(0)));
  BATON_ASSIGN_OR_RETURN(Expr data,
                         RequantizeOrWiden(args[0], *type, {args[1], args[2]},
                                           {args[3], args[4]}));
  return Narrowed(
      Call(BATON_OP("nn.avg_pool2d"), {std::move(data)}, call.attrs()),
      type->dtype());
}

// Products. With a and b the zero points of x and w,
//
//   sum((x - a) * (w - b)) = sum(x * w) - b * sum(x) - a * sum(w) + n * a * b

struct ProductTerms {
  Expr product;   // sum(x * w)
  Expr data;      // b * sum(x)
  Expr weight;    // a * sum(w)
  Expr constant;  // n * a * b
};

// The sum of the terms that are not zero. What may be folded stands together.
Expr Combined(ProductTerms terms, const Expr& data_zero_point,
              const Expr& weight_zero_point) {
  const bool constant =
      IsScalarConstant(data_zero_point) && IsScalarConstant(weight_zero_point);
  const bool no_data = constant && IsInt(weight_zero_point, 0);
  const bool no_weight = constant && IsInt(data_zero_point, 0);
  if (no_data && no_weight) return std::move(terms.product);
  if (no_weight) {
    return Subtract(std::move(terms.product), std::move(terms.data));
  }
  if (no_data) {
    return Subtract(std::move(terms.product), std::move(terms.weight));
  }
  return Add(Subtract(std::move(terms.product), std::move(terms.data)),
             Subtract(std::move(terms.constant), std::move(terms.weight)));
}

// The product of constants, in 32 bits as it will be computed; null if a zero
// point is not a constant.
Expr ConstantTerm(int64_t count, const Expr& a, const Expr& b, DType dtype) {
  const std::optional<double> x = ConstantScalar(a);
  const std::optional<double> y = ConstantScalar(b);
  if (!x.has_value() || !y.has_value()) return {};
  const auto wrapped = static_cast<uint32_t>(static_cast<int64_t>(*x)) *
                       static_cast<uint32_t>(static_cast<int64_t>(*y)) *
                       static_cast<uint32_t>(count);
  return Const(static_cast<int32_t>(wrapped), dtype);
}

Expr IntSum(const Expr& data, std::vector<int64_t> axes, bool keepdims) {
  return Sum(Cast(data, kInt32),
             {.axis = std::move(axes), .keepdims = keepdims});
}

absl::StatusOr<Expr> LowerDense(const CallNode& call, Args args) {
  BATON_ASSIGN_OR_RETURN(const TensorTypeNode* data, TensorTypeOf(call.arg(0)));
  BATON_ASSIGN_OR_RETURN(const TensorTypeNode* weight,
                         TensorTypeOf(call.arg(1)));
  const int last = data->rank() - 1;
  BATON_ASSIGN_OR_RETURN(const int64_t count, Extent(*data, last));
  BATON_ASSIGN_OR_RETURN(const int64_t units, Extent(*weight, 0));
  ProductTerms terms;
  terms.product = Call(BATON_OP("nn.dense"), {args[0], args[1]}, call.attrs());
  Expr sums = IntSum(args[0], {last}, /*keepdims=*/true);
  if (!IsScalarConstant(args[3])) sums = Repeat(std::move(sums), units, last);
  terms.data = Multiply(args[3], std::move(sums));
  terms.weight = Multiply(args[2], IntSum(args[1], {1}, /*keepdims=*/false));
  terms.constant = ConstantTerm(count, args[2], args[3], kInt32);
  if (!terms.constant.defined()) {
    terms.constant = Multiply(Multiply(args[2], args[3]),
                              Const(static_cast<int32_t>(count)));
  }
  return Combined(std::move(terms), args[2], args[3]);
}

absl::StatusOr<Expr> LowerBatchMatmul(const CallNode& call, Args args) {
  const auto& attrs = AttrsOrDefaults<BatchMatmulAttrs>(call.attrs());
  if (attrs.transpose_a || !attrs.transpose_b) {
    return absl::UnimplementedError(
        "only the right operands may be, and must be, transposed");
  }
  for (const int i : {2, 3}) {
    BATON_ASSIGN_OR_RETURN(const TensorTypeNode* type,
                           TensorTypeOf(call.arg(i)));
    if (type->rank() != 0) {
      return absl::UnimplementedError("a zero point is not a scalar");
    }
  }
  BATON_ASSIGN_OR_RETURN(const TensorTypeNode* x, TensorTypeOf(call.arg(0)));
  BATON_ASSIGN_OR_RETURN(const TensorTypeNode* y, TensorTypeOf(call.arg(1)));
  BATON_ASSIGN_OR_RETURN(const int64_t count, Extent(*x, 2));
  BATON_ASSIGN_OR_RETURN(const int64_t columns, Extent(*y, 1));
  ProductTerms terms;
  terms.product =
      Call(BATON_OP("nn.batch_matmul"), {args[0], args[1]}, call.attrs());
  terms.data = Multiply(args[3], IntSum(args[0], {2}, /*keepdims=*/true));
  terms.weight =
      Reshape(Multiply(args[2], IntSum(args[1], {2}, /*keepdims=*/true)),
              {0, 1, columns});
  terms.constant = ConstantTerm(count, args[2], args[3], kInt32);
  if (!terms.constant.defined()) {
    terms.constant = Multiply(Multiply(args[2], args[3]),
                              Const(static_cast<int32_t>(count)));
  }
  return Combined(std::move(terms), args[2], args[3]);
}

// A quantized 2-d convolution that is being lowered.
class ConvLowering {
 public:
  static absl::StatusOr<Expr> Lower(const CallNode& call, Args args) {
    ConvLowering lowering(AttrsOrDefaults<Conv2DAttrs>(call.attrs()), args);
    BATON_RETURN_IF_ERROR(lowering.Read(call));
    return lowering.Run();
  }

 private:
  ConvLowering(const Conv2DAttrs& attrs, Args args)
      : attrs_(attrs),
        data_(args[0]),
        weight_(args[1]),
        data_zero_(args[2]),
        weight_zero_(args[3]) {}

  absl::Status Read(const CallNode& call) {
    if (attrs_.data_layout != "NCHW" && attrs_.data_layout != "NHWC") {
      return Unsupported(attrs_.data_layout);
    }
    static constexpr absl::string_view kKernelLayouts[] = {"OIHW", "HWIO",
                                                           "HWOI", "OHWI"};
    if (std::find(std::begin(kKernelLayouts), std::end(kKernelLayouts),
                  attrs_.kernel_layout) == std::end(kKernelLayouts)) {
      return Unsupported(attrs_.kernel_layout);
    }
    BATON_ASSIGN_OR_RETURN(data_layout_, Layout::Parse(attrs_.data_layout));
    BATON_ASSIGN_OR_RETURN(kernel_layout_, Layout::Parse(attrs_.kernel_layout));
    BATON_ASSIGN_OR_RETURN(const TensorTypeNode* data,
                           TensorTypeOf(call.arg(0)));
    BATON_ASSIGN_OR_RETURN(const TensorTypeNode* weight,
                           TensorTypeOf(call.arg(1)));
    const auto kernel = [&](char axis) {
      return Extent(*weight, kernel_layout_.IndexOf(axis));
    };
    BATON_ASSIGN_OR_RETURN(kernel_h_, kernel('H'));
    BATON_ASSIGN_OR_RETURN(kernel_w_, kernel('W'));
    BATON_ASSIGN_OR_RETURN(out_channels_, kernel('O'));
    BATON_ASSIGN_OR_RETURN(multiplier_, kernel('I'));
    // Without groups, the weights have as many channels as the data.
    in_channels_ = multiplier_;
    if (data->dim(ChannelAxis()).is_const()) {
      in_channels_ = data->dim(ChannelAxis()).value();
    }
    // The reference takes groups of several channels with one result for
    // depthwise, too.
    depthwise_ =
        attrs_.channels.has_value() && attrs_.channels->is_const() &&
        attrs_.channels->value() == attrs_.groups && attrs_.groups != 1 &&
        (!data->dim(ChannelAxis()).is_const() || in_channels_ == attrs_.groups);
    constant_zeros_ =
        IsScalarConstant(data_zero_) && IsScalarConstant(weight_zero_);
    SpellOutAxes(2, attrs_.strides);
    SpellOutAxes(2, attrs_.dilation);
    SpellOutPadding(2, attrs_.padding);
    for (const Dims* dims :
         {&attrs_.strides, &attrs_.dilation, &attrs_.padding}) {
      if (!ConstDims(*dims).has_value()) {
        return absl::UnimplementedError("an attribute is not a number");
      }
    }
    return absl::OkStatus();
  }

  absl::StatusOr<Expr> Run() {
    const bool dilated =
        !attrs_.dilation[0].is_const(1) || !attrs_.dilation[1].is_const(1);
    // Pooling, which sums the data, knows neither dilation nor groups.
    const bool plain = (constant_zeros_ && IsInt(weight_zero_, 0)) || !dilated;
    const bool supported = plain && (attrs_.groups == 1 || depthwise_);
    if (!constant_zeros_) {
      weight_zero_ =
          AlongAxis(weight_zero_, 4,
                    supported ? ChannelAxis() : kernel_layout_.IndexOf('O'));
    }
    if (!supported) return Shifted();
    const Expr padded = Padded();
    Conv2DAttrs attrs = attrs_;
    attrs.padding = {0, 0, 0, 0};
    ProductTerms terms = {
        .product = Call(BATON_OP("nn.conv2d"), {padded, weight_},
                        Attrs::Make(std::move(attrs))),
        .data = depthwise_ ? DepthwiseDataTerm(padded) : DataTerm(padded),
        .weight = WeightTerm(),
        .constant = ConstantPart()};
    return Combined(std::move(terms), data_zero_, weight_zero_);
  }

  static absl::Status Unsupported(absl::string_view layout) {
    return absl::UnimplementedError(
        absl::StrCat("the layout ", layout, " cannot be lowered"));
  }

  int ChannelAxis() const { return data_layout_.IndexOf('C'); }
  // Returns the type of the sum.
  DType Wide() const {
    return DType::Int(std::max(attrs_.out_dtype.bits(), 32));
  }

  // Without terms: zero points are taken away first.
  Expr Shifted() const {
    const DType dtype = Wide();
    const auto shifted = [&](const Expr& data, const Expr& zero_point) {
      Expr wide = Cast(data, dtype);
      if (SameScalar(zero_point, Const(0.0, dtype))) return wide;
      return Subtract(std::move(wide), Cast(zero_point, dtype));
    };
    return Call(BATON_OP("nn.conv2d"),
                {shifted(data_, data_zero_), shifted(weight_, weight_zero_)},
                Attrs::Make(attrs_));
  }

  // The data, padded with what stands for 0.
  Expr Padded() const {
    const Dims& padding = attrs_.padding;
    std::vector<std::vector<int64_t>> widths(4, {0, 0});
    bool any = false;
    for (const char axis : {'H', 'W'}) {
      const size_t k = axis == 'H' ? 0 : 1;
      std::vector<int64_t>& width = widths[data_layout_.IndexOf(axis)];
      width = {padding[k].value(), padding[k + 2].value()};
      any = any || width[0] != 0 || width[1] != 0;
    }
    if (!any) return data_;
    return nn::Pad(data_, std::move(widths), data_zero_);
  }

  // The sums of the windows. Pools average integers: the data is multiplied
  // first, so that nothing is lost.
  Expr WindowSums(Expr data) const {
    const int64_t size = kernel_h_ * kernel_w_;
    const bool strided =
        !attrs_.strides[0].is_const(1) || !attrs_.strides[1].is_const(1);
    if (size == 1 && !strided) return data;
    if (size != 1) {
      data = Multiply(std::move(data), Const(static_cast<int32_t>(size)));
    }
    AvgPool2DAttrs attrs;
    attrs.pool_size = attrs_.kernel_size;
    if (attrs.pool_size.empty()) attrs.pool_size = {kernel_h_, kernel_w_};
    attrs.strides = attrs_.strides;
    attrs.dilation = attrs_.dilation;
    attrs.padding = {0, 0};
    attrs.layout = attrs_.data_layout;
    return Call(BATON_OP("nn.avg_pool2d"), {std::move(data)},
                Attrs::Make(std::move(attrs)));
  }

  Expr DataTerm(const Expr& padded) const {
    Expr sums = WindowSums(IntSum(padded, {ChannelAxis()}, /*keepdims=*/true));
    if (IsInt(weight_zero_, 1)) return sums;
    if (!IsScalarConstant(weight_zero_)) {
      sums = Repeat(std::move(sums), out_channels_, ChannelAxis());
    }
    return Multiply(weight_zero_, std::move(sums));
  }

  Expr DepthwiseDataTerm(const Expr& padded) const {
    Expr sums = WindowSums(Cast(padded, kInt32));
    if (!IsInt(weight_zero_, 1)) {
      sums = Multiply(IsScalarConstant(weight_zero_)
                          ? weight_zero_
                          : Repeat(weight_zero_, multiplier_, 0),
                      std::move(sums));
    }
    if (multiplier_ == 1) return sums;
    return Repeat(std::move(sums), multiplier_, ChannelAxis());
  }

  Expr WeightTerm() const {
    std::vector<int64_t> axes;
    for (int i = 0; i < kernel_layout_.ndim(); ++i) {
      const char letter = kernel_layout_.axis(i).letter;
      if (letter == 'H' || letter == 'W' || (letter == 'I' && !depthwise_)) {
        axes.push_back(i);
      }
    }
    std::vector<int64_t> shape(4, 1);
    shape[ChannelAxis()] =
        depthwise_ ? out_channels_ * multiplier_ : out_channels_;
    Expr sums = Reshape(IntSum(weight_, std::move(axes), /*keepdims=*/false),
                        std::move(shape));
    if (IsInt(data_zero_, 1)) return sums;
    return Multiply(data_zero_, std::move(sums));
  }

  Expr ConstantPart() const {
    const int64_t count =
        (depthwise_ ? 1 : in_channels_) * kernel_h_ * kernel_w_;
    const DType dtype = depthwise_ ? kInt32 : Wide();
    if (constant_zeros_) {
      return ConstantTerm(count, data_zero_, weight_zero_, dtype);
    }
    return Multiply(Const(static_cast<double>(count), dtype),
                    Multiply(data_zero_, weight_zero_));
  }

  Conv2DAttrs attrs_;
  const Expr data_;
  const Expr weight_;
  const Expr data_zero_;
  Expr weight_zero_;
  Layout data_layout_;
  Layout kernel_layout_;
  int64_t kernel_h_ = 0;
  int64_t kernel_w_ = 0;
  int64_t in_channels_ = 0;
  int64_t out_channels_ = 0;
  int64_t multiplier_ = 0;  // of a depthwise convolution
  bool depthwise_ = false;
  bool constant_zeros_ = false;
};

constexpr char kCanonicalize[] = "FTVMQnnCanonicalize";

// `kRule`, but calls whose result has no quantized type stay: inference takes
// any type of data for some operators.
template <LegalizationRule kRule>
absl::StatusOr<Expr> Quantized(const CallNode& call, Args args) {
  const TensorTypeNode* type = call.tensor_type();
  if (type == nullptr || !qnn::RangeOf(type->dtype()).has_value()) {
    return Expr();
  }
  return kRule(call, args);
}

[[maybe_unused]] const bool kRegistered = [] {
  auto& rules = LegalizationRules(kCanonicalize);
  const auto set = [&rules](absl::string_view name, LegalizationRule rule) {
    OpExtension(name).Set(rules, rule);
  };
  set("qnn.requantize", LowerRequantize);
  set("qnn.quantize", LowerQuantize);
  set("qnn.dequantize", LowerDequantize);
  set("qnn.add", Quantized<LowerSum<Add, Subtract>>);
  set("qnn.subtract", Quantized<LowerSum<Subtract, Add>>);
  set("qnn.mul", Quantized<LowerMultiply>);
  set("qnn.concatenate", LowerConcatenate);
  set("qnn.avg_pool2d", Quantized<LowerAvgPool2D>);
  set("qnn.dense", LowerDense);
  set("qnn.batch_matmul", LowerBatchMatmul);
  set("qnn.conv2d", ConvLowering::Lower);
  set("qnn.softmax", Quantized<LowerSoftmax>);
  set("qnn.leaky_relu", Quantized<LowerLeakyRelu>);
  set("qnn.abs", Quantized<LowerUnary<Abs>>);
  set("qnn.erf", Quantized<LowerUnary<Erf>>);
  set("qnn.exp", Quantized<LowerUnary<Exp>>);
  set("qnn.hardswish", Quantized<LowerUnary<qnn::RealHardSwish>>);
  set("qnn.log", Quantized<LowerUnary<Log>>);
  set("qnn.rsqrt", Quantized<LowerUnary<Rsqrt>>);
  set("qnn.sigmoid", Quantized<LowerUnary<Sigmoid>>);
  set("qnn.sqrt", Quantized<LowerUnary<Sqrt>>);
  set("qnn.tanh", Quantized<LowerUnary<Tanh>>);
  return true;
}();

}  // namespace

Pass QnnCanonicalizeOps() {
  return CreateLegalizationPass(
      kCanonicalize, /*target=*/{},
      {.name = "qnn.CanonicalizeOps",
       .opt_level = 1,
       .required = {"InferType"},
       .doc = "Writes operators on quantized tensors as others.",
       .invalidates = {"a_normal_form"},
       .idempotent = true,
       .exact = false,
       .waivers = {
           {"runs", "Scales and zero points of results must be constants."}}});
}
BATON_REGISTER_PASS_AS("qnn.CanonicalizeOps", QnnCanonicalizeOps);

}  // namespace baton::relay
