#include "baton/relay/op/tensor/elementwise.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/layout.h"
#include "baton/base/registry.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/attrs.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/type_relation.h"
#include "baton/relay/op/algebra.h"
#include "baton/relay/op/fusion_pattern.h"
#include "baton/relay/op/kernel_adapters.h"
#include "baton/relay/op/layout_rules.h"
#include "baton/relay/op/type_relations.h"
#include "baton/relay/runtime/kernel.h"
#include "baton/relay/runtime/value.h"
#include "baton/runtime/kernels/elementwise.h"
#include "baton/runtime/kernels/shape.h"

namespace baton::relay {
namespace {

OpRegistration Unary(absl::string_view name, absl::string_view doc,
                     KernelFn kernel,
                     CodeLocation location = CodeLocation::Current()) {
  return OpRegistration(name, location)
      .Describe(doc)
      .Arguments({{"data", "The input."}})
      .TypeRelation(TensorIdentityRel)
      .Set(FusionPatterns(), FusionPattern::kElemWise)
      .Set(LayoutInferenceRules(), InferElemwiseLayouts)
      .Set(Kernels(), kernel);
}

OpRegistration Predicate(absl::string_view name, absl::string_view doc,
                         KernelFn kernel,
                         CodeLocation location = CodeLocation::Current()) {
  return Unary(name, doc, kernel, location).TypeRelation(PredicateRel);
}

OpRegistration Binary(absl::string_view name, absl::string_view doc,
                      KernelFn kernel,
                      CodeLocation location = CodeLocation::Current()) {
  return OpRegistration(name, location)
      .Describe(doc)
      .Arguments({{"lhs", "The left operand."}, {"rhs", "The right operand."}})
      .TypeRelation(BroadcastRel)
      .Set(FusionPatterns(), FusionPattern::kBroadcast)
      .Set(LayoutInferenceRules(), InferBroadcastLayouts)
      .Set(Kernels(), kernel);
}

OpRegistration Comparison(absl::string_view name, absl::string_view doc,
                          KernelFn kernel,
                          CodeLocation location = CodeLocation::Current()) {
  return Binary(name, doc, kernel, location).TypeRelation(BroadcastCompareRel);
}

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

std::optional<InferredLayouts> InferFixedPointMultiplyPerAxisLayouts(
    const LayoutQuery& query) {
  const auto& attrs =
      AttrsOrDefaults<FixedPointMultiplyPerAxisAttrs>(query.attrs);
  const Layout& old = query.old_inputs[0];
  if (!old.defined()) return std::nullopt;
  const Layout& layout = query.changed ? query.new_inputs[0] : old;
  std::vector<char> letters;
  for (const int64_t axis : attrs.axes) {
    const std::optional<char> letter = layouts::LetterAt(old, axis);
    if (!letter.has_value()) return std::nullopt;
    letters.push_back(*letter);
  }
  // Multiplier and shifts have the axes that the attribute names, and are
  // split where those are split.
  std::vector<int64_t> axes;
  layouts::Axes shared;
  for (int i = 0; i < layout.ndim(); ++i) {
    const Layout::Axis& axis = layout.axis(i);
    if (std::find(letters.begin(), letters.end(),
                  Layout::ToPrimal(axis.letter)) == letters.end()) {
      continue;
    }
    axes.push_back(i);
    shared.push_back(axis);
  }
  const Layout channels = Layout::FromAxes(shared);
  InferredLayouts result{
      {layout, channels, channels, channels}, {layout}, query.attrs};
  if (query.changed) {
    result.attrs = layouts::WithField(
        query.attrs, &FixedPointMultiplyPerAxisAttrs::axes, std::move(axes));
  }
  return layouts::IfDefined(std::move(result));
}

[[maybe_unused]] const OpRegistration kUnaryOps[] = {
    Unary("abs", "The absolute value.", Kernel1<kernels::Abs>)
        .Set(InPlaceKernels(), InPlaceKernel1<kernels::Abs>),
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
    Unary("negative", "The negation.", Kernel1<kernels::Negative>)
        .Set(InPlaceKernels(), InPlaceKernel1<kernels::Negative>),
    Unary("ones_like", "Ones, in the shape and type of the input.",
          Kernel1<ComputeOnesLike>),
    Unary("round", "Rounds to the nearest integer, ties to even.",
          Kernel1<kernels::Round>),
    Unary("rsqrt", "The reciprocal of the square root.",
          Kernel1<kernels::Rsqrt>),
    Unary("sigmoid", "1 / (1 + exp(-x)).", Kernel1<kernels::Sigmoid>),
    Unary("sign", "-1, 0 or 1.", Kernel1<kernels::Sign>)
        .Set(InPlaceKernels(), InPlaceKernel1<kernels::Sign>),
    Unary("sin", "The sine.", Kernel1<kernels::Sin>),
    Unary("sinh", "The hyperbolic sine.", Kernel1<kernels::Sinh>),
    Unary("sqrt", "The square root.", Kernel1<kernels::Sqrt>),
    Unary("tan", "The tangent.", Kernel1<kernels::Tan>),
    Unary("tanh", "The hyperbolic tangent.", Kernel1<kernels::Tanh>),
    Unary("trunc", "Rounds towards zero.", Kernel1<kernels::Trunc>),
    Unary("zeros_like", "Zeros, in the shape and type of the input.",
          Kernel1<ComputeZerosLike>),
    Unary("copy", "The input itself.", IdentityKernel)
        .TypeRelation(IdentityRel),
    Predicate("isfinite", "Whether it is neither infinite nor NaN.",
              Kernel1<kernels::IsFinite>),
    Predicate("isinf", "Whether it is infinite.", Kernel1<kernels::IsInf>),
    Predicate("isnan", "Whether it is NaN.", Kernel1<kernels::IsNan>),
};

[[maybe_unused]] const OpRegistration kBinaryOps[] = {
    Binary("add", "The sum, with broadcasting.", Kernel2<kernels::Add>)
        .Set(InPlaceKernels(), InPlaceKernel2<kernels::Add>)
        .Set(CommutativeOps(), true),
    Binary("subtract", "The difference, with broadcasting.",
           Kernel2<kernels::Subtract>)
        .Set(InPlaceKernels(), InPlaceKernel2<kernels::Subtract>),
    Binary("multiply", "The product, with broadcasting.",
           Kernel2<kernels::Multiply>)
        .Set(InPlaceKernels(), InPlaceKernel2<kernels::Multiply>)
        .Set(CommutativeOps(), true),
    Binary("divide", "The quotient, with broadcasting; integers truncate.",
           Kernel2<kernels::Divide>)
        .Set(InPlaceKernels(), InPlaceKernel2<kernels::Divide>),
    Binary("floor_divide", "The quotient rounded down, with broadcasting.",
           Kernel2<kernels::FloorDivide>),
    Binary("trunc_divide",
           "The quotient rounded towards zero, with broadcasting.",
           Kernel2<ComputeTruncDivide>),
    Binary("mod", "The remainder of truncated division, with broadcasting.",
           Kernel2<kernels::Mod>),
    Binary("floor_mod", "The remainder of floor_divide, with broadcasting.",
           Kernel2<kernels::FloorMod>),
    Binary("trunc_mod", "The remainder of trunc_divide, with broadcasting.",
           Kernel2<kernels::Mod>),
    Binary("power", "The power, with broadcasting.", Kernel2<kernels::Power>),
    Binary("maximum", "The larger operand, with broadcasting.",
           Kernel2<kernels::Maximum>)
        .Set(InPlaceKernels(), InPlaceKernel2<kernels::Maximum>)
        .Set(CommutativeOps(), true),
    Binary("minimum", "The smaller operand, with broadcasting.",
           Kernel2<kernels::Minimum>)
        .Set(InPlaceKernels(), InPlaceKernel2<kernels::Minimum>)
        .Set(CommutativeOps(), true),
    Binary("left_shift", "Shifts bits to the left, with broadcasting.",
           Kernel2<kernels::LeftShift>),
    Binary("right_shift", "Shifts bits to the right, with broadcasting.",
           Kernel2<kernels::RightShift>),
    Binary("logical_and", "Whether both are true, with broadcasting.",
           Kernel2<kernels::LogicalAnd>)
        .Set(CommutativeOps(), true),
    Binary("logical_or", "Whether one is true, with broadcasting.",
           Kernel2<kernels::LogicalOr>)
        .Set(CommutativeOps(), true),
    Binary("logical_xor", "Whether just one is true, with broadcasting.",
           Kernel2<kernels::LogicalXor>)
        .Set(CommutativeOps(), true),
    Binary("bitwise_and", "The conjunction of bits, with broadcasting.",
           Kernel2<kernels::BitwiseAnd>)
        .Set(CommutativeOps(), true),
    Binary("bitwise_or", "The disjunction of bits, with broadcasting.",
           Kernel2<kernels::BitwiseOr>)
        .Set(CommutativeOps(), true),
    Binary("bitwise_xor", "The exclusive disjunction, with broadcasting.",
           Kernel2<kernels::BitwiseXor>)
        .Set(CommutativeOps(), true),
    Comparison("equal", "a == b, with broadcasting.", Kernel2<kernels::Equal>)
        .Set(CommutativeOps(), true),
    Comparison("not_equal", "a != b, with broadcasting.",
               Kernel2<kernels::NotEqual>)
        .Set(CommutativeOps(), true),
    Comparison("less", "a < b, with broadcasting.", Kernel2<kernels::Less>),
    Comparison("less_equal", "a <= b, with broadcasting.",
               Kernel2<kernels::LessEqual>),
    Comparison("greater", "a > b, with broadcasting.",
               Kernel2<kernels::Greater>),
    Comparison("greater_equal", "a >= b, with broadcasting.",
               Kernel2<kernels::GreaterEqual>),
};

absl::StatusOr<Tensor> ComputeClip(const ClipAttrs& attrs,
                                   absl::Span<const Value> args) {
  return kernels::Clip(args[0].tensor(), attrs.a_min, attrs.a_max);
}

absl::StatusOr<Tensor> ComputeClipInPlace(const ClipAttrs& attrs,
                                          absl::Span<Value> args) {
  return kernels::Clip(std::move(args[0]).tensor(), attrs.a_min, attrs.a_max);
}

BATON_REGISTER_OP("clip")
    .Describe("Limits elements to [a_min, a_max].")
    .Arguments({{"data", "The input."}})
    .TakesAttrs<ClipAttrs>()
    .TypeRelation(TensorIdentityRel)
    .Set(FusionPatterns(), FusionPattern::kElemWise)
    .Set(LayoutInferenceRules(), InferElemwiseLayouts)
    .Set(Kernels(), KernelWith<ClipAttrs, ComputeClip>)
    .Set(InPlaceKernels(), InPlaceKernelWith<ClipAttrs, ComputeClipInPlace>);

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
      return absl::InvalidArgumentError("an axis is out of range, or twice");
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
        absl::StrCat("there are ", given, " numbers for ", count, " channels"));
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

BATON_REGISTER_OP("fixed_point_multiply_per_axis")
    .Describe("Multiplies integers by a fixed-point number for each channel.")
    .Arguments({{"data", "The input."},
                {"fp_multiplier", "The multipliers."},
                {"left_shift", "Bits to shift left first."},
                {"right_shift", "Bits to shift right afterwards."}})
    .TakesAttrs<FixedPointMultiplyPerAxisAttrs>()
    .TypeRelation(FixedPointMultiplyPerAxisRel)
    .Set(FusionPatterns(), FusionPattern::kBroadcast)
    .Set(LayoutInferenceRules(), InferFixedPointMultiplyPerAxisLayouts)
    .Set(Kernels(),
         KernelWith<FixedPointMultiplyPerAxisAttrs, FixedPointMultiplyPerAxis>);

absl::StatusOr<Type> WhereRel(TypeRelationContext& context) {
  const TensorTypeNode* condition = context.Tensor(0);
  const TensorTypeNode* x = context.Tensor(1);
  const TensorTypeNode* y = context.Tensor(2);
  if (condition == nullptr || x == nullptr || y == nullptr) return Type();
  if (x->dtype() != y->dtype()) {
    return context.Error("the element types ", x->dtype().ToString(), " and ",
                         y->dtype().ToString(), " do not match");
  }
  BATON_ASSIGN_OR_RETURN(const Dims both,
                         BroadcastShapes(context, x->shape(), y->shape()));
  BATON_ASSIGN_OR_RETURN(const Dims shape,
                         BroadcastShapes(context, condition->shape(), both));
  return TensorLike(context, 1, shape, x->dtype());
}

BATON_REGISTER_OP("where")
    .Describe("x where the condition is true, else y, with broadcasting.")
    .Arguments({{"condition", "The condition."},
                {"x", "Taken where it is true."},
                {"y", "Taken where it is false."}})
    .TypeRelation(WhereRel)
    .Set(FusionPatterns(), FusionPattern::kBroadcast)
    .Set(Kernels(), Kernel3<kernels::Where>);

absl::StatusOr<Type> CastRel(TypeRelationContext& context) {
  const TensorTypeNode* data = context.Tensor(0);
  if (data == nullptr) return Type();
  const DType dtype = context.attrs<CastAttrs>().dtype;
  if (dtype.is_void()) return context.Error("dtype must be given");
  return TensorLike(context, 0, data->shape(), dtype);
}

absl::StatusOr<Type> CastLikeRel(TypeRelationContext& context) {
  const TensorTypeNode* data = context.Tensor(0);
  const TensorTypeNode* like = context.Tensor(1);
  if (data == nullptr || like == nullptr) return Type();
  return TensorLike(context, 0, data->shape(), like->dtype());
}

absl::StatusOr<Tensor> ComputeCast(const CastAttrs& attrs,
                                   absl::Span<const Value> args) {
  return kernels::Cast(args[0].tensor(), attrs.dtype);
}

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
  return Tensor::FromBuffer(attrs.dtype, data.shape(), data.bytes(),
                            std::make_shared<Tensor>(data));
}

