#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "baton/backend/cpu/graph.h"
#include "baton/backend/cpu/kernel_choice.h"
#include "baton/backend/cpu/kernel_costs.h"
#include "baton/backend/cpu/lowering.h"
#include "baton/backend/cpu/row_steps.h"
#include "baton/backend/cpu/step_source.h"
#include "baton/base/hash_table.h"
#include "baton/base/tensor.h"
#include "baton/runtime/executor/plan.h"

namespace baton::cpu::internal {

using executor::Space;

namespace {

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

}  // namespace

std::optional<StepSource> CopyStepSource(const executor::Step& step) {
  if (step.function != Copy) return std::nullopt;
  const int64_t bytes = *static_cast<const int64_t*>(step.params);
  StepSource source;
  source.items = step.items;
  source.statements = absl::StrCat(
      "  const int64_t first = begin * ", kCopyBytes,
      ";\n  int64_t last = end * ", kCopyBytes, ";\n  if (last > ", bytes,
      ") last = ", bytes,
      ";\n  __builtin_memcpy(reinterpret_cast<char*>(@1@) + first,\n"
      "                   reinterpret_cast<const char*>(@0@) + first,\n"
      "                   static_cast<size_t>(last - first));\n");
  return source;
}

void Lowering::JoinSteps() {
  FlatHashMap<int, int64_t> last_readers;  // of roots
  const auto read = [&](int t, int64_t reader) {
    last_readers.insert_or_assign(RootOf(t).tensor, reader);
  };
  for (size_t i = 0; i < steps_.size(); ++i) {
    for (const int t : steps_[i].kernel.inputs) {
      read(t, static_cast<int64_t>(i));
    }
  }
  for (const int t : graph_.outputs) {
    read(t, std::numeric_limits<int64_t>::max());
  }
  const auto root = [this](int t) { return RootOf(t).tensor; };
  const auto is_whole = [this](int t) {
    const Place place = RootOf(t);
    return place.offset == 0 &&
           TensorOf(t).bytes() == TensorOf(place.tensor).bytes();
  };
  const auto bytes = [this](int t) { return TensorOf(t).bytes(); };
  const auto last_reader = [&](int t) {
    const auto found = last_readers.find(t);
    return found == last_readers.end() ? int64_t{-1} : found->second;
  };
  const RowTensors tensors = {root, is_whole, bytes, last_reader};
  std::vector<LoweredStep> steps;
  steps.swap(steps_);
  std::vector<const KernelChoice*> choices;
  choices.reserve(steps.size());
  for (const LoweredStep& step : steps) choices.push_back(&step.kernel);
  for (size_t i = 0; i < steps.size();) {
    std::optional<JoinedRows> joined =
        JoinRows(absl::MakeConstSpan(choices).subspan(i),
                 static_cast<int64_t>(i), plan_.max_threads, tensors);
    if (!joined.has_value()) {
      steps_.push_back(std::move(steps[i++]));
      continue;
    }
    LoweredStep step = {std::move(joined->choice), {}};
    for (const size_t end = i + joined->count; i < end; ++i) {
      step.nodes.insert(step.nodes.end(), steps[i].nodes.begin(),
                        steps[i].nodes.end());
    }
    steps_.push_back(std::move(step));
  }
}

void Lowering::AddCopy(int from, int to, std::vector<int> nodes,
                       std::string reason) {
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
  step.kernel.work = WorkOf(KernelRate::kCopy, static_cast<double>(bytes));
  AddStep(std::move(step.kernel), std::move(nodes));
}

void Lowering::PlaceOutputs() {
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

void Lowering::PlaceParts() {
  if (!options_.use_kernels) return;
  std::vector<LoweredStep> steps;
  steps.swap(steps_);
  for (LoweredStep& step : steps) {
    if (!step.kernel.is_join) {
      steps_.push_back(std::move(step));
      continue;
    }
    const int result = step.kernel.outputs[0];
    int64_t offset = 0;
    for (const int t : step.kernel.inputs) {
      const Place root = RootOf(t);
      const int64_t bytes = TensorOf(t).bytes();
      Place& inside = inside_[static_cast<size_t>(root.tensor)];
      if (bytes > 0) {
        if (IsComputed(root.tensor) && root.offset == 0 &&
            TensorOf(root.tensor).bytes() == bytes && inside.tensor < 0 &&
            output_of_[static_cast<size_t>(root.tensor)] < 0) {
          inside = {result, offset};
        } else {
          AddCopy(t, result, step.nodes,
                  "a part of a concatenation that is "
                  "also elsewhere");
          steps_.back().kernel.outputs.clear();
          part_of_[steps_.size() - 1] = {result, offset};
        }
      }
      offset += bytes;
    }
  }
}

int32_t Lowering::ValueOf(int storage) {
  const auto [found, is_new] =
      value_of_.emplace(storage, static_cast<int32_t>(plan_.values.size()));
  if (!is_new) return found->second;
  const GraphTensor& tensor = TensorOf(storage);
  executor::Value value;
  value.bytes = tensor.bytes();
  if (tensor.constant.has_value()) {
    value.space = Space::kConstant;
    value.index = static_cast<int32_t>(plan_.constants.size());
    plan_.constants.push_back({needs_aligned_[static_cast<size_t>(storage)]
                                   ? tensor.constant->data()
                                   : tensor.constant->bytes().data(),
                               value.bytes});
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

void Lowering::MakeSteps() {
  for (size_t t = 0; t < graph_.tensors.size(); ++t) {
    // Other maps have another shape than their tensors.
    if (blocked_of_[t] >= 0 &&
        MapShape(static_cast<int>(t)) == graph_.tensors[t].shape) {
      planar_of_.insert_or_assign(blocked_of_[t], static_cast<int>(t));
    }
  }
  needs_aligned_.assign(tensors_.size(), false);
  for (const LoweredStep& lowered : steps_) {
    const KernelChoice& kernel = lowered.kernel;
    for (size_t k = kernel.moves_bytes ? 1 : 0; k < kernel.inputs.size(); ++k) {
      needs_aligned_[static_cast<size_t>(StorageOf(kernel.inputs[k]).tensor)] =
          true;
    }
  }
  for (size_t i = 0; i < steps_.size(); ++i) {
    const LoweredStep& lowered = steps_[i];
    const KernelChoice& kernel = lowered.kernel;
    BeginStep(kernel, lowered.nodes);
    for (const int t : kernel.inputs) {
      AddInput(OperandOf(t));
      plan_.notes.back().tensors.push_back(NotedOf(t));
    }
    for (const int t : kernel.outputs) {
      AddOutput(OperandOf(t));
      plan_.notes.back().tensors.push_back(NotedOf(t));
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
      if (__builtin_mul_overflow(step.workspace_bytes, plan_.max_threads,
                                 &value.bytes)) {
        value.bytes = std::numeric_limits<int64_t>::max();
      }
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

executor::NotedTensor Lowering::NotedOf(int t) const {
  if (static_cast<size_t>(t) < graph_.tensors.size()) return {t, false};
  const auto found = planar_of_.find(t);
  if (found == planar_of_.end()) return {};
  return {found->second, true};
}

void Lowering::BeginStep(const KernelChoice& kernel,
                         const std::vector<int>& nodes) {
  executor::Step step;
  step.function = kernel.function;
  step.params = kernel.params.get();
  if (kernel.params != nullptr) plan_.owners.push_back(kernel.params);
  step.first_operand = static_cast<int32_t>(plan_.operands.size());
  step.items = kernel.items;
  step.cost_ns = kernel.cost_ns;
  if (kernel.in_place) step.overwritable = executor::Step::kAnyInput;
  for (size_t k = 0; k < kernel.inputs.size(); ++k) {
    if (kernel.overwrites >= 0 && kernel.inputs[k] == kernel.overwrites) {
      step.overwritable = static_cast<int32_t>(k);
    }
  }
  plan_.steps.push_back(step);
  executor::StepNote note;
  note.kernel = kernel.kernel;
  note.reason = kernel.reason;
  if (kernel.candidates.size() > 1) note.candidates = kernel.candidates;
  note.flops = kernel.flops;
  note.is_fallback = kernel.is_fallback;
  for (const int node : nodes) {
    note.sources.push_back(node);
    note.names.push_back(graph_.nodes[static_cast<size_t>(node)].op_name());
  }
  plan_.notes.push_back(std::move(note));
}

void Lowering::ReuseInputs() {
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
    if (step.overwritable == executor::Step::kNoInput ||
        step.num_outputs != 1) {
      continue;
    }
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
      if (step.overwritable != executor::Step::kAnyInput &&
          step.overwritable != k) {
        continue;
      }
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

}  // namespace baton::cpu::internal
