// The rules of FakeQuantizationToInteger.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/layout.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/op.h"
#include "baton/ir/structural_equal.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/constant.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/op/dim_math.h"
#include "baton/relay/op/image/image.h"
#include "baton/relay/op/layout_rules.h"
#include "baton/relay/op/nn.h"
#include "baton/relay/op/qnn/qnn.h"
#include "baton/relay/op/tensor.h"
#include "baton/relay/transform/fake_quantization_to_integer.h"
#include "baton/relay/transform/fold_constant.h"

namespace baton::relay {
namespace {

constexpr DType kInt32 = DType::Int(32);

qnn::Quantization QuantizationOf(const AffineType& type) {
  return {type.scale, type.zero_point};
}

// As numpy.allclose: true if `a` and `b`, of one shape or one of them of one
// element, are the same but for rounding.
absl::StatusOr<bool> AllClose(const Tensor& a, const Tensor& b) {
  if (a.num_elements() != 1 && b.num_elements() != 1 &&
      a.shape() != b.shape()) {
    return absl::FailedPreconditionError(
        "scales or zero points have different shapes");
  }
  if (a.num_elements() == 0 || b.num_elements() == 0) return true;
  const int64_t size = std::max(a.num_elements(), b.num_elements());
  for (int64_t i = 0; i < size; ++i) {
    const double x = a.AtAsDouble(a.num_elements() == 1 ? 0 : i);
    const double y = b.AtAsDouble(b.num_elements() == 1 ? 0 : i);
    if (x == y) continue;  // infinities among them
    if (!(std::abs(x - y) <= 1e-8 + 1e-5 * std::abs(y))) return false;
  }
  return true;
}

absl::StatusOr<bool> ApproxEqual(const Expr& a, const Expr& b) {
  if (a == b) return true;
  BATON_ASSIGN_OR_RETURN(const Expr x, FoldConstantInExpr(a));
  BATON_ASSIGN_OR_RETURN(const Expr y, FoldConstantInExpr(b));
  const Tensor* x_value = ConstantTensor(x);
  const Tensor* y_value = ConstantTensor(y);
  if (x_value != nullptr && y_value != nullptr) {
    return AllClose(*x_value, *y_value);
  }
  return StructuralEqual(x, y);
}

// True if both have the same meaning, wherever the channels are.
absl::StatusOr<bool> ApproxEqual(const AffineType& a, const AffineType& b) {
  if (a.dtype != b.dtype) return false;
  BATON_ASSIGN_OR_RETURN(const bool same, ApproxEqual(a.scale, b.scale));
  if (!same) return false;
  return ApproxEqual(a.zero_point, b.zero_point);
}

// True if both are written in the same way.
bool Identical(const AffineType& a, const AffineType& b) {
  return a.dtype == b.dtype && a.axis == b.axis &&
         StructuralEqual(a.scale, b.scale) &&
         StructuralEqual(a.zero_point, b.zero_point);
}

Expr Requantized(Expr data, const AffineType& from, const AffineType& to,
                 DType out_dtype, int axis) {
  return qnn::Requantize(std::move(data), QuantizationOf(from),
                         QuantizationOf(to),
                         {.axis = axis, .out_dtype = out_dtype});
}

// `data`, a constant of real numbers, quantized.
absl::StatusOr<Expr> QuantizedConstant(const Expr& data, const AffineType& to,
                                       int axis) {
  const Tensor* value = ConstantTensor(data);
  if (value == nullptr || !value->dtype().is_float()) {
    return absl::FailedPreconditionError(
        "an argument is neither quantized nor a constant of real numbers");
  }
  return qnn::Quantize(data, QuantizationOf(to),
                       {.out_dtype = to.dtype, .axis = axis});
}

// The extents of a scale or zero point.
absl::StatusOr<std::vector<int64_t>> ShapeOfParameter(const Expr& expr) {
  if (const Tensor* value = ConstantTensor(expr)) {
    return std::vector<int64_t>(value->shape().begin(), value->shape().end());
  }
  Expr typed = expr;
  if (!typed->type().defined()) {
    BATON_ASSIGN_OR_RETURN(typed, InferTypeOf(expr));
  }
  const TensorTypeNode* type = typed->tensor_type();
  if (type == nullptr || !type->is_static()) {
    return absl::FailedPreconditionError(
        "the shape of a scale or zero point is not known");
  }
  std::vector<int64_t> shape;
  for (const Dim& dim : type->shape()) shape.push_back(dim.value());
  return shape;
}

// True if `type` has a scale or a zero point for each of several channels.
absl::StatusOr<bool> IsByChannel(const AffineType& type) {
  for (const Expr* parameter : {&type.scale, &type.zero_point}) {
    BATON_ASSIGN_OR_RETURN(const std::vector<int64_t> shape,
                           ShapeOfParameter(*parameter));
    if (!shape.empty() && shape[0] != 1) return true;
  }
  return false;
}

// `axis`, which counts from the end if it is negative, of `data`.
absl::StatusOr<int> ChannelAxisOf(const TensorTypeNode& data, int axis) {
  if (axis < 0) axis += data.rank();
  if (axis < 0 || axis >= data.rank()) {
    return absl::FailedPreconditionError("the argument lacks the channel axis");
  }
  return axis;
}

// The shape of parameters by channel that are broadcast against argument 0:
// [1, -1, 1, 1].
absl::StatusOr<std::vector<int64_t>> ChannelShape(const FakeQuantizedCall& call,
                                                  int axis) {
  const TensorTypeNode* type = call.original().arg(0)->tensor_type();
  if (type == nullptr) {
    return absl::FailedPreconditionError("the argument has no tensor type");
  }
  BATON_ASSIGN_OR_RETURN(axis, ChannelAxisOf(*type, axis));
  std::vector<int64_t> shape(type->rank(), 1);
  shape[axis] = -1;
  return shape;
}

Expr WithArgs(const FakeQuantizedCall& call, absl::Span<const Expr> args) {
  return Call(call.original().op(), args, call.original().attrs(), {}, {},
              call.original().span());
}

// The end of a region.
absl::StatusOr<AffineValue> RewriteQuantize(const FakeQuantizedCall& call) {
  BATON_ASSIGN_OR_RETURN(AffineType from, call.arg_type(0));
  BATON_ASSIGN_OR_RETURN(AffineType to, call.output());
  BATON_ASSIGN_OR_RETURN(from.scale, FoldConstantInExpr(from.scale));
  BATON_ASSIGN_OR_RETURN(from.zero_point, FoldConstantInExpr(from.zero_point));
  BATON_ASSIGN_OR_RETURN(const bool same, ApproxEqual(from, to));
  for (const size_t i : {1, 2}) {
    const TensorTypeNode* type = call.original().arg(i)->tensor_type();
    // qnn.requantize makes tensors with one scale.
    if (!same && (type == nullptr || !type->shape().empty())) {
      return absl::UnimplementedError("the result is quantized by channel");
    }
  }
  Expr result = same ? call.arg(0)
                     : Requantized(call.arg(0), from, to, to.dtype, from.axis);
  return AffineValue{std::move(result), {std::move(to)}};
}

// Operators that move, repeat or select elements.

// The axis of the result that holds axis `axis`, not negative, of argument 0,
// with each element in its place. Nullopt if there is none.
using FollowAxis = std::optional<int> (*)(const CallNode& call, int axis);

int RankOf(const Type& type) { return type.As<TensorTypeNode>()->rank(); }

// Operators along other axes, or none: the axes keep their places, counted from
// the end.
std::optional<int> SamePlace(const CallNode& call, int axis) {
  if (call.tensor_type() == nullptr) return axis;  // split
  return axis + RankOf(call.type()) - RankOf(call.arg(0)->type());
}

// Operators that slide a window over the spatial axes of `layout`.
template <typename T>
std::optional<int> OfWindow(const CallNode& call, int axis) {
  const T& attrs = AttrsOrDefaults<T>(call.attrs());
  if constexpr (requires { attrs.out_layout; }) {
    if (!attrs.out_layout.empty() && attrs.out_layout != attrs.layout) {
      return std::nullopt;
    }
  }
  const std::optional<char> letter =
      layouts::LetterAt(layouts::LayoutOf(attrs.layout), axis);
  if (letter != 'N' && letter != 'C') return std::nullopt;
  return axis;
}

// Operators along the one axis `axis`.
template <typename T>
std::optional<int> OfOtherAxes(const CallNode& call, int axis) {
  int along = AttrsOrDefaults<T>(call.attrs()).axis;
  if (along < 0) along += RankOf(call.arg(0)->type());
  return along == axis ? std::nullopt : SamePlace(call, axis);
}

std::optional<int> OfTake(const CallNode& call, int axis) {
  const auto& attrs = AttrsOrDefaults<TakeAttrs>(call.attrs());
  if (!attrs.axis.has_value() || attrs.batch_dims != 0) return std::nullopt;
  const int rank = RankOf(call.arg(0)->type());
  const int64_t along = *attrs.axis < 0 ? *attrs.axis + rank : *attrs.axis;
  if (along == axis) return std::nullopt;
  return axis < along ? axis : SamePlace(call, axis);
}

std::optional<int> OfReduction(const CallNode& call, int axis) {
  const auto& attrs = AttrsOrDefaults<ReduceAttrs>(call.attrs());
  int gone = 0;
  for (const int64_t reduced : layouts::ReducedAxes(
           attrs.axis, attrs.exclude, RankOf(call.arg(0)->type()))) {
    if (reduced == axis) return std::nullopt;
    if (reduced < axis && !attrs.keepdims) ++gone;
  }
  return axis - gone;
}

std::optional<int> OfTranspose(const CallNode& call, int axis) {
  const auto& attrs = AttrsOrDefaults<TransposeAttrs>(call.attrs());
  const int rank = RankOf(call.type());
  if (!attrs.axes.has_value() || attrs.axes->empty()) return rank - 1 - axis;
  for (int i = 0; i < rank; ++i) {
    const int64_t from = (*attrs.axes)[static_cast<size_t>(i)];
    if ((from < 0 ? from + rank : from) == axis) return i;
  }
  return std::nullopt;
}

std::optional<int> OfStridedSlice(const CallNode& call, int axis) {
  const auto& attrs = AttrsOrDefaults<StridedSliceAttrs>(call.attrs());
  // With positive strides, an extent stays only if no element is skipped.
  if (attrs.strides.has_value() && attrs.slice_mode != "size" &&
      !absl::c_all_of(*attrs.strides, [](int64_t s) { return s > 0; })) {
    return std::nullopt;
  }
  return SamePlace(call, axis);
}

// Operators that keep the elements in their order: the axis that has as many
// elements before it, and inside of it.
std::optional<int> OfReshape(const CallNode& call, int axis) {
  const TensorTypeNode& from = *call.arg(0)->tensor_type();
  const TensorTypeNode& to = *call.tensor_type();
  const Dim before = Product(from.shape().first(static_cast<size_t>(axis)));
  if (!before.is_const() || !from.dim(axis).is_const()) return std::nullopt;
  for (int i = 0; i < to.rank(); ++i) {
    if (to.dim(i) == from.dim(axis) &&
        Product(to.shape().first(static_cast<size_t>(i))) == before) {
      return i;
    }
  }
  return std::nullopt;
}

// `type`, of argument 0, for the result.
template <FollowAxis kFollow>
absl::StatusOr<AffineType> TypeAfter(const FakeQuantizedCall& call,
                                     AffineType type) {
  BATON_ASSIGN_OR_RETURN(const bool by_channel, IsByChannel(type));
  if (!by_channel) return type;
  const CallNode& original = call.original();
  const TensorTypeNode* data = original.arg(0)->tensor_type();
  const Type& result = original.type();
  if (data == nullptr || !result.defined()) {
    return absl::FailedPreconditionError("the call has no type");
  }
  BATON_ASSIGN_OR_RETURN(const int axis, ChannelAxisOf(*data, type.axis));
  const std::optional<int> after = kFollow(original, axis);
  const auto* tensor = result.As<TensorTypeNode>();
  if (!after.has_value() ||
      (tensor != nullptr && tensor->dim(*after) != data->dim(axis))) {
    return absl::UnimplementedError(
        "the axis of the channels does not stay as it is");
  }
  type.axis = *after;
  return type;
}

template <FollowAxis kFollow>
absl::StatusOr<AffineValue> Keep(const FakeQuantizedCall& call) {
  BATON_ASSIGN_OR_RETURN(AffineType type, call.arg_type(0));
  BATON_ASSIGN_OR_RETURN(type, TypeAfter<kFollow>(call, std::move(type)));
  return AffineValue{call.call(), {std::move(type)}};
}

absl::StatusOr<AffineValue> KeepTopK(const FakeQuantizedCall& call) {
  if (call.attrs<TopKAttrs>().ret_type != "values") {
    return absl::UnimplementedError("indices are not quantized");
  }
  return Keep<OfOtherAxes<TopKAttrs>>(call);
}

absl::StatusOr<AffineValue> KeepSplit(const FakeQuantizedCall& call) {
  BATON_ASSIGN_OR_RETURN(AffineType type, call.arg_type(0));
  BATON_ASSIGN_OR_RETURN(
      type, TypeAfter<OfOtherAxes<SplitAttrs>>(call, std::move(type)));
  const TupleTypeNode* tuple = call.original().tuple_type();
  if (tuple == nullptr) {
    return absl::FailedPreconditionError("the call has no type");
  }
  return AffineValue{call.call(),
                     std::vector<AffineType>(tuple->fields().size(), type)};
}

absl::StatusOr<AffineValue> RewritePad(const FakeQuantizedCall& call) {
  BATON_ASSIGN_OR_RETURN(AffineType type, call.arg_type(0));
  Expr value = call.arg(1);
  if (call.is_real(1)) {
    BATON_ASSIGN_OR_RETURN(value, QuantizedConstant(value, type, /*axis=*/-1));
  } else {
    BATON_ASSIGN_OR_RETURN(const AffineType value_type, call.arg_type(1));
    if (!Identical(type, value_type)) {
      value = Requantized(std::move(value), value_type, type, type.dtype,
                          value_type.axis);
    }
  }
  return AffineValue{WithArgs(call, {call.arg(0), std::move(value)}),
                     {std::move(type)}};
}

absl::StatusOr<AffineValue> RewriteConcatenate(const FakeQuantizedCall& call) {
  BATON_ASSIGN_OR_RETURN(AffineType output, call.output());
  std::vector<Expr> scales;
  std::vector<Expr> zero_points;
  for (const AffineType& type : call.field_types(0)) {
    scales.push_back(type.scale);
    zero_points.push_back(type.zero_point);
  }
  Expr result = qnn::Concatenate(
      call.arg(0), Tuple(std::move(scales)), Tuple(std::move(zero_points)),
      QuantizationOf(output), call.attrs<ConcatenateAttrs>().axis);
  return AffineValue{std::move(result), {std::move(output)}};
}

// Limits.

absl::StatusOr<AffineValue> RewriteClip(const FakeQuantizedCall& call) {
  BATON_ASSIGN_OR_RETURN(AffineType type, call.arg_type(0));
  const auto& attrs = call.attrs<ClipAttrs>();
  BATON_ASSIGN_OR_RETURN(const Expr scale, FoldConstantInExpr(type.scale));
  BATON_ASSIGN_OR_RETURN(const Expr zero_point,
                         FoldConstantInExpr(type.zero_point));
  const Tensor* scale_value = ConstantTensor(scale);
  const Tensor* zero_value = ConstantTensor(zero_point);
  if (scale_value != nullptr && scale_value->num_elements() == 1 &&
      zero_value != nullptr && zero_value->num_elements() == 1) {
    const double s = scale_value->AtAsDouble(0);
    const double z = zero_value->AtAsDouble(0);
    const double low = std::trunc(attrs.a_min / s + z);
    const double high = std::trunc(attrs.a_max / s + z);
    if (!std::isfinite(low) || !std::isfinite(high)) {
      return absl::FailedPreconditionError("a bound is not finite");
    }
    return AffineValue{Clip(call.arg(0), low, high), {std::move(type)}};
  }
  BATON_ASSIGN_OR_RETURN(const std::vector<int64_t> shape,
                         ShapeOfParameter(scale));
  Expr low = Const(static_cast<float>(attrs.a_min));
  Expr high = Const(static_cast<float>(attrs.a_max));
  if (!shape.empty() && shape[0] > 1) {
    BATON_ASSIGN_OR_RETURN(const std::vector<int64_t> channels,
                           ChannelShape(call, type.axis));
    low = Reshape(BroadcastTo(std::move(low), shape), channels);
    high = Reshape(BroadcastTo(std::move(high), shape), channels);
  }
  const QuantizeAttrs quantize = {.out_dtype = type.dtype, .axis = type.axis};
  BATON_ASSIGN_OR_RETURN(
      low, FoldConstantInExpr(
               qnn::Quantize(std::move(low), {scale, zero_point}, quantize)));
  BATON_ASSIGN_OR_RETURN(
      high, FoldConstantInExpr(
                qnn::Quantize(std::move(high), {scale, zero_point}, quantize)));
  return AffineValue{
      Minimum(Maximum(call.arg(0), std::move(low)), std::move(high)),
      {std::move(type)}};
}

absl::StatusOr<AffineValue> RewriteRelu(const FakeQuantizedCall& call) {
  BATON_ASSIGN_OR_RETURN(AffineType type, call.arg_type(0));
  BATON_ASSIGN_OR_RETURN(const std::vector<int64_t> shape,
                         ShapeOfParameter(type.scale));
  if (shape.size() > 1) {
    return absl::FailedPreconditionError("the scale is not a vector");
  }
  Expr zero = type.zero_point;
  if (shape.size() == 1 && shape[0] > 1) {
    BATON_ASSIGN_OR_RETURN(const std::vector<int64_t> channels,
                           ChannelShape(call, type.axis));
    zero = Reshape(BroadcastTo(std::move(zero), shape), channels);
  }
  BATON_ASSIGN_OR_RETURN(zero,
                         FoldConstantInExpr(Cast(std::move(zero), type.dtype)));
  return AffineValue{Maximum(call.arg(0), std::move(zero)), {std::move(type)}};
}

// Functions of one element.

template <Expr (*kBuilder)(Expr, qnn::Quantization, qnn::Quantization)>
absl::StatusOr<AffineValue> RewriteUnary(const FakeQuantizedCall& call) {
  BATON_ASSIGN_OR_RETURN(const AffineType from, call.arg_type(0));
  BATON_ASSIGN_OR_RETURN(AffineType to, call.output());
  Expr result = kBuilder(call.arg(0), QuantizationOf(from), QuantizationOf(to));
  return AffineValue{std::move(result), {std::move(to)}};
}

absl::StatusOr<AffineValue> RewriteLeakyRelu(const FakeQuantizedCall& call) {
  BATON_ASSIGN_OR_RETURN(const AffineType from, call.arg_type(0));
  BATON_ASSIGN_OR_RETURN(AffineType to, call.output());
  Expr result = qnn::LeakyRelu(call.arg(0), call.attrs<LeakyReluAttrs>().alpha,
                               QuantizationOf(from), QuantizationOf(to));
  return AffineValue{std::move(result), {std::move(to)}};
}

absl::StatusOr<AffineValue> RewriteSoftmax(const FakeQuantizedCall& call) {
  BATON_ASSIGN_OR_RETURN(const AffineType from, call.arg_type(0));
  BATON_ASSIGN_OR_RETURN(AffineType to, call.output());
  Expr result = qnn::Softmax(call.arg(0), call.attrs<SoftmaxAttrs>().axis,
                             QuantizationOf(from), QuantizationOf(to));
  return AffineValue{std::move(result), {std::move(to)}};
}

// Means.

absl::StatusOr<AffineValue> RewriteMean(const FakeQuantizedCall& call) {
  BATON_ASSIGN_OR_RETURN(AffineType type, call.arg_type(0));
  BATON_ASSIGN_OR_RETURN(type, TypeAfter<OfReduction>(call, std::move(type)));
  Expr result = WithArgs(call, {Cast(call.arg(0), kInt32)});
  return AffineValue{Cast(std::move(result), type.dtype), {std::move(type)}};
}

absl::StatusOr<AffineValue> RewriteAvgPool2D(const FakeQuantizedCall& call) {
  BATON_ASSIGN_OR_RETURN(const AffineType from, call.arg_type(0));
  BATON_ASSIGN_OR_RETURN(AffineType to, call.output());
  // If a later call requantizes anyway, the result keeps the quantization of
  // the argument.
  if (call.on_main_path()) to = from;
  auto attrs = call.attrs<AvgPool2DAttrs>();
  attrs.out_layout.clear();
  Expr result = qnn::AvgPool2D(call.arg(0), QuantizationOf(from),
                               QuantizationOf(to), std::move(attrs));
  return AffineValue{std::move(result), {std::move(to)}};
}

// Pools that average all that there is of an axis, in 32 bits.
absl::StatusOr<AffineValue> RewriteWidePool(const FakeQuantizedCall& call) {
  BATON_ASSIGN_OR_RETURN(const AffineType from, call.arg_type(0));
  BATON_ASSIGN_OR_RETURN(AffineType to, call.output());
  BATON_ASSIGN_OR_RETURN(const bool same, ApproxEqual(from, to));
  Expr data = same ? Cast(call.arg(0), kInt32)
                   : Requantized(call.arg(0), from, to, kInt32, from.axis);
  to.dtype = kInt32;
  return AffineValue{WithArgs(call, {std::move(data)}), {std::move(to)}};
}

// Products.

// The type of a product: its scale is the product of both.
absl::StatusOr<AffineType> ProductType(const AffineType& lhs,
                                       const AffineType& rhs, int axis) {
  AffineType type = {.dtype = kInt32, .axis = axis};
  BATON_ASSIGN_OR_RETURN(type.scale,
                         FoldConstantInExpr(Multiply(lhs.scale, rhs.scale)));
  BATON_ASSIGN_OR_RETURN(
      type.zero_point, FoldConstantInExpr(Cast(ZerosLike(type.scale), kInt32)));
  return type;
}

absl::StatusOr<int> ChannelAxis(absl::string_view out_layout,
                                absl::string_view data_layout) {
  BATON_ASSIGN_OR_RETURN(
      const Layout layout,
      Layout::Parse(out_layout.empty() ? data_layout : out_layout));
  return layout.IndexOf('C');
}

template <typename T,
          Expr (*kBuilder)(Expr, Expr, qnn::Quantization, qnn::Quantization, T)>
absl::StatusOr<AffineValue> RewriteConv(const FakeQuantizedCall& call) {
  BATON_ASSIGN_OR_RETURN(const AffineType data, call.arg_type(0));
  BATON_ASSIGN_OR_RETURN(const AffineType weight, call.arg_type(1));
  T attrs = call.attrs<T>();
  attrs.out_dtype = kInt32;
  BATON_ASSIGN_OR_RETURN(const int axis,
                         ChannelAxis(attrs.out_layout, attrs.data_layout));
  BATON_ASSIGN_OR_RETURN(AffineType type, ProductType(data, weight, axis));
  Expr result = kBuilder(call.arg(0), call.arg(1), QuantizationOf(data),
                         QuantizationOf(weight), std::move(attrs));
  return AffineValue{std::move(result), {std::move(type)}};
}

absl::StatusOr<AffineValue> RewriteDense(const FakeQuantizedCall& call) {
  BATON_ASSIGN_OR_RETURN(const AffineType data, call.arg_type(0));
  BATON_ASSIGN_OR_RETURN(const AffineType weight, call.arg_type(1));
  const TensorTypeNode* scale = weight.scale->tensor_type();
  const bool by_unit = weight.axis == 0 || weight.axis == -2;
  if (scale != nullptr && !scale->shape().empty() && !by_unit) {
    return absl::UnimplementedError(
        "scales of weights differ along the axis that is summed over");
  }
  BATON_ASSIGN_OR_RETURN(AffineType type,
                         ProductType(data, weight, /*axis=*/1));
  auto attrs = call.attrs<DenseAttrs>();
  attrs.out_dtype = kInt32;
  Expr result = qnn::Dense(call.arg(0), call.arg(1), QuantizationOf(data),
                           QuantizationOf(weight), std::move(attrs));
  return AffineValue{std::move(result), {std::move(type)}};
}

absl::StatusOr<AffineValue> RewriteBatchMatmul(const FakeQuantizedCall& call) {
  BATON_ASSIGN_OR_RETURN(const AffineType x, call.arg_type(0));
  BATON_ASSIGN_OR_RETURN(const AffineType y, call.arg_type(1));
  const auto& attrs = call.attrs<BatchMatmulAttrs>();
  if (attrs.transpose_a || !attrs.transpose_b) {
    return absl::UnimplementedError(
        "qnn.batch_matmul takes the second operand transposed only");
  }
  BATON_ASSIGN_OR_RETURN(AffineType type, ProductType(x, y, x.axis));
  type.zero_point = Const(0);
  Expr result = qnn::BatchMatmul(call.arg(0), call.arg(1), QuantizationOf(x),
                                 QuantizationOf(y));
  return AffineValue{std::move(result), {std::move(type)}};
}

absl::StatusOr<AffineValue> RewriteBiasAdd(const FakeQuantizedCall& call) {
  BATON_ASSIGN_OR_RETURN(AffineType type, call.arg_type(0));
  Expr bias = call.arg(1);
  if (call.is_real(1)) {
    BATON_ASSIGN_OR_RETURN(bias, QuantizedConstant(bias, type, /*axis=*/0));
  } else {
    BATON_ASSIGN_OR_RETURN(const AffineType from, call.arg_type(1));
    BATON_ASSIGN_OR_RETURN(const bool same, ApproxEqual(type, from));
    if (!same) {
      AffineType to = type;
      BATON_ASSIGN_OR_RETURN(to.scale, FoldConstantInExpr(type.scale));
      BATON_ASSIGN_OR_RETURN(to.zero_point,
                             FoldConstantInExpr(type.zero_point));
      bias = Requantized(std::move(bias), from, to, to.dtype, /*axis=*/0);
    }
  }
  return AffineValue{WithArgs(call, {call.arg(0), std::move(bias)}),
                     {std::move(type)}};
}

// Functions of two operands. One of them may be a constant of real numbers: it
// gets the quantization of the other.

struct Operands {
  Expr lhs;
  Expr rhs;
  AffineType lhs_type;
  AffineType rhs_type;
  AffineType to;
};

absl::StatusOr<Operands> OperandsOf(const FakeQuantizedCall& call) {
  Operands operands = {.lhs = call.arg(0), .rhs = call.arg(1)};
  BATON_ASSIGN_OR_RETURN(operands.to, call.output());
  if (call.is_real(0) && call.is_real(1)) {
    return absl::FailedPreconditionError("neither operand is quantized");
  }
  if (!call.is_real(0)) {
    BATON_ASSIGN_OR_RETURN(operands.lhs_type, call.arg_type(0));
  }
  if (!call.is_real(1)) {
    BATON_ASSIGN_OR_RETURN(operands.rhs_type, call.arg_type(1));
  }
  if (call.is_real(0)) {
    operands.lhs_type = operands.rhs_type;
    BATON_ASSIGN_OR_RETURN(
        operands.lhs,
        QuantizedConstant(operands.lhs, operands.lhs_type, /*axis=*/-1));
  }
  if (call.is_real(1)) {
    operands.rhs_type = operands.lhs_type;
    BATON_ASSIGN_OR_RETURN(
        operands.rhs,
        QuantizedConstant(operands.rhs, operands.rhs_type, /*axis=*/-1));
  }
  if (operands.lhs_type.dtype != operands.to.dtype) {
    operands.to = operands.lhs_type;
  }
  return operands;
}

using BinaryBuilder = Expr (*)(Expr, Expr, qnn::Quantization, qnn::Quantization,
                               qnn::Quantization, BroadcastAttrs);

template <BinaryBuilder kBuilder>
absl::StatusOr<AffineValue> RewriteBinary(const FakeQuantizedCall& call) {
  BATON_ASSIGN_OR_RETURN(Operands operands, OperandsOf(call));
  for (const Expr* parameter : {&operands.to.scale, &operands.to.zero_point}) {
    if (!ConstantScalar(*parameter).has_value()) {
      return absl::UnimplementedError(
          "the scale and the zero point of the result are not constant "
          "scalars");
    }
  }
  Expr result = kBuilder(
      std::move(operands.lhs), std::move(operands.rhs),
      QuantizationOf(operands.lhs_type), QuantizationOf(operands.rhs_type),
      QuantizationOf(operands.to),
      {.lhs_axis = operands.lhs_type.axis, .rhs_axis = operands.rhs_type.axis});
  return AffineValue{std::move(result), {std::move(operands.to)}};
}

// True if integers are added unchanged: the bias after a product, whose scale
// may differ by channel, in 32 bits, so that nothing overflows.
absl::StatusOr<bool> AddsIntegers(const Operands& operands) {
  if (operands.lhs_type.dtype != kInt32) return false;
  BATON_ASSIGN_OR_RETURN(bool same,
                         ApproxEqual(operands.lhs_type, operands.rhs_type));
  if (!same) return false;
  BATON_ASSIGN_OR_RETURN(same, ApproxEqual(operands.lhs_type, operands.to));
  if (!same) return false;
  const Tensor* zero_point = ConstantTensor(operands.to.zero_point);
  if (zero_point == nullptr) {
    return absl::FailedPreconditionError("the zero point is not a constant");
  }
  for (int64_t i = 0; i < zero_point->num_elements(); ++i) {
    if (zero_point->AtAsInt64(i) != 0) return false;
  }
  return true;
}

absl::StatusOr<AffineValue> RewriteAdd(const FakeQuantizedCall& call) {
  BATON_ASSIGN_OR_RETURN(Operands operands, OperandsOf(call));
  BATON_ASSIGN_OR_RETURN(const bool as_integers, AddsIntegers(operands));
  if (!as_integers) return RewriteBinary<qnn::Add>(call);
  return AffineValue{Add(std::move(operands.lhs), std::move(operands.rhs)),
                     {std::move(operands.lhs_type)}};
}

// Operators that compare: both operands get the quantization of the result.
template <Expr (*kBuilder)(Expr, Expr)>
absl::StatusOr<AffineValue> RewriteComparing(const FakeQuantizedCall& call) {
  BATON_ASSIGN_OR_RETURN(Operands operands, OperandsOf(call));
  const AffineType& to = operands.to;
  if (!Identical(operands.lhs_type, to)) {
    operands.lhs = Requantized(std::move(operands.lhs), operands.lhs_type, to,
                               to.dtype, operands.lhs_type.axis);
  }
  if (!Identical(operands.rhs_type, to)) {
    operands.rhs = Requantized(std::move(operands.rhs), operands.rhs_type, to,
                               to.dtype, operands.rhs_type.axis);
  }
  return AffineValue{kBuilder(std::move(operands.lhs), std::move(operands.rhs)),
                     {to}};
}

template <FollowAxis kFollow>
constexpr FakeQuantizationRule kKeep = {.rewrite = Keep<kFollow>,
                                        .single = true};

BATON_EXTEND_OP("qnn.quantize")
    .Set(FakeQuantizationRules(),
         FakeQuantizationRule{.rewrite = RewriteQuantize});

BATON_EXTEND_OP("broadcast_to").Set(FakeQuantizationRules(), kKeep<SamePlace>);
BATON_EXTEND_OP("expand_dims").Set(FakeQuantizationRules(), kKeep<OfReshape>);
BATON_EXTEND_OP("max").Set(FakeQuantizationRules(), kKeep<OfReduction>);
BATON_EXTEND_OP("min").Set(FakeQuantizationRules(), kKeep<OfReduction>);
BATON_EXTEND_OP("nn.batch_flatten")
    .Set(FakeQuantizationRules(), kKeep<OfReshape>);
BATON_EXTEND_OP("nn.depth_to_space")
    .Set(FakeQuantizationRules(), kKeep<SamePlace>);
BATON_EXTEND_OP("nn.max_pool2d")
    .Set(FakeQuantizationRules(), kKeep<OfWindow<MaxPool2DAttrs>>);
BATON_EXTEND_OP("reshape").Set(FakeQuantizationRules(), kKeep<OfReshape>);
BATON_EXTEND_OP("squeeze").Set(FakeQuantizationRules(), kKeep<OfReshape>);
BATON_EXTEND_OP("strided_slice")
    .Set(FakeQuantizationRules(), kKeep<OfStridedSlice>);
BATON_EXTEND_OP("transpose").Set(FakeQuantizationRules(), kKeep<OfTranspose>);
BATON_EXTEND_OP("image.resize2d")
    .Set(FakeQuantizationRules(),
         FakeQuantizationRule{.rewrite = Keep<OfWindow<Resize2DAttrs>>});
BATON_EXTEND_OP("take").Set(FakeQuantizationRules(),
                            FakeQuantizationRule{.rewrite = Keep<OfTake>});
BATON_EXTEND_OP("topk").Set(FakeQuantizationRules(),
                            FakeQuantizationRule{.rewrite = KeepTopK});
BATON_EXTEND_OP("split").Set(FakeQuantizationRules(),
                             FakeQuantizationRule{.rewrite = KeepSplit,
                                                  .single = true});
BATON_EXTEND_OP("nn.pad").Set(FakeQuantizationRules(),
                              FakeQuantizationRule{.rewrite = RewritePad,
                                                   .single = true});
BATON_EXTEND_OP("concatenate")
    .Set(FakeQuantizationRules(),
         FakeQuantizationRule{.rewrite = RewriteConcatenate});

BATON_EXTEND_OP("clip").Set(FakeQuantizationRules(),
                            FakeQuantizationRule{.rewrite = RewriteClip,
                                                 .single = true});
BATON_EXTEND_OP("nn.relu").Set(FakeQuantizationRules(),
                               FakeQuantizationRule{.rewrite = RewriteRelu,
                                                    .single = true});
BATON_EXTEND_OP("nn.leaky_relu")
    .Set(FakeQuantizationRules(),
         FakeQuantizationRule{.rewrite = RewriteLeakyRelu});
BATON_EXTEND_OP("nn.softmax")
    .Set(FakeQuantizationRules(),
         FakeQuantizationRule{.rewrite = RewriteSoftmax, .optional = true});
BATON_EXTEND_OP("abs").Set(FakeQuantizationRules(),
                           FakeQuantizationRule{
                               .rewrite = RewriteUnary<qnn::Abs>});
BATON_EXTEND_OP("erf").Set(FakeQuantizationRules(),
                           FakeQuantizationRule{
                               .rewrite = RewriteUnary<qnn::Erf>});
BATON_EXTEND_OP("exp").Set(FakeQuantizationRules(),
                           FakeQuantizationRule{
                               .rewrite = RewriteUnary<qnn::Exp>});
BATON_EXTEND_OP("log").Set(FakeQuantizationRules(),
                           FakeQuantizationRule{
                               .rewrite = RewriteUnary<qnn::Log>});
BATON_EXTEND_OP("rsqrt").Set(FakeQuantizationRules(),
                             FakeQuantizationRule{
                                 .rewrite = RewriteUnary<qnn::Rsqrt>});
BATON_EXTEND_OP("sigmoid").Set(FakeQuantizationRules(),
                               FakeQuantizationRule{
                                   .rewrite = RewriteUnary<qnn::Sigmoid>});
BATON_EXTEND_OP("sqrt").Set(FakeQuantizationRules(),
                            FakeQuantizationRule{
                                .rewrite = RewriteUnary<qnn::Sqrt>});
BATON_EXTEND_OP("tanh").Set(FakeQuantizationRules(),
                            FakeQuantizationRule{
                                .rewrite = RewriteUnary<qnn::Tanh>});

BATON_EXTEND_OP("mean").Set(FakeQuantizationRules(),
                            FakeQuantizationRule{.rewrite = RewriteMean});
BATON_EXTEND_OP("nn.avg_pool2d")
    .Set(FakeQuantizationRules(),
         FakeQuantizationRule{.rewrite = RewriteAvgPool2D, .single = true});
BATON_EXTEND_OP("nn.adaptive_avg_pool1d")
    .Set(FakeQuantizationRules(),
         FakeQuantizationRule{.rewrite = RewriteWidePool});
BATON_EXTEND_OP("nn.global_avg_pool2d")
    .Set(FakeQuantizationRules(),
         FakeQuantizationRule{.rewrite = RewriteWidePool, .single = true});

BATON_EXTEND_OP("nn.conv2d")
    .Set(FakeQuantizationRules(),
         FakeQuantizationRule{.rewrite = RewriteConv<Conv2DAttrs, qnn::Conv2D>,
                              .single = true});
BATON_EXTEND_OP("nn.conv2d_transpose")
    .Set(FakeQuantizationRules(),
         FakeQuantizationRule{
             .rewrite = RewriteConv<Conv2DTransposeAttrs, qnn::Conv2DTranspose>,
             .single = true});
BATON_EXTEND_OP("nn.dense")
    .Set(FakeQuantizationRules(),
         FakeQuantizationRule{.rewrite = RewriteDense, .single = true});
BATON_EXTEND_OP("nn.batch_matmul")
    .Set(FakeQuantizationRules(),
         FakeQuantizationRule{.rewrite = RewriteBatchMatmul, .single = true});
BATON_EXTEND_OP("nn.bias_add")
    .Set(FakeQuantizationRules(),
         FakeQuantizationRule{.rewrite = RewriteBiasAdd, .single = true});

BATON_EXTEND_OP("add").Set(FakeQuantizationRules(),
                           FakeQuantizationRule{.rewrite = RewriteAdd});
BATON_EXTEND_OP("multiply")
    .Set(FakeQuantizationRules(),
         FakeQuantizationRule{.rewrite = RewriteBinary<qnn::Multiply>});
BATON_EXTEND_OP("subtract")
    .Set(FakeQuantizationRules(),
         FakeQuantizationRule{.rewrite = RewriteBinary<qnn::Subtract>});
BATON_EXTEND_OP("maximum").Set(FakeQuantizationRules(),
                               FakeQuantizationRule{
                                   .rewrite = RewriteComparing<Maximum>,
                                   .single = true});
BATON_EXTEND_OP("minimum").Set(FakeQuantizationRules(),
                               FakeQuantizationRule{
                                   .rewrite = RewriteComparing<Minimum>,
                                   .single = true});

}  // namespace

}  // namespace baton::relay
