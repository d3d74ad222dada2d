#include "baton/relay/transform/dequantize_products.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/module.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"
#include "baton/relay/analysis/graph_queries.h"
#include "baton/relay/analysis/indexed_graph.h"
#include "baton/relay/ir/constant.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/op/nn/conv.h"
#include "baton/relay/op/nn/dense.h"
#include "baton/relay/op/nn/pool.h"
#include "baton/relay/op/qnn/centered_bytes.h"
#include "baton/relay/op/qnn/qnn.h"
#include "baton/relay/op/tensor/shape.h"
#include "baton/relay/transform/fold_constant.h"
#include "baton/relay/transform/function_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton::relay {
namespace {

// Bytes with one scale and one zero point, both constants. The zero point is a
// byte of that type.
struct Data {
  Expr bytes;
  DType dtype;
  Expr scale;
  Expr zero_point;
  // The largest distance of a byte from the zero point.
  int64_t largest;
};

bool IsScalarConstant(const Expr& expr) {
  const Tensor* tensor = ConstantTensor(expr);
  return tensor != nullptr && tensor->rank() == 0;
}

// `args` are those of qnn.quantize or qnn.dequantize. The scale is positive and
// normal.
bool HasScalars(absl::Span<const Expr> args) {
  if (args.size() != 3 || !IsScalarConstant(args[1]) ||
      !IsScalarConstant(args[2])) {
    return false;
  }
  const double scale = ConstantTensor(args[1])->AtAsDouble(0);
  constexpr double kLeast = 0x1p-100;
  constexpr double kMost = 0x1p100;
  return scale >= kLeast && scale <= kMost;
}

// The qnn.dequantize to float32 that `expr` calls; null if it is none.
const CallNode* DequantizeOf(const Expr& expr) {
  if (!IsCallTo(expr, BATON_OP("qnn.dequantize"))) return nullptr;
  const auto* call = expr.As<CallNode>();
  const auto* attrs = call->attrs_as<DequantizeAttrs>();
  return call->num_args() == 3 && attrs != nullptr &&
                 attrs->out_dtype == DType::Float(32)
             ? call
             : nullptr;
}

std::optional<Data> DataOf(const Expr& expr) {
  const CallNode* call = DequantizeOf(expr);
  if (call == nullptr || !HasScalars(call->args())) return std::nullopt;
  const TensorTypeNode* type = call->arg(0)->tensor_type();
  if (type == nullptr || !type->dtype().is_byte()) return std::nullopt;
  const int64_t low = type->dtype() == DType::Int(8) ? -128 : 0;
  const int64_t high = low + 255;
  const int64_t zero = ConstantTensor(call->arg(2))->AtAsInt64(0);
  if (zero < low || zero > high) return std::nullopt;
  return Data{call->arg(0), type->dtype(), call->arg(1), call->arg(2),
              std::max(zero - low, high - zero)};
}

struct Weight {
  Tensor bytes;  // int8 of a zero point of 0
  Tensor scale;  // of rank 0 or 1
};

// True for the transpose of a matrix.
bool IsTransposed(const Expr& expr) {
  if (!IsCallTo(expr, BATON_OP("transpose"))) return false;
  const TensorTypeNode* type = expr.As<CallNode>()->arg(0)->tensor_type();
  if (type == nullptr || type->rank() != 2) return false;
  const auto* attrs = expr.As<CallNode>()->attrs_as<TransposeAttrs>();
  if (attrs == nullptr || !attrs->axes.has_value()) return true;
  const auto& axes = *attrs->axes;
  return axes.size() == 2 && (axes[0] + 2) % 2 == 1 && (axes[1] + 2) % 2 == 0;
}

bool IsQuantizedConstant(const Expr& expr) {
  return IsCallTo(expr, BATON_OP("qnn.quantize")) &&
         ConstantTensor(expr.As<CallNode>()->arg(0)) != nullptr;
}

// A constant weight whose channels, if they have scales of their own, are on
// axis 0.
absl::StatusOr<std::optional<Weight>> WeightOf(const Expr& expr) {
  const bool is_transposed = IsTransposed(expr);
  const CallNode* call =
      DequantizeOf(is_transposed ? expr.As<CallNode>()->arg(0) : expr);
  if (call == nullptr) return std::nullopt;
  Expr bytes = call->arg(0);
  if (IsQuantizedConstant(bytes)) {
    BATON_ASSIGN_OR_RETURN(bytes,
                           FoldConstantInExpr(bytes, {.fold_qnn = true}));
  }
  const Tensor* values = ConstantTensor(bytes);
  const Tensor* scale = ConstantTensor(call->arg(1));
  const Tensor* zero = ConstantTensor(call->arg(2));
  if (values == nullptr || !values->dtype().is_byte() || values->rank() == 0 ||
      values->num_elements() == 0 || scale == nullptr ||
      scale->dtype() != DType::Float(32) || zero == nullptr ||
      !zero->dtype().is_integral()) {
    return std::nullopt;
  }
  const int channel_axis = is_transposed ? 1 : 0;
  const int64_t channels = values->shape()[static_cast<size_t>(channel_axis)];
  for (const Tensor* one : {scale, zero}) {
    if (one->rank() == 0) continue;
    const int axis = call->attrs_as<DequantizeAttrs>()->axis;
    if (one->rank() != 1 || one->num_elements() != channels ||
        (axis != channel_axis && axis + values->rank() != channel_axis)) {
      return std::nullopt;
    }
  }
  std::vector<int64_t> zeros;
  for (int64_t c = 0; c < zero->num_elements(); ++c) {
    zeros.push_back(zero->AtAsInt64(c));
  }
  BATON_ASSIGN_OR_RETURN(
      std::optional<Tensor> centered,
      is_transposed ? qnn::TransposedCenteredBytes(*values, zeros)
                    : qnn::CenteredBytes(*values, zeros, channel_axis));
  if (!centered.has_value()) return std::nullopt;
  return Weight{*std::move(centered), *scale};
}

// True if no sum of products with `data` leaves the numbers of int32. Channels
// are on axis 0 of the weight.
bool SumsFit(const Data& data, const Tensor& weight) {
  const absl::Span<const int8_t> values = weight.span<int8_t>();
  const size_t each = values.size() / static_cast<size_t>(weight.shape()[0]);
  constexpr double kMost = std::numeric_limits<int32_t>::max();
  if (static_cast<double>(each) * 128 * static_cast<double>(data.largest) <=
      kMost) {
    return true;
  }
  for (size_t begin = 0; begin < values.size(); begin += each) {
    int64_t sum = 0;
    for (const int8_t w : values.subspan(begin, each)) sum += std::abs(int{w});
    if (sum * data.largest > std::numeric_limits<int32_t>::max()) return false;
  }
  return true;
}

// True if extent `axis` of the bytes, which are terms of sums, is a number.
bool HasNumberOfTerms(const Data& data, int axis) {
  const TensorTypeNode* type = data.bytes->tensor_type();
  return type->shape()[static_cast<size_t>(axis)].is_const();
}

// The scale of products: `data` times that of each channel.
absl::StatusOr<Tensor> ProductScale(const Expr& data, const Tensor& weight) {
  BATON_ASSIGN_OR_RETURN(
      MutableTensor result,
      MutableTensor::Create(DType::Float(32), weight.shape()));
  const float factor = ConstantTensor(data)->span<float>()[0];
  for (size_t i = 0; i < result.span<float>().size(); ++i) {
    result.span<float>()[i] = factor * weight.span<float>()[i];
  }
  return std::move(result).Freeze();
}

qnn::Quantization AroundZero(Expr scale) {
  return {std::move(scale), Const(Tensor::Scalar<int32_t>(0))};
}

class Rewriter {
 public:
  explicit Rewriter(const Expr& expr) : graph_(expr), rewriter_(graph_) {}

