#include "baton/backend/cpu/shadow.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "baton/backend/cpu/executable.h"
#include "baton/backend/cpu/graph.h"
#include "baton/base/hash_table.h"
#include "baton/base/tensor.h"
#include "baton/base/tensor_difference.h"
#include "baton/relay/runtime/evaluator.h"
#include "baton/relay/runtime/value.h"
#include "baton/relay/runtime/value_tensors.h"
#include "baton/runtime/executor/plan.h"
#include "baton/runtime/executor/runtime_instrument.h"

namespace baton {
namespace {

using executor::NotedTensor;
using relay::Value;

// A copy of the tensor of the graph at `data`; nullopt without memory.
std::optional<Tensor> CopyOf(const cpu::GraphTensor& tensor, bool is_blocked,
                             const void* data) {
  absl::StatusOr<MutableTensor> copy =
      MutableTensor::Uninitialized(tensor.dtype, tensor.shape);
  if (!copy.ok()) return std::nullopt;
  const auto* const from = static_cast<const char*>(data);
  auto* const to = static_cast<char*>(copy->data());
  if (!is_blocked) {
    if (tensor.bytes() > 0) {
      std::memcpy(to, from, static_cast<size_t>(tensor.bytes()));
    }
    return std::move(*copy).Freeze();
  }
  // A map in blocks of 16 channels.
  constexpr int64_t kBlock = 16;
  const TensorShape& shape = tensor.shape;
  const int64_t channels = shape.size() > 1 ? shape[1] : 1;
  int64_t pixels = 1;
  for (size_t d = 2; d < shape.size(); ++d) pixels *= shape[d];
  const int64_t blocks = (channels + kBlock - 1) / kBlock;
  const auto size = static_cast<size_t>(tensor.dtype.bytes());
  for (int64_t n = 0; n < shape[0]; ++n) {
    for (int64_t c = 0; c < channels; ++c) {
      for (int64_t p = 0; p < pixels; ++p) {
        const int64_t at =
            ((n * blocks + c / kBlock) * pixels + p) * kBlock + c % kBlock;
        std::memcpy(
            to + static_cast<size_t>((n * channels + c) * pixels + p) * size,
            from + static_cast<size_t>(at) * size, size);
      }
    }
  }
  return std::move(*copy).Freeze();
}

// The values of tensors of the graph that are known.
using Known = FlatHashMap<int, Tensor>;

// Nullopt if a part is not known.
std::optional<Value> ValueOf(const cpu::Graph& graph,
                             const cpu::GraphValue& value, const Known& known) {
  if (value.is_tensor()) {
    const cpu::GraphTensor& tensor =
        graph.tensors[static_cast<size_t>(value.tensor)];
    if (tensor.constant.has_value()) return Value(*tensor.constant);
    const auto found = known.find(value.tensor);
    if (found == known.end()) return std::nullopt;
    return Value(found->second);
  }
  std::vector<Value> fields;
  for (const cpu::GraphValue& field : value.fields) {
    std::optional<Value> part = ValueOf(graph, field, known);
    if (!part.has_value()) return std::nullopt;
    fields.push_back(*std::move(part));
  }
  return Value::MakeTuple(std::move(fields));
}

}  // namespace

StepChecker::StepChecker(Executable executable, int64_t every)
    : executable_(std::move(executable)), every_(std::max<int64_t>(every, 1)) {}

void StepChecker::BeforeStep(const StepEvent& event) {
  is_chosen_ = ++num_steps_ % every_ == 0;
  if (!is_chosen_) return;
  const cpu::Graph* const graph = executable_.graph();
  const std::vector<NotedTensor>& noted = event.note.tensors;
  if (graph == nullptr || event.note.sources.empty() ||
      noted.size() != event.inputs.size() + event.outputs.size()) {
    ++num_skipped_;
    is_chosen_ = false;
    return;
  }
  // A step may overwrite its inputs.
  inputs_.assign(event.inputs.size(), std::nullopt);
  for (size_t k = 0; k < event.inputs.size(); ++k) {
    if (noted[k].number < 0) continue;
    inputs_[k] = CopyOf(graph->tensors[static_cast<size_t>(noted[k].number)],
                        noted[k].is_blocked, event.inputs[k]);
  }
}

void StepChecker::AfterStep(const StepEvent& event) {
  if (!is_chosen_) return;
  const cpu::Graph& graph = *executable_.graph();
  const std::vector<NotedTensor>& noted = event.note.tensors;
  Known known;
  for (size_t k = 0; k < inputs_.size(); ++k) {
    if (inputs_[k].has_value()) {
      known.insert_or_assign(noted[k].number, *inputs_[k]);
    }
  }
  const auto report = [&](std::string text) {
    if (first_.has_value()) return;
    first_ = {
        event.number, event.note.kernel,
        executable_.sources()[static_cast<size_t>(event.note.sources.back())],
        std::move(text)};
  };
  for (const int32_t number : event.note.sources) {
    const cpu::GraphNode& node = graph.nodes[static_cast<size_t>(number)];
    std::vector<Value> args;
    for (const cpu::GraphValue& arg : node.args) {
      std::optional<Value> value = ValueOf(graph, arg, known);
      if (!value.has_value() || node.region != nullptr) {
        ++num_skipped_;
        return;
      }
      args.push_back(*std::move(value));
    }
    const absl::StatusOr<Value> result = relay::RunKernel(*node.call, args);
    if (!result.ok()) {
      report(
          absl::StrCat("the evaluator refuses: ", result.status().message()));
      return;
    }
    const std::vector<Tensor> tensors = relay::TensorsOf(*result);
    for (size_t i = 0; i < std::min(tensors.size(), node.outputs.size()); ++i) {
      known.insert_or_assign(node.outputs[i], tensors[i]);
    }
  }
  bool any = false;
  for (size_t k = 0; k < event.outputs.size(); ++k) {
    const NotedTensor& output = noted[inputs_.size() + k];
    const auto want = known.find(output.number);
    if (output.number < 0 || want == known.end()) continue;
    any = true;
    const std::optional<Tensor> got =
        CopyOf(graph.tensors[static_cast<size_t>(output.number)],
               output.is_blocked, event.outputs[k]);
    if (!got.has_value()) continue;
    const std::optional<int64_t> element =
        FirstDifferentElement(*got, want->second);
    if (!element.has_value()) continue;
    report(absl::StrCat("element ", *element, " of result ", k, " is ",
                        got->AtAsDouble(*element), ", the evaluator has ",
                        want->second.AtAsDouble(*element)));
  }
  ++(any ? num_compared_ : num_skipped_);
}

}  // namespace baton
