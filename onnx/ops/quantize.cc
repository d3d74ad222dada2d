// Converters of quantized operators, to Relay's qnn.*.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/attrs.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"
#include "baton/onnx/converter.h"
#include "baton/onnx/model.h"
#include "baton/onnx/narrow_float.h"
#include "baton/onnx/ops/average_pool.h"
#include "baton/onnx/ops/dynamic_quantize.h"
#include "baton/onnx/ops/extents.h"
#include "baton/onnx/ops/matrix_products.h"
#include "baton/onnx/ops/narrow_casts.h"
#include "baton/onnx/ops/spatial_windows.h"
#include "baton/relay/ir/constant.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/visit.h"
#include "baton/relay/op/nn/activation.h"
#include "baton/relay/op/nn/conv.h"
#include "baton/relay/op/nn/dense.h"
#include "baton/relay/op/nn/spatial.h"
#include "baton/relay/op/qnn/centered_bytes.h"
#include "baton/relay/op/qnn/qnn.h"
#include "baton/relay/op/tensor/create.h"
#include "baton/relay/op/tensor/elementwise.h"
#include "baton/relay/op/tensor/indexing.h"
#include "baton/relay/op/tensor/reduce.h"
#include "baton/relay/op/tensor/shape.h"
#include "baton/relay/transform/fold_constant.h"

