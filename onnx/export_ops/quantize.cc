// Exporters of quantized operators.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/attrs.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"
#include "baton/onnx/export_ops/integers.h"
#include "baton/onnx/exporter.h"
#include "baton/onnx/graph_builder.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/op/nn/activation.h"
#include "baton/relay/op/nn/conv.h"
#include "baton/relay/op/qnn/qnn.h"
#include "baton/relay/op/tensor/elementwise.h"

namespace baton::onnx {
namespace {

using relay::CallNode;

using Ints = std::vector<int64_t>;

// ONNX quantizes to bytes, and since opset 21 to integers of 16 bits.
absl::Status CheckQuantized(CallExport& call, DType dtype) {
  if (!dtype.is_integral() || dtype.bits() > 16) {
    return absl::UnimplementedError(absl::StrCat("to ", dtype.ToString()));
  }
  return dtype.bits() == 8 ? absl::OkStatus() : call.Needs(21);
}

// `value`, that of the scale or zero point that is argument `i`, for each
// channel if the other one of the pair, argument `other`, is for each: ONNX
// wants both in one shape.
absl::StatusOr<ValueId> ForChannels(CallExport& call, ValueId value, int i,
                                    int other) {
  if (call.Rank(i) == call.Rank(other) || call.Rank(i) != 0) return value;
  BATON_ASSIGN_OR_RETURN(const Ints shape, call.Shape(other));
  return call.Node("Expand", {value, call.Ints(shape)});
}

// `scale`: the argument that is one; its zero point is the next.
NodeAttributes AxisOf(CallExport& call, int axis, int scale) {
  NodeAttributes attributes;
  if (call.Rank(scale) == 1 || call.Rank(scale + 1) == 1) {
    attributes.Int("axis", FromFront(axis, call.Rank(0)));
  }
  return attributes;
}

absl::StatusOr<NodeAttributes> AttributesOf(const relay::Conv2DAttrs& attrs) {
  BATON_ASSIGN_OR_RETURN(const Ints dilations,
                         KnownDims(attrs.dilation, "dilation"));
  BATON_ASSIGN_OR_RETURN(Ints pads, KnownDims(attrs.padding, "padding"));
  BATON_ASSIGN_OR_RETURN(const Ints strides,
                         KnownDims(attrs.strides, "strides"));
  if (pads.size() == 1) pads.resize(4, pads[0]);
  if (pads.size() == 2) pads = {pads[0], pads[1], pads[0], pads[1]};
  NodeAttributes attributes;
  attributes.Ints("dilations", dilations)
      .Int("group", attrs.groups)
      .Ints("pads", pads)
      .Ints("strides", strides);
  return attributes;
}

// A convolution of bytes whose sums are scaled to bytes, which is one node:
// qnn.quantize(qnn.dequantize(qnn.conv2d(..), x_scale * w_scale, 0), ..), with
// or without nn.bias_add between.
class ScaledConv {
 public:
  // `call` is the qnn.quantize.
  explicit ScaledConv(CallExport& call) : call_(call) {}

  // Nullopt if the call is none.
  absl::StatusOr<std::optional<Values>> Export();

 private:
  // True if the calls before `call` are the ones above.
  bool Find();
  // True if `scale` is the product of the scales of the convolution.
  bool IsProductOfScales(const Expr& scale);
  const CallNode* CallTo(const Expr& expr, const Op& op) const {
    const Expr& definition = call_.Definition(expr);
    return relay::IsCallTo(definition, op) ? definition.As<CallNode>()
                                           : nullptr;
  }
  const Tensor* Constant(const Expr& expr) {
    return call_.graph().ConstantOf(call_.Of(expr));
  }
  static DType ElementTypeOf(const Expr& expr) {
    return expr->tensor_type()->dtype();
  }
  // The zero point that is argument `i` of the convolution, in the type of its
  // argument `of`; kNoValue if it may be no number of that type.
  ValueId ZeroPoint(int i, int of);

