#include "baton/relay/op/tensor/elementwise.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/op.h"
#include "baton/relay/kernels/kernel_adapters.h"
#include "baton/relay/runtime/kernel.h"
#include "baton/relay/runtime/value.h"
#include "baton/runtime/kernels/elementwise_kernels.h"
#include "baton/runtime/kernels/shape_kernels.h"

namespace baton::relay {
namespace {

absl::StatusOr<Tensor> ComputeTruncDivide(const Tensor& a, const Tensor& b) {
  BATON_ASSIGN_OR_RETURN(const Tensor quotient, kernels::Divide(a, b));
  return kernels::Trunc(quotient);
}

absl::StatusOr<Tensor> ComputeZerosLike(const Tensor& x) {
  return Tensor::Zeros(x.dtype(), x.shape());
}

absl::StatusOr<Tensor> ComputeOnesLike(const Tensor& x) {
  return Tensor::Ones(x.dtype(), x.shape());
}

BATON_EXTEND_OP("abs").Set(Kernels(), KernelOf<kernels::Abs>);
BATON_EXTEND_OP("acos").Set(Kernels(), KernelOf<kernels::Acos>);
BATON_EXTEND_OP("acosh").Set(Kernels(), KernelOf<kernels::Acosh>);
BATON_EXTEND_OP("asin").Set(Kernels(), KernelOf<kernels::Asin>);
BATON_EXTEND_OP("asinh").Set(Kernels(), KernelOf<kernels::Asinh>);
BATON_EXTEND_OP("atan").Set(Kernels(), KernelOf<kernels::Atan>);
BATON_EXTEND_OP("atanh").Set(Kernels(), KernelOf<kernels::Atanh>);
BATON_EXTEND_OP("bitwise_not").Set(Kernels(), KernelOf<kernels::BitwiseNot>);
BATON_EXTEND_OP("ceil").Set(Kernels(), KernelOf<kernels::Ceil>);
BATON_EXTEND_OP("cos").Set(Kernels(), KernelOf<kernels::Cos>);
BATON_EXTEND_OP("cosh").Set(Kernels(), KernelOf<kernels::Cosh>);
BATON_EXTEND_OP("erf").Set(Kernels(), KernelOf<kernels::Erf>);
BATON_EXTEND_OP("exp").Set(Kernels(), KernelOf<kernels::Exp>);
BATON_EXTEND_OP("fast_erf").Set(Kernels(), KernelOf<kernels::FastErf>);
BATON_EXTEND_OP("fast_exp").Set(Kernels(), KernelOf<kernels::FastExp>);
BATON_EXTEND_OP("fast_tanh").Set(Kernels(), KernelOf<kernels::FastTanh>);
BATON_EXTEND_OP("floor").Set(Kernels(), KernelOf<kernels::Floor>);
BATON_EXTEND_OP("log").Set(Kernels(), KernelOf<kernels::Log>);
BATON_EXTEND_OP("log10").Set(Kernels(), KernelOf<kernels::Log10>);
BATON_EXTEND_OP("log2").Set(Kernels(), KernelOf<kernels::Log2>);
BATON_EXTEND_OP("logical_not").Set(Kernels(), KernelOf<kernels::LogicalNot>);
BATON_EXTEND_OP("negative").Set(Kernels(), KernelOf<kernels::Negative>);
BATON_EXTEND_OP("ones_like").Set(Kernels(), KernelOf<ComputeOnesLike>);
BATON_EXTEND_OP("round").Set(Kernels(), KernelOf<kernels::Round>);
BATON_EXTEND_OP("rsqrt").Set(Kernels(), KernelOf<kernels::Rsqrt>);
BATON_EXTEND_OP("sigmoid").Set(Kernels(), KernelOf<kernels::Sigmoid>);
BATON_EXTEND_OP("sign").Set(Kernels(), KernelOf<kernels::Sign>);
BATON_EXTEND_OP("sin").Set(Kernels(), KernelOf<kernels::Sin>);
BATON_EXTEND_OP("sinh").Set(Kernels(), KernelOf<kernels::Sinh>);
BATON_EXTEND_OP("sqrt").Set(Kernels(), KernelOf<kernels::Sqrt>);
BATON_EXTEND_OP("tan").Set(Kernels(), KernelOf<kernels::Tan>);
BATON_EXTEND_OP("tanh").Set(Kernels(), KernelOf<kernels::Tanh>);
BATON_EXTEND_OP("trunc").Set(Kernels(), KernelOf<kernels::Trunc>);
BATON_EXTEND_OP("zeros_like").Set(Kernels(), KernelOf<ComputeZerosLike>);
BATON_EXTEND_OP("copy").Set(Kernels(), IdentityKernel);
BATON_EXTEND_OP("isfinite").Set(Kernels(), KernelOf<kernels::IsFinite>);
BATON_EXTEND_OP("isinf").Set(Kernels(), KernelOf<kernels::IsInf>);
BATON_EXTEND_OP("isnan").Set(Kernels(), KernelOf<kernels::IsNan>);
BATON_EXTEND_OP("add").Set(Kernels(), KernelOf<kernels::Add>);
BATON_EXTEND_OP("subtract").Set(Kernels(), KernelOf<kernels::Subtract>);
BATON_EXTEND_OP("multiply").Set(Kernels(), KernelOf<kernels::Multiply>);
BATON_EXTEND_OP("divide").Set(Kernels(), KernelOf<kernels::Divide>);
BATON_EXTEND_OP("floor_divide").Set(Kernels(), KernelOf<kernels::FloorDivide>);
BATON_EXTEND_OP("trunc_divide").Set(Kernels(), KernelOf<ComputeTruncDivide>);
BATON_EXTEND_OP("mod").Set(Kernels(), KernelOf<kernels::Mod>);
BATON_EXTEND_OP("floor_mod").Set(Kernels(), KernelOf<kernels::FloorMod>);
BATON_EXTEND_OP("trunc_mod").Set(Kernels(), KernelOf<kernels::Mod>);
BATON_EXTEND_OP("power").Set(Kernels(), KernelOf<kernels::Power>);
BATON_EXTEND_OP("maximum").Set(Kernels(), KernelOf<kernels::Maximum>);
BATON_EXTEND_OP("minimum").Set(Kernels(), KernelOf<kernels::Minimum>);
BATON_EXTEND_OP("left_shift").Set(Kernels(), KernelOf<kernels::LeftShift>);
BATON_EXTEND_OP("right_shift").Set(Kernels(), KernelOf<kernels::RightShift>);
BATON_EXTEND_OP("logical_and").Set(Kernels(), KernelOf<kernels::LogicalAnd>);
BATON_EXTEND_OP("logical_or").Set(Kernels(), KernelOf<kernels::LogicalOr>);
BATON_EXTEND_OP("logical_xor").Set(Kernels(), KernelOf<kernels::LogicalXor>);
BATON_EXTEND_OP("bitwise_and").Set(Kernels(), KernelOf<kernels::BitwiseAnd>);
BATON_EXTEND_OP("bitwise_or").Set(Kernels(), KernelOf<kernels::BitwiseOr>);
BATON_EXTEND_OP("bitwise_xor").Set(Kernels(), KernelOf<kernels::BitwiseXor>);
BATON_EXTEND_OP("equal").Set(Kernels(), KernelOf<kernels::Equal>);
BATON_EXTEND_OP("not_equal").Set(Kernels(), KernelOf<kernels::NotEqual>);
BATON_EXTEND_OP("less").Set(Kernels(), KernelOf<kernels::Less>);
BATON_EXTEND_OP("less_equal").Set(Kernels(), KernelOf<kernels::LessEqual>);
BATON_EXTEND_OP("greater").Set(Kernels(), KernelOf<kernels::Greater>);
BATON_EXTEND_OP("greater_equal")
    .Set(Kernels(), KernelOf<kernels::GreaterEqual>);
BATON_EXTEND_OP("clip").Set(
    Kernels(), KernelOf<kernels::Clip, &ClipAttrs::a_min, &ClipAttrs::a_max>);

// x * multiplier * 2^shift, where the multiplier has 31 bits after the point;
// rounded to the nearest, ties upwards.
int32_t FixedPointProduct(int32_t x, int32_t multiplier, int left_shift,
                          int right_shift) {
  const int total = 31 + right_shift;
  const __int128 product = (static_cast<__int128>(x) << left_shift) *
                           static_cast<__int128>(multiplier);
  const __int128 half = static_cast<__int128>(1) << (total - 1);
  return static_cast<int32_t>((product + half) >> total);
}

bool ShiftInRange(int64_t shift) { return shift >= 0 && shift <= 31; }

absl::StatusOr<Tensor> FixedPointMultiply(const FixedPointMultiplyAttrs& attrs,
                                          absl::Span<const Value> args) {
  const Tensor& x = args[0].tensor();
  if (x.dtype() != DType::Int(32)) {
    return absl::InvalidArgumentError("the data must be int32");
  }
  const int left = attrs.shift > 0 ? attrs.shift : 0;
  const int right = attrs.shift < 0 ? -attrs.shift : 0;
  if (!ShiftInRange(left) || !ShiftInRange(right)) {
    return absl::InvalidArgumentError("the shift is out of range");
  }
  BATON_ASSIGN_OR_RETURN(MutableTensor result,
                         MutableTensor::Create(x.dtype(), x.shape()));
  const absl::Span<const int32_t> in = x.span<int32_t>();
  const absl::Span<int32_t> out = result.span<int32_t>();
  for (size_t i = 0; i < in.size(); ++i) {
    out[i] = FixedPointProduct(in[i], attrs.multiplier, left, right);
  }
  return std::move(result).Freeze();
}

BATON_EXTEND_OP("fixed_point_multiply")
    .Set(Kernels(), KernelOf<FixedPointMultiply>);

absl::StatusOr<Tensor> FixedPointMultiplyPerAxis(
    const FixedPointMultiplyPerAxisAttrs& attrs, absl::Span<const Value> args) {
  const Tensor& x = args[0].tensor();
  if (x.dtype() != DType::Int(32)) {
    return absl::InvalidArgumentError("the data must be int32");
  }
  // One number along each of the axes, row-major.
  TensorShape strides(static_cast<size_t>(x.rank()), 0);
  int64_t count = 1;
  for (size_t i = attrs.axes.size(); i > 0; --i) {
    const int64_t axis = attrs.axes[i - 1] < 0 ? attrs.axes[i - 1] + x.rank()
                                               : attrs.axes[i - 1];
    if (axis < 0 || axis >= x.rank() || strides[axis] != 0) {
      return absl::InvalidArgumentError(
          "axes: an axis is out of range or given twice");
    }
    strides[axis] = count;
    if (__builtin_mul_overflow(count, x.shape()[axis], &count)) {
      return absl::InvalidArgumentError("the axes are too long");
    }
  }
  for (size_t i = 1; i < 4; ++i) {
    const int64_t given = args[i].tensor().num_elements();
    if (given == count) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("operand ", i, " has ", given, " elements, not one for ",
                     "each of ", count, " channels"));
  }
  BATON_ASSIGN_OR_RETURN(MutableTensor result,
                         MutableTensor::Create(x.dtype(), x.shape()));
  TensorShape index(static_cast<size_t>(x.rank()), 0);
  int64_t channel = 0;
  for (int64_t i = 0; i < x.num_elements(); ++i) {
    const int64_t left =
        attrs.is_lshift_required ? args[2].tensor().AtAsInt64(channel) : 0;
    const int64_t right =
        attrs.is_rshift_required ? args[3].tensor().AtAsInt64(channel) : 0;
    if (left < 0 || left > 62 || right < 0 || right > 62 ||
        !ShiftInRange(static_cast<int>(left)) ||
        !ShiftInRange(static_cast<int>(right))) {
      return absl::InvalidArgumentError("the shift is out of range");
    }
    result.span<int32_t>()[i] = FixedPointProduct(
        x.span<int32_t>()[i],
        static_cast<int32_t>(args[1].tensor().AtAsInt64(channel)),
        static_cast<int>(left), static_cast<int>(right));
    for (int d = x.rank() - 1; d >= 0; --d) {
      channel += strides[d];
      if (++index[d] < x.shape()[d]) break;
      channel -= strides[d] * x.shape()[d];
      index[d] = 0;
    }
  }
  return std::move(result).Freeze();
}

BATON_EXTEND_OP("fixed_point_multiply_per_axis")
    .Set(Kernels(), KernelOf<FixedPointMultiplyPerAxis>);
BATON_EXTEND_OP("where").Set(Kernels(), KernelOf<kernels::Where>);

absl::StatusOr<Tensor> ComputeCastLike(const Tensor& data, const Tensor& like) {
  return kernels::Cast(data, like.dtype());
}

absl::StatusOr<Tensor> ComputeReinterpret(const CastAttrs& attrs,
                                          absl::Span<const Value> args) {
  const Tensor& data = args[0].tensor();
  if (!attrs.dtype.IsStorable() ||
      attrs.dtype.bytes() != data.dtype().bytes()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the bits of ", data.dtype().ToString(), " are not a ",
                     attrs.dtype.ToString()));
  }
  // The new tensor keeps the old one alive.
  return Tensor::FromUnaligned(attrs.dtype, data.shape(), data.bytes(),
                               std::make_shared<Tensor>(data),
                               /*is_mapped=*/false);
}

BATON_EXTEND_OP("cast").Set(Kernels(),
                            KernelOf<kernels::Cast, &CastAttrs::dtype>);
BATON_EXTEND_OP("cast_like").Set(Kernels(), KernelOf<ComputeCastLike>);
BATON_EXTEND_OP("reinterpret").Set(Kernels(), KernelOf<ComputeReinterpret>);

}  // namespace

}  // namespace baton::relay