namespace baton::onnx {
namespace {

using relay::Call;
using relay::Cast;
using relay::Subtract;

constexpr DType kInt32 = DType::Int(32);

// True if the new expression `expr` has an operand that is no constant.
// Operands are typed; those that can be folded are constants already.
bool HasOpenOperand(const Expr& expr) {
  bool found = false;
  relay::PostOrderVisit(
      expr,
      [&found](const ExprNode* node) {
        const bool is_operand =
            node->kind() == relay::ExprKind::kVar ||
            (node->kind() != relay::ExprKind::kConstant &&
             node->kind() != relay::ExprKind::kOp && node->type().defined());
        found = found || is_operand;
        return !found;
      },
      [](const ExprNode* /*node*/) {});
  return found;
}

// `value` of an input that may be a constant; computed at once if it is.
absl::StatusOr<Expr> Folded(NodeContext& node, Expr value) {
  // An expression that is not folded is shared by other values.
  if (HasOpenOperand(value)) return node.Typed(std::move(value));
  BATON_ASSIGN_OR_RETURN(Expr folded,
                         relay::FoldConstantInExpr(value, {.fold_qnn = true}));
  return node.Typed(std::move(folded));
}

// The one element of all of `tensor`; null if there are several.
std::optional<int64_t> CommonElement(const Tensor& tensor) {
  if (tensor.num_elements() == 0) return std::nullopt;
  for (int64_t k = 1; k < tensor.num_elements(); ++k) {
    if (tensor.AtAsInt64(k) != tensor.AtAsInt64(0)) return std::nullopt;
  }
  return tensor.AtAsInt64(0);
}

// Input `i`, or a zero, as int32: a scalar if all its elements are known and
// the same, or if it has one.
absl::StatusOr<Expr> ZeroPoint(NodeContext& node, int i) {
  if (!node.HasInput(i)) return relay::Const(Tensor::Scalar<int32_t>(0));
  if (node.IsConstant(i)) {
    BATON_ASSIGN_OR_RETURN(const Tensor known, node.Constant(i));
    if (const std::optional<int64_t> common = CommonElement(known);
        common.has_value() && !known.dtype().is_float()) {
      return relay::Const(
          Tensor::Scalar<int32_t>(static_cast<int32_t>(*common)));
    }
  }
  Expr result = node.Input(i);
  BATON_ASSIGN_OR_RETURN(const TensorTypeNode* type, TensorTypeOf(result));
  if (type->rank() == 1 && type->dim(0).is_const(1)) {
    result = relay::Reshape(std::move(result), {});
  }
  return Folded(node, Cast(std::move(result), kInt32));
}

absl::StatusOr<Expr> Scale(NodeContext& node, int i) {
  const Expr& scale = node.Input(i);
  BATON_ASSIGN_OR_RETURN(const TensorTypeNode* type, TensorTypeOf(scale));
  if (type->rank() == 1 && type->dim(0).is_const(1)) {
    return Folded(node, relay::Reshape(scale, {}));
  }
  return scale;
}

Expr UnitScale() { return relay::Const(Tensor::Scalar<float>(1)); }

// The scale in float32, which qnn's operators with several scales require.
absl::StatusOr<Expr> WideScale(NodeContext& node, int i) {
  BATON_ASSIGN_OR_RETURN(Expr scale, Scale(node, i));
  BATON_ASSIGN_OR_RETURN(const DType dtype, ElementTypeOf(node.Input(i)));
  if (dtype == DType::Float(32)) return scale;
  return Folded(node, Cast(std::move(scale), DType::Float(32)));
}

// True if there is one scale for each block of elements along an axis.
absl::StatusOr<bool> IsBlocked(NodeContext& node) {
  BATON_ASSIGN_OR_RETURN(const int rank, RankOf(node.Input(1)));
  return node.Int("block_size", 0) > 0 && rank > 0;
}

// Scale and zero point of blocks, repeated for each element. The last block
// need not be full.
absl::StatusOr<Expr> OfBlocks(NodeContext& node, const Expr& values) {
  BATON_ASSIGN_OR_RETURN(const TensorTypeNode* data,
                         TensorTypeOf(node.Input(0)));
  BATON_ASSIGN_OR_RETURN(const TensorTypeNode* type, TensorTypeOf(values));
  const int rank = data->rank();
  BATON_ASSIGN_OR_RETURN(const int axis, NormalAxis(node.Int("axis", 1), rank));
  const int64_t block = node.Int("block_size", 0);
  if (type->rank() != rank) {
    return absl::InvalidArgumentError(absl::StrCat(
        "scales of blocks have rank ", type->rank(), ", the data has ", rank));
  }
  const Dim& extent = data->dim(axis);
  const Dim& blocks = type->dim(axis);
  Expr repeated = relay::Repeat(values, block, axis);
  if (!extent.is_const() || !blocks.is_const()) {
    // As many as there are elements.
    return relay::Take(
        std::move(repeated),
        relay::Arange(relay::Const(Tensor::Scalar<int64_t>(0)),
                      ExtentOf(node.Input(0), axis),
                      relay::Const(Tensor::Scalar<int64_t>(1)), DType::Int(64)),
        {.axis = axis});
  }
  const int64_t needed = extent.value() / block + (extent.value() % block != 0);
  if (blocks.value() != needed) {
    return absl::InvalidArgumentError(
        absl::StrCat(extent.value(), " elements are ", needed, " blocks of ",
                     block, ", but there are scales for ", blocks.value()));
  }
  if (extent.value() % block == 0) return repeated;
  return relay::StridedSlice(std::move(repeated), {0}, {extent.value()},
                             {.axes = std::vector<int64_t>{axis}});
}

// The axis of the channels; -1 if there is one scale.
absl::StatusOr<int> QuantizedAxis(NodeContext& node, const Expr& x) {
  BATON_ASSIGN_OR_RETURN(const int rank, RankOf(x));
  BATON_ASSIGN_OR_RETURN(const int scale_rank, RankOf(node.Input(1)));
  if (scale_rank > 1) {
    return absl::InvalidArgumentError("the scale has several axes");
  }
  // One scale has no axis.
  if (scale_rank == 0 || rank == 0 ||
      node.Input(1)->tensor_type()->dim(0).is_const(1)) {
    return -1;
  }
  return NormalAxis(node.Int("axis", 1), rank);
}

absl::StatusOr<Expr> AsFloat32(NodeContext& node, const Expr& x) {
  BATON_ASSIGN_OR_RETURN(const DType dtype, ElementTypeOf(x));
  if (dtype == DType::Float(32)) return x;
  return node.Typed(Cast(x, DType::Float(32)));
}

// Scales or zero points, in float32, of a shape that broadcasts to that of
// input 0.
absl::StatusOr<Expr> ForEachElement(NodeContext& node, const Expr& values) {
  BATON_ASSIGN_OR_RETURN(const Expr real, AsFloat32(node, values));
  BATON_ASSIGN_OR_RETURN(const bool is_blocked, IsBlocked(node));
  if (is_blocked) return OfBlocks(node, real);
  BATON_ASSIGN_OR_RETURN(const int axis, QuantizedAxis(node, node.Input(0)));
  if (axis < 0) return relay::Reshape(real, {});
  BATON_ASSIGN_OR_RETURN(const int rank, RankOf(node.Input(0)));
  return axis == rank - 1 ? real : relay::ExpandDims(real, 1, rank - 1 - axis);
}

// The quotient, rounded once, to floats of 4 or 8 bits.
absl::StatusOr<Outputs> QuantizeToFloat(NodeContext& node,
                                        const NarrowFloat& format) {
  BATON_ASSIGN_OR_RETURN(const Expr real, AsFloat32(node, node.Input(0)));
  BATON_ASSIGN_OR_RETURN(const Expr scale, ForEachElement(node, node.Input(1)));
  Expr result = relay::Divide(real, scale);
  if (node.HasInput(2)) {
    BATON_ASSIGN_OR_RETURN(const Expr zero,
                           ForEachElement(node, node.Input(2)));
    result = relay::Add(std::move(result), zero);
  }
  BATON_ASSIGN_OR_RETURN(result, node.Typed(std::move(result)));
  BATON_ASSIGN_OR_RETURN(result, ToNarrowFloat(result, DType::Float(32), format,
                                               node.Int("saturate", 1) != 0));
  return One(std::move(result));
}

// Floats of 4 or 8 bits, less their zero points, times the scales.
absl::StatusOr<Outputs> DequantizeFloat(NodeContext& node) {
  Expr result = node.Input(0);
  if (node.HasInput(2)) {
    BATON_ASSIGN_OR_RETURN(const Expr zero,
                           ForEachElement(node, node.Input(2)));
    result = Subtract(std::move(result), zero);
  }
  BATON_ASSIGN_OR_RETURN(const Expr scale, ForEachElement(node, node.Input(1)));
  result = relay::Multiply(std::move(result), scale);
  BATON_ASSIGN_OR_RETURN(DType dtype, ElementTypeOf(node.Input(1)));
  if (const int64_t type = node.Int("output_dtype", 0); type != 0) {
    BATON_ASSIGN_OR_RETURN(dtype, DTypeOf(type));
  }
  return One(dtype == DType::Float(32) ? std::move(result)
                                       : Cast(std::move(result), dtype));
}

absl::StatusOr<Outputs> QuantizeLinear(NodeContext& node) {
  const Expr& x = node.Input(0);
  DType dtype = DType::UInt(8);
  ElementType narrow = node.NarrowType(2);
  if (node.HasInput(2)) {
    BATON_ASSIGN_OR_RETURN(dtype, ElementTypeOf(node.Input(2)));
  } else if (const int64_t type = node.Int("output_dtype", 0); type != 0) {
    BATON_ASSIGN_OR_RETURN(dtype, DTypeOf(type));
    narrow = NarrowTypeOf(type);
  }
  node.SetNarrowType(narrow);
  if (const NarrowFloat* format = NarrowFloatOf(static_cast<int64_t>(narrow))) {
    return QuantizeToFloat(node, *format);
  }
  const int narrow_bits = SubByteWidth(narrow);
  const double range =
      std::ldexp(1.0, narrow_bits != 0 ? narrow_bits : dtype.bits());
  const double low = dtype.is_uint() ? 0 : -range / 2;
  BATON_ASSIGN_OR_RETURN(const Expr zero_point, ZeroPoint(node, 2));
  BATON_ASSIGN_OR_RETURN(const bool is_blocked, IsBlocked(node));
  if (is_blocked) {
    if (!dtype.is_integral() || dtype.bits() > 16) {
      return absl::UnimplementedError(
          "blocked quantization to this element type is not supported");
    }
    BATON_ASSIGN_OR_RETURN(Expr scales, OfBlocks(node, node.Input(1)));
    BATON_ASSIGN_OR_RETURN(scales, node.Typed(std::move(scales)));
    BATON_ASSIGN_OR_RETURN(scales, AsFloat32(node, scales));
    BATON_ASSIGN_OR_RETURN(const Expr real, AsFloat32(node, x));
    Expr result = relay::Round(relay::Divide(real, scales));
    if (node.HasInput(2)) {
      BATON_ASSIGN_OR_RETURN(const Expr zeros, OfBlocks(node, node.Input(2)));
      result = relay::Add(std::move(result), Cast(zeros, DType::Float(32)));
    }
    return One(
        Cast(relay::Clip(std::move(result), low, low + range - 1), dtype));
  }
  // A vector of one scale stands for all channels.
  BATON_ASSIGN_OR_RETURN(const int axis, QuantizedAxis(node, x));
  // qnn.quantize takes float32. Integers become floats as they are, which
  // holds those of 32 bits up to a rounding.
  BATON_ASSIGN_OR_RETURN(const Expr real, AsFloat32(node, x));
  BATON_ASSIGN_OR_RETURN(const Expr real_scale, WideScale(node, 1));
  Expr result =
      Call(BATON_OP("qnn.quantize"), {real, real_scale, zero_point},
           Attrs::Make(relay::QuantizeAttrs{.out_dtype = dtype, .axis = axis}));
  // A narrow range is inside of that of 8 bits, where it was cut off first.
  if (narrow_bits != 0) {
    result = relay::Clip(std::move(result), low, low + range - 1);
  }
  return One(std::move(result));
}

absl::StatusOr<Outputs> DequantizeLinear(NodeContext& node) {
  const Expr& x = node.Input(0);
  const bool is_float =
      NarrowFloatOf(static_cast<int64_t>(node.NarrowType(0))) != nullptr;
  node.SetNarrowType(ElementType::kUndefined);
  if (is_float) return DequantizeFloat(node);
  BATON_ASSIGN_OR_RETURN(const bool is_blocked, IsBlocked(node));
  if (is_blocked) {
    BATON_ASSIGN_OR_RETURN(const DType real, ElementTypeOf(node.Input(1)));
    BATON_ASSIGN_OR_RETURN(const Expr scales, OfBlocks(node, node.Input(1)));
    Expr result = Cast(x, kInt32);
    if (node.HasInput(2)) {
      BATON_ASSIGN_OR_RETURN(const Expr zeros, OfBlocks(node, node.Input(2)));
      result = Subtract(std::move(result), Cast(zeros, kInt32));
    }
    result = relay::Multiply(Cast(std::move(result), real), scales);
    if (const int64_t type = node.Int("output_dtype", 0); type != 0) {
      BATON_ASSIGN_OR_RETURN(const DType to, DTypeOf(type));
      if (to != real) result = Cast(std::move(result), to);
    }
    return One(std::move(result));
  }
  BATON_ASSIGN_OR_RETURN(const Expr scale, WideScale(node, 1));
  BATON_ASSIGN_OR_RETURN(const Expr zero_point, ZeroPoint(node, 2));
  BATON_ASSIGN_OR_RETURN(const int axis, QuantizedAxis(node, x));
  // Since opset 23 an attribute may say another type than that of the scales.
  BATON_ASSIGN_OR_RETURN(DType dtype, ElementTypeOf(node.Input(1)));
  if (const int64_t type = node.Int("output_dtype", 0); type != 0) {
    BATON_ASSIGN_OR_RETURN(dtype, DTypeOf(type));
  }
  const DType real = DType::Float(32);
  Expr result = Call(
      BATON_OP("qnn.dequantize"), {x, scale, zero_point},
      Attrs::Make(relay::DequantizeAttrs{.out_dtype = real, .axis = axis}));
  return One(dtype == real ? std::move(result)
                           : Cast(std::move(result), dtype));
}

absl::StatusOr<Outputs> DynamicQuantizeLinear(NodeContext& node) {
  BATON_ASSIGN_OR_RETURN(const QuantizedBytes bytes,
                         QuantizeToBytes(node, node.Input(0)));
  return Outputs{bytes.values, bytes.scale, bytes.zero_point};
}

// Constant weights of a convolution, [channel, ...], less their zero points:
// int8, for which there are fast products, plus `shifts`, of which there is
// one, or one for each channel.
struct SignedWeights {
  Tensor bytes;
  Expr constant;  // of `bytes`
  std::vector<int64_t> shifts;

