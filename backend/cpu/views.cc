#include "baton/backend/cpu/views.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "baton/backend/cpu/graph.h"
#include "baton/backend/cpu/rearrangement.h"
#include "baton/relay/op/tensor/shape.h"

namespace baton::cpu {
namespace {

// Operators whose result has the bytes of their first argument.
constexpr absl::string_view kReshapes[] = {
    "annotation.stop_fusion",
    "contrib_reverse_reshape",
    "copy",
    "expand_dims",
    "nn.batch_flatten",
    "reinterpret",
    "reshape",
    "reshape_like",
    "squeeze",
};

// The number of runs of adjacent elements that an operand of a concatenation
// along `axis` has.
int64_t OuterElements(const TensorShape& shape, int64_t axis) {
  int64_t outer = 1;
  for (int64_t d = 0; d < axis; ++d) outer *= shape[static_cast<size_t>(d)];
  return outer;
}

}  // namespace

std::optional<std::vector<View>> ViewsOf(
    const GraphNode& node, const Graph& graph,
    std::optional<std::vector<Rearrangement>>* moves) {
  const auto tensor = [&](int t) -> const GraphTensor& {
    return graph.tensors[static_cast<size_t>(t)];
  };
  if (std::find(std::begin(kReshapes), std::end(kReshapes), node.op_name()) !=
      std::end(kReshapes)) {
    if (node.inputs.empty() || node.outputs.size() != 1 ||
        tensor(node.inputs[0]).bytes() != tensor(node.outputs[0]).bytes()) {
      return std::nullopt;
    }
    return std::vector<View>{{}};
  }
  // A cast to the type that is there.
  if (node.op_name() == "cast" && node.inputs.size() == 1 &&
      tensor(node.inputs[0]).dtype == tensor(node.outputs[0]).dtype) {
    return std::vector<View>{{}};
  }
  // The other operators that may give views; a transposition gives one if it
  // moves dimensions of one element only.
  std::optional<std::vector<Rearrangement>> moved =
      RearrangementsOf(node, graph);
  if (!moved.has_value()) return std::nullopt;
  std::vector<View> views;
  bool is_view = true;
  for (const Rearrangement& one : *moved) {
    is_view = is_view && one.is_contiguous();
    views.push_back({0, one.base * tensor(node.inputs[0]).dtype.bytes()});
  }
  if (moves != nullptr) *moves = std::move(moved);
  if (!is_view) return std::nullopt;
  return views;
}

bool IsJoin(const GraphNode& node, const Graph& graph) {
  if (node.outputs.size() != 1) return false;
  const GraphTensor& result =
      graph.tensors[static_cast<size_t>(node.outputs[0])];
  // A part without bytes has no step that would make the result.
  if (result.num_elements() == 0) return false;
  const TensorShape& shape = result.shape;
  int64_t axis;
  if (node.op_name() == "concatenate") {
    axis = AttrsOrDefaults<relay::ConcatenateAttrs>(node.call->attrs()).axis;
  } else if (node.op_name() == "stack") {
    axis = AttrsOrDefaults<relay::StackAttrs>(node.call->attrs()).axis;
  } else {
    return false;
  }
  if (axis < 0) axis += static_cast<int64_t>(shape.size());
  return axis >= 0 && OuterElements(shape, axis) == 1;
}

}  // namespace baton::cpu
