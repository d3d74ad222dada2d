#include "baton/relay/op/qnn/qnn_kernels.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/fields.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/op/nn/activation.h"
#include "baton/relay/op/nn/conv.h"
#include "baton/relay/op/op_flags.h"
#include "baton/relay/op/qnn/qnn.h"
#include "baton/relay/op/tensor/shape.h"
#include "baton/relay/runtime/kernel.h"
#include "baton/relay/runtime/value.h"
#include "baton/runtime/kernels/elementwise.h"
#include "baton/runtime/kernels/quantize.h"
#include "baton/runtime/kernels/shape.h"

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
    return absl::UnimplementedError("zero points by channel");
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
  const int64_t one = 1;
  const int64_t low = dtype.is_uint() ? 0 : -(one << (dtype.bits() - 1));
  const int64_t high = (one << (dtype.bits() - (dtype.is_uint() ? 0 : 1))) - 1;
  BATON_ASSIGN_OR_RETURN(
      const Tensor limited,
      kernels::Clip(x, static_cast<double>(low), static_cast<double>(high)));
  return kernels::Cast(limited, dtype);
}

// Addition and subtraction. Each operand comes with the zero point of the
// result: `restore` makes it one again.
template <auto kFunction, auto kRestore>
absl::StatusOr<Value> Sum(const CallNode& call, absl::Span<const Value> args) {
  const auto& attrs = AttrsOrDefaults<BroadcastAttrs>(call.attrs());
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
  BATON_ASSIGN_OR_RETURN(sum, Narrowed(sum, args[0].tensor().dtype()));
  return Value(std::move(sum));
}

// `qnn.dense` without its quantization is `nn.dense`.
std::string UnquantizedName(const CallNode& call) {
  return absl::StrCat("nn.", absl::StripPrefix(call.op_node()->name(), "qnn."));
}

absl::StatusOr<KernelFn> KernelOf(absl::string_view name) {
  const Op op = Op::Find(name);
  const auto* kernel = op.defined() ? Kernels().Get(*op) : nullptr;
  if (kernel == nullptr) {
    return absl::UnimplementedError(absl::StrCat(name, " has no kernel"));
  }
  return *kernel;
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

}  // namespace

absl::StatusOr<Value> QnnProduct(const CallNode& call,
                                 absl::Span<const Value> args) {
  const std::string name = UnquantizedName(call);
  BATON_ASSIGN_OR_RETURN(const KernelFn kernel, KernelOf(name));
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
  return kernel(call, operands);
}

absl::StatusOr<Value> QnnAdd(const CallNode& call,
                             absl::Span<const Value> args) {
  return Sum<kernels::Add, kernels::Subtract>(call, args);
}

absl::StatusOr<Value> QnnSubtract(const CallNode& call,
                                  absl::Span<const Value> args) {
  return Sum<kernels::Subtract, kernels::Add>(call, args);
}