  bool has_shift_of_channel() const { return shifts.size() > 1; }
  bool is_shifted() const { return has_shift_of_channel() || shifts[0] != 0; }
};

// The SignedWeights of bytes; nullopt if weights or zero points are not
// constants. `zero_point` has one element, or one for each channel.
absl::StatusOr<std::optional<SignedWeights>> SignedWeightsOf(
    NodeContext& node, const Expr& weights, const Expr& zero_point) {
  const Tensor* const bytes = relay::ConstantTensor(weights);
  const Tensor* const zero = relay::ConstantTensor(zero_point);
  if (bytes == nullptr || zero == nullptr || !bytes->dtype().is_byte() ||
      bytes->num_elements() == 0) {
    return std::nullopt;
  }
  std::vector<int64_t> zeros;
  for (int64_t c = 0; c < zero->num_elements(); ++c) {
    zeros.push_back(zero->AtAsInt64(c));
  }
  std::vector<int64_t> shifts = {0};
  BATON_ASSIGN_OR_RETURN(std::optional<Tensor> centered,
                         relay::qnn::CenteredBytes(*bytes, zeros, /*axis=*/0));
  if (!centered.has_value()) {
    // Unsigned bytes less 128 fit.
    const int64_t fitting = bytes->dtype().is_uint() ? 128 : 0;
    shifts.clear();
    for (const int64_t of_channel : zeros) {
      shifts.push_back(fitting - of_channel);
    }
    BATON_ASSIGN_OR_RETURN(
        centered, relay::qnn::CenteredBytes(*bytes, {fitting}, /*axis=*/0));
  }
  Expr constant = weights;
  if (!centered->SharesBufferWith(*bytes)) {
    BATON_ASSIGN_OR_RETURN(constant, node.Typed(relay::Constant(*centered)));
  }
  return SignedWeights{*std::move(centered), std::move(constant),
                       std::move(shifts)};
}

// A constant [channel, 1, ...] with `axes` spatial axes, or one of rank 0 for
// one number.
absl::StatusOr<Expr> OfChannels(absl::Span<const int64_t> numbers,
                                size_t axes) {
  std::vector<int32_t> values;
  for (const int64_t number : numbers) {
    values.push_back(static_cast<int32_t>(number));
  }
  TensorShape shape;
  if (values.size() > 1) {
    shape.assign(1 + axes, 1);
    shape[0] = static_cast<int64_t>(values.size());
  }
  BATON_ASSIGN_OR_RETURN(Tensor tensor,
                         Tensor::FromValues<int32_t>(shape, values));
  return relay::Constant(std::move(tensor));
}

// Weights of int8 that are all 1, whose convolution is the sum of the data of
// each window: of one channel, or of as many as `weights` has if there are
// groups.
absl::StatusOr<Expr> OnesFor(NodeContext& node, const Tensor& weights) {
  TensorShape shape(weights.shape().begin(), weights.shape().end());
  int64_t size = weights.num_elements();
  if (node.Int("group", 1) == 1) {
    size /= shape[0];
    shape[0] = 1;
  }
  BATON_ASSIGN_OR_RETURN(
      Tensor bytes,
      Tensor::FromValues<int8_t>(
          shape, std::vector<int8_t>(static_cast<size_t>(size), 1)));
  return node.Typed(relay::Constant(std::move(bytes)));
}

// `convolution`, whose attributes are A, with data that is padded with `value`
// instead of 0; nullopt if the padding is not in the attributes.
template <typename A>
absl::StatusOr<std::optional<Expr>> PaddedWith(
    NodeContext& node, const relay::CallNode& convolution, const Expr& value) {
  const A* const attrs = convolution.attrs_as<A>();
  if (attrs == nullptr) return std::nullopt;
  A unpadded = *attrs;
  const size_t axes = attrs->kernel_size.size();
  if (attrs->padding.size() != 2 * axes) return std::nullopt;
  std::vector<std::vector<int64_t>> widths(2, {0, 0});
  for (size_t i = 0; i < axes; ++i) {
    const Dim& before = attrs->padding[i];
    const Dim& after = attrs->padding[axes + i];
    if (!before.is_const() || !after.is_const()) return std::nullopt;
    widths.push_back({before.value(), after.value()});
    unpadded.padding[i] = unpadded.padding[axes + i] = 0;
  }
  BATON_ASSIGN_OR_RETURN(
      const Expr data,
      node.Typed(relay::nn::Pad(convolution.arg(0), std::move(widths), value)));
  return Call(convolution.op(), {data, convolution.arg(1)},
              Attrs::Make(std::move(unpadded)));
}

int64_t SumOf(absl::Span<const int8_t> bytes) {
  using Row [[gnu::vector_size(8)]] = signed char;
  using Sums [[gnu::vector_size(16)]] = int16_t;
  constexpr size_t kSide = sizeof(Row);
  constexpr size_t kMostRows = 256;  // whose sums fit into 16 bits
  int64_t sum = 0;
  size_t i = 0;
  while (i + kSide <= bytes.size()) {
    const size_t rows = std::min(kMostRows, (bytes.size() - i) / kSide);
    Sums sums = {};
    for (size_t r = 0; r < rows; ++r, i += kSide) {
      Row row;
      std::memcpy(&row, bytes.data() + i, sizeof(row));
      sums += __builtin_convertvector(row, Sums);
    }
    for (size_t k = 0; k < kSide; ++k) sum += sums[k];
  }
  for (; i < bytes.size(); ++i) sum += bytes[i];
  return sum;
}

// The convolution of `data` less `zero_point`, which is one number of int32,
// and weights, in convolutions of bytes:
//
//   sum((x - z) * (w + s)) = sum(x * w) + s * sum(x) - z * sum(w + s)
//
// nullopt if the padding is not known.
absl::StatusOr<std::optional<Expr>> ConvolutionOfBytes(
    NodeContext& node, const Expr& data, const Expr& zero_point,
    const SignedWeights& weights) {
  const size_t axes = weights.bytes.shape().size() - 2;
  const auto convolved =
      [&](const Expr& kernel) -> absl::StatusOr<std::optional<Expr>> {
    BATON_ASSIGN_OR_RETURN(const Expr convolution,
                           Convolution(node, data, kernel, kInt32));
    const auto* const call = convolution.As<relay::CallNode>();
    if (call == nullptr || call->arg(0) != data) return std::nullopt;
    switch (axes) {
      case 1:
        return PaddedWith<relay::Conv1DAttrs>(node, *call, zero_point);
      case 2:
        return PaddedWith<relay::Conv2DAttrs>(node, *call, zero_point);
      default:
        return PaddedWith<relay::Conv3DAttrs>(node, *call, zero_point);
    }
  };
  BATON_ASSIGN_OR_RETURN(std::optional<Expr> result,
                         convolved(weights.constant));
  if (!result.has_value()) return std::nullopt;
  if (weights.is_shifted()) {
    BATON_ASSIGN_OR_RETURN(const Expr ones, OnesFor(node, weights.bytes));
    BATON_ASSIGN_OR_RETURN(std::optional<Expr> sums, convolved(ones));
    if (!sums.has_value()) return std::nullopt;
    BATON_ASSIGN_OR_RETURN(Expr shifts, OfChannels(weights.shifts, axes));
    result = relay::Add(*std::move(result),
                        relay::Multiply(*std::move(sums), std::move(shifts)));
  }
  const int64_t channels = weights.bytes.shape()[0];
  const absl::Span<const int8_t> bytes = weights.bytes.span<int8_t>();
  const size_t terms = bytes.size() / static_cast<size_t>(channels);
  std::vector<int64_t> sums_of_weights;
  for (int64_t c = 0; c < channels; ++c) {
    const int64_t shift =
        weights.shifts[weights.has_shift_of_channel() ? static_cast<size_t>(c)
                                                      : 0];
    sums_of_weights.push_back(
        shift * static_cast<int64_t>(terms) +
        SumOf(bytes.subspan(static_cast<size_t>(c) * terms, terms)));
  }
  BATON_ASSIGN_OR_RETURN(Expr of_weights, OfChannels(sums_of_weights, axes));
  BATON_ASSIGN_OR_RETURN(
      of_weights,
      Folded(node, relay::Multiply(std::move(of_weights), zero_point)));
  return Subtract(*std::move(result), std::move(of_weights));
}

// The convolution of inputs `x` and `w`, whose zero points are the inputs
// `x_zero` and `w_zero`, in int32. The scales are those that qnn.conv2d keeps.
absl::StatusOr<Expr> QuantizedConv(NodeContext& node, int x, int w, int x_zero,
                                   int w_zero, Expr x_scale, Expr w_scale) {
  BATON_ASSIGN_OR_RETURN(const TensorTypeNode* weight,
                         TensorTypeOf(node.Input(w)));
  if (weight->rank() < 3) {
    return absl::InvalidArgumentError("the weights must have rank 3 or more");
  }
  BATON_ASSIGN_OR_RETURN(Expr x_zero_point, ZeroPoint(node, x_zero));
  BATON_ASSIGN_OR_RETURN(Expr w_zero_point, ZeroPoint(node, w_zero));
  BATON_ASSIGN_OR_RETURN(x_zero_point, node.Typed(std::move(x_zero_point)));
  BATON_ASSIGN_OR_RETURN(w_zero_point, node.Typed(std::move(w_zero_point)));
  if (node.HasInput(w_zero)) {
    BATON_ASSIGN_OR_RETURN(const TensorTypeNode* zeros,
                           TensorTypeOf(node.Input(w_zero)));
    if (zeros->rank() > 1) {
      return absl::InvalidArgumentError(
          "the zero points of the weights must be a scalar or a vector");
    }
    if (zeros->rank() == 1 && zeros->dim(0).is_const() &&
        !zeros->dim(0).is_const(1) && weight->dim(0).is_const() &&
        zeros->dim(0) != weight->dim(0)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "the weights have ", weight->dim(0).ToString(), " channels and ",
          zeros->dim(0).ToString(), " zero points"));
    }
  }
  BATON_ASSIGN_OR_RETURN(const int x_zero_rank, RankOf(x_zero_point));
  if (x_zero_rank != 0) {
    return absl::InvalidArgumentError(
        "the zero point of the data must be a scalar");
  }
  BATON_ASSIGN_OR_RETURN(const int w_zero_rank, RankOf(w_zero_point));
  const auto convolved = [&](const Expr& weights,
                             Expr zero_point) -> absl::StatusOr<Expr> {
    BATON_ASSIGN_OR_RETURN(const relay::Conv2DAttrs attrs,
                           Conv2DAttrsOf(node, node.Input(x), weights, kInt32));
    return Call(BATON_OP("qnn.conv2d"),
                {node.Input(x), weights, x_zero_point, std::move(zero_point),
                 x_scale, w_scale},
                Attrs::Make(attrs));
  };
  BATON_ASSIGN_OR_RETURN(const std::optional<SignedWeights> known,
                         SignedWeightsOf(node, node.Input(w), w_zero_point));
  if (known.has_value()) {
    // The terms of a qnn.conv2d are convolutions of bytes if it has one group,
    // or a filter for each channel; if it is dilated, both zero points must be
    // constants, and that of the weights 0.
    const int64_t groups = node.Int("group", 1);
    const absl::Span<const int64_t> shape = known->bytes.shape();
    const bool has_terms =
        weight->rank() == 4 &&
        (groups == 1 || (shape[0] == groups && shape[1] == 1));
    bool is_dilated = false;
    for (const int64_t dilation :
         node.Ints("dilations").value_or(std::vector<int64_t>())) {
      is_dilated = is_dilated || dilation != 1;
    }
    if (has_terms && !known->has_shift_of_channel() &&
        (!is_dilated || (!known->is_shifted() &&
                         relay::ConstantTensor(x_zero_point) != nullptr))) {
      return convolved(known->constant,
                       relay::Const(Tensor::Scalar<int32_t>(
                           static_cast<int32_t>(-known->shifts[0]))));
    }
    BATON_ASSIGN_OR_RETURN(
        std::optional<Expr> result,
        ConvolutionOfBytes(node, node.Input(x), x_zero_point, *known));
    if (result.has_value()) return *std::move(result);
  }
  if (w_zero_rank == 0 && weight->rank() == 4) {
    return convolved(node.Input(w), std::move(w_zero_point));
  }
  // Other spatial axes, or a zero point for each channel, which qnn.conv2d does
  // not know.
  if (w_zero_rank != 0) {
    w_zero_point =
        relay::ExpandDims(std::move(w_zero_point), 1, weight->rank() - 1);
  }
  BATON_ASSIGN_OR_RETURN(
      const Expr data,
      node.Typed(Subtract(Cast(node.Input(x), kInt32), x_zero_point)));
  BATON_ASSIGN_OR_RETURN(
      const Expr weights,
      node.Typed(Subtract(Cast(node.Input(w), kInt32), w_zero_point)));
  return Convolution(node, data, weights, kInt32);
}

