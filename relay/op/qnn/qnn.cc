#include "baton/relay/op/qnn/qnn.h"

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/base/dtype.h"
#include "baton/base/layout.h"
#include "baton/base/number_range.h"
#include "baton/base/registry.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/attrs.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"
#include "baton/ir/type_relation.h"
#include "baton/relay/ir/constant.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/op/dim_math.h"
#include "baton/relay/op/fusion_pattern.h"
#include "baton/relay/op/layout_rules.h"
#include "baton/relay/op/nn/activation.h"
#include "baton/relay/op/nn/conv.h"
#include "baton/relay/op/nn/dense.h"
#include "baton/relay/op/nn/pool.h"
#include "baton/relay/op/op_flags.h"
#include "baton/relay/op/tensor/elementwise.h"
#include "baton/relay/op/tensor/shape.h"
#include "baton/relay/op/type_relations.h"

namespace baton::relay {
namespace {

constexpr DType kScale = DType::Float(32);

constexpr DType kZeroPoint = DType::Int(32);

constexpr DType kInt8 = DType::Int(8);

constexpr DType kUInt8 = DType::UInt(8);

constexpr DType kInt16 = DType::Int(16);

constexpr DType kUInt16 = DType::UInt(16);

constexpr DType kInt32 = DType::Int(32);

constexpr DType kInt64 = DType::Int(64);

// True if arguments [begin, end) are all known, tensors or tuples.
bool Known(const TypeRelationContext& context, int begin, int end) {
  for (int i = begin; i < end; ++i) {
    if (!context.arg(i).defined() || context.arg(i).Is<IncompleteTypeNode>()) {
      return false;
    }
  }
  return true;
}

absl::Status ExpectDType(const TypeRelationContext& context,
                         absl::string_view what, DType dtype,
                         std::initializer_list<DType> allowed) {
  if (absl::c_linear_search(allowed, dtype)) return absl::OkStatus();
  std::string names;
  for (const DType candidate : allowed) {
    if (!names.empty()) names += ", ";
    names += candidate.ToString();
  }
  return context.Error("the type of ", what, " must be one of ", names,
                       ", but is ", dtype.ToString());
}

// Argument `i`, known, must be a scalar.
absl::Status ExpectScalar(TypeRelationContext& context, int i, DType dtype) {
  return ExpectArg(context, i, {}, dtype);
}

// Argument `i`, known, must be a scalar or have one element a channel.
absl::Status ExpectPerChannel(TypeRelationContext& context, int i, DType dtype,
                              const Dim& channels) {
  const TensorTypeNode* type = context.Tensor(i);
  if (type == nullptr) return context.status();
  return type->rank() == 0 ? ExpectArg(context, i, {}, dtype)
                           : ExpectArg(context, i, {channels}, dtype);
}

// True if argument `i` is known to be a tensor of more than one element.
bool IsVector(TypeRelationContext& context, int i, bool allow_one) {
  const TensorTypeNode* type = context.Tensor(i);
  if (type == nullptr || type->rank() == 0) return false;
  return !allow_one || !Product(type->shape()).is_const(1);
}

// The number of channels on `axis`, which may be out of range if `needed` is
// false.
absl::StatusOr<Dim> Channels(const TypeRelationContext& context,
                             const TensorTypeNode& data, int64_t axis,
                             bool needed, absl::string_view what = "axis") {
  if (data.rank() == 0) return Dim(1);
  if (!needed && (axis < -data.rank() || axis >= data.rank())) return Dim(1);
  BATON_ASSIGN_OR_RETURN(const int normalized,
                         NormalizeAxis(context, axis, data.rank(), what));
  return data.dim(normalized);
}

// Between real and quantized numbers.

absl::StatusOr<Type> QuantizeRel(TypeRelationContext& context) {
  if (!Known(context, 0, 3)) return Type();
  const TensorTypeNode* data = context.Tensor(0);
  if (data == nullptr) return Type();
  const auto& attrs = context.attrs<QuantizeAttrs>();
  BATON_RETURN_IF_ERROR(
      ExpectDType(context, "the data", data->dtype(), {kScale}));
  const bool by_channel = IsVector(context, 1, /*allow_one=*/false) ||
                          IsVector(context, 2, /*allow_one=*/false);
  BATON_ASSIGN_OR_RETURN(const Dim channels,
                         Channels(context, *data, attrs.axis, by_channel));
  BATON_RETURN_IF_ERROR(ExpectPerChannel(context, 1, kScale, channels));
  BATON_RETURN_IF_ERROR(ExpectPerChannel(context, 2, kZeroPoint, channels));
  BATON_RETURN_IF_ERROR(ExpectDType(context, "the result", attrs.out_dtype,
                                    {kInt8, kUInt8, kInt16, kUInt16, kInt32}));
  return TensorLike(context, 0, data->shape(), attrs.out_dtype);
}

absl::StatusOr<Type> DequantizeRel(TypeRelationContext& context) {
  if (!Known(context, 0, 3)) return Type();
  const TensorTypeNode* data = context.Tensor(0);
  if (data == nullptr) return Type();
  const auto& attrs = context.attrs<DequantizeAttrs>();
  BATON_RETURN_IF_ERROR(ExpectDType(context, "the data", data->dtype(),
                                    {kInt8, kUInt8, kInt16, kUInt16, kInt32}));
  Dim channels = 1;
  if (IsVector(context, 1, /*allow_one=*/true) ||
      IsVector(context, 2, /*allow_one=*/true)) {
    BATON_ASSIGN_OR_RETURN(channels,
                           Channels(context, *data, attrs.axis, true));
  }
  BATON_RETURN_IF_ERROR(ExpectPerChannel(context, 1, kScale, channels));
  BATON_RETURN_IF_ERROR(ExpectPerChannel(context, 2, kZeroPoint, channels));
  BATON_RETURN_IF_ERROR(ExpectDType(context, "the result", attrs.out_dtype,
                                    {DType::Float(16), DType::Float(32)}));
  return TensorLike(context, 0, data->shape(), attrs.out_dtype);
}

absl::StatusOr<Type> RequantizeRel(TypeRelationContext& context) {
  if (!Known(context, 0, 5)) return Type();
  const TensorTypeNode* data = context.Tensor(0);
  if (data == nullptr) return Type();
  const auto& attrs = context.attrs<RequantizeAttrs>();
  BATON_RETURN_IF_ERROR(ExpectDType(context, "the data", data->dtype(),
                                    {kInt8, kUInt8, kInt16, kInt32, kInt64}));
  BATON_ASSIGN_OR_RETURN(const Dim channels,
                         Channels(context, *data, attrs.axis, true));
  BATON_RETURN_IF_ERROR(ExpectPerChannel(context, 1, kScale, channels));
  BATON_RETURN_IF_ERROR(ExpectPerChannel(context, 2, kZeroPoint, channels));
  BATON_RETURN_IF_ERROR(ExpectScalar(context, 3, kScale));
  BATON_RETURN_IF_ERROR(ExpectScalar(context, 4, kZeroPoint));
  BATON_RETURN_IF_ERROR(ExpectDType(context, "the result", attrs.out_dtype,
                                    {kInt8, kUInt8, kInt16, kInt32}));
  return TensorLike(context, 0, data->shape(), attrs.out_dtype);
}

// Quantization in floating point, with an element type that is computed.
absl::StatusOr<Type> SimulatedRel(TypeRelationContext& context) {
  if (context.Tensor(0) == nullptr || context.Tensor(1) == nullptr) {
    return Type();
  }
  return context.arg(0);
}

absl::StatusOr<Type> AnnotateQuantizeRel(TypeRelationContext& context) {
  const TensorTypeNode* data = context.Tensor(0);
  if (data == nullptr) return Type();
  if (data->rank() == 0) return context.Error("the data is a scalar");
  for (int i = 1; i < 4; ++i) {
    BATON_RETURN_IF_ERROR(ExpectScalar(context, i, kScale));
  }
  return context.arg(0);
}

// Products. Arguments 2 and 3 are the zero points, 4 and 5 the scales.

absl::StatusOr<Type> QnnDenseRel(TypeRelationContext& context) {
  if (!Known(context, 0, 6)) return Type();
  const TensorTypeNode* data = context.Tensor(0);
  const TensorTypeNode* weight = context.Tensor(1);
  if (data == nullptr || weight == nullptr) return Type();
  const auto& attrs = context.attrs<DenseAttrs>();
  BATON_RETURN_IF_ERROR(ExpectDType(context, "the data", data->dtype(),
                                    {kInt8, kUInt8, kInt16, kUInt16}));
  BATON_RETURN_IF_ERROR(
      ExpectDType(context, "the weight", weight->dtype(), {kInt8, kUInt8}));
  BATON_RETURN_IF_ERROR(
      ExpectDType(context, "the result", attrs.out_dtype, {kInt32, kInt64}));
  BATON_RETURN_IF_ERROR(ExpectScalar(context, 2, kZeroPoint));
  BATON_RETURN_IF_ERROR(ExpectScalar(context, 4, kScale));
  BATON_RETURN_IF_ERROR(
      ExpectPerChannel(context, 5, kScale, attrs.units.value_or(Dim::Any())));
  return DenseRel(context);
}

absl::StatusOr<Type> QnnDensePackRel(TypeRelationContext& context) {
  const TensorTypeNode* data = context.Tensor(0);
  const TensorTypeNode* weight = context.Tensor(1);
  if (data == nullptr || weight == nullptr) return Type();
  BATON_RETURN_IF_ERROR(ExpectRank(context, 0, *data, 2));
  BATON_RETURN_IF_ERROR(ExpectRank(context, 1, *weight, 4));
  const DType dtype = context.attrs<DensePackAttrs>().out_dtype;
  if (dtype.bits() == 0) return context.Error("out_dtype must be given");
  return Type(
      TensorType({data->dim(0), weight->dim(0) * weight->dim(2)}, dtype));
}

absl::StatusOr<Type> QnnBatchMatmulRel(TypeRelationContext& context) {
  if (!Known(context, 0, 6)) return Type();
  const TensorTypeNode* x = context.Tensor(0);
  const TensorTypeNode* y = context.Tensor(1);
  if (x == nullptr || y == nullptr) return Type();
  BATON_RETURN_IF_ERROR(ExpectDType(context, "x", x->dtype(), {kInt8, kUInt8}));
  BATON_RETURN_IF_ERROR(ExpectDType(context, "y", y->dtype(), {kInt8, kUInt8}));
  BATON_RETURN_IF_ERROR(ExpectDType(context, "the result",
                                    context.attrs<BatchMatmulAttrs>().out_dtype,
                                    {kInt32}));
  for (int i = 2; i < 6; ++i) {
    BATON_RETURN_IF_ERROR(
        ExpectScalar(context, i, i < 4 ? kZeroPoint : kScale));
  }
  return BatchMatmulRel(context);
}

// The extent of `type` on the axis that `letter` has in a layout.
absl::StatusOr<Dim> ExtentOf(const TypeRelationContext& context,
                             const TensorTypeNode& type,
                             const std::string& layout, char letter) {
  const size_t axis = layout.find(letter);
  if (axis == std::string::npos || static_cast<int>(axis) >= type.rank()) {
    return context.Error("layout \"", layout, "\" has no axis ",
                         absl::string_view(&letter, 1), " that fits the shape ",
                         ShapeToString(type.shape()));
  }
  return type.dim(static_cast<int>(axis));
}

absl::StatusOr<Type> QnnConv2DRel(TypeRelationContext& context) {
  if (!Known(context, 0, 6)) return Type();
  const TensorTypeNode* data = context.Tensor(0);
  const TensorTypeNode* weight = context.Tensor(1);
  if (data == nullptr || weight == nullptr) return Type();
  const auto& attrs = context.attrs<Conv2DAttrs>();
  BATON_RETURN_IF_ERROR(
      ExpectDType(context, "the data", data->dtype(), {kInt8, kUInt8, kInt16}));
  BATON_RETURN_IF_ERROR(ExpectDType(context, "the weight", weight->dtype(),
                                    {kInt8, kUInt8, kInt16}));
  BATON_RETURN_IF_ERROR(ExpectDType(context, "the result", attrs.out_dtype,
                                    {kInt16, kInt32, kInt64}));
  BATON_RETURN_IF_ERROR(ExpectScalar(context, 2, kZeroPoint));
  BATON_RETURN_IF_ERROR(ExpectScalar(context, 4, kScale));
  Dim channels;
  BATON_ASSIGN_OR_RETURN(const Dim out,
                         ExtentOf(context, *weight, attrs.kernel_layout, 'O'));
  if (attrs.groups == 1) {
    channels = out;
  } else {
    BATON_ASSIGN_OR_RETURN(
        const Dim in, ExtentOf(context, *weight, attrs.kernel_layout, 'I'));
    BATON_ASSIGN_OR_RETURN(const Dim data_channels,
                           ExtentOf(context, *data, attrs.data_layout, 'C'));
    const bool depthwise = attrs.channels.has_value() &&
                           data_channels.is_const(attrs.groups) &&
                           *attrs.channels == in;
    channels = depthwise ? in * out : attrs.channels.value_or(Dim::Any());
  }
  BATON_RETURN_IF_ERROR(ExpectPerChannel(context, 5, kScale, channels));
  return Conv2DRel(context);
}

absl::StatusOr<Type> QnnConv2DTransposeRel(TypeRelationContext& context) {
  if (!Known(context, 0, 6)) return Type();
  const TensorTypeNode* data = context.Tensor(0);
  const TensorTypeNode* weight = context.Tensor(1);
  if (data == nullptr || weight == nullptr) return Type();
  const auto& attrs = context.attrs<Conv2DTransposeAttrs>();
  BATON_RETURN_IF_ERROR(ExpectDType(context, "the data", data->dtype(),
                                    {kInt8, kUInt8, kInt16, kUInt16}));
  BATON_RETURN_IF_ERROR(
      ExpectDType(context, "the weight", weight->dtype(), {kInt8, kUInt8}));
  BATON_RETURN_IF_ERROR(ExpectDType(context, "the result", attrs.out_dtype,
                                    {kInt16, kInt32, kInt64}));
  BATON_RETURN_IF_ERROR(ExpectPerChannel(context, 2, kZeroPoint, 1));
  BATON_RETURN_IF_ERROR(ExpectPerChannel(context, 4, kScale, 1));
  BATON_ASSIGN_OR_RETURN(Dim channels,
                         ExtentOf(context, *weight, attrs.kernel_layout, 'O'));
  if (attrs.groups != 1) {
    BATON_ASSIGN_OR_RETURN(
        const Dim in, ExtentOf(context, *weight, attrs.kernel_layout, 'I'));
    channels = channels * in;
  }
  BATON_RETURN_IF_ERROR(ExpectPerChannel(context, 5, kScale, channels));
  return Conv2DTransposeRel(context);
}

// Element by element. Scales and zero points follow the operands, pair by
// pair; those of the result come last.

absl::StatusOr<Type> QnnBinaryRel(TypeRelationContext& context) {
  if (!Known(context, 0, 8)) return Type();
  const auto& attrs = context.attrs<BroadcastAttrs>();
  for (int operand = 0; operand < 2; ++operand) {
    const TensorTypeNode* data = context.Tensor(operand);
    if (data == nullptr) return Type();
    const int scale = 2 + 2 * operand;
    const int64_t axis = data->rank() == 1 ? 0
                         : operand == 0    ? attrs.lhs_axis
                                           : attrs.rhs_axis;
    const bool by_channel = IsVector(context, scale, /*allow_one=*/false) ||
                            IsVector(context, scale + 1, /*allow_one=*/false);
    BATON_ASSIGN_OR_RETURN(const Dim channels,
                           Channels(context, *data, axis, by_channel,
                                    operand == 0 ? "lhs_axis" : "rhs_axis"));
    BATON_RETURN_IF_ERROR(ExpectPerChannel(context, scale, kScale, channels));
    BATON_RETURN_IF_ERROR(
        ExpectPerChannel(context, scale + 1, kZeroPoint, channels));
  }
  BATON_RETURN_IF_ERROR(ExpectScalar(context, 6, kScale));
  BATON_RETURN_IF_ERROR(ExpectScalar(context, 7, kZeroPoint));
  return BroadcastRel(context);
}

absl::Status ExpectUnaryParameters(TypeRelationContext& context) {
  BATON_RETURN_IF_ERROR(ExpectScalar(context, 1, kScale));
  BATON_RETURN_IF_ERROR(ExpectScalar(context, 2, kZeroPoint));
  BATON_RETURN_IF_ERROR(ExpectScalar(context, 3, kScale));
  return ExpectScalar(context, 4, kZeroPoint);
}

template <bool kSignedOnly>
absl::StatusOr<Type> QnnUnaryRel(TypeRelationContext& context) {
  if (!Known(context, 0, 5)) return Type();
  const TensorTypeNode* data = context.Tensor(0);
  if (data == nullptr) return Type();
  BATON_RETURN_IF_ERROR(
      kSignedOnly
          ? ExpectDType(context, "the data", data->dtype(), {kInt8})
          : ExpectDType(context, "the data", data->dtype(), {kInt8, kUInt8}));
  BATON_RETURN_IF_ERROR(ExpectUnaryParameters(context));
  return context.arg(0);
}

absl::StatusOr<Type> QnnAvgPool2DRel(TypeRelationContext& context) {
  if (!Known(context, 0, 5)) return Type();
  const TensorTypeNode* data = context.Tensor(0);
  if (data == nullptr) return Type();
  BATON_RETURN_IF_ERROR(
      ExpectDType(context, "the data", data->dtype(), {kInt8, kUInt8}));
  BATON_RETURN_IF_ERROR(ExpectUnaryParameters(context));
  return AvgPool2DRel(context);
}

absl::StatusOr<Type> QnnConcatenateRel(TypeRelationContext& context) {
  if (!Known(context, 0, 5)) return Type();
  for (int i = 1; i < 3; ++i) {
    const TupleTypeNode* tuple = context.TupleOf(i);
    if (tuple == nullptr) return Type();
    const DType dtype = i == 1 ? kScale : kZeroPoint;
    for (const Type& field : tuple->fields()) {
      if (field.Is<IncompleteTypeNode>()) return Type();
      const auto* type = field.As<TensorTypeNode>();
      if (type == nullptr || type->rank() != 0 || type->dtype() != dtype) {
        return context.Error(context.op().arguments()[i].name,
                             " must be scalars of type ", dtype.ToString(),
                             ", but one is ", field.ToString());
      }
    }
  }
  BATON_RETURN_IF_ERROR(ExpectScalar(context, 3, kScale));
  BATON_RETURN_IF_ERROR(ExpectScalar(context, 4, kZeroPoint));
  return ConcatenateRel(context);
}

// Layout rules.

template <typename T>
std::optional<InferredLayouts> InferQnnConvLayouts(const LayoutQuery& query) {
  std::optional<InferredLayouts> result = InferConvLayouts<T>(query);
  if (result.has_value()) {
    layouts::FillInputs(query, 2, layouts::ChannelLayout(), result->inputs);
  }
  return result;
}

std::optional<InferredLayouts> InferQnnBroadcastLayouts(
    const LayoutQuery& query) {
  std::optional<InferredLayouts> result = InferBroadcastLayouts(query);
  if (result.has_value()) {
    layouts::FillInputs(query, 2, layouts::ChannelLayout(), result->inputs);
  }
  return result;
}

std::optional<InferredLayouts> InferQnnDenseLayouts(const LayoutQuery& query) {
  static const Layout& kParameters = *new Layout(layouts::LayoutOf("N"));
  std::optional<InferredLayouts> result = InferDenseLayouts(query);
  if (result.has_value())
    layouts::FillInputs(query, 2, kParameters, result->inputs);
  return result;
}

std::optional<InferredLayouts> InferQnnDensePackLayouts(
    const LayoutQuery& query) {
  std::optional<InferredLayouts> result = InferDensePackLayouts(query);
  if (result.has_value())
    layouts::FillInputs(query, 2, layouts::LayoutOf("N"), result->inputs);
  return result;
}

std::optional<InferredLayouts> InferQnnConcatenateLayouts(
    const LayoutQuery& query) {
  const TupleTypeNode* type = query.call.arg(0)->tuple_type();
  if (type == nullptr || type->fields().size() > query.old_inputs.size()) {
    return std::nullopt;
  }
  const size_t n = type->fields().size();
  std::optional<layouts::LayoutAndAttrs> data = FollowConcatenation(query, n);
  if (!data.has_value()) return std::nullopt;
  InferredLayouts result{{}, {data->layout}, std::move(data->attrs)};
  result.inputs.resize(n, data->layout);
  layouts::FillInputs(query, n, layouts::ChannelLayout(), result.inputs);
  return result;
}

std::optional<InferredLayouts> InferAnnotateQuantizeLayouts(
    const LayoutQuery& query) {
  const Layout& data =
      query.changed ? query.new_inputs[0] : query.old_inputs[0];
  if (!data.defined()) return std::nullopt;
  InferredLayouts result{{data}, {data}, query.attrs};
  layouts::FillInputs(query, 1, layouts::ChannelLayout(), result.inputs);
  return result;
}

std::optional<InferredLayouts> InferRequantizeLayouts(
    const LayoutQuery& query) {
  const Layout& old = query.old_inputs[0];
  if (!old.defined()) return std::nullopt;
  Layout layout = old;
  Attrs attrs = query.attrs;
  if (query.changed) {
    const Layout& arrived = query.new_inputs[0];
    const int axis = AttrsOrDefaults<RequantizeAttrs>(query.attrs).axis;
    const std::optional<char> letter = layouts::LetterAt(old, axis);
    // With one scale for all channels it does not matter how they are split.
    const bool scalar = layouts::ShapeOfArg(query, 1).empty() &&
                        layouts::ShapeOfArg(query, 2).empty();
    layout = scalar ? arrived : arrived.Primal();
    const int new_axis = letter.has_value() ? layout.IndexOf(*letter) : -1;
    if (new_axis < 0) return std::nullopt;
    attrs = layouts::WithField(query.attrs, &RequantizeAttrs::axis, new_axis);
  }
  InferredLayouts result{{layout}, {layout}, std::move(attrs)};
  layouts::FillInputs(query, 1, layouts::ChannelLayout(), result.inputs);
  return result;
}

BATON_REGISTER_OP("qnn.quantize")
    .Describe("Quantizes real numbers.")
    .Arguments({{"data", "The input."},
                {"output_scale", "The scale."},
                {"output_zero_point", "The zero point."}})
    .TakesAttrs<QuantizeAttrs>()
    .TypeRelation(QuantizeRel)
    .Set(FusionPatterns(), FusionPattern::kElemWise)
    .Set(NonComputationalOps(), true)
    .Set(QuantizedOps(), true);

BATON_REGISTER_OP("qnn.dequantize")
    .Describe("The real numbers that quantized ones stand for.")
    .Arguments({{"data", "The input."},
                {"input_scale", "The scale."},
                {"input_zero_point", "The zero point."}})
    .TakesAttrs<DequantizeAttrs>()
    .TypeRelation(DequantizeRel)
    .Set(FusionPatterns(), FusionPattern::kElemWise)
    .Set(NonComputationalOps(), true)
    .Set(QuantizedOps(), true);

BATON_REGISTER_OP("qnn.requantize")
    .Describe("Changes scale and zero point.")
    .Arguments({{"data", "The input."},
                {"input_scale", "The old scale."},
                {"input_zero_point", "The old zero point."},
                {"output_scale", "The new scale."},
                {"output_zero_point", "The new zero point."}})
    .TakesAttrs<RequantizeAttrs>()
    .TypeRelation(RequantizeRel)
    .Set(FusionPatterns(), FusionPattern::kElemWise)
    .Set(NonComputationalOps(), true)
    .Set(LayoutInferenceRules(), InferRequantizeLayouts)
    .Set(QuantizedOps(), true);

BATON_REGISTER_OP("qnn.simulated_quantize")
    .Describe("qnn.quantize in floating point.")
    .Arguments({{"data", "The input."},
                {"out_dtype", "The code of the element type."},
                {"output_scale", "The scale."},
                {"output_zero_point", "The zero point."}})
    .TakesAttrs<SimulatedQuantizeAttrs>()
    .TypeRelation(SimulatedRel)
    .Set(FusionPatterns(), FusionPattern::kElemWise)
    .Set(QuantizedOps(), true);

BATON_REGISTER_OP("qnn.simulated_dequantize")
    .Describe("qnn.dequantize in floating point.")
    .Arguments({{"data", "The input."},
                {"in_dtype", "The code of the element type."},
                {"input_scale", "The scale."},
                {"input_zero_point", "The zero point."}})
    .TakesAttrs<SimulatedQuantizeAttrs>()
    .TypeRelation(SimulatedRel)
    .Set(FusionPatterns(), FusionPattern::kElemWise)
    .Set(QuantizedOps(), true);

BATON_REGISTER_OP("relay.op.annotation.simulated_quantize")
    .Describe("What quantization to a range would do, in floating point.")
    .Arguments({{"data", "The input."},
                {"dom_scale", "The scale."},
                {"clip_min", "The least quantized number."},
                {"clip_max", "The greatest one."}})
    .TakesAttrs<AnnotateQuantizeAttrs>()
    .TypeRelation(AnnotateQuantizeRel)
    .Set(FusionPatterns(), FusionPattern::kElemWise)
    .Set(LayoutInferenceRules(), InferAnnotateQuantizeLayouts);

BATON_REGISTER_OP("qnn.dense")
    .Describe("nn.dense of quantized tensors.")
    .Arguments({{"data", "The input."},
                {"weight", "The weight."},
                {"input_zero_point", "The zero point of the input."},
                {"weight_zero_point", "The zero point of the weight."},
                {"input_scale", "The scale of the input."},
                {"weight_scale", "The scale of the weight."}})
    .TakesAttrs<DenseAttrs>()
    .TypeRelation(QnnDenseRel)
    .Set(FusionPatterns(), FusionPattern::kOutEWiseFusable)
    .Set(NonComputationalOps(), true)
    .Set(LayoutInferenceRules(), InferQnnDenseLayouts)
    .Set(QuantizedOps(), true);

BATON_REGISTER_OP("qnn.contrib_dense_pack")
    .Describe("nn.contrib_dense_pack of quantized tensors.")
    .Arguments({{"data", "The input."},
                {"weight", "The weight, in blocks."},
                {"input_zero_point", "The zero point of the input."},
                {"weight_zero_point", "The zero point of the weight."},
                {"input_scale", "The scale of the input."},
                {"weight_scale", "The scale of the weight."}})
    .TakesAttrs<DensePackAttrs>()
    .TypeRelation(QnnDensePackRel)
    .Set(FusionPatterns(), FusionPattern::kOutEWiseFusable)
    .Set(NonComputationalOps(), true)
    .Set(LayoutInferenceRules(), InferQnnDensePackLayouts)
    .Set(QuantizedOps(), true);

BATON_REGISTER_OP("qnn.batch_matmul")
    .Describe("nn.batch_matmul of quantized tensors.")
    .Arguments({{"x", "The left operands."},
                {"y", "The right operands."},
                {"x_zero_point", "The zero point of x."},
                {"y_zero_point", "The zero point of y."},
                {"x_scale", "The scale of x."},
                {"y_scale", "The scale of y."}})
    .TakesAttrs<BatchMatmulAttrs>()
    .TypeRelation(QnnBatchMatmulRel)
    .Set(FusionPatterns(), FusionPattern::kOutEWiseFusable)
    .Set(NonComputationalOps(), true)
    .Set(QuantizedOps(), true);

BATON_REGISTER_OP("qnn.conv2d")
    .Describe("nn.conv2d of quantized tensors.")
    .Arguments({{"data", "The input."},
                {"weight", "The kernel."},
                {"input_zero_point", "The zero point of the input."},
                {"weight_zero_point", "The zero point of the kernel."},
                {"input_scale", "The scale of the input."},
                {"weight_scale", "The scale of the kernel."}})
    .TakesAttrs<Conv2DAttrs>()
    .TypeRelation(QnnConv2DRel)
    .Set(FusionPatterns(), FusionPattern::kOutEWiseFusable)
    .Set(NonComputationalOps(), true)
    .Set(LayoutInferenceRules(), InferQnnConvLayouts<Conv2DAttrs>)
    .Set(ConvertLayoutRules(),
         ConvertLayoutRule{{"data", "kernel"}, ConvertQnnConv2D})
    .Set(QuantizedOps(), true);

BATON_REGISTER_OP("qnn.conv2d_transpose")
    .Describe("nn.conv2d_transpose of quantized tensors.")
    .Arguments({{"data", "The input."},
                {"weight", "The kernel."},
                {"input_zero_point", "The zero point of the input."},
                {"weight_zero_point", "The zero point of the kernel."},
                {"input_scale", "The scale of the input."},
                {"weight_scale", "The scale of the kernel."}})
    .TakesAttrs<Conv2DTransposeAttrs>()
    .TypeRelation(QnnConv2DTransposeRel)
    .Set(NonComputationalOps(), true)
    .Set(LayoutInferenceRules(), InferQnnConvLayouts<Conv2DTransposeAttrs>)
    .Set(ConvertLayoutRules(),
         ConvertLayoutRule{{"data", "kernel"}, ConvertConv2DTranspose})
    .Set(QuantizedOps(), true);

BATON_REGISTER_OP("qnn.avg_pool2d")
    .Describe("nn.avg_pool2d of quantized tensors.")
    .Arguments({{"data", "The input."},
                {"input_scale", "The scale of the input."},
                {"input_zero_point", "The zero point of the input."},
                {"output_scale", "The scale of the result."},
                {"output_zero_point", "The zero point of the result."}})
    .TakesAttrs<AvgPool2DAttrs>()
    .TypeRelation(QnnAvgPool2DRel)
    .Set(FusionPatterns(), FusionPattern::kOutEWiseFusable)
    .Set(QuantizedOps(), true);

BATON_REGISTER_OP("qnn.concatenate")
    .Describe("concatenate of quantized tensors.")
    .Arguments({{"data", "A tuple of tensors."},
                {"input_scales", "The scale of each."},
                {"input_zero_points", "The zero point of each."},
                {"output_scale", "The scale of the result."},
                {"output_zero_point", "The zero point of the result."}})
    .TakesAttrs<ConcatenateAttrs>()
    .TypeRelation(QnnConcatenateRel)
    .Set(FusionPatterns(), FusionPattern::kInjective)
    .Set(NonComputationalOps(), true)
    .Set(LayoutInferenceRules(), InferQnnConcatenateLayouts)
    .Set(QuantizedOps(), true);

OpRegistration QnnBinary(absl::string_view name, absl::string_view doc,
                         CodeLocation location = CodeLocation::Current()) {
  return OpRegistration(name, location)
      .Describe(doc)
      .Arguments({{"lhs", "The left operand."},
                  {"rhs", "The right operand."},
                  {"lhs_scale", "The scale of the left operand."},
                  {"lhs_zero_point", "The zero point of the left operand."},
                  {"rhs_scale", "The scale of the right operand."},
                  {"rhs_zero_point", "The zero point of the right operand."},
                  {"output_scale", "The scale of the result."},
                  {"output_zero_point", "The zero point of the result."}})
      .TakesAttrs<BroadcastAttrs>()
      .TypeRelation(QnnBinaryRel)
      .Set(FusionPatterns(), FusionPattern::kBroadcast)
      .Set(LayoutInferenceRules(), InferQnnBroadcastLayouts)
      .Set(NonComputationalOps(), true)
      .Set(QuantizedOps(), true);
}

[[maybe_unused]] const OpRegistration kQnnBinaryOps[] = {
    QnnBinary("qnn.add", "add of quantized tensors."),
    QnnBinary("qnn.mul", "multiply of quantized tensors."),
    QnnBinary("qnn.subtract", "subtract of quantized tensors."),
};

OpRegistration QnnUnary(absl::string_view name, absl::string_view doc,
                        CodeLocation location = CodeLocation::Current()) {
  return OpRegistration(name, location)
      .Describe(doc)
      .Arguments({{"data", "The input."},
                  {"scale", "The scale of the input."},
                  {"zero_point", "The zero point of the input."},
                  {"output_scale", "The scale of the result."},
                  {"output_zero_point", "The zero point of the result."}})
      .TypeRelation(QnnUnaryRel</*kSignedOnly=*/false>)
      .Set(NonComputationalOps(), true)
      .Set(QuantizedOps(), true);
}

[[maybe_unused]] const OpRegistration kQnnUnaryOps[] = {
    QnnUnary("qnn.abs", "abs of quantized tensors."),
    QnnUnary("qnn.erf", "erf of quantized tensors."),
    QnnUnary("qnn.exp", "exp of quantized tensors."),
    QnnUnary("qnn.hardswish", "x * clip(x + 3, 0, 6) / 6, quantized."),
    QnnUnary("qnn.log", "log of quantized tensors."),
    QnnUnary("qnn.rsqrt", "rsqrt of quantized tensors."),
    QnnUnary("qnn.sigmoid", "sigmoid of quantized tensors."),
    QnnUnary("qnn.sqrt", "sqrt of quantized tensors."),
    QnnUnary("qnn.tanh", "tanh of quantized tensors.")
        .Set(FusionPatterns(), FusionPattern::kElemWise),
    QnnUnary("qnn.leaky_relu", "nn.leaky_relu of quantized tensors.")
        .TakesAttrs<LeakyReluAttrs>(),
    QnnUnary("qnn.softmax", "nn.softmax of quantized tensors.")
        .TakesAttrs<SoftmaxAttrs>()
        .TypeRelation(QnnUnaryRel</*kSignedOnly=*/true>),
};

}  // namespace

}  // namespace baton::relay