BATON_REGISTER_OP("cast")
    .Describe("Converts elements to another type.")
    .Arguments({{"data", "The input."}})
    .TakesAttrs<CastAttrs>()
    .TypeRelation(CastRel)
    .Set(FusionPatterns(), FusionPattern::kElemWise)
    .Set(LayoutInferenceRules(), InferElemwiseLayouts)
    .Set(Kernels(), KernelWith<CastAttrs, ComputeCast>);

BATON_REGISTER_OP("cast_like")
    .Describe("Converts elements to the type of another tensor's.")
    .Arguments({{"data", "The input."},
                {"dtype_like", "A tensor of the type wanted."}})
    .TypeRelation(CastLikeRel)
    .Set(FusionPatterns(), FusionPattern::kElemWise)
    .Set(LayoutInferenceRules(), InferElemwiseLayouts)
    .Set(Kernels(), Kernel2<ComputeCastLike>);

BATON_REGISTER_OP("reinterpret")
    .Describe("Takes the bits of elements for those of another type.")
    .Arguments({{"data", "The input."}})
    .TakesAttrs<CastAttrs>()
    .TypeRelation(CastRel)
    .Set(FusionPatterns(), FusionPattern::kElemWise)
    .Set(LayoutInferenceRules(), InferElemwiseLayouts)
    .Set(Kernels(), KernelWith<CastAttrs, ComputeReinterpret>);

}  // namespace