absl::StatusOr<Outputs> ConvInteger(NodeContext& node) {
  BATON_ASSIGN_OR_RETURN(
      Expr result, QuantizedConv(node, 0, 1, 2, 3, UnitScale(), UnitScale()));
  return One(std::move(result));
}

// Integers of a zero point of 0 as float32.
Expr Dequantize(Expr x, Expr scale, int axis) {
  return Call(BATON_OP("qnn.dequantize"),
              {std::move(x), std::move(scale),
               relay::Const(Tensor::Scalar<int32_t>(0))},
              Attrs::Make(relay::DequantizeAttrs{.out_dtype = DType::Float(32),
                                                 .axis = axis}));
}

// `x` of int32, scaled by `scale`, to what the output's scale (input `i`) and
// zero point (input `i` + 1) say.
//
// As real numbers, as ONNX defines it: qnn.requantize rounds ties up, not to
// even, and is lowered to arithmetic on constants only.
absl::StatusOr<Expr> Rescaled(NodeContext& node, Expr x, Expr scale, int i,
                              int axis) {
  BATON_ASSIGN_OR_RETURN(const Expr out_scale, WideScale(node, i));
  BATON_ASSIGN_OR_RETURN(const Expr out_zero_point, ZeroPoint(node, i + 1));
  BATON_ASSIGN_OR_RETURN(const DType dtype, ElementTypeOf(node.Input(i + 1)));
  BATON_ASSIGN_OR_RETURN(scale, Folded(node, std::move(scale)));
  BATON_ASSIGN_OR_RETURN(const int scale_rank, RankOf(scale));
  BATON_ASSIGN_OR_RETURN(
      const Expr real,
      node.Typed(scale_rank < 2
                     ? Dequantize(std::move(x), std::move(scale), axis)
                     : relay::Multiply(Cast(std::move(x), DType::Float(32)),
                                       std::move(scale))));
  return Call(
      BATON_OP("qnn.quantize"), {real, out_scale, out_zero_point},
      Attrs::Make(relay::QuantizeAttrs{.out_dtype = dtype, .axis = axis}));
}

