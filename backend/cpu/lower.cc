#include "baton/backend/cpu/lower.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/backend/cpu/fallback_step.h"
#include "baton/backend/cpu/graph.h"
#include "baton/backend/cpu/kernel_choice.h"
#include "baton/backend/cpu/region_step.h"
#include "baton/backend/cpu/views.h"
#include "baton/base/hash_table.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/runtime/executor/arena_planner.h"
#include "baton/runtime/executor/plan.h"

namespace baton::cpu {
namespace {

using executor::Space;

// A step and the nodes of the graph that it computes.
struct LoweredStep {
  KernelChoice kernel;
  std::vector<int> nodes;
};

// The bytes of a tensor in the memory of another one.
struct Place {
  int tensor = -1;
  int64_t offset = 0;
};

constexpr int64_t kCopyBytes = 64 << 10;  // of an item

int Copy(const executor::StepCall& call) {
  const int64_t bytes = *static_cast<const int64_t*>(call.params);
  const int64_t begin = call.begin * kCopyBytes;
  const int64_t end = std::min(bytes, call.end * kCopyBytes);
  if (begin < end) {
    std::memcpy(static_cast<char*>(call.outputs[0]) + begin,
                static_cast<const char*>(call.inputs[0]) + begin,
                static_cast<size_t>(end - begin));
  }
  return 0;
}

class Lowering {
 public:
  Lowering(const Graph& graph, const LowerOptions& options)
      : graph_(graph),
        options_(options),
        views_(graph.tensors.size()),
        inside_(graph.tensors.size()),
        output_of_(graph.tensors.size(), -1) {
    plan_.max_threads = std::max(options.max_threads, 1);
  }

  absl::StatusOr<executor::Plan> Run() {
    FindViews();
    BATON_RETURN_IF_ERROR(ChooseKernels());
    PlaceOutputs();
    PlaceParts();
    MakeSteps();
    ReuseInputs();
    executor::PlaceValues(plan_);
    return std::move(plan_);
  }

 private:
  const GraphTensor& TensorOf(int t) const {
    return graph_.tensors[static_cast<size_t>(t)];
  }
  bool IsComputed(int t) const {
    return !TensorOf(t).constant.has_value() && TensorOf(t).input < 0;
  }
  // The tensor of which `t` is a view.
  Place RootOf(int t) const {
    Place place = {t, 0};
    while (views_[static_cast<size_t>(place.tensor)].tensor >= 0) {
      const Place& next = views_[static_cast<size_t>(place.tensor)];
      place = {next.tensor, place.offset + next.offset};
    }
    return place;
  }
  // The tensor in whose memory `t` is.
  Place StorageOf(int t) const {
    Place place = RootOf(t);
    while (inside_[static_cast<size_t>(place.tensor)].tensor >= 0) {
      const Place& next = inside_[static_cast<size_t>(place.tensor)];
      place = {next.tensor, place.offset + next.offset};
    }
    return place;
  }

  void FindViews() {
    is_view_.assign(graph_.nodes.size(), false);
    if (!options_.use_kernels) return;
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      const GraphNode& node = graph_.nodes[i];
      const std::optional<std::vector<View>> views = ViewsOf(node, graph_);
      if (!views.has_value()) continue;
      is_view_[i] = true;
      for (size_t k = 0; k < node.outputs.size(); ++k) {
        views_[static_cast<size_t>(node.outputs[k])] = {
            node.inputs[static_cast<size_t>((*views)[k].input)],
            (*views)[k].offset};
      }
    }
  }

  absl::Status ChooseKernels() {
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      if (is_view_[i]) continue;
      const GraphNode& node = graph_.nodes[i];
      if (node.region != nullptr) {
        BATON_ASSIGN_OR_RETURN(KernelChoice region, LowerRegion(node));
        steps_.push_back({std::move(region), {static_cast<int>(i)}});
        continue;
      }
      std::optional<KernelChoice> choice;
      if (options_.use_kernels) {
        if (const CpuKernel* kernel = CpuKernels().Get(*node.call->op_node())) {
          BATON_ASSIGN_OR_RETURN(choice, (*kernel)(node, graph_));
        }
      }
      if (!choice.has_value()) choice = FallbackStep(node, graph_);
      steps_.push_back({*std::move(choice), {static_cast<int>(i)}});
    }
    return absl::OkStatus();
  }

  absl::StatusOr<KernelChoice> LowerRegion(const GraphNode& node) {
    LowerOptions options = options_;
    options.max_threads = 1;
    return RegionStep(node, graph_, [&options](const Graph& graph) {
      return LowerGraph(graph, options);
    });
  }