  CallExport& call_;
  const CallNode* conv_ = nullptr;
  Expr bias_;
};

bool ScaledConv::IsProductOfScales(const Expr& scale) {
  const Expr& a = conv_->arg(4);
  const Expr& b = conv_->arg(5);
  if (const CallNode* product = CallTo(scale, BATON_OP("multiply"))) {
    if (product->arg(0) == a && product->arg(1) == b) return true;
  }
  const Tensor* known = Constant(scale);
  const Tensor* x = Constant(a);
  const Tensor* w = Constant(b);
  if (known == nullptr || x == nullptr || w == nullptr ||
      x->num_elements() != 1 || known->num_elements() != w->num_elements()) {
    return false;
  }
  for (int64_t k = 0; k < known->num_elements(); ++k) {
    const float wanted = static_cast<float>(x->AtAsDouble(0)) *
                         static_cast<float>(w->AtAsDouble(k));
    if (static_cast<float>(known->AtAsDouble(k)) != wanted) return false;
  }
  return true;
}

bool ScaledConv::Find() {
  if (!call_.ResultType()->dtype().is_byte() || call_.Rank(1) != 0 ||
      call_.Rank(2) != 0) {
    return false;
  }
  const CallNode* real =
      CallTo(call_.call().arg(0), BATON_OP("qnn.dequantize"));
  if (real == nullptr) return false;
  const Tensor* zero = Constant(real->arg(2));
  if (zero == nullptr || zero->num_elements() != 1 || zero->AtAsInt64(0) != 0) {
    return false;
  }
  Expr sums = real->arg(0);
  if (const CallNode* sum = CallTo(sums, BATON_OP("nn.bias_add"))) {
    if (AttrsOrDefaults<relay::BiasAddAttrs>(sum->attrs()).axis != 1) {
      return false;
    }
    sums = sum->arg(0);
    bias_ = sum->arg(1);
  }
  conv_ = CallTo(sums, BATON_OP("qnn.conv2d"));
  if (conv_ == nullptr) return false;
  const auto& attrs = AttrsOrDefaults<relay::Conv2DAttrs>(conv_->attrs());
  const TensorTypeNode* scales = real->arg(1)->tensor_type();
  const int axis = static_cast<int>(
      FromFront(AttrsOrDefaults<relay::DequantizeAttrs>(real->attrs()).axis,
                call_.Rank(0)));
  return attrs.data_layout == "NCHW" && attrs.kernel_layout == "OIHW" &&
         attrs.out_dtype == DType::Int(32) &&
         ElementTypeOf(conv_->arg(0)).is_byte() &&
         ElementTypeOf(conv_->arg(1)).is_byte() &&
         conv_->arg(4)->tensor_type()->rank() == 0 &&
         (scales->rank() == 0 || axis == 1) && IsProductOfScales(real->arg(1));
}

ValueId ScaledConv::ZeroPoint(int i, int of) {
  const DType dtype = ElementTypeOf(conv_->arg(of));
  const Expr& given = conv_->arg(i);
  if (given->tensor_type()->rank() != 0) return kNoValue;
  if (const Tensor* known = Constant(given)) {
    const int64_t low = dtype.is_uint() ? 0 : -128;
    const int64_t value = known->AtAsInt64(0);
    if (value < low || value > low + 255) return kNoValue;
  } else {
    const CallNode* cast = CallTo(given, BATON_OP("cast"));
    if (cast == nullptr || ElementTypeOf(cast->arg(0)) != dtype) {
      return kNoValue;
    }
    return call_.Of(cast->arg(0));
  }
  return call_.Cast(call_.Of(given), ElementTypeOf(given), dtype);
}

absl::StatusOr<std::optional<Values>> ScaledConv::Export() {
  if (!Find()) return std::nullopt;
  const ValueId x_zero = ZeroPoint(2, 0);
  ValueId w_zero = ZeroPoint(3, 1);
  if (x_zero == kNoValue || w_zero == kNoValue) return std::nullopt;
  const absl::StatusOr<NodeAttributes> attributes =
      AttributesOf(AttrsOrDefaults<relay::Conv2DAttrs>(conv_->attrs()));
  if (!attributes.ok()) return std::nullopt;
  if (conv_->arg(5)->tensor_type()->rank() == 1) {
    // A zero point for each channel that has a scale.
    BATON_ASSIGN_OR_RETURN(
        const Ints shape,
        KnownDims(conv_->arg(5)->tensor_type()->shape(), "the scales"));
    if (const Tensor* known = call_.graph().ConstantOf(w_zero)) {
      BATON_ASSIGN_OR_RETURN(MutableTensor zeros,
                             MutableTensor::Create(known->dtype(), shape));
      std::memset(zeros.data(), static_cast<int>(known->AtAsInt64(0)),
                  static_cast<size_t>(zeros.num_elements()));
      w_zero = call_.TensorConstant(std::move(zeros).Freeze());
    } else {
      w_zero = call_.Node("Expand", {w_zero, call_.Ints(shape)});
    }
  }
  const DType to = call_.ResultType()->dtype();
  Values inputs = {call_.Of(conv_->arg(0)),
                   call_.Of(conv_->arg(4)),
                   x_zero,
                   call_.Of(conv_->arg(1)),
                   call_.Of(conv_->arg(5)),
                   w_zero,
                   call_.Arg(1),
                   call_.Cast(call_.Arg(2), call_.ElementType(2), to)};
  if (bias_.defined()) inputs.push_back(call_.Of(bias_));
  return Values{call_.Node("QLinearConv", inputs, *attributes)};
}

absl::StatusOr<Values> Quantize(CallExport& call) {
  BATON_ASSIGN_OR_RETURN(std::optional<Values> conv, ScaledConv(call).Export());
  if (conv.has_value()) return *std::move(conv);
  const DType dtype = call.ResultType()->dtype();
  BATON_RETURN_IF_ERROR(CheckQuantized(call, dtype));
  BATON_ASSIGN_OR_RETURN(const ValueId scale,
                         ForChannels(call, call.Arg(1), 1, 2));
  BATON_ASSIGN_OR_RETURN(
      const ValueId zero_point,
      ForChannels(call, call.Cast(call.Arg(2), call.ElementType(2), dtype), 2,
                  1));
  return Values{
      call.Node("QuantizeLinear", {call.Arg(0), scale, zero_point},
                AxisOf(call, call.attrs<relay::QuantizeAttrs>().axis, 1))};
}

// A zero point that is zero is left out: of int32 ONNX has no other.
absl::StatusOr<ValueId> ZeroPointOf(CallExport& call, int i, DType dtype) {
  const Tensor* known = call.Constant(i);
  bool is_zero = known != nullptr;
  for (int64_t k = 0; is_zero && k < known->num_elements(); ++k) {
    is_zero = known->AtAsInt64(k) == 0;
  }
  if (dtype == DType::Int(32)) {
    if (is_zero) return kNoValue;
    return absl::UnimplementedError("int32 with a zero point");
  }
  return ForChannels(call, call.Cast(call.Arg(i), call.ElementType(i), dtype),
                     i, i - 1);
}

absl::StatusOr<Values> Dequantize(CallExport& call) {
  const DType dtype = call.ElementType(0);
  if (dtype != DType::Int(32)) {
    BATON_RETURN_IF_ERROR(CheckQuantized(call, dtype));
  }
  BATON_ASSIGN_OR_RETURN(const ValueId zero_point, ZeroPointOf(call, 2, dtype));
  BATON_ASSIGN_OR_RETURN(const ValueId scale,
                         ForChannels(call, call.Arg(1), 1, 2));
  Values inputs = {call.Arg(0), scale};
  if (zero_point != kNoValue) inputs.push_back(zero_point);
  const ValueId result =
      call.Node("DequantizeLinear", inputs,
                AxisOf(call, call.attrs<relay::DequantizeAttrs>().axis, 1));
  return Values{
      call.Cast(result, call.ElementType(1), call.ResultType()->dtype())};
}

absl::StatusOr<Values> Requantize(CallExport& call) {
  const int axis = call.attrs<relay::RequantizeAttrs>().axis;
  const DType from = call.ElementType(0);
  const DType to = call.ResultType()->dtype();
  BATON_RETURN_IF_ERROR(CheckQuantized(call, to));
  BATON_ASSIGN_OR_RETURN(const ValueId zero_point, ZeroPointOf(call, 2, from));
  BATON_ASSIGN_OR_RETURN(const ValueId scale,
                         ForChannels(call, call.Arg(1), 1, 2));
  Values inputs = {call.Arg(0), scale};
  if (zero_point != kNoValue) inputs.push_back(zero_point);
  const ValueId real =
      call.Node("DequantizeLinear", inputs, AxisOf(call, axis, 1));
  BATON_ASSIGN_OR_RETURN(const ValueId to_scale,
                         ForChannels(call, call.Arg(3), 3, 4));
  BATON_ASSIGN_OR_RETURN(
      const ValueId to_zero_point,
      ForChannels(call, call.Cast(call.Arg(4), call.ElementType(4), to), 4, 3));
  return Values{call.Node("QuantizeLinear", {real, to_scale, to_zero_point},
                          AxisOf(call, axis, 3))};
}

// Argument `i` as unsigned bytes, and its zero point, argument `zero`.
absl::StatusOr<Values> UnsignedFactor(CallExport& call, int i, int zero) {
  const DType dtype = call.ElementType(i);
  const Tensor* known = call.Constant(zero);
  if (known != nullptr && known->num_elements() == 1) {
    BATON_ASSIGN_OR_RETURN(const std::vector<ByteFactor> factors,
                           ByteFactorsOf(call, i, known->AtAsInt64(0)));
    const ByteFactor factor = AsUnsigned(call, factors[0]);
    return Values{factor.value, ZeroOf(call, factor)};
  }
  return Values{call.Arg(i),
                call.Cast(call.Arg(zero), call.ElementType(zero), dtype)};
}

absl::StatusOr<Values> Conv2D(CallExport& call) {
  const auto& attrs = call.attrs<relay::Conv2DAttrs>();
  if (attrs.data_layout != "NCHW" || attrs.kernel_layout != "OIHW" ||
      call.ElementType(0).bits() != 8 || call.ElementType(1).bits() != 8) {
    return absl::UnimplementedError(
        absl::StrCat("of ", call.ElementType(0).ToString(), " in the layouts ",
                     attrs.data_layout, " and ", attrs.kernel_layout));
  }
  BATON_ASSIGN_OR_RETURN(NodeAttributes attributes, AttributesOf(attrs));
  // ONNX Runtime convolves unsigned bytes only; of constants nothing is
  // computed at run time.
  BATON_ASSIGN_OR_RETURN(const Values x, UnsignedFactor(call, 0, 2));
  BATON_ASSIGN_OR_RETURN(const Values w, UnsignedFactor(call, 1, 3));
  return Values{call.Node("ConvInteger", {x[0], w[0], x[1], w[1]},
                          std::move(attributes))};
}

absl::StatusOr<Values> Dense(CallExport& call) {
  return Values{call.Node(
      "MatMulInteger",
      {call.Arg(0), call.Transpose(call.Arg(1), {1, 0}),
       call.Cast(call.Arg(2), call.ElementType(2), call.ElementType(0)),
       call.Cast(call.Arg(3), call.ElementType(3), call.ElementType(1))})};
}

// --- Fixed-point numbers ----------------------------------------------------

// (x * multiplier + 2^(right - 1)) / 2^right, rounded down, of int32, where
// multipliers and powers have 64 bits and broadcast to `x`.
ValueId FixedPointProduct(CallExport& call, ValueId x, ValueId multiplier,
                          ValueId half, ValueId power) {
  const DType wide = DType::Int(64);
  const ValueId product = call.Node(
      "Add",
      {call.Node("Mul", {call.Cast(x, DType::Int(32), wide), multiplier}),
       half});
  const ValueId rest = call.Node("Mod", {product, power});  // not negative
  const ValueId quotient =
      call.Node("Div", {call.Node("Sub", {product, rest}), power});
  return call.Cast(quotient, wide, DType::Int(32));
}

absl::Status CheckShifts(int64_t left, int64_t right) {
  if (left < 0 || left > 31 || right < 0 || right > 31) {
    return absl::UnimplementedError(
        absl::StrCat("shifts of ", left, " and ", right, " bits"));
  }
  return absl::OkStatus();
}

absl::StatusOr<Values> FixedPointMultiply(CallExport& call) {
  const auto& attrs = call.attrs<relay::FixedPointMultiplyAttrs>();
  const int64_t left = std::max(attrs.shift, 0);
  const int64_t right = std::max(-attrs.shift, 0);
  BATON_RETURN_IF_ERROR(CheckShifts(left, right));
  const int64_t one = 1;
  const auto scalar = [&call](int64_t value) {
    return call.TensorConstant(Tensor::Scalar<int64_t>(value));
  };
  return Values{FixedPointProduct(
      call, call.Arg(0), scalar(attrs.multiplier * (one << left)),
      scalar(one << (right + 30)), scalar(one << (right + 31)))};
}

absl::StatusOr<Values> FixedPointMultiplyPerAxis(CallExport& call) {
  const auto& attrs = call.attrs<relay::FixedPointMultiplyPerAxisAttrs>();
  if (attrs.axes.size() != 1) {
    return absl::UnimplementedError("along several axes");
  }
  const int rank = call.Rank(0);
  const int64_t axis = FromFront(attrs.axes[0], rank);
  const Tensor* const multipliers = call.Constant(1);
  const Tensor* const lefts = call.Constant(2);
  const Tensor* const rights = call.Constant(3);
  if (multipliers == nullptr || lefts == nullptr || rights == nullptr ||
      axis < 0 || axis >= rank) {
    return absl::UnimplementedError("by numbers that are computed");
  }
  const int64_t count = multipliers->num_elements();
  Ints products, halves, powers;
  for (int64_t k = 0; k < count; ++k) {
    const int64_t left = attrs.is_lshift_required ? lefts->AtAsInt64(k) : 0;
    const int64_t right = attrs.is_rshift_required ? rights->AtAsInt64(k) : 0;
    BATON_RETURN_IF_ERROR(CheckShifts(left, right));
    const int64_t one = 1;
    products.push_back(multipliers->AtAsInt64(k) * (one << left));
    halves.push_back(one << (right + 30));
    powers.push_back(one << (right + 31));
  }
  Ints shape(static_cast<size_t>(rank - axis), 1);
  shape[0] = count;
  const auto along_axis = [&](const Ints& values) -> absl::StatusOr<ValueId> {
    BATON_ASSIGN_OR_RETURN(Tensor tensor,
                           Tensor::FromValues<int64_t>(shape, values));
    return call.TensorConstant(std::move(tensor));
  };
  BATON_ASSIGN_OR_RETURN(const ValueId multiplier, along_axis(products));
  BATON_ASSIGN_OR_RETURN(const ValueId half, along_axis(halves));
  BATON_ASSIGN_OR_RETURN(const ValueId power, along_axis(powers));
  return Values{FixedPointProduct(call, call.Arg(0), multiplier, half, power)};
}

BATON_EXTEND_OP("fixed_point_multiply")
    .Set(OnnxExporters(), FixedPointMultiply);
BATON_EXTEND_OP("fixed_point_multiply_per_axis")
    .Set(OnnxExporters(), FixedPointMultiplyPerAxis);
BATON_EXTEND_OP("qnn.quantize").Set(OnnxExporters(), Quantize);
BATON_EXTEND_OP("qnn.dequantize").Set(OnnxExporters(), Dequantize);
BATON_EXTEND_OP("qnn.requantize").Set(OnnxExporters(), Requantize);
BATON_EXTEND_OP("qnn.conv2d").Set(OnnxExporters(), Conv2D);
BATON_EXTEND_OP("qnn.dense").Set(OnnxExporters(), Dense);

}  // namespace
}  // namespace baton::onnx
