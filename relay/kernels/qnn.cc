#include "baton/relay/op/qnn/qnn.h"

#include <array>
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
#include "absl/strings/strip.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/number_range.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/kernels/kernel_adapters.h"
#include "baton/relay/op/nn/activation.h"
#include "baton/relay/op/nn/conv.h"
#include "baton/relay/op/tensor/shape.h"
#include "baton/relay/runtime/kernel.h"
#include "baton/relay/runtime/value.h"
#include "baton/runtime/kernels/elementwise_kernels.h"
#include "baton/runtime/kernels/quantize_kernels.h"
#include "baton/runtime/kernels/shape_kernels.h"

namespace baton::relay {
namespace {

constexpr DType kInt32 = DType::Int(32);

// `x` in `dtype`, less the zero point: a scalar or, with `channel_axis`, one
// for each index of that axis.
absl::StatusOr<Tensor> Shifted(const Tensor& x, const Tensor& zero_point,
                               DType dtype,
                               std::optional<int> channel_axis = {}) {
  const bool is_one = zero_point.num_elements() == 1;
  if (!is_one && !channel_axis.has_value()) {
    return absl::UnimplementedError("zero points by channel are not supported");
  }
  BATON_ASSIGN_OR_RETURN(Tensor wide, kernels::Cast(x, dtype));
  if (is_one && zero_point.AtAsInt64(0) == 0) return wide;
  BATON_ASSIGN_OR_RETURN(Tensor shift, kernels::Cast(zero_point, dtype));
  if (!is_one) {
    std::vector<int64_t> shape(static_cast<size_t>(x.rank() - *channel_axis),
                               1);
    shape[0] = shift.num_elements();
    BATON_ASSIGN_OR_RETURN(shift, shift.Reshaped(shape));
  }
  return kernels::Subtract(wide, shift);
}

// The axis of the weights of `call`, a product, along which they may have
// several zero points: that of the units, or of the channels of the result.
std::optional<int> WeightAxis(const CallNode& call) {
  const std::string& name = call.op_node()->name();
  if (name == "qnn.dense") return 0;
  if (name != "qnn.conv2d") return std::nullopt;
  const auto& attrs = AttrsOrDefaults<Conv2DAttrs>(call.attrs());
  const size_t at = attrs.kernel_layout.find('O');
  if (attrs.kernel_layout.size() != 4 || at == std::string::npos) {
    return std::nullopt;
  }
  return static_cast<int>(at);
}

// To the nearest number of `dtype`, integers of at most 32 bits.
absl::StatusOr<Tensor> Narrowed(const Tensor& x, DType dtype) {
  const NumberRange range = *FiniteRange(dtype);
  BATON_ASSIGN_OR_RETURN(const Tensor limited,
                         kernels::Clip(x, range.low, range.high));
  return kernels::Cast(limited, dtype);
}

// Addition and subtraction: requantizes both operands to the quantization of
// the result first. Each operand comes with the zero point of the result:
// `kRestore` makes it one again.
template <auto kFunction, auto kRestore>
absl::StatusOr<Tensor> Sum(const BroadcastAttrs& attrs,
                           absl::Span<const Value> args) {
  const kernels::Quantization to = {args[6].tensor(), args[7].tensor()};
  const std::array<int, 2> axes = {attrs.lhs_axis, attrs.rhs_axis};
  kernels::RequantizeParams params;
  params.dtype = kInt32;
  std::array<Tensor, 2> operands;
  for (size_t i = 0; i < 2; ++i) {
    const Tensor& x = args[i].tensor();
    BATON_ASSIGN_OR_RETURN(
        operands[i],
        kernels::Requantize(x,
                            {args[2 + 2 * i].tensor(), args[3 + 2 * i].tensor(),
                             x.rank() == 1 ? 0 : int64_t{axes[i]}},
                            to, params));
  }
  BATON_ASSIGN_OR_RETURN(Tensor sum, kFunction(operands[0], operands[1]));
  BATON_ASSIGN_OR_RETURN(sum, kRestore(sum, to.zero_point));
  return Narrowed(sum, args[0].tensor().dtype());
}

// `qnn.dense` without its quantization is `nn.dense`.
std::string UnquantizedName(const CallNode& call) {
  return absl::StrCat("nn.", absl::StripPrefix(call.op_node()->name(), "qnn."));
}

// Calls the kernel of operator `name` with the attributes of `call`.
absl::StatusOr<Value> RunKernelOf(absl::string_view name, const CallNode& call,
                                  absl::Span<Value> args) {
  const Op op = Op::Find(name);
  const Kernel* kernel = op.defined() ? Kernels().Get(*op) : nullptr;
  if (kernel == nullptr) {
    return absl::UnimplementedError(absl::StrCat(name, " has no kernel"));
  }
  return kernel->Compute(call, args);
}

// The element type that a code stands for in simulated quantization.
absl::StatusOr<std::optional<DType>> SimulatedDType(const Tensor& code) {
  if (code.num_elements() != 1) {
    return absl::InvalidArgumentError("the code of the type is no scalar");
  }
  switch (code.AtAsInt64(0)) {
    case 1:
      return std::optional(DType::Int(8));
    case 2:
      return std::optional(DType::UInt(8));
    case 3:
      return std::optional(kInt32);
    default:
      return std::optional<DType>();
  }
}

// qnn.dense, qnn.contrib_dense_pack, qnn.batch_matmul, qnn.conv2d and
// qnn.conv2d_transpose: the unquantized operator on the integers minus their
// zero points. Both zero points must be scalars.
absl::StatusOr<Value> QnnProduct(const CallNode& call,
                                 absl::Span<const Value> args) {
  const std::string name = UnquantizedName(call);
  const TensorTypeNode* type = call.tensor_type();
  const DType dtype =
      type != nullptr && type->dtype().bits() == 64 ? DType::Int(64) : kInt32;
  std::array<Value, 2> operands;
  for (size_t i = 0; i < 2; ++i) {
    BATON_ASSIGN_OR_RETURN(
        Tensor shifted,
        Shifted(args[i].tensor(), args[i + 2].tensor(), dtype,
                i == 1 ? WeightAxis(call) : std::optional<int>()));
    operands[i] = Value(std::move(shifted));
  }
  // Both operators have the same attributes.
  return RunKernelOf(name, call, absl::MakeSpan(operands));
}

// Requantizes the product of the integers minus their zero points. All scales
// and zero points must be scalars.
absl::StatusOr<Tensor> QnnMul(const BroadcastAttrs& /*attrs*/,
                              absl::Span<const Value> args) {
  for (size_t i = 2; i < args.size(); ++i) {
    if (args[i].tensor().num_elements() != 1) {
      return absl::UnimplementedError("scales by channel are not supported");
    }
  }
  BATON_ASSIGN_OR_RETURN(const Tensor lhs,
                         Shifted(args[0].tensor(), args[3].tensor(), kInt32));
  BATON_ASSIGN_OR_RETURN(const Tensor rhs,
                         Shifted(args[1].tensor(), args[5].tensor(), kInt32));
  BATON_ASSIGN_OR_RETURN(const Tensor product, kernels::Multiply(lhs, rhs));
  BATON_ASSIGN_OR_RETURN(const Tensor scale,
                         kernels::Multiply(args[2].tensor(), args[4].tensor()));
  kernels::RequantizeParams params;
  params.dtype = args[0].tensor().dtype();
  return kernels::Requantize(product, {scale, Tensor::Scalar(int32_t{0})},
                             {args[6].tensor(), args[7].tensor()}, params);
}

// Requantizes each tensor to the quantization of the result first.
absl::StatusOr<Tensor> QnnConcatenate(const ConcatenateAttrs& attrs,
                                      absl::Span<const Value> args) {
  std::vector<Tensor> tensors;
  for (size_t i = 0; i < args[0].fields().size(); ++i) {
    const Tensor& x = args[0].fields()[i].tensor();
    kernels::RequantizeParams params;
    params.dtype = x.dtype();
    BATON_ASSIGN_OR_RETURN(
        Tensor field,
        kernels::Requantize(
            x, {args[1].fields()[i].tensor(), args[2].fields()[i].tensor()},
            {args[3].tensor(), args[4].tensor()}, params));
    tensors.push_back(std::move(field));
  }
  return kernels::Concatenate(tensors, attrs.axis);
}

// Applies `function` to the real numbers that the elements of the first
// argument represent. The other arguments are its quantization and that of the
// result.
absl::StatusOr<Tensor> OnReals(
    absl::FunctionRef<absl::StatusOr<Tensor>(const Tensor&)> function,
    absl::Span<const Value> args) {
  const Tensor& x = args[0].tensor();
  BATON_ASSIGN_OR_RETURN(
      const Tensor real,
      kernels::Dequantize(x, {args[1].tensor(), args[2].tensor()},
                          DType::Float(32)));
  BATON_ASSIGN_OR_RETURN(const Tensor value, function(real));
  return kernels::Quantize(value, {args[3].tensor(), args[4].tensor()},
                           x.dtype());
}

template <auto kFunction>
absl::StatusOr<Value> QnnUnary(const CallNode& /*call*/,
                               absl::Span<const Value> args) {
  BATON_ASSIGN_OR_RETURN(Tensor result, OnReals(kFunction, args));
  return Value(std::move(result));
}

absl::StatusOr<Tensor> QnnLeakyRelu(const LeakyReluAttrs& attrs,
                                    absl::Span<const Value> args) {
  return OnReals(
      [&attrs](const Tensor& x) { return kernels::LeakyRelu(x, attrs.alpha); },
      args);
}

// The mean of the elements in the quantization of the result.

absl::StatusOr<Value> QnnAvgPool2D(const CallNode& call,
                                   absl::Span<const Value> args) {
  const Tensor& x = args[0].tensor();
  kernels::RequantizeParams params;
  params.dtype = kInt32;
  BATON_ASSIGN_OR_RETURN(
      Tensor wide,
      kernels::Requantize(x, {args[1].tensor(), args[2].tensor()},
                          {args[3].tensor(), args[4].tensor()}, params));
  Value operand(std::move(wide));
  BATON_ASSIGN_OR_RETURN(
      const Value mean,
      RunKernelOf(UnquantizedName(call), call, absl::MakeSpan(&operand, 1)));
  BATON_ASSIGN_OR_RETURN(Tensor result, Narrowed(mean.tensor(), x.dtype()));
  return Value(std::move(result));
}

// In integer arithmetic; the scale of the argument must be in (0, 1].
absl::StatusOr<Tensor> QnnSoftmax(const SoftmaxAttrs& attrs,
                                  absl::Span<const Value> args) {
  const Tensor& x = args[0].tensor();
  BATON_ASSIGN_OR_RETURN(const Tensor shifted,
                         Shifted(x, args[2].tensor(), kInt32));
  BATON_ASSIGN_OR_RETURN(
      const Tensor shares,
      kernels::ShiftSoftmax(shifted, args[1].tensor().AtAsDouble(0),
                            attrs.axis));
  kernels::RequantizeParams params;
  params.dtype = x.dtype();
  return kernels::Requantize(
      shares, {Tensor::Scalar(1.0f / 128), Tensor::Scalar(int32_t{0})},
      {args[3].tensor(), args[4].tensor()}, params);
}

// The second argument is the code of an element type. With a code that stands
// for none, the data is the result.
absl::StatusOr<Tensor> QnnSimulatedQuantize(const SimulatedQuantizeAttrs& attrs,
                                            absl::Span<const Value> args) {
  BATON_ASSIGN_OR_RETURN(const std::optional<DType> dtype,
                         SimulatedDType(args[1].tensor()));
  if (!dtype.has_value()) return args[0].tensor();
  return kernels::SimulatedQuantize(
      args[0].tensor(), {args[2].tensor(), args[3].tensor(), attrs.axis},
      *dtype);
}

absl::StatusOr<Tensor> QnnSimulatedDequantize(
    const SimulatedQuantizeAttrs& attrs, absl::Span<const Value> args) {
  BATON_ASSIGN_OR_RETURN(const std::optional<DType> dtype,
                         SimulatedDType(args[1].tensor()));
  if (!dtype.has_value()) return args[0].tensor();
  return kernels::SimulatedDequantize(
      args[0].tensor(), {args[2].tensor(), args[3].tensor(), attrs.axis});
}

absl::StatusOr<Tensor> AnnotateQuantize(const AnnotateQuantizeAttrs& attrs,
                                        absl::Span<const Value> args) {
  const Tensor& data = args[0].tensor();
  const Tensor& scale = args[1].tensor();
  // Without a scale, it is not calibrated yet.
  if (attrs.kind == 0 || scale.AtAsDouble(0) == 0) return data;
  BATON_ASSIGN_OR_RETURN(Tensor x, kernels::Divide(data, scale));
  BATON_ASSIGN_OR_RETURN(x, kernels::Clip(x, args[2].tensor().AtAsDouble(0),
                                          args[3].tensor().AtAsDouble(0)));
  BATON_ASSIGN_OR_RETURN(x, attrs.rounding == "floor"  ? kernels::Floor(x)
                            : attrs.rounding == "ceil" ? kernels::Ceil(x)
                                                       : kernels::Round(x));
  return kernels::Multiply(x, scale);
}

absl::StatusOr<Tensor> Quantize(const QuantizeAttrs& attrs,
                                absl::Span<const Value> args) {
  return kernels::Quantize(
      args[0].tensor(),
      {args[1].tensor(), args[2].tensor(), int64_t{attrs.axis}},
      attrs.out_dtype);
}

absl::StatusOr<Tensor> Dequantize(const DequantizeAttrs& attrs,
                                  absl::Span<const Value> args) {
  return kernels::Dequantize(
      args[0].tensor(),
      {args[1].tensor(), args[2].tensor(), int64_t{attrs.axis}},
      attrs.out_dtype);
}

absl::StatusOr<Tensor> Requantize(const RequantizeAttrs& attrs,
                                  absl::Span<const Value> args) {
  kernels::RequantizeParams params;
  if (attrs.rounding == "TONEAREST") {
    params.rounding = kernels::RequantizeParams::Rounding::kToNearest;
  }
  if (attrs.compute_dtype == "float32") params.float_bits = 32;
  if (attrs.compute_dtype == "float64") params.float_bits = 64;
  params.dtype = attrs.out_dtype;
  return kernels::Requantize(
      args[0].tensor(),
      {args[1].tensor(), args[2].tensor(), int64_t{attrs.axis}},
      {args[3].tensor(), args[4].tensor(), -1}, params);
}

BATON_EXTEND_OP("qnn.quantize").Set(Kernels(), KernelOf<Quantize>);
BATON_EXTEND_OP("qnn.dequantize").Set(Kernels(), KernelOf<Dequantize>);
BATON_EXTEND_OP("qnn.requantize").Set(Kernels(), KernelOf<Requantize>);
BATON_EXTEND_OP("qnn.simulated_quantize")
    .Set(Kernels(), KernelOf<QnnSimulatedQuantize>);
BATON_EXTEND_OP("qnn.simulated_dequantize")
    .Set(Kernels(), KernelOf<QnnSimulatedDequantize>);
BATON_EXTEND_OP("relay.op.annotation.simulated_quantize")
    .Set(Kernels(), KernelOf<AnnotateQuantize>);
BATON_EXTEND_OP("qnn.dense").Set(Kernels(), QnnProduct);
BATON_EXTEND_OP("qnn.contrib_dense_pack").Set(Kernels(), QnnProduct);
BATON_EXTEND_OP("qnn.batch_matmul").Set(Kernels(), QnnProduct);
BATON_EXTEND_OP("qnn.conv2d").Set(Kernels(), QnnProduct);
BATON_EXTEND_OP("qnn.conv2d_transpose").Set(Kernels(), QnnProduct);
BATON_EXTEND_OP("qnn.avg_pool2d").Set(Kernels(), QnnAvgPool2D);
BATON_EXTEND_OP("qnn.concatenate").Set(Kernels(), KernelOf<QnnConcatenate>);
BATON_EXTEND_OP("qnn.add").Set(Kernels(),
                               KernelOf<Sum<kernels::Add, kernels::Subtract>>);
BATON_EXTEND_OP("qnn.mul").Set(Kernels(), KernelOf<QnnMul>);
BATON_EXTEND_OP("qnn.subtract")
    .Set(Kernels(), KernelOf<Sum<kernels::Subtract, kernels::Add>>);

absl::StatusOr<Tensor> HardSwishOf(const Tensor& x) {
  const Tensor three = Tensor::Scalar(3.0f);
  BATON_ASSIGN_OR_RETURN(Tensor factor, kernels::Add(x, three));
  BATON_ASSIGN_OR_RETURN(factor, kernels::Clip(factor, 0, 6));
  BATON_ASSIGN_OR_RETURN(const Tensor product, kernels::Multiply(x, factor));
  return kernels::Divide(product, Tensor::Scalar(6.0f));
}

BATON_EXTEND_OP("qnn.abs").Set(Kernels(), QnnUnary<kernels::Abs>);
BATON_EXTEND_OP("qnn.erf").Set(Kernels(), QnnUnary<kernels::Erf>);
BATON_EXTEND_OP("qnn.exp").Set(Kernels(), QnnUnary<kernels::Exp>);
BATON_EXTEND_OP("qnn.hardswish").Set(Kernels(), QnnUnary<HardSwishOf>);
BATON_EXTEND_OP("qnn.log").Set(Kernels(), QnnUnary<kernels::Log>);
BATON_EXTEND_OP("qnn.rsqrt").Set(Kernels(), QnnUnary<kernels::Rsqrt>);
BATON_EXTEND_OP("qnn.sigmoid").Set(Kernels(), QnnUnary<kernels::Sigmoid>);
BATON_EXTEND_OP("qnn.sqrt").Set(Kernels(), QnnUnary<kernels::Sqrt>);
BATON_EXTEND_OP("qnn.tanh").Set(Kernels(), QnnUnary<kernels::Tanh>);
BATON_EXTEND_OP("qnn.leaky_relu").Set(Kernels(), KernelOf<QnnLeakyRelu>);
BATON_EXTEND_OP("qnn.softmax").Set(Kernels(), KernelOf<QnnSoftmax>);

}  // namespace

}  // namespace baton::relay