// Builders.

Expr Abs(Expr data) { return Call(BATON_OP("abs"), {std::move(data)}); }

Expr Acos(Expr data) { return Call(BATON_OP("acos"), {std::move(data)}); }

Expr Acosh(Expr data) { return Call(BATON_OP("acosh"), {std::move(data)}); }

Expr Asin(Expr data) { return Call(BATON_OP("asin"), {std::move(data)}); }

Expr Asinh(Expr data) { return Call(BATON_OP("asinh"), {std::move(data)}); }

Expr Atan(Expr data) { return Call(BATON_OP("atan"), {std::move(data)}); }

Expr Atanh(Expr data) { return Call(BATON_OP("atanh"), {std::move(data)}); }

Expr BitwiseNot(Expr data) {
  return Call(BATON_OP("bitwise_not"), {std::move(data)});
}

Expr Ceil(Expr data) { return Call(BATON_OP("ceil"), {std::move(data)}); }

Expr Copy(Expr data) { return Call(BATON_OP("copy"), {std::move(data)}); }

Expr Cos(Expr data) { return Call(BATON_OP("cos"), {std::move(data)}); }

Expr Cosh(Expr data) { return Call(BATON_OP("cosh"), {std::move(data)}); }

Expr Erf(Expr data) { return Call(BATON_OP("erf"), {std::move(data)}); }

