#include "baton/backend/cpu/element_group.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/backend/cpu/graph.h"
#include "baton/backend/cpu/kernel_choice.h"
#include "baton/base/dtype.h"
#include "baton/base/tensor.h"
#include "baton/ir/attrs.h"
#include "baton/relay/op/nn/activation.h"
#include "baton/relay/op/tensor/elementwise.h"
#include "baton/runtime/executor/plan.h"
#include "baton/runtime/kernels/elementwise_program.h"

namespace baton::cpu {
namespace {

using kernels::ElementFunction;

constexpr struct {
  absl::string_view op;
  ElementFunction function;
} kFunctions[] = {
    {"add", ElementFunction::kAdd},
    {"subtract", ElementFunction::kSubtract},
    {"multiply", ElementFunction::kMultiply},
    {"divide", ElementFunction::kDivide},
    {"maximum", ElementFunction::kMaximum},
    {"minimum", ElementFunction::kMinimum},
    {"nn.bias_add", ElementFunction::kAdd},
    {"nn.prelu", ElementFunction::kPrelu},
    {"nn.relu", ElementFunction::kRelu},
    {"clip", ElementFunction::kClip},
    {"nn.leaky_relu", ElementFunction::kLeakyRelu},
    {"negative", ElementFunction::kNegative},
    {"abs", ElementFunction::kAbs},
    {"sqrt", ElementFunction::kSqrt},
    {"rsqrt", ElementFunction::kRsqrt},
    {"exp", ElementFunction::kExp},
    {"fast_exp", ElementFunction::kExp},
    {"log", ElementFunction::kLog},
    {"tanh", ElementFunction::kTanh},
    {"fast_tanh", ElementFunction::kTanh},
    {"sigmoid", ElementFunction::kSigmoid},
    {"erf", ElementFunction::kErf},
    {"fast_erf", ElementFunction::kErf},
    {"floor", ElementFunction::kFloor},
    {"ceil", ElementFunction::kCeil},
    {"round", ElementFunction::kRound},
};

// A vector along `axis` of a tensor of `rank`, with dimensions to broadcast.
std::optional<TensorShape> AlongAxis(const TensorShape& vector, int64_t axis,
                                     int64_t rank) {
  if (axis < 0) axis += rank;
  if (vector.size() != 1 || axis < 0 || axis >= rank) return std::nullopt;
  TensorShape shape(static_cast<size_t>(rank - axis), 1);
  shape[0] = vector[0];
  return shape;
}

struct StepParams {
  kernels::ElementProgram program;
  std::vector<kernels::ElementInstruction> instructions;
  std::vector<kernels::ElementOperand> operands;
  std::vector<int16_t> registers;
  std::vector<int64_t> dims;
  std::vector<int64_t> strides;
};

int Run(const executor::StepCall& call) {
  kernels::RunElementProgram(
      static_cast<const StepParams*>(call.params)->program, call.inputs,
      call.outputs[0], call.workspace, call.begin, call.end);
  return 0;
}

}  // namespace

std::optional<ElementCall> ElementCallOf(const GraphNode& node,
                                         const Graph& graph) {
  const auto* found = std::find_if(
      std::begin(kFunctions), std::end(kFunctions),
      [&](const auto& entry) { return entry.op == node.op_name(); });
  if (found == std::end(kFunctions) || node.outputs.size() != 1) {
    return std::nullopt;
  }
  ElementCall call;
  call.function = found->function;
  const size_t arity = kernels::IsBinary(call.function) ? 2 : 1;
  if (node.inputs.size() != arity) return std::nullopt;
  const auto tensor = [&](int t) -> const GraphTensor& {
    return graph.tensors[static_cast<size_t>(t)];
  };
  const GraphTensor& result = tensor(node.outputs[0]);
  if (result.dtype != DType::Float(32) || result.num_elements() == 0) {
    return std::nullopt;
  }
  for (const int t : node.inputs) {
    if (tensor(t).dtype != DType::Float(32)) return std::nullopt;
    call.args.push_back({t, tensor(t).shape});
  }
  std::optional<TensorShape> aligned;
  if (node.op_name() == "nn.bias_add") {
    const auto& attrs =
        AttrsOrDefaults<relay::BiasAddAttrs>(node.call->attrs());
    aligned = AlongAxis(call.args[1].shape, attrs.axis,
                        static_cast<int64_t>(result.shape.size()));
  } else if (node.op_name() == "nn.prelu") {
    const auto& attrs = AttrsOrDefaults<relay::PReluAttrs>(node.call->attrs());
    aligned = AlongAxis(call.args[1].shape, attrs.axis,
                        static_cast<int64_t>(result.shape.size()));
  } else if (node.op_name() == "clip") {
    const auto& attrs = AttrsOrDefaults<relay::ClipAttrs>(node.call->attrs());
    call.p = attrs.a_min;
    call.q = attrs.a_max;
    return call;
  } else if (node.op_name() == "nn.leaky_relu") {
    call.p = AttrsOrDefaults<relay::LeakyReluAttrs>(node.call->attrs()).alpha;
    return call;
  } else {
    return call;
  }
  if (!aligned.has_value()) return std::nullopt;
  call.args[1].shape = *std::move(aligned);
  return call;
}

std::optional<KernelChoice> ElementStep(absl::Span<const ElementArg> operands,
                                        absl::Span<const GroupCall> calls,
                                        const TensorShape& shape, int result) {
  auto params = std::make_shared<StepParams>();
  // Strides of operands for each dimension of the result; dimensions are merged
  // where all operands allow it.
  const size_t num = operands.size();
  std::vector<std::vector<int64_t>> strides(num);
  for (size_t i = 0; i < num; ++i) {
    const TensorShape& from = operands[i].shape;
    if (from.size() > shape.size()) return std::nullopt;
    strides[i].assign(shape.size(), 0);
    int64_t stride = 1;
    for (size_t d = from.size(); d-- > 0;) {
      const size_t at = shape.size() - from.size() + d;
      if (from[d] != 1) {
        if (from[d] != shape[at]) return std::nullopt;
        strides[i][at] = stride;
      }
      stride *= from[d];
    }
  }
  std::vector<int64_t>& dims = params->dims;
  std::vector<std::vector<int64_t>> merged(num);
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == 1) continue;
    bool merge = !dims.empty();
    for (size_t i = 0; i < num && merge; ++i) {
      merge = merged[i].back() == strides[i][d] * shape[d];
    }
    if (merge) {
      dims.back() *= shape[d];
      for (size_t i = 0; i < num; ++i) merged[i].back() = strides[i][d];
    } else {
      dims.push_back(shape[d]);
      for (size_t i = 0; i < num; ++i) merged[i].push_back(strides[i][d]);
    }
  }
  if (dims.empty()) {
    dims.push_back(1);
    for (size_t i = 0; i < num; ++i) merged[i].push_back(1);
  }
  if (dims.size() > kernels::kMaxElementDims) return std::nullopt;
  int64_t elements = 1;
  for (const int64_t extent : dims) elements *= extent;
  int16_t next_register = 0;
  double bytes = static_cast<double>(elements) * 4;
  for (size_t i = 0; i < num; ++i) {
    params->strides.insert(params->strides.end(), merged[i].begin(),
                           merged[i].end());
    params->strides.resize((i + 1) * kernels::kMaxElementDims, 0);
    int64_t size = 1;
    for (const int64_t extent : operands[i].shape) size *= extent;
    params->registers.push_back(0);
    if (size == elements) {
      params->operands.push_back(kernels::ElementOperand::kFull);
    } else if (size == 1) {
      params->operands.push_back(kernels::ElementOperand::kScalar);
    } else {
      params->operands.push_back(kernels::ElementOperand::kBroadcast);
      params->registers.back() = next_register++;
    }
    bytes += static_cast<double>(size) * 4;
  }
  // A register is free after the last use of its value.
  std::vector<size_t> last_use(calls.size(), 0);
  for (size_t k = 0; k < calls.size(); ++k) {
    const auto use = [&](int v) {
      if (v >= static_cast<int>(num))
        last_use[static_cast<size_t>(v) - num] = k;
    };
    use(calls[k].a);
    if (kernels::IsBinary(calls[k].function)) use(calls[k].b);
  }
  std::vector<int16_t> free;
  for (size_t k = 0; k < calls.size(); ++k) {
    kernels::ElementInstruction instruction;
    instruction.function = calls[k].function;
    instruction.a = static_cast<int16_t>(calls[k].a);
    instruction.b = static_cast<int16_t>(calls[k].b);
    instruction.p = calls[k].p;
    instruction.q = calls[k].q;
    if (k + 1 < calls.size()) {
      if (free.empty()) free.push_back(next_register++);
      instruction.target = free.back();
      free.pop_back();
    }
    params->instructions.push_back(instruction);
    for (size_t j = 0; j < k; ++j) {
      if (last_use[j] == k) free.push_back(params->instructions[j].target);
    }
  }
  kernels::ElementProgram& program = params->program;
  program.instructions = params->instructions.data();
  program.num_instructions = static_cast<int32_t>(calls.size());
  program.num_operands = static_cast<int32_t>(num);
  program.num_registers = next_register;
  program.operands = params->operands.data();
  program.operand_registers = params->registers.data();
  program.num_dims = static_cast<int32_t>(dims.size());
  program.dims = params->dims.data();
  program.strides = params->strides.data();
  program.num_elements = elements;

  KernelChoice choice;
  choice.function = Run;
  choice.kernel = "elementwise";
  choice.items = kernels::ElementProgramItems(program);
  choice.workspace_bytes =
      static_cast<int64_t>(kernels::ElementProgramWorkspaceSize(program));
  for (const ElementArg& operand : operands) {
    choice.inputs.push_back(operand.tensor);
  }
  choice.outputs = {result};
  choice.in_place = true;
  choice.flops =
      static_cast<double>(elements) * static_cast<double>(calls.size());
  choice.cost_ns = std::max(bytes / 10, choice.flops / 6);
  choice.params = std::move(params);
  return choice;
}

}  // namespace baton::cpu