absl::StatusOr<Outputs> QLinearConv(NodeContext& node) {
  BATON_ASSIGN_OR_RETURN(const Expr x_scale, WideScale(node, 1));
  BATON_ASSIGN_OR_RETURN(const Expr w_scale, WideScale(node, 4));
  BATON_ASSIGN_OR_RETURN(Expr result,
                         QuantizedConv(node, 0, 3, 2, 5, x_scale, w_scale));
  if (node.HasInput(8)) {
    result = relay::nn::BiasAdd(std::move(result), node.Input(8));
  }
  BATON_ASSIGN_OR_RETURN(
      result, Rescaled(node, std::move(result),
                       relay::Multiply(x_scale, w_scale), 6, /*axis=*/1));
  return One(std::move(result));
}

// A constant matrix of bytes less a zero point, or less one for each column, in
// int8; nullopt if there is none. `zero` may be null.
absl::StatusOr<std::optional<Tensor>> CenteredWeight(const Tensor& bytes,
                                                     const Tensor* zero) {
  if (bytes.rank() != 2 || !bytes.dtype().is_byte() ||
      bytes.num_elements() == 0) {
    return std::nullopt;
  }
  std::vector<int64_t> zeros = {0};
  if (zero != nullptr) {
    if (zero->rank() > 1 || (zero->num_elements() != 1 &&
                             zero->num_elements() != bytes.shape()[1])) {
      return std::nullopt;
    }
    zeros.clear();
    for (int64_t c = 0; c < zero->num_elements(); ++c) {
      zeros.push_back(zero->AtAsInt64(c));
    }
  }
  return relay::qnn::CenteredBytes(bytes, zeros, /*axis=*/1);
}

