// In which order the nodes of a graph can be read.
//
// ONNX wants nodes behind those that they need, and most files keep to that.
// Some tools append nodes at the end of the list all the same, and runtimes
// take such models.

#ifndef BATON_ONNX_NODE_ORDER_H_
#define BATON_ONNX_NODE_ORDER_H_

#include <cstddef>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/onnx/model.h"

namespace baton::onnx {

// The names that the nodes and the outputs of a graph (a GraphProto message)
// use, and those of the graphs inside of it; some of them are given there.
absl::StatusOr<std::vector<absl::string_view>> NamesUsedIn(
    absl::string_view graph);

// The inputs of a node, and the names that its graphs use. Some may be empty.
absl::StatusOr<std::vector<absl::string_view>> NamesUsedBy(
    const NodeProto& node);

// The positions of `nodes` (NodeProto messages) in an order in which each node
// is behind those that give what it uses; the order of the list otherwise,
// which the first `first` nodes keep in front of all. Of nodes that need each
// other, one is in front of what it uses. Linear in the size of the messages.
absl::StatusOr<std::vector<size_t>> DependencyOrder(
    absl::Span<const absl::string_view> nodes, size_t first = 0);

}  // namespace baton::onnx

#endif  // BATON_ONNX_NODE_ORDER_H_