Expr Exp(Expr data) { return Call(BATON_OP("exp"), {std::move(data)}); }

Expr FastErf(Expr data) {
  return Call(BATON_OP("fast_erf"), {std::move(data)});
}

Expr FastExp(Expr data) {
  return Call(BATON_OP("fast_exp"), {std::move(data)});
}

Expr FastTanh(Expr data) {
  return Call(BATON_OP("fast_tanh"), {std::move(data)});
}

Expr Floor(Expr data) { return Call(BATON_OP("floor"), {std::move(data)}); }

Expr IsFinite(Expr data) {
  return Call(BATON_OP("isfinite"), {std::move(data)});
}

Expr IsInf(Expr data) { return Call(BATON_OP("isinf"), {std::move(data)}); }

Expr IsNan(Expr data) { return Call(BATON_OP("isnan"), {std::move(data)}); }

Expr Log(Expr data) { return Call(BATON_OP("log"), {std::move(data)}); }

Expr Log10(Expr data) { return Call(BATON_OP("log10"), {std::move(data)}); }

Expr Log2(Expr data) { return Call(BATON_OP("log2"), {std::move(data)}); }

Expr LogicalNot(Expr data) {
  return Call(BATON_OP("logical_not"), {std::move(data)});
}

Expr Negative(Expr data) {
  return Call(BATON_OP("negative"), {std::move(data)});
}