// The product of inputs `a` and `b` less their zero points, in int32.
absl::StatusOr<Expr> IntegerProduct(NodeContext& node, int a, int b,
                                    int a_zero_point, int b_zero_point) {
  const auto centered = [&node](int x, int zero_point) -> absl::StatusOr<Expr> {
    Expr result = Cast(node.Input(x), kInt32);
    if (!node.HasInput(zero_point)) return node.Typed(std::move(result));
    BATON_ASSIGN_OR_RETURN(Expr zero, ZeroPoint(node, zero_point));
    BATON_ASSIGN_OR_RETURN(const int rank, RankOf(node.Input(zero_point)));
    BATON_ASSIGN_OR_RETURN(zero, node.Typed(std::move(zero)));
    BATON_ASSIGN_OR_RETURN(const int zero_rank, RankOf(zero));
    // One a row of the left operand.
    if (rank == 1 && zero_rank == 1 && x == 0) {
      zero = relay::ExpandDims(std::move(zero), 1);
    }
    return node.Typed(Subtract(std::move(result), std::move(zero)));
  };
  BATON_ASSIGN_OR_RETURN(Expr lhs, centered(a, a_zero_point));
  // A weight stays in bytes, of which it has many, where these can hold it.
  const Tensor* const weight = relay::ConstantTensor(node.Input(b));
  const bool has_zero = node.HasInput(b_zero_point);
  const Tensor* const zero =
      has_zero ? relay::ConstantTensor(node.Input(b_zero_point)) : nullptr;
  std::optional<Tensor> bytes;
  if (weight != nullptr && has_zero == (zero != nullptr)) {
    BATON_ASSIGN_OR_RETURN(bytes, CenteredWeight(*weight, zero));
  }
  Expr rhs;
  if (bytes.has_value() && bytes->SharesBufferWith(*weight)) {
    rhs = node.Input(b);
  } else if (bytes.has_value()) {
    BATON_ASSIGN_OR_RETURN(rhs, node.Typed(relay::Constant(*std::move(bytes))));
  } else {
    BATON_ASSIGN_OR_RETURN(rhs, centered(b, b_zero_point));
  }
  return MatrixProduct(node, std::move(lhs), std::move(rhs), kInt32);
}

absl::StatusOr<Outputs> MatMulInteger(NodeContext& node) {
  BATON_ASSIGN_OR_RETURN(Expr result, IntegerProduct(node, 0, 1, 2, 3));
  return One(std::move(result));
}

absl::StatusOr<Outputs> QLinearMatMul(NodeContext& node) {
  for (const int i : {0, 3, 7}) {
    if (NarrowFloatOf(static_cast<int64_t>(node.NarrowType(i))) != nullptr) {
      return absl::UnimplementedError(
          "products of floats of 8 bits are not supported");
    }
  }
  BATON_ASSIGN_OR_RETURN(Expr a_scale, WideScale(node, 1));
  BATON_ASSIGN_OR_RETURN(const Expr b_scale, WideScale(node, 4));
  BATON_ASSIGN_OR_RETURN(const int a_scale_rank, RankOf(a_scale));
  // One a row.
  if (a_scale_rank == 1) a_scale = relay::ExpandDims(std::move(a_scale), 1);
  BATON_ASSIGN_OR_RETURN(Expr result, IntegerProduct(node, 0, 3, 2, 5));
  BATON_ASSIGN_OR_RETURN(
      result, Rescaled(node, std::move(result),
                       relay::Multiply(a_scale, b_scale), 6, /*axis=*/-1));
  return One(std::move(result));
}

