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

// Appends what the graphs, and those inside of them, use.
absl::Status AppendNames(std::vector<absl::string_view> graphs,
                         std::vector<absl::string_view>& names) {
  while (!graphs.empty()) {
    BATON_ASSIGN_OR_RETURN(const GraphProto read, ReadGraph(graphs.back()));
    graphs.pop_back();
    for (const ValueInfo& output : read.outputs) names.push_back(output.name);
    for (absl::string_view message : read.nodes) {
      BATON_ASSIGN_OR_RETURN(const NodeProto node, ReadNode(message));
      names.insert(names.end(), node.inputs.begin(), node.inputs.end());
      const std::vector<absl::string_view> inner = node.Graphs();
      graphs.insert(graphs.end(), inner.begin(), inner.end());
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