  void AddCopy(int from, int to, std::vector<int> nodes, std::string reason) {
    const int64_t bytes = TensorOf(from).bytes();
    LoweredStep step;
    step.kernel.function = Copy;
    step.kernel.params = std::make_shared<int64_t>(bytes);
    step.kernel.kernel = "copy";
    step.kernel.reason = std::move(reason);
    step.kernel.inputs = {from};
    step.kernel.outputs = {to};
    step.kernel.items =
        std::max<int64_t>(1, (bytes + kCopyBytes - 1) / kCopyBytes);
    step.kernel.cost_ns = static_cast<double>(bytes) / 8;
    step.nodes = std::move(nodes);
    steps_.push_back(std::move(step));
  }

  // Results go into the memory of the outputs where that is possible. Others
  // are copied at the end: a constant, an input, a part of a tensor, and the
  // second of two outputs that are the same tensor.
  void PlaceOutputs() {
    for (size_t k = 0; k < graph_.outputs.size(); ++k) {
      const int t = graph_.outputs[k];
      const Place root = RootOf(t);
      plan_.output_bytes.push_back(TensorOf(t).bytes());
      int& output = output_of_[static_cast<size_t>(root.tensor)];
      if (IsComputed(root.tensor) && root.offset == 0 && output < 0 &&
          TensorOf(root.tensor).bytes() == TensorOf(t).bytes()) {
        output = static_cast<int>(k);
        continue;
      }
      // A tensor of its own, which the graph does not have.
      copied_outputs_.emplace_back(t, static_cast<int>(k));
    }
    for (const int t : graph_.inputs) {
      plan_.input_bytes.push_back(TensorOf(t).bytes());
    }
  }

  // Operands of a concatenation along the first axis are computed in their
  // places in the result.
  void PlaceParts() {
    if (!options_.use_kernels) return;
    std::vector<LoweredStep> steps;
    steps.swap(steps_);
    for (LoweredStep& step : steps) {
      const GraphNode& node = graph_.nodes[static_cast<size_t>(step.nodes[0])];
      if (step.nodes.size() != 1 || !IsJoin(node, graph_)) {
        steps_.push_back(std::move(step));
        continue;
      }
      const int result = node.outputs[0];
      int64_t offset = 0;
      for (const int t : node.inputs) {
        const Place root = RootOf(t);
        const int64_t bytes = TensorOf(t).bytes();
        Place& inside = inside_[static_cast<size_t>(root.tensor)];
        if (bytes > 0) {
          if (IsComputed(root.tensor) && root.offset == 0 &&
              TensorOf(root.tensor).bytes() == bytes && inside.tensor < 0 &&
              root.tensor != result &&
              output_of_[static_cast<size_t>(root.tensor)] < 0) {
            inside = {result, offset};
          } else {
            AddCopy(t, result, step.nodes,
                    "a part of the result of " + node.op_name());
            steps_.back().kernel.outputs.clear();
            part_of_[steps_.size() - 1] = {result, offset};
          }
        }
        offset += bytes;
      }
    }
  }

  // The value of the plan that is the memory of tensor `storage`.
  int32_t ValueOf(int storage) {
    const auto [found, is_new] =
        value_of_.emplace(storage, static_cast<int32_t>(plan_.values.size()));
    if (!is_new) return found->second;
    const GraphTensor& tensor = TensorOf(storage);
    executor::Value value;
    value.bytes = tensor.bytes();
    if (tensor.constant.has_value()) {
      value.space = Space::kConstant;
      value.index = static_cast<int32_t>(plan_.constants.size());
      plan_.constants.push_back({tensor.constant->data(), value.bytes});
      plan_.owners.push_back(std::make_shared<Tensor>(*tensor.constant));
    } else if (tensor.input >= 0) {
      value.space = Space::kInput;
      value.index = tensor.input;
    } else if (output_of_[static_cast<size_t>(storage)] >= 0) {
      value.space = Space::kOutput;
      value.index = output_of_[static_cast<size_t>(storage)];
    }
    plan_.values.push_back(value);
    return found->second;
  }

  executor::Operand OperandOf(int t) {
    const Place place = StorageOf(t);
    return {ValueOf(place.tensor), place.offset, TensorOf(t).bytes()};
  }

  void MakeSteps() {
    for (size_t i = 0; i < steps_.size(); ++i) {
      const LoweredStep& lowered = steps_[i];
      const KernelChoice& kernel = lowered.kernel;
      BeginStep(kernel, lowered.nodes);
      for (const int t : kernel.inputs) {
        AddInput(OperandOf(t));
        plan_.notes.back().tensors.push_back({t});
      }
      for (const int t : kernel.outputs) {
        AddOutput(OperandOf(t));
        plan_.notes.back().tensors.push_back({t});
      }
      if (const auto part = part_of_.find(i); part != part_of_.end()) {
        const Place place = StorageOf(part->second.tensor);
        AddOutput({ValueOf(place.tensor), place.offset + part->second.offset,
                   TensorOf(kernel.inputs[0]).bytes()});
      }
      if (kernel.workspace_bytes > 0) {
        executor::Step& step = plan_.steps.back();
        step.workspace_bytes = executor::AlignUp(kernel.workspace_bytes);
        step.workspace = static_cast<int32_t>(plan_.values.size());
        executor::Value value;
        value.bytes = step.workspace_bytes * plan_.max_threads;
        plan_.values.push_back(value);
      }
    }
    for (const auto& [t, output] : copied_outputs_) {
      const int64_t bytes = TensorOf(t).bytes();
      LoweredStep copy;
      AddCopy(t, -1, {}, "an output that has no memory of its own");
      copy = std::move(steps_.back());
      steps_.pop_back();
      BeginStep(copy.kernel, {});
      AddInput(OperandOf(t));
      executor::Value value;
      value.space = Space::kOutput;
      value.index = output;
      value.bytes = bytes;
      plan_.values.push_back(value);
      AddOutput({static_cast<int32_t>(plan_.values.size() - 1), 0, bytes});
    }
  }