// --- com.microsoft ----------------------------------------------------------

// Input `i` as real numbers; its scale and its zero point are the next inputs.
absl::StatusOr<Expr> Dequantized(NodeContext& node, int i) {
  BATON_ASSIGN_OR_RETURN(const Expr scale, WideScale(node, i + 1));
  BATON_ASSIGN_OR_RETURN(const Expr zero_point, ZeroPoint(node, i + 2));
  return node.Typed(Call(BATON_OP("qnn.dequantize"),
                         {node.Input(i), scale, zero_point},
                         Attrs::Make(relay::DequantizeAttrs{
                             .out_dtype = DType::Float(32), .axis = -1})));
}

// Real numbers, quantized by scale `i` and zero point `i` + 1, whose element
// type is that of the result: that of input `like` if it is not given.
absl::StatusOr<Outputs> Quantized(NodeContext& node, Expr x, int i, int like) {
  BATON_ASSIGN_OR_RETURN(const Expr scale, WideScale(node, i));
  BATON_ASSIGN_OR_RETURN(const Expr zero_point, ZeroPoint(node, i + 1));
  BATON_ASSIGN_OR_RETURN(
      const DType dtype,
      ElementTypeOf(node.Input(node.HasInput(i + 1) ? i + 1 : like)));
  return One(
      Call(BATON_OP("qnn.quantize"), {std::move(x), scale, zero_point},
           Attrs::Make(relay::QuantizeAttrs{.out_dtype = dtype, .axis = -1})));
}

template <Expr (*kOperator)(Expr, Expr)>
absl::StatusOr<Outputs> QLinearBinary(NodeContext& node) {
  BATON_ASSIGN_OR_RETURN(Expr a, Dequantized(node, 0));
  BATON_ASSIGN_OR_RETURN(Expr b, Dequantized(node, 3));
  return Quantized(node, kOperator(std::move(a), std::move(b)), 6, 0);
}

absl::StatusOr<Outputs> QLinearSigmoid(NodeContext& node) {
  BATON_ASSIGN_OR_RETURN(Expr x, Dequantized(node, 0));
  return Quantized(node, relay::Sigmoid(std::move(x)), 3, 0);
}

absl::StatusOr<Outputs> QLinearLeakyRelu(NodeContext& node) {
  BATON_ASSIGN_OR_RETURN(Expr x, Dequantized(node, 0));
  return Quantized(
      node, relay::nn::LeakyRelu(std::move(x), node.Float("alpha", 0.01)), 3,
      0);
}

absl::StatusOr<Outputs> QLinearSoftmax(NodeContext& node) {
  BATON_ASSIGN_OR_RETURN(Expr x, Dequantized(node, 0));
  BATON_ASSIGN_OR_RETURN(const int rank, RankOf(x));
  BATON_ASSIGN_OR_RETURN(const int axis,
                         NormalAxis(node.Int("axis", -1), rank));
  if (node.Int("opset", 13) < 13 && axis != rank - 1) {
    return absl::UnimplementedError(
        "before opset 13, only a softmax along the last axis is supported");
  }
  return Quantized(node, relay::nn::Softmax(std::move(x), axis), 3, 0);
}

absl::StatusOr<Outputs> QLinearGlobalAveragePool(NodeContext& node) {
  BATON_ASSIGN_OR_RETURN(Expr x, Dequantized(node, 0));
  BATON_ASSIGN_OR_RETURN(const int rank, RankOf(x));
  const int first = node.Int("channels_last", 0) != 0 ? 1 : 2;
  std::vector<int64_t> axes;
  for (int i = 0; i < rank - 2; ++i) axes.push_back(first + i);
  return Quantized(
      node,
      relay::Mean(std::move(x), {.axis = std::move(axes), .keepdims = true}), 3,
      0);
}

absl::StatusOr<Outputs> QLinearAveragePool(NodeContext& node) {
  BATON_ASSIGN_OR_RETURN(Expr x, Dequantized(node, 0));
  if (node.Int("channels_last", 0) == 0) {
    BATON_ASSIGN_OR_RETURN(Expr result, AveragePoolOf(node, x));
    return Quantized(node, std::move(result), 3, 0);
  }
  BATON_ASSIGN_OR_RETURN(const int rank, RankOf(x));
  if (rank < 3) return absl::InvalidArgumentError("there are no spatial axes");
  // To channels first, and back.
  std::vector<int64_t> first = {0, rank - 1};
  std::vector<int64_t> last = {0};
  for (int i = 1; i < rank - 1; ++i) {
    first.push_back(i);
    last.push_back(i + 1);
  }
  last.push_back(1);
  BATON_ASSIGN_OR_RETURN(
      x, node.Typed(relay::Transpose(std::move(x), std::move(first))));
  BATON_ASSIGN_OR_RETURN(Expr result, AveragePoolOf(node, x));
  return Quantized(node, relay::Transpose(std::move(result), std::move(last)),
                   3, 0);
}

absl::StatusOr<Outputs> QLinearReduceMean(NodeContext& node) {
  BATON_ASSIGN_OR_RETURN(Expr x, Dequantized(node, 0));
  return Quantized(
      node,
      relay::Mean(std::move(x), {.axis = node.Ints("axes"),
                                 .keepdims = node.Int("keepdims", 1) != 0}),
      3, 0);
}

absl::StatusOr<Outputs> QLinearWhere(NodeContext& node) {
  BATON_ASSIGN_OR_RETURN(Expr x, Dequantized(node, 1));
  BATON_ASSIGN_OR_RETURN(Expr y, Dequantized(node, 4));
  return Quantized(
      node, relay::Where(node.Input(0), std::move(x), std::move(y)), 7, 1);
}