namespace baton::relay::qnn {
namespace {

Expr Product(const Op& op, Expr lhs, Expr rhs, Quantization lhs_from,
             Quantization rhs_from, Attrs attrs) {
  return Call(op,
              {std::move(lhs), std::move(rhs), std::move(lhs_from.zero_point),
               std::move(rhs_from.zero_point), std::move(lhs_from.scale),
               std::move(rhs_from.scale)},
              std::move(attrs));
}

Expr Binary(const Op& op, Expr lhs, Expr rhs, Quantization lhs_from,
            Quantization rhs_from, Quantization to, BroadcastAttrs attrs) {
  return Call(op,
              {std::move(lhs), std::move(rhs), std::move(lhs_from.scale),
               std::move(lhs_from.zero_point), std::move(rhs_from.scale),
               std::move(rhs_from.zero_point), std::move(to.scale),
               std::move(to.zero_point)},
              Attrs::Make(attrs));
}

Expr Unary(const Op& op, Expr data, Quantization from, Quantization to,
           Attrs attrs = {}) {
  return Call(
      op,
      {std::move(data), std::move(from.scale), std::move(from.zero_point),
       std::move(to.scale), std::move(to.zero_point)},
      std::move(attrs));
}

}  // namespace

std::optional<Range> RangeOf(DType dtype) {
  if (!dtype.is_integral() || dtype.bits() > 32) return std::nullopt;
  const NumberRange range = *FiniteRange(dtype);
  return Range{range.low, range.high};
}

Expr Quantize(Expr data, Quantization to, QuantizeAttrs attrs) {
  return Call(BATON_OP("qnn.quantize"),
              {std::move(data), std::move(to.scale), std::move(to.zero_point)},
              Attrs::Make(attrs));
}

Expr Dequantize(Expr data, Quantization from, DequantizeAttrs attrs) {
  return Call(
      BATON_OP("qnn.dequantize"),
      {std::move(data), std::move(from.scale), std::move(from.zero_point)},
      Attrs::Make(attrs));
}

Expr Requantize(Expr data, Quantization from, Quantization to,
                RequantizeAttrs attrs) {
  return Unary(BATON_OP("qnn.requantize"), std::move(data), std::move(from),
               std::move(to), Attrs::Make(std::move(attrs)));
}

Expr Conv2D(Expr data, Expr weight, Quantization data_from,
            Quantization weight_from, Conv2DAttrs attrs) {
  return Product(BATON_OP("qnn.conv2d"), std::move(data), std::move(weight),
                 std::move(data_from), std::move(weight_from),
                 Attrs::Make(std::move(attrs)));
}

Expr Conv2DTranspose(Expr data, Expr weight, Quantization data_from,
                     Quantization weight_from, Conv2DTransposeAttrs attrs) {
  return Product(BATON_OP("qnn.conv2d_transpose"), std::move(data),
                 std::move(weight), std::move(data_from),
                 std::move(weight_from), Attrs::Make(std::move(attrs)));
}

Expr Dense(Expr data, Expr weight, Quantization data_from,
           Quantization weight_from, DenseAttrs attrs) {
  return Product(BATON_OP("qnn.dense"), std::move(data), std::move(weight),
                 std::move(data_from), std::move(weight_from),
                 Attrs::Make(std::move(attrs)));
}

Expr BatchMatmul(Expr x, Expr y, Quantization x_from, Quantization y_from,
                 DType out_dtype) {
  return Product(BATON_OP("qnn.batch_matmul"), std::move(x), std::move(y),
                 std::move(x_from), std::move(y_from),
                 Attrs::Make(BatchMatmulAttrs{.out_dtype = out_dtype,
                                              .transpose_b = true}));
}

Expr AvgPool2D(Expr data, Quantization from, Quantization to,
               AvgPool2DAttrs attrs) {
  return Unary(BATON_OP("qnn.avg_pool2d"), std::move(data), std::move(from),
               std::move(to), Attrs::Make(std::move(attrs)));
}

Expr Concatenate(Expr data, Expr scales, Expr zero_points, Quantization to,
                 int axis) {
  return Unary(BATON_OP("qnn.concatenate"), std::move(data),
               {std::move(scales), std::move(zero_points)}, std::move(to),
               Attrs::Make(ConcatenateAttrs{.axis = axis}));
}

Expr Add(Expr lhs, Expr rhs, Quantization lhs_from, Quantization rhs_from,
         Quantization to, BroadcastAttrs attrs) {
  return Binary(BATON_OP("qnn.add"), std::move(lhs), std::move(rhs),
                std::move(lhs_from), std::move(rhs_from), std::move(to), attrs);
}

Expr Multiply(Expr lhs, Expr rhs, Quantization lhs_from, Quantization rhs_from,
              Quantization to, BroadcastAttrs attrs) {
  return Binary(BATON_OP("qnn.mul"), std::move(lhs), std::move(rhs),
                std::move(lhs_from), std::move(rhs_from), std::move(to), attrs);
}

Expr Subtract(Expr lhs, Expr rhs, Quantization lhs_from, Quantization rhs_from,
              Quantization to, BroadcastAttrs attrs) {
  return Binary(BATON_OP("qnn.subtract"), std::move(lhs), std::move(rhs),
                std::move(lhs_from), std::move(rhs_from), std::move(to), attrs);
}

Expr Abs(Expr data, Quantization from, Quantization to) {
  return Unary(BATON_OP("qnn.abs"), std::move(data), std::move(from),
               std::move(to));
}

Expr Erf(Expr data, Quantization from, Quantization to) {
  return Unary(BATON_OP("qnn.erf"), std::move(data), std::move(from),
               std::move(to));
}

Expr Exp(Expr data, Quantization from, Quantization to) {
  return Unary(BATON_OP("qnn.exp"), std::move(data), std::move(from),
               std::move(to));
}

Expr HardSwish(Expr data, Quantization from, Quantization to) {
  return Unary(BATON_OP("qnn.hardswish"), std::move(data), std::move(from),
               std::move(to));
}

Expr RealHardSwish(Expr data) {
  Expr factor = Clip(relay::Add(data, Const(3.0f)), 0, 6);
  return Divide(relay::Multiply(std::move(data), std::move(factor)),
                Const(6.0f));
}

Expr LeakyRelu(Expr data, double alpha, Quantization from, Quantization to) {
  return Unary(BATON_OP("qnn.leaky_relu"), std::move(data), std::move(from),
               std::move(to), Attrs::Make(LeakyReluAttrs{.alpha = alpha}));
}

Expr Log(Expr data, Quantization from, Quantization to) {
  return Unary(BATON_OP("qnn.log"), std::move(data), std::move(from),
               std::move(to));
}

Expr Rsqrt(Expr data, Quantization from, Quantization to) {
  return Unary(BATON_OP("qnn.rsqrt"), std::move(data), std::move(from),
               std::move(to));
}

Expr Sigmoid(Expr data, Quantization from, Quantization to) {
  return Unary(BATON_OP("qnn.sigmoid"), std::move(data), std::move(from),
               std::move(to));
}

Expr Softmax(Expr data, int axis, Quantization from, Quantization to) {
  return Unary(BATON_OP("qnn.softmax"), std::move(data), std::move(from),
               std::move(to), Attrs::Make(SoftmaxAttrs{.axis = axis}));
}

Expr Sqrt(Expr data, Quantization from, Quantization to) {
  return Unary(BATON_OP("qnn.sqrt"), std::move(data), std::move(from),
               std::move(to));
}

Expr Tanh(Expr data, Quantization from, Quantization to) {
  return Unary(BATON_OP("qnn.tanh"), std::move(data), std::move(from),
               std::move(to));
}

}  // namespace baton::relay::qnn