  void BeginStep(const KernelChoice& kernel, const std::vector<int>& nodes) {
    executor::Step step;
    step.function = kernel.function;
    step.params = kernel.params.get();
    if (kernel.params != nullptr) plan_.owners.push_back(kernel.params);
    step.first_operand = static_cast<int32_t>(plan_.operands.size());
    step.items = kernel.items;
    step.cost_ns = kernel.cost_ns;
    if (kernel.in_place) step.overwritable = executor::Step::kAnyInput;
    plan_.steps.push_back(step);
    in_place_.push_back(kernel.in_place);
    executor::StepNote note;
    note.kernel = kernel.kernel;
    note.reason = kernel.reason;
    note.flops = kernel.flops;
    note.is_fallback = kernel.is_fallback;
    for (const int node : nodes) {
      note.sources.push_back(node);
      note.names.push_back(graph_.nodes[static_cast<size_t>(node)].op_name());
    }
    plan_.notes.push_back(std::move(note));
  }
  void AddInput(const executor::Operand& operand) {
    plan_.operands.push_back(operand);
    ++plan_.steps.back().num_inputs;
    plan_.notes.back().bytes += static_cast<double>(operand.bytes);
  }
  void AddOutput(const executor::Operand& operand) {
    plan_.operands.push_back(operand);
    ++plan_.steps.back().num_outputs;
    plan_.notes.back().bytes += static_cast<double>(operand.bytes);
  }

  // Lets results have the memory of inputs that nothing uses afterwards.
  void ReuseInputs() {
    struct Uses {
      int32_t first = -1;
      int32_t last = -1;
      int32_t in_last = 0;  // operands of the last step
    };
    std::vector<Uses> uses(plan_.values.size());
    for (size_t i = 0; i < plan_.steps.size(); ++i) {
      const executor::Step& step = plan_.steps[i];
      for (int32_t k = 0; k < step.num_inputs + step.num_outputs; ++k) {
        Uses& use = uses[static_cast<size_t>(
            plan_.operands[static_cast<size_t>(step.first_operand + k)].value)];
        const int32_t number = static_cast<int32_t>(i);
        if (use.first < 0) use.first = number;
        use.in_last = use.last == number ? use.in_last + 1 : 1;
        use.last = number;
      }
    }
    for (size_t i = 0; i < plan_.steps.size(); ++i) {
      const executor::Step& step = plan_.steps[i];
      if (!in_place_[i] || step.num_outputs != 1) continue;
      const executor::Operand* operands =
          plan_.operands.data() + step.first_operand;
      const executor::Operand& output = operands[step.num_inputs];
      executor::Value& result = plan_.values[static_cast<size_t>(output.value)];
      if (result.space != Space::kArena || result.bytes != output.bytes ||
          uses[static_cast<size_t>(output.value)].first !=
              static_cast<int32_t>(i)) {
        continue;
      }
      for (int32_t k = 0; k < step.num_inputs; ++k) {
        const executor::Value& value =
            plan_.values[static_cast<size_t>(operands[k].value)];
        const Uses& use = uses[static_cast<size_t>(operands[k].value)];
        if (value.space != Space::kArena || value.bytes != result.bytes ||
            operands[k].bytes != value.bytes ||
            use.last != static_cast<int32_t>(i) || use.in_last != 1) {
          continue;
        }
        result.overwrites = operands[k].value;
        break;
      }
    }
  }

  const Graph& graph_;
  const LowerOptions options_;
  executor::Plan plan_;
  std::vector<bool> is_view_;   // of nodes
  std::vector<Place> views_;    // of tensors: those of which they are views
  std::vector<Place> inside_;   // of tensors: the results that contain them
  std::vector<int> output_of_;  // of tensors: the output that they are
  std::vector<LoweredStep> steps_;
  std::vector<bool> in_place_;          // of steps
  FlatHashMap<size_t, Place> part_of_;  // of steps: what they write
  std::vector<std::pair<int, int>> copied_outputs_;
  FlatHashMap<int, int32_t> value_of_;
};

}  // namespace

absl::StatusOr<executor::Plan> LowerGraph(const Graph& graph,
                                          const LowerOptions& options) {
  return Lowering(graph, options).Run();
}

}  // namespace baton::cpu