  absl::StatusOr<Expr> Run() {
    return rewriter_.Rewrite<CallNode>(
        [this](int i, const CallNode& call) -> absl::StatusOr<Expr> {
          if (call.op() == BATON_OP("nn.conv2d")) return Convolution(i, call);
          if (call.op() == BATON_OP("nn.dense")) return Product(i, call);
          if (call.op() == BATON_OP("nn.max_pool2d")) return Pool(i, call);
          if (call.op() == BATON_OP("qnn.quantize")) return Quantized(i, call);
          if (IsMove(call)) return Move(i, call);
          return Expr();
        });
  }

 private:
  static bool IsMove(const CallNode& call) {
    return call.num_args() == 1 && (call.op() == BATON_OP("reshape") ||
                                    call.op() == BATON_OP("nn.batch_flatten") ||
                                    call.op() == BATON_OP("squeeze") ||
                                    call.op() == BATON_OP("expand_dims") ||
                                    call.op() == BATON_OP("transpose"));
  }

  // Moves bytes, and dequantizes them then. Weights stay as WeightOf() knows
  // them.
  absl::StatusOr<Expr> Move(int i, const CallNode& call) {
    const std::optional<Data> data = DataOf(rewriter_.Args(i)[0]);
    if (!data.has_value() || ConstantTensor(data->bytes) != nullptr ||
        IsQuantizedConstant(data->bytes)) {
      return Expr();
    }
    return InferTypeOf(
        qnn::Dequantize(Call(call.op(), {data->bytes}, call.attrs()),
                        {data->scale, data->zero_point},
                        {.out_dtype = DType::Float(32), .axis = -1}));
  }

