// Operators that map elements one by one, or pairs of them after broadcasting.

#include "baton/runtime/kernels/elementwise.h"

#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/type_relation.h"
#include "baton/relay/op/dim_math.h"
#include "baton/relay/op/fusion_pattern.h"
#include "baton/relay/op/kernel_adapters.h"
#include "baton/relay/op/layout_rules.h"
#include "baton/relay/op/nn_attrs.h"
#include "baton/relay/op/tensor_attrs.h"
#include "baton/relay/op/type_relations.h"
#include "baton/runtime/kernel.h"
#include "baton/runtime/value.h"

namespace baton::relay {
namespace {

OpRegistration Unary(absl::string_view name, absl::string_view doc,
                     KernelFn kernel) {
  return OpRegistration(name)
      .Describe(doc)
      .Arguments({{"data", "The input."}})
      .TypeRelation(TensorIdentityRel)
      .Set(FusionPatterns(), FusionPattern::kElemWise)
      .Set(LayoutInferenceRules(), InferElemwiseLayouts)
      .Set(Kernels(), kernel);
}

OpRegistration Predicate(absl::string_view name, absl::string_view doc,
                         KernelFn kernel) {
  return Unary(name, doc, kernel).TypeRelation(PredicateRel);
}

OpRegistration Binary(absl::string_view name, absl::string_view doc,
                      KernelFn kernel) {
  return OpRegistration(name)
      .Describe(doc)
      .Arguments({{"lhs", "The left operand."}, {"rhs", "The right operand."}})
      .TypeRelation(BroadcastRel)
      .Set(FusionPatterns(), FusionPattern::kBroadcast)
      .Set(LayoutInferenceRules(), InferBroadcastLayouts)
      .Set(Kernels(), kernel);
}

OpRegistration Comparison(absl::string_view name, absl::string_view doc,
                          KernelFn kernel) {
  return Binary(name, doc, kernel).TypeRelation(BroadcastCompareRel);
}

absl::StatusOr<Tensor> TruncDivide(const Tensor& a, const Tensor& b) {
  BATON_ASSIGN_OR_RETURN(const Tensor quotient, kernels::Divide(a, b));
  return kernels::Trunc(quotient);
}

absl::StatusOr<Tensor> ZerosLike(const Tensor& x) {
  return Tensor::Zeros(x.dtype(), x.shape());
}

absl::StatusOr<Tensor> OnesLike(const Tensor& x) {
  return Tensor::Ones(x.dtype(), x.shape());
}

[[maybe_unused]] const OpRegistration kUnaryOps[] = {
    Unary("abs", "The absolute value.", Kernel1<kernels::Abs>),
    Unary("acos", "The inverse cosine.", Kernel1<kernels::Acos>),
    Unary("acosh", "The inverse hyperbolic cosine.", Kernel1<kernels::Acosh>),
    Unary("asin", "The inverse sine.", Kernel1<kernels::Asin>),
    Unary("asinh", "The inverse hyperbolic sine.", Kernel1<kernels::Asinh>),
    Unary("atan", "The inverse tangent.", Kernel1<kernels::Atan>),
    Unary("atanh", "The inverse hyperbolic tangent.", Kernel1<kernels::Atanh>),
    Unary("bitwise_not", "Inverts each bit.", Kernel1<kernels::BitwiseNot>),
    Unary("ceil", "Rounds up.", Kernel1<kernels::Ceil>),
    Unary("cos", "The cosine.", Kernel1<kernels::Cos>),
    Unary("cosh", "The hyperbolic cosine.", Kernel1<kernels::Cosh>),
    Unary("erf", "The error function.", Kernel1<kernels::Erf>),
    Unary("exp", "The exponential function.", Kernel1<kernels::Exp>),
    Unary("fast_erf", "The error function; may be approximate.",
          Kernel1<kernels::FastErf>),
    Unary("fast_exp", "The exponential function; may be approximate.",
          Kernel1<kernels::FastExp>),
    Unary("fast_tanh", "The hyperbolic tangent; may be approximate.",
          Kernel1<kernels::FastTanh>),
    Unary("floor", "Rounds down.", Kernel1<kernels::Floor>),
    Unary("log", "The natural logarithm.", Kernel1<kernels::Log>),
    Unary("log10", "The logarithm to base 10.", Kernel1<kernels::Log10>),
    Unary("log2", "The logarithm to base 2.", Kernel1<kernels::Log2>),
    Unary("logical_not", "The logical negation.", Kernel1<kernels::LogicalNot>),
    Unary("negative", "The negation.", Kernel1<kernels::Negative>),
    Unary("nn.relu", "max(x, 0).", Kernel1<kernels::Relu>),
    Unary("ones_like", "Ones, in the shape and type of the input.",
          Kernel1<OnesLike>),
    Unary("round", "Rounds to the nearest integer, ties to even.",
          Kernel1<kernels::Round>),
    Unary("rsqrt", "The reciprocal of the square root.",
          Kernel1<kernels::Rsqrt>),
    Unary("sigmoid", "1 / (1 + exp(-x)).", Kernel1<kernels::Sigmoid>),
    Unary("sign", "-1, 0 or 1.", Kernel1<kernels::Sign>),
    Unary("sin", "The sine.", Kernel1<kernels::Sin>),
    Unary("sinh", "The hyperbolic sine.", Kernel1<kernels::Sinh>),
    Unary("sqrt", "The square root.", Kernel1<kernels::Sqrt>),
    Unary("tan", "The tangent.", Kernel1<kernels::Tan>),
    Unary("tanh", "The hyperbolic tangent.", Kernel1<kernels::Tanh>),
    Unary("trunc", "Rounds towards zero.", Kernel1<kernels::Trunc>),
    Unary("zeros_like", "Zeros, in the shape and type of the input.",
          Kernel1<ZerosLike>),
    Unary("copy", "The input itself.", IdentityKernel)
        .TypeRelation(IdentityRel),
    Predicate("isfinite", "Whether it is neither infinite nor NaN.",
              Kernel1<kernels::IsFinite>),
    Predicate("isinf", "Whether it is infinite.", Kernel1<kernels::IsInf>),
    Predicate("isnan", "Whether it is NaN.", Kernel1<kernels::IsNan>),
};

[[maybe_unused]] const OpRegistration kBinaryOps[] = {
    Binary("add", "The sum, with broadcasting.", Kernel2<kernels::Add>),
    Binary("subtract", "The difference, with broadcasting.",
           Kernel2<kernels::Subtract>),
    Binary("multiply", "The product, with broadcasting.",
           Kernel2<kernels::Multiply>),
    Binary("divide", "The quotient, with broadcasting; integers truncate.",
           Kernel2<kernels::Divide>),
    Binary("floor_divide", "The quotient rounded down, with broadcasting.",
           Kernel2<kernels::FloorDivide>),
    Binary("trunc_divide",
           "The quotient rounded towards zero, with broadcasting.",
           Kernel2<TruncDivide>),
    Binary("mod", "The remainder of truncated division, with broadcasting.",
           Kernel2<kernels::Mod>),
    Binary("floor_mod", "The remainder of floor_divide, with broadcasting.",
           Kernel2<kernels::FloorMod>),
    Binary("trunc_mod", "The remainder of trunc_divide, with broadcasting.",
           Kernel2<kernels::Mod>),
    Binary("power", "The power, with broadcasting.", Kernel2<kernels::Power>),
    Binary("maximum", "The larger operand, with broadcasting.",
           Kernel2<kernels::Maximum>),
    Binary("minimum", "The smaller operand, with broadcasting.",
           Kernel2<kernels::Minimum>),
    Binary("left_shift", "Shifts bits to the left, with broadcasting.",
           Kernel2<kernels::LeftShift>),
    Binary("right_shift", "Shifts bits to the right, with broadcasting.",
           Kernel2<kernels::RightShift>),
    Binary("logical_and", "Whether both are true, with broadcasting.",
           Kernel2<kernels::LogicalAnd>),
    Binary("logical_or", "Whether one is true, with broadcasting.",
           Kernel2<kernels::LogicalOr>),
    Binary("logical_xor", "Whether just one is true, with broadcasting.",
           Kernel2<kernels::LogicalXor>),
    Binary("bitwise_and", "The conjunction of bits, with broadcasting.",
           Kernel2<kernels::BitwiseAnd>),
    Binary("bitwise_or", "The disjunction of bits, with broadcasting.",
           Kernel2<kernels::BitwiseOr>),
    Binary("bitwise_xor", "The exclusive disjunction, with broadcasting.",
           Kernel2<kernels::BitwiseXor>),
    Comparison("equal", "a == b, with broadcasting.", Kernel2<kernels::Equal>),
    Comparison("not_equal", "a != b, with broadcasting.",
               Kernel2<kernels::NotEqual>),
    Comparison("less", "a < b, with broadcasting.", Kernel2<kernels::Less>),
    Comparison("less_equal", "a <= b, with broadcasting.",
               Kernel2<kernels::LessEqual>),
    Comparison("greater", "a > b, with broadcasting.",
               Kernel2<kernels::Greater>),
    Comparison("greater_equal", "a >= b, with broadcasting.",
               Kernel2<kernels::GreaterEqual>),
};

absl::StatusOr<Tensor> Clip(const ClipAttrs& attrs,
                            absl::Span<const Value> args) {
  return kernels::Clip(args[0].tensor(), attrs.a_min, attrs.a_max);
}

BATON_REGISTER_OP("clip")
    .Describe("Limits elements to [a_min, a_max].")
    .Arguments({{"data", "The input."}})
    .TakesAttrs<ClipAttrs>()
    .TypeRelation(TensorIdentityRel)
    .Set(FusionPatterns(), FusionPattern::kElemWise)
    .Set(LayoutInferenceRules(), InferElemwiseLayouts)
    .Set(Kernels(), KernelWith<ClipAttrs, Clip>);

absl::StatusOr<Tensor> LeakyRelu(const LeakyReluAttrs& attrs,
                                 absl::Span<const Value> args) {
  return kernels::LeakyRelu(args[0].tensor(), attrs.alpha);
}

BATON_REGISTER_OP("nn.leaky_relu")
    .Describe("x where it is positive, else alpha * x.")
    .Arguments({{"data", "The input."}})
    .TakesAttrs<LeakyReluAttrs>()
    .TypeRelation(TensorIdentityRel)
    .Set(FusionPatterns(), FusionPattern::kElemWise)
    .Set(LayoutInferenceRules(), InferElemwiseLayouts)
    .Set(Kernels(), KernelWith<LeakyReluAttrs, LeakyRelu>);

absl::StatusOr<Type> PReluRel(TypeRelationContext& context) {
  const TensorTypeNode* data = context.Tensor(0);
  if (data == nullptr) return Type();
  const int axis = context.attrs<PReluAttrs>().axis;
  if (axis < 0 || axis >= data->rank()) {
    return context.Error("axis=", axis, " is out of range for the shape ",
                         ShapeToString(data->shape()));
  }
  BATON_RETURN_IF_ERROR(
      ExpectArg(context, 1, {data->dim(axis)}, data->dtype()));
  return context.arg(0);
}

absl::StatusOr<Tensor> PRelu(const PReluAttrs& attrs,
                             absl::Span<const Value> args) {
  return kernels::Prelu(args[0].tensor(), args[1].tensor(), attrs.axis);
}

BATON_REGISTER_OP("nn.prelu")
    .Describe("x where it is positive, else alpha * x, alpha by channel.")
    .Arguments({{"data", "The input."}, {"alpha", "One slope a channel."}})
    .TakesAttrs<PReluAttrs>()
    .TypeRelation(PReluRel)
    .Set(FusionPatterns(), FusionPattern::kBroadcast)
    .Set(LayoutInferenceRules(), InferPReluLayouts)
    .Set(Kernels(), KernelWith<PReluAttrs, PRelu>);

absl::StatusOr<Type> BiasAddRel(TypeRelationContext& context) {
  const TensorTypeNode* data = context.Tensor(0);
  if (data == nullptr) return Type();
  const int axis = context.attrs<BiasAddAttrs>().axis;
  const int rank = data->rank();
  if (axis < -rank || axis >= rank) {
    return context.Error("axis=", axis, " is out of range for the shape ",
                         ShapeToString(data->shape()));
  }
  BATON_RETURN_IF_ERROR(ExpectArg(
      context, 1, {data->dim(axis < 0 ? axis + rank : axis)}, data->dtype()));
  return context.arg(0);
}

absl::StatusOr<Tensor> BiasAdd(const BiasAddAttrs& attrs,
                               absl::Span<const Value> args) {
  return kernels::BiasAdd(args[0].tensor(), args[1].tensor(), attrs.axis);
}

BATON_REGISTER_OP("nn.bias_add")
    .Describe("Adds a number to each channel.")
    .Arguments({{"data", "The input."}, {"bias", "One number a channel."}})
    .TakesAttrs<BiasAddAttrs>()
    .TypeRelation(BiasAddRel)
    .Set(FusionPatterns(), FusionPattern::kBroadcast)
    .Set(Kernels(), KernelWith<BiasAddAttrs, BiasAdd>);

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

BATON_REGISTER_OP("fixed_point_multiply")
    .Describe("Multiplies integers by a fixed-point number.")
    .Arguments({{"data", "The input."}})
    .TakesAttrs<FixedPointMultiplyAttrs>()
    .TypeRelation(TensorIdentityRel)
    .Set(FusionPatterns(), FusionPattern::kElemWise)
    .Set(LayoutInferenceRules(), InferElemwiseLayouts)
    .Set(Kernels(), KernelWith<FixedPointMultiplyAttrs, FixedPointMultiply>);

absl::StatusOr<Type> FixedPointMultiplyPerAxisRel(
    TypeRelationContext& context) {
  for (int i = 0; i < context.num_args(); ++i) {
    if (context.Tensor(i) == nullptr) return Type();
  }
  return context.arg(0);
}

BATON_REGISTER_OP("fixed_point_multiply_per_axis")
    .Describe("Multiplies integers by a fixed-point number for each channel.")
    .Arguments({{"data", "The input."},
                {"fp_multiplier", "The multipliers."},
                {"left_shift", "Bits to shift left first."},
                {"right_shift", "Bits to shift right afterwards."}})
    .TakesAttrs<FixedPointMultiplyPerAxisAttrs>()
    .TypeRelation(FixedPointMultiplyPerAxisRel)
    .Set(FusionPatterns(), FusionPattern::kBroadcast)
    .Set(LayoutInferenceRules(), InferFixedPointMultiplyPerAxisLayouts);

}  // namespace
}  // namespace baton::relay