Expr OnesLike(Expr data) {
  return Call(BATON_OP("ones_like"), {std::move(data)});
}

Expr Round(Expr data) { return Call(BATON_OP("round"), {std::move(data)}); }

Expr Rsqrt(Expr data) { return Call(BATON_OP("rsqrt"), {std::move(data)}); }

Expr Sigmoid(Expr data) { return Call(BATON_OP("sigmoid"), {std::move(data)}); }

Expr Sign(Expr data) { return Call(BATON_OP("sign"), {std::move(data)}); }

Expr Sin(Expr data) { return Call(BATON_OP("sin"), {std::move(data)}); }

Expr Sinh(Expr data) { return Call(BATON_OP("sinh"), {std::move(data)}); }

Expr Sqrt(Expr data) { return Call(BATON_OP("sqrt"), {std::move(data)}); }

Expr Tan(Expr data) { return Call(BATON_OP("tan"), {std::move(data)}); }

Expr Tanh(Expr data) { return Call(BATON_OP("tanh"), {std::move(data)}); }

Expr Trunc(Expr data) { return Call(BATON_OP("trunc"), {std::move(data)}); }

Expr ZerosLike(Expr data) {
  return Call(BATON_OP("zeros_like"), {std::move(data)});
}

Expr Add(Expr lhs, Expr rhs) {
  return Call(BATON_OP("add"), {std::move(lhs), std::move(rhs)});
}

Expr BitwiseAnd(Expr lhs, Expr rhs) {
  return Call(BATON_OP("bitwise_and"), {std::move(lhs), std::move(rhs)});
}

Expr BitwiseOr(Expr lhs, Expr rhs) {
  return Call(BATON_OP("bitwise_or"), {std::move(lhs), std::move(rhs)});
}

Expr BitwiseXor(Expr lhs, Expr rhs) {
  return Call(BATON_OP("bitwise_xor"), {std::move(lhs), std::move(rhs)});
}

Expr Divide(Expr lhs, Expr rhs) {
  return Call(BATON_OP("divide"), {std::move(lhs), std::move(rhs)});
}

Expr Equal(Expr lhs, Expr rhs) {
  return Call(BATON_OP("equal"), {std::move(lhs), std::move(rhs)});
}

