#include "baton/onnx/node_order.h"

#include <cstddef>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/hash_table.h"
#include "baton/base/status_macros.h"
#include "baton/onnx/model.h"

namespace baton::onnx {
namespace {

// A graph that is read, with the names that it gives.
struct GivenNames {
  FlatHashSet<absl::string_view> names;
  int outer;  // the position of the graph around it; -1: none
};

// Appends the names that the graphs, and those inside of them, use and do not
// give themselves.
absl::Status AppendNames(const std::vector<absl::string_view>& graphs,
                         std::vector<absl::string_view>& names) {
  std::vector<GivenNames> given;
  std::vector<std::pair<absl::string_view, int>> work;  // and the graph around
  for (absl::string_view graph : graphs) work.emplace_back(graph, -1);
  while (!work.empty()) {
    const auto [graph, outer] = work.back();
    work.pop_back();
    BATON_ASSIGN_OR_RETURN(const GraphProto read, ReadGraph(graph));
    std::vector<NodeProto> nodes;
    GivenNames& own = given.emplace_back(GivenNames{{}, outer});
    for (const ValueInfo& input : read.inputs) own.names.insert(input.name);
    for (const TensorProto& tensor : read.initializers) {
      own.names.insert(tensor.name);
    }
    for (absl::string_view message : read.nodes) {
      BATON_ASSIGN_OR_RETURN(nodes.emplace_back(), ReadNode(message));
      own.names.insert(nodes.back().outputs.begin(),
                       nodes.back().outputs.end());
    }
    const int position = static_cast<int>(given.size()) - 1;
    const auto append = [&](absl::string_view name) {
      for (int at = position; at >= 0; at = given[at].outer) {
        if (given[at].names.contains(name)) return;
      }
      names.push_back(name);
    };
    for (const ValueInfo& output : read.outputs) append(output.name);
    for (const NodeProto& node : nodes) {
      for (absl::string_view input : node.inputs) append(input);
      for (absl::string_view inner : node.Graphs()) {
        work.emplace_back(inner, position);
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<absl::string_view>> NamesUsedIn(
    absl::string_view graph) {
  std::vector<absl::string_view> names;
  BATON_RETURN_IF_ERROR(AppendNames({graph}, names));
  return names;
}

absl::StatusOr<std::vector<absl::string_view>> NamesUsedBy(
    const NodeProto& node) {
  std::vector<absl::string_view> names(node.inputs.begin(), node.inputs.end());
  BATON_RETURN_IF_ERROR(AppendNames(node.Graphs(), names));
  return names;
}

absl::StatusOr<std::vector<size_t>> DependencyOrder(
    absl::Span<const absl::string_view> nodes, size_t first) {
  FlatHashMap<absl::string_view, size_t> givers;
  std::vector<std::vector<absl::string_view>> used;
  used.reserve(nodes.size());
  for (size_t i = 0; i < nodes.size(); ++i) {
    BATON_ASSIGN_OR_RETURN(const NodeProto node, ReadNode(nodes[i]));
    for (absl::string_view output : node.outputs) {
      if (!output.empty()) givers.try_emplace(output, i);
    }
    BATON_ASSIGN_OR_RETURN(std::vector<absl::string_view> names,
                           NamesUsedBy(node));
    used.push_back(std::move(names));
  }
  std::vector<size_t> order;
  order.reserve(nodes.size());
  std::vector<bool> is_seen(nodes.size());
  for (size_t i = 0; i < first; ++i) {
    order.push_back(i);
    is_seen[i] = true;
  }
  // Nodes that wait for others, and how many of their names are looked at.
  std::vector<std::pair<size_t, size_t>> waiting;
  for (size_t root = first; root < nodes.size(); ++root) {
    if (is_seen[root]) continue;
    is_seen[root] = true;
    waiting.emplace_back(root, 0);
    while (!waiting.empty()) {
      auto& [node, next] = waiting.back();
      if (next == used[node].size()) {
        order.push_back(node);
        waiting.pop_back();
        continue;
      }
      const auto giver = givers.find(used[node][next++]);
      if (giver == givers.end() || is_seen[giver->second]) continue;
      is_seen[giver->second] = true;
      waiting.emplace_back(giver->second, 0);
    }
  }
  return order;
}

}  // namespace baton::onnx
