#include "baton/backend/cpu/fallback_step.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "baton/backend/cpu/graph.h"
#include "baton/backend/cpu/kernel_choice.h"
#include "baton/backend/cpu/kernel_costs.h"
#include "baton/base/dtype.h"
#include "baton/base/out_of_memory.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/runtime/evaluator.h"
#include "baton/relay/runtime/value.h"
#include "baton/runtime/executor/plan.h"

namespace baton::cpu {
namespace {

using relay::Value;

struct TensorDescription {
  DType dtype;
  TensorShape shape;
  int64_t bytes;
};

struct Params {
  relay::Call call;
  std::shared_ptr<const GraphRegion> region;  // evaluated; null for a call
  std::vector<GraphValue> args;               // tensors are places in `inputs`
  std::vector<TensorDescription> inputs;
  std::vector<TensorDescription> outputs;
};

absl::StatusOr<Value> MakeValue(const GraphValue& arg, const Params& params,
                                const void* const* inputs) {
  if (arg.is_tensor()) {
    const size_t i = static_cast<size_t>(arg.tensor);
    const TensorDescription& d = params.inputs[i];
    // The plan keeps the memory.
    BATON_ASSIGN_OR_RETURN(
        Tensor tensor, Tensor::FromBuffer(d.dtype, d.shape,
                                          {static_cast<const char*>(inputs[i]),
                                           static_cast<size_t>(d.bytes)},
                                          nullptr));
    return Value(std::move(tensor));
  }
  std::vector<Value> fields;
  for (const GraphValue& field : arg.fields) {
    BATON_ASSIGN_OR_RETURN(Value value, MakeValue(field, params, inputs));
    fields.push_back(std::move(value));
  }
  return Value::MakeTuple(std::move(fields));
}

absl::StatusOr<Value> EvaluateRegion(const GraphRegion& region,
                                     const std::vector<Value>& args) {
  std::vector<Expr> constants;
  for (const Value& arg : args)
    constants.push_back(relay::Constant(arg.tensor()));
  return relay::Evaluate(relay::Call(region.function, constants),
                         &region.module);
}

absl::Status Compute(const Params& params, const executor::StepCall& call) {
  std::vector<Value> args;
  for (const GraphValue& arg : params.args) {
    BATON_ASSIGN_OR_RETURN(Value value, MakeValue(arg, params, call.inputs));
    args.push_back(std::move(value));
  }
  BATON_ASSIGN_OR_RETURN(const Value result,
                         params.region == nullptr
                             ? relay::RunKernel(*params.call, args)
                             : EvaluateRegion(*params.region, args));
  size_t next = 0;
  std::vector<const Value*> work = {&result};
  while (!work.empty()) {
    const Value& value = *work.back();
    work.pop_back();
    if (value.is_tuple()) {
      for (size_t i = value.fields().size(); i-- > 0;) {
        work.push_back(&value.fields()[i]);
      }
      continue;
    }
    if (!value.is_tensor() || next >= params.outputs.size()) {
      return absl::InternalError("a kernel returned another value");
    }
    const Tensor& tensor = value.tensor();
    const TensorDescription& d = params.outputs[next];
    if (tensor.dtype() != d.dtype || tensor.shape() != d.shape) {
      return absl::InternalError(absl::StrCat(
          params.call->op_node()->name(), " returned ", tensor.TypeToString()));
    }
    if (d.bytes > 0) {
      std::memcpy(call.outputs[next], tensor.data(),
                  static_cast<size_t>(d.bytes));
    }
    ++next;
  }
  return absl::OkStatus();
}

int Run(const executor::StepCall& call) {
  const Params& params = *static_cast<const Params*>(call.params);
  absl::Status status = CatchOutOfMemory(params.call->op_node()->name(),
                                         [&] { return Compute(params, call); });
  if (status.ok()) return 0;
  static_cast<RunState*>(call.user)->failure = std::move(status);
  return 1;
}

}  // namespace

KernelChoice FallbackStep(const GraphNode& node, const Graph& graph) {
  auto params = std::make_shared<Params>();
  params->call = node.call;
  params->region = node.region;
  params->args = node.args;
  const auto describe = [&](int t) -> TensorDescription {
    const GraphTensor& tensor = graph.tensors[static_cast<size_t>(t)];
    return {tensor.dtype, tensor.shape, tensor.bytes()};
  };
  std::vector<GraphValue*> work;
  for (size_t i = params->args.size(); i-- > 0;) {
    work.push_back(&params->args[i]);
  }
  int next = 0;
  while (!work.empty()) {
    GraphValue* const arg = work.back();
    work.pop_back();
    if (arg->is_tensor()) {
      arg->tensor = next++;
      continue;
    }
    for (size_t i = arg->fields.size(); i-- > 0;) {
      work.push_back(&arg->fields[i]);
    }
  }
  double bytes = 0;
  for (const int t : node.inputs) {
    params->inputs.push_back(describe(t));
    bytes += static_cast<double>(params->inputs.back().bytes);
  }
  for (const int t : node.outputs) {
    params->outputs.push_back(describe(t));
    bytes += static_cast<double>(params->outputs.back().bytes);
  }
  return {.function = Run,
          .params = std::move(params),
          .kernel = node.region == nullptr ? "evaluator." + node.op_name()
                                           : "evaluator",
          .reason = "no kernel of a plan for it",
          .inputs = node.inputs,
          .outputs = node.outputs,
          .work = WorkOf(KernelRate::kEvaluatorCall, 1)
                      .Add(KernelRate::kEvaluator, bytes),
          .is_fallback = true};
}

}  // namespace baton::cpu