Expr FloorDivide(Expr lhs, Expr rhs) {
  return Call(BATON_OP("floor_divide"), {std::move(lhs), std::move(rhs)});
}

Expr FloorMod(Expr lhs, Expr rhs) {
  return Call(BATON_OP("floor_mod"), {std::move(lhs), std::move(rhs)});
}

Expr Greater(Expr lhs, Expr rhs) {
  return Call(BATON_OP("greater"), {std::move(lhs), std::move(rhs)});
}

Expr GreaterEqual(Expr lhs, Expr rhs) {
  return Call(BATON_OP("greater_equal"), {std::move(lhs), std::move(rhs)});
}

Expr LeftShift(Expr lhs, Expr rhs) {
  return Call(BATON_OP("left_shift"), {std::move(lhs), std::move(rhs)});
}

Expr Less(Expr lhs, Expr rhs) {
  return Call(BATON_OP("less"), {std::move(lhs), std::move(rhs)});
}

Expr LessEqual(Expr lhs, Expr rhs) {
  return Call(BATON_OP("less_equal"), {std::move(lhs), std::move(rhs)});
}

Expr LogicalAnd(Expr lhs, Expr rhs) {
  return Call(BATON_OP("logical_and"), {std::move(lhs), std::move(rhs)});
}

Expr LogicalOr(Expr lhs, Expr rhs) {
  return Call(BATON_OP("logical_or"), {std::move(lhs), std::move(rhs)});
}

Expr LogicalXor(Expr lhs, Expr rhs) {
  return Call(BATON_OP("logical_xor"), {std::move(lhs), std::move(rhs)});
}

Expr Maximum(Expr lhs, Expr rhs) {
  return Call(BATON_OP("maximum"), {std::move(lhs), std::move(rhs)});
}

Expr Minimum(Expr lhs, Expr rhs) {
  return Call(BATON_OP("minimum"), {std::move(lhs), std::move(rhs)});
}

Expr Mod(Expr lhs, Expr rhs) {
  return Call(BATON_OP("mod"), {std::move(lhs), std::move(rhs)});
}

Expr Multiply(Expr lhs, Expr rhs) {
  return Call(BATON_OP("multiply"), {std::move(lhs), std::move(rhs)});
}

Expr NotEqual(Expr lhs, Expr rhs) {
  return Call(BATON_OP("not_equal"), {std::move(lhs), std::move(rhs)});
}

Expr Power(Expr lhs, Expr rhs) {
  return Call(BATON_OP("power"), {std::move(lhs), std::move(rhs)});
}

Expr RightShift(Expr lhs, Expr rhs) {
  return Call(BATON_OP("right_shift"), {std::move(lhs), std::move(rhs)});
}

Expr Subtract(Expr lhs, Expr rhs) {
  return Call(BATON_OP("subtract"), {std::move(lhs), std::move(rhs)});
}

Expr TruncDivide(Expr lhs, Expr rhs) {
  return Call(BATON_OP("trunc_divide"), {std::move(lhs), std::move(rhs)});
}

Expr TruncMod(Expr lhs, Expr rhs) {
  return Call(BATON_OP("trunc_mod"), {std::move(lhs), std::move(rhs)});
}

Expr Clip(Expr data, double a_min, double a_max) {
  return Call(BATON_OP("clip"), {std::move(data)},
              Attrs::Make(ClipAttrs{.a_min = a_min, .a_max = a_max}));
}

Expr Where(Expr condition, Expr x, Expr y) {
  return Call(BATON_OP("where"),
              {std::move(condition), std::move(x), std::move(y)});
}

Expr Cast(Expr data, DType dtype) {
  return Call(BATON_OP("cast"), {std::move(data)},
              Attrs::Make(CastAttrs{.dtype = dtype}));
}

Expr CastLike(Expr lhs, Expr rhs) {
  return Call(BATON_OP("cast_like"), {std::move(lhs), std::move(rhs)});
}

Expr Reinterpret(Expr data, DType dtype) {
  return Call(BATON_OP("reinterpret"), {std::move(data)},
              Attrs::Make(CastAttrs{.dtype = dtype}));
}

}  // namespace baton::relay