absl::StatusOr<Outputs> QLinearConcat(NodeContext& node) {
  BATON_ASSIGN_OR_RETURN(const int rank, RankOf(node.Input(2)));
  BATON_ASSIGN_OR_RETURN(const int axis, NormalAxis(node.Int("axis", 0), rank));
  std::vector<Expr> parts;
  for (int i = 2; i + 2 < node.num_inputs(); i += 3) {
    BATON_ASSIGN_OR_RETURN(parts.emplace_back(), Dequantized(node, i));
  }
  return Quantized(node, relay::Concatenate(std::move(parts), axis), 0, 2);
}

// `product`, plus input `bias` if it is given.
absl::StatusOr<Outputs> WithBias(NodeContext& node, Expr product, int bias) {
  if (node.HasInput(bias)) {
    product = relay::Add(std::move(product), node.Input(bias));
  }
  return One(std::move(product));
}

absl::StatusOr<Outputs> MatMulIntegerToFloat(NodeContext& node) {
  BATON_ASSIGN_OR_RETURN(const Expr a_scale, WideScale(node, 2));
  BATON_ASSIGN_OR_RETURN(const Expr b_scale, WideScale(node, 3));
  BATON_ASSIGN_OR_RETURN(Expr product, IntegerProduct(node, 0, 1, 4, 5));
  return WithBias(node,
                  relay::Multiply(Cast(std::move(product), DType::Float(32)),
                                  relay::Multiply(a_scale, b_scale)),
                  6);
}

absl::StatusOr<Outputs> DynamicQuantizeMatMul(NodeContext& node) {
  BATON_ASSIGN_OR_RETURN(const Expr b_scale, WideScale(node, 2));
  BATON_ASSIGN_OR_RETURN(const Expr b_zero_point, ZeroPoint(node, 3));
  BATON_ASSIGN_OR_RETURN(
      const Expr b,
      node.Typed(Subtract(Cast(node.Input(1), kInt32), b_zero_point)));
  BATON_ASSIGN_OR_RETURN(Expr product,
                         QuantizedProduct(node, node.Input(0), b, b_scale));
  return WithBias(node, std::move(product), 4);
}

absl::StatusOr<Outputs> QGemm(NodeContext& node) {
  BATON_ASSIGN_OR_RETURN(Expr a, Dequantized(node, 0));
  BATON_ASSIGN_OR_RETURN(const Expr b_scale, WideScale(node, 4));
  BATON_ASSIGN_OR_RETURN(const Expr b_zero_point, ZeroPoint(node, 5));
  // One scale and one zero point a column of the product.
  Expr b = Cast(node.Input(3), kInt32);
  if (node.Int("transA", 0) != 0) {
    a = relay::Transpose(std::move(a), std::vector<int64_t>{1, 0});
  }
  if (node.Int("transB", 0) != 0) {
    b = relay::Transpose(std::move(b), std::vector<int64_t>{1, 0});
  }
  b = relay::Multiply(
      Cast(Subtract(std::move(b), b_zero_point), DType::Float(32)), b_scale);
  BATON_ASSIGN_OR_RETURN(a, node.Typed(std::move(a)));
  BATON_ASSIGN_OR_RETURN(b, node.Typed(std::move(b)));
  BATON_ASSIGN_OR_RETURN(Expr result, MatrixProduct(node, a, b, DType()));
  const Expr alpha = relay::Const(static_cast<float>(node.Float("alpha", 1)));
  result = relay::Multiply(std::move(result), alpha);
  if (node.HasInput(6)) {
    BATON_ASSIGN_OR_RETURN(const Expr a_scale, WideScale(node, 1));
    const Expr unit = relay::Multiply(alpha, relay::Multiply(a_scale, b_scale));
    result = relay::Add(
        std::move(result),
        relay::Multiply(Cast(node.Input(6), DType::Float(32)), unit));
  }
  if (!node.HasInput(7)) return One(std::move(result));
  return Quantized(node, std::move(result), 7, 0);
}

BATON_ONNX_CONVERTERS({
    {.op = "DequantizeLinear",
     .convert = DequantizeLinear,
     .domain = kMicrosoftDomain},
    {.op = "DynamicQuantizeMatMul",
     .convert = DynamicQuantizeMatMul,
     .domain = kMicrosoftDomain},
    {.op = "MatMulIntegerToFloat",
     .convert = MatMulIntegerToFloat,
     .domain = kMicrosoftDomain},
    {.op = "QGemm", .convert = QGemm, .domain = kMicrosoftDomain},
    {.op = "QLinearAdd",
     .convert = QLinearBinary<relay::Add>,
     .domain = kMicrosoftDomain},
    {.op = "QLinearAveragePool",
     .convert = QLinearAveragePool,
     .domain = kMicrosoftDomain},
    {.op = "QLinearConcat",
     .convert = QLinearConcat,
     .domain = kMicrosoftDomain},
    {.op = "QLinearGlobalAveragePool",
     .convert = QLinearGlobalAveragePool,
     .domain = kMicrosoftDomain},
    {.op = "QLinearLeakyRelu",
     .convert = QLinearLeakyRelu,
     .domain = kMicrosoftDomain},
    {.op = "QLinearMul",
     .convert = QLinearBinary<relay::Multiply>,
     .domain = kMicrosoftDomain},
    {.op = "QLinearReduceMean",
     .convert = QLinearReduceMean,
     .domain = kMicrosoftDomain},
    {.op = "QLinearSigmoid",
     .convert = QLinearSigmoid,
     .domain = kMicrosoftDomain},
    {.op = "QLinearSoftmax",
     .convert = QLinearSoftmax,
     .domain = kMicrosoftDomain},
    {.op = "QLinearWhere", .convert = QLinearWhere, .domain = kMicrosoftDomain},
    {.op = "QuantizeLinear",
     .convert = QuantizeLinear,
     .domain = kMicrosoftDomain},
    {"ConvInteger", ConvInteger, 10},
    {"DequantizeLinear", DequantizeLinear, 10},
    {"DynamicQuantizeLinear", DynamicQuantizeLinear, 11},
    {"MatMulInteger", MatMulInteger, 10},
    {"QLinearConv", QLinearConv, 10},
    {"QLinearMatMul", QLinearMatMul, 10},
    {"QuantizeLinear", QuantizeLinear, 10},
});

}  // namespace
}  // namespace baton::onnx