  absl::StatusOr<Expr> Convolution(int i, const CallNode& call) {
    const auto* attrs = call.attrs_as<Conv2DAttrs>();
    if (attrs == nullptr || call.num_args() != 2 ||
        attrs->data_layout != "NCHW" || attrs->kernel_layout != "OIHW" ||
        !attrs->out_dtype.is_void()) {
      return Expr();
    }
    const absl::Span<const Expr> args = rewriter_.Args(i);
    const std::optional<Data> data = DataOf(args[0]);
    if (!data.has_value()) return Expr();
    BATON_ASSIGN_OR_RETURN(const std::optional<Weight> weight,
                           WeightOf(args[1]));
    if (!weight.has_value() || !HasNumberOfTerms(*data, 1) ||
        !SumsFit(*data, weight->bytes)) {
      return Expr();
    }
    // Groups have kernels for bytes only if each has one channel.
    const absl::Span<const int64_t> shape = weight->bytes.shape();
    if (attrs->groups != 1 && (shape[1] != 1 || shape[0] != attrs->groups)) {
      return Expr();
    }
    Conv2DAttrs of_bytes = *attrs;
    of_bytes.out_dtype = DType::Int(32);
    return Dequantized(
        qnn::Conv2D(data->bytes, Const(weight->bytes),
                    {data->scale, data->zero_point},
                    AroundZero(Const(weight->scale)), std::move(of_bytes)),
        *data, *weight, 1);
  }

  absl::StatusOr<Expr> Product(int i, const CallNode& call) {
    const auto* attrs = call.attrs_as<DenseAttrs>();
    if (attrs == nullptr || call.num_args() != 2 ||
        !attrs->out_dtype.is_void()) {
      return Expr();
    }
    const absl::Span<const Expr> args = rewriter_.Args(i);
    const std::optional<Data> data = DataOf(args[0]);
    if (!data.has_value()) return Expr();
    BATON_ASSIGN_OR_RETURN(const std::optional<Weight> weight,
                           WeightOf(args[1]));
    if (!weight.has_value() || weight->bytes.rank() != 2 ||
        !HasNumberOfTerms(*data, data->bytes->tensor_type()->rank() - 1) ||
        !SumsFit(*data, weight->bytes)) {
      return Expr();
    }
    DenseAttrs of_bytes = *attrs;
    of_bytes.out_dtype = DType::Int(32);
    return Dequantized(
        qnn::Dense(data->bytes, Const(weight->bytes),
                   {data->scale, data->zero_point},
                   AroundZero(Const(weight->scale)), std::move(of_bytes)),
        *data, *weight, -1);
  }

  static absl::StatusOr<Expr> Dequantized(Expr sums, const Data& data,
                                          const Weight& weight, int axis) {
    BATON_ASSIGN_OR_RETURN(Tensor scale,
                           ProductScale(data.scale, weight.scale));
    return InferTypeOf(
        qnn::Dequantize(std::move(sums), AroundZero(Const(std::move(scale))),
                        {.out_dtype = DType::Float(32), .axis = axis}));
  }

