// Steps of elementwise operators of dtypes that programs of elements do not
// have, such as int64 and float64.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/backend/cpu/graph.h"
#include "baton/backend/cpu/kernel_choice.h"
#include "baton/backend/cpu/kernel_costs.h"
#include "baton/base/dtype.h"
#include "baton/base/tensor.h"
#include "baton/ir/op.h"
#include "baton/runtime/executor/plan.h"
#include "baton/runtime/kernels/elementwise_kernels.h"
#include "baton/runtime/kernels/operand.h"
#include "baton/runtime/kernels/shape_kernels.h"

namespace baton::cpu {
namespace {

using kernels::Operand;

// The most dimensions that a shape holds without an allocation.
constexpr size_t kMostDims = 6;

struct Description {
  DType dtype;
  TensorShape shape;
  int64_t bytes = 0;
};

struct Params {
  std::vector<Description> inputs;
  DType result;
};

// Operand `i`, in the memory of the plan.
absl::StatusOr<Tensor> InputOf(const executor::StepCall& call, size_t i) {
  const Description& d = static_cast<const Params*>(call.params)->inputs[i];
  return Tensor::FromBuffer(
      d.dtype, d.shape,
      {static_cast<const char*>(call.inputs[i]), static_cast<size_t>(d.bytes)},
      nullptr);
}

// Ends a step of which `result` is an operand itself or in its place already.
int Finish(const absl::StatusOr<Tensor>& result,
           const executor::StepCall& call) {
  if (!result.ok()) return 1;
  if (result->data() != call.outputs[0]) {
    std::memcpy(call.outputs[0], result->data(),
                static_cast<size_t>(result->byte_size()));
  }
  return 0;
}

template <auto kFunction>
int RunBinary(const executor::StepCall& call) {
  const absl::StatusOr<Tensor> a = InputOf(call, 0);
  const absl::StatusOr<Tensor> b = InputOf(call, 1);
  if (!a.ok() || !b.ok()) return 1;
  return Finish(kFunction(Operand::Into(*a, call.outputs[0]), *b), call);
}

template <auto kFunction>
int RunUnary(const executor::StepCall& call) {
  const absl::StatusOr<Tensor> x = InputOf(call, 0);
  if (!x.ok()) return 1;
  return Finish(kFunction(Operand::Into(*x, call.outputs[0])), call);
}

int RunWhere(const executor::StepCall& call) {
  const absl::StatusOr<Tensor> condition = InputOf(call, 0);
  const absl::StatusOr<Tensor> x = InputOf(call, 1);
  const absl::StatusOr<Tensor> y = InputOf(call, 2);
  if (!condition.ok() || !x.ok() || !y.ok()) return 1;
  return kernels::WhereInto(*condition, *x, *y, call.outputs[0]).ok() ? 0 : 1;
}

int RunCast(const executor::StepCall& call) {
  const Params& p = *static_cast<const Params*>(call.params);
  const Description& x = p.inputs[0];
  kernels::CastInto(x.dtype, call.inputs[0], x.bytes / x.dtype.bytes(),
                    p.result, call.outputs[0]);
  return 0;
}

// Operands of one dtype, but for the condition of `where`.
template <executor::StepFunction kFunction, size_t kArity>
absl::StatusOr<std::optional<KernelChoice>> Choose(const GraphNode& node,
                                                   const Graph& graph) {
  if (node.inputs.size() != kArity || node.outputs.size() != 1) {
    return std::nullopt;
  }
  const auto tensor = [&](int t) -> const GraphTensor& {
    return graph.tensors[static_cast<size_t>(t)];
  };
  const GraphTensor& y = tensor(node.outputs[0]);
  const absl::string_view op = node.op_name();
  const bool is_where = op == "where";
  const bool is_cast = op == "cast";
  const DType dtype = tensor(node.inputs.back()).dtype;
  if (y.num_elements() == 0 || !y.dtype.IsStorable() || y.dtype.is_half() ||
      (is_cast && y.dtype == dtype) || y.shape.size() > kMostDims) {
    return std::nullopt;
  }
  auto params = std::make_shared<Params>();
  for (size_t i = 0; i < kArity; ++i) {
    const GraphTensor& x = tensor(node.inputs[i]);
    const bool is_condition = is_where && i == 0;
    if (!x.dtype.IsStorable() || x.dtype.is_half() ||
        x.shape.size() > kMostDims ||
        (is_condition ? !x.dtype.is_bool() : x.dtype != dtype)) {
      return std::nullopt;
    }
    params->inputs.push_back({x.dtype, x.shape, x.bytes()});
  }
  params->result = y.dtype;
  KernelChoice choice;
  choice.function = kFunction;
  choice.kernel = "elementwise.wide";
  choice.reason = "numbers of a type that groups of calls do not have";
  choice.inputs = node.inputs;
  choice.outputs = node.outputs;
  choice.flops = static_cast<double>(y.num_elements());
  choice.work = WorkOf(KernelRate::kWideStep, 1)
                    .Add(KernelRate::kWideElements,
                         static_cast<double>(y.num_elements()));
  choice.params = std::move(params);
  return choice;
}

#define BATON_BINARY(op, function) \
  BATON_EXTEND_OP(op).Set(CpuKernels(), Choose<RunBinary<kernels::function>, 2>)

BATON_BINARY("add", Add);
BATON_BINARY("subtract", Subtract);
BATON_BINARY("multiply", Multiply);
BATON_BINARY("maximum", Maximum);
BATON_BINARY("minimum", Minimum);
BATON_BINARY("equal", Equal);
BATON_BINARY("not_equal", NotEqual);
BATON_BINARY("less", Less);
BATON_BINARY("less_equal", LessEqual);
BATON_BINARY("greater", Greater);
BATON_BINARY("greater_equal", GreaterEqual);
BATON_BINARY("logical_and", LogicalAnd);
BATON_BINARY("logical_or", LogicalOr);
BATON_BINARY("logical_xor", LogicalXor);

#undef BATON_BINARY

BATON_EXTEND_OP("negative")
    .Set(CpuKernels(), Choose<RunUnary<kernels::Negative>, 1>);
BATON_EXTEND_OP("abs").Set(CpuKernels(), Choose<RunUnary<kernels::Abs>, 1>);
BATON_EXTEND_OP("sign").Set(CpuKernels(), Choose<RunUnary<kernels::Sign>, 1>);
BATON_EXTEND_OP("where").Set(CpuKernels(), Choose<RunWhere, 3>);
BATON_EXTEND_OP("cast").Set(CpuKernels(), Choose<RunCast, 1>);

}  // namespace
}  // namespace baton::cpu