absl::StatusOr<Value> QnnMul(const CallNode& /*call*/,
                             absl::Span<const Value> args) {
  for (size_t i = 2; i < args.size(); ++i) {
    if (args[i].tensor().num_elements() != 1) {
      return absl::UnimplementedError("scales by channel");
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
  BATON_ASSIGN_OR_RETURN(
      Tensor result,
      kernels::Requantize(product, {scale, Tensor::Scalar(int32_t{0})},
                          {args[6].tensor(), args[7].tensor()}, params));
  return Value(std::move(result));
}

absl::StatusOr<Value> QnnConcatenate(const CallNode& call,
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
  BATON_ASSIGN_OR_RETURN(
      Tensor result,
      kernels::Concatenate(
          tensors, AttrsOrDefaults<ConcatenateAttrs>(call.attrs()).axis));
  return Value(std::move(result));
}

absl::StatusOr<Value> QnnUnary(
    absl::FunctionRef<absl::StatusOr<Tensor>(const Tensor&)> function,
    absl::Span<const Value> args) {
  const Tensor& x = args[0].tensor();
  BATON_ASSIGN_OR_RETURN(
      const Tensor real,
      kernels::Dequantize(x, {args[1].tensor(), args[2].tensor()},
                          DType::Float(32)));
  BATON_ASSIGN_OR_RETURN(const Tensor value, function(real));
  BATON_ASSIGN_OR_RETURN(
      Tensor result,
      kernels::Quantize(value, {args[3].tensor(), args[4].tensor()},
                        x.dtype()));
  return Value(std::move(result));
}

absl::StatusOr<Value> QnnLeakyRelu(const CallNode& call,
                                   absl::Span<const Value> args) {
  const double alpha = AttrsOrDefaults<LeakyReluAttrs>(call.attrs()).alpha;
  return QnnUnary(
      [alpha](const Tensor& x) { return kernels::LeakyRelu(x, alpha); }, args);
}

absl::StatusOr<Value> QnnAvgPool2D(const CallNode& call,
                                   absl::Span<const Value> args) {
  BATON_ASSIGN_OR_RETURN(const KernelFn kernel,
                         KernelOf(UnquantizedName(call)));
  const Tensor& x = args[0].tensor();
  kernels::RequantizeParams params;
  params.dtype = kInt32;
  BATON_ASSIGN_OR_RETURN(
      Tensor wide,
      kernels::Requantize(x, {args[1].tensor(), args[2].tensor()},
                          {args[3].tensor(), args[4].tensor()}, params));
  const Value operand(std::move(wide));
  BATON_ASSIGN_OR_RETURN(const Value mean, kernel(call, {operand}));
  BATON_ASSIGN_OR_RETURN(Tensor result, Narrowed(mean.tensor(), x.dtype()));
  return Value(std::move(result));
}

absl::StatusOr<Value> QnnSoftmax(const CallNode& call,
                                 absl::Span<const Value> args) {
  const Tensor& x = args[0].tensor();
  BATON_ASSIGN_OR_RETURN(const Tensor shifted,
                         Shifted(x, args[2].tensor(), kInt32));
  BATON_ASSIGN_OR_RETURN(
      const Tensor shares,
      kernels::ShiftSoftmax(shifted, args[1].tensor().AtAsDouble(0),
                            AttrsOrDefaults<SoftmaxAttrs>(call.attrs()).axis));
  kernels::RequantizeParams params;
  params.dtype = x.dtype();
  BATON_ASSIGN_OR_RETURN(
      Tensor result,
      kernels::Requantize(
          shares, {Tensor::Scalar(1.0f / 128), Tensor::Scalar(int32_t{0})},
          {args[3].tensor(), args[4].tensor()}, params));
  return Value(std::move(result));
}

absl::StatusOr<Value> QnnSimulatedQuantize(const CallNode& call,
                                           absl::Span<const Value> args) {
  BATON_ASSIGN_OR_RETURN(const std::optional<DType> dtype,
                         SimulatedDType(args[1].tensor()));
  if (!dtype.has_value()) return args[0];
  BATON_ASSIGN_OR_RETURN(
      Tensor result,
      kernels::SimulatedQuantize(
          args[0].tensor(),
          {args[2].tensor(), args[3].tensor(),
           AttrsOrDefaults<SimulatedQuantizeAttrs>(call.attrs()).axis},
          *dtype));
  return Value(std::move(result));
}

absl::StatusOr<Value> QnnSimulatedDequantize(const CallNode& call,
                                             absl::Span<const Value> args) {
  BATON_ASSIGN_OR_RETURN(const std::optional<DType> dtype,
                         SimulatedDType(args[1].tensor()));
  if (!dtype.has_value()) return args[0];
  BATON_ASSIGN_OR_RETURN(
      Tensor result,
      kernels::SimulatedDequantize(
          args[0].tensor(),
          {args[2].tensor(), args[3].tensor(),
           AttrsOrDefaults<SimulatedQuantizeAttrs>(call.attrs()).axis}));
  return Value(std::move(result));
}

}  // namespace baton::relay