  absl::StatusOr<Expr> Pool(int i, const CallNode& call) {
    const auto* attrs = call.attrs_as<MaxPool2DAttrs>();
    const absl::Span<const Expr> args = rewriter_.Args(i);
    if (attrs == nullptr || args.size() != 1 || attrs->layout != "NCHW") {
      return Expr();
    }
    // A window of padding alone is the least of all floats.
    if (attrs->ceil_mode) return Expr();
    for (const Dim& dilation : attrs->dilation) {
      if (!dilation.is_const() || dilation.value() != 1) return Expr();
    }
    for (const Dim& padding : attrs->padding) {
      for (const Dim& extent : attrs->pool_size) {
        if (!padding.is_const() || !extent.is_const() ||
            padding.value() >= extent.value()) {
          return Expr();
        }
      }
    }
    const std::optional<Data> data = DataOf(args[0]);
    if (!data.has_value()) return Expr();
    return InferTypeOf(qnn::Dequantize(
        nn::MaxPool2D(data->bytes, *attrs), {data->scale, data->zero_point},
        {.out_dtype = DType::Float(32), .axis = -1}));
  }

  // A byte times a scale, over it, is that byte again, up to the last bits.
  absl::StatusOr<Expr> Quantized(int i, const CallNode& call) {
    const auto* attrs = call.attrs_as<QuantizeAttrs>();
    const absl::Span<const Expr> args = rewriter_.Args(i);
    if (attrs == nullptr || !HasScalars(args)) return Expr();
    if (IsCallTo(args[0], BATON_OP("concatenate"))) {
      return QuantizedParts(call, args);
    }
    const std::optional<Data> data = DataOf(args[0]);
    const bool undoes = data.has_value() && Undoes(call, args, *data);
    return undoes ? data->bytes : Expr();
  }

  // True if the quantization `call`, whose operands are `args`, gives the bytes
  // of `data` where it quantizes their dequantized values.
  static bool Undoes(const CallNode& call, absl::Span<const Expr> args,
                     const Data& data) {
    return data.dtype == call.attrs_as<QuantizeAttrs>()->out_dtype &&
           *ConstantTensor(data.scale) == *ConstantTensor(args[1]) &&
           ConstantTensor(data.zero_point)->AtAsInt64(0) ==
               ConstantTensor(args[2])->AtAsInt64(0);
  }

  // Quantizes the operands of a concatenation of dequantized values instead of
  // its result.
  static absl::StatusOr<Expr> QuantizedParts(const CallNode& call,
                                             absl::Span<const Expr> args) {
    const auto* concatenation = args[0].As<CallNode>();
    const auto* parts = concatenation->arg(0).As<TupleNode>();
    if (parts == nullptr) return Expr();
    std::vector<Expr> quantized;
    for (const Expr& part : parts->fields()) {
      const std::optional<Data> data = DataOf(part);
      if (!data.has_value()) return Expr();
      Expr bytes = data->bytes;
      if (!Undoes(call, args, *data)) {
        BATON_ASSIGN_OR_RETURN(
            bytes, InferTypeOf(Call(call.op(), {part, args[1], args[2]},
                                    call.attrs())));
      }
      quantized.push_back(std::move(bytes));
    }
    return InferTypeOf(Call(concatenation->op(), {Tuple(std::move(quantized))},
                            concatenation->attrs()));
  }

  const IndexedGraph graph_;
  GraphRewriter rewriter_;
};

}  // namespace

Pass DequantizeProducts() {
  return CreateFunctionPass(
      [](const Function& function, const IRModule& /*module*/,
         const PassContext& /*context*/) -> absl::StatusOr<Function> {
        if (!CallsOp(function, BATON_OP("qnn.dequantize"))) return function;
        BATON_ASSIGN_OR_RETURN(const Expr result, Rewriter(function).Run());
        return Function(result.As<FunctionNode>());
      },
      {.name = "DequantizeProducts",
       .required = {"InferType"},
       .doc = "Computes convolutions and products of dequantized bytes in "
              "integers.",
       .invalidates = {"a_normal_form"},
       .idempotent = true,
       .exact = false,
       // A step of a quantization of 128 steps.
       .tolerance = 0.01,
       .waivers = {{"precision",
                    "It sums integers, exactly. Results that are quantized "
                    "may be a step off, and more if they are multiplied by "
                    "weights."}}});
}
BATON_REGISTER_PASS(DequantizeProducts);

}  // namespace baton::relay
