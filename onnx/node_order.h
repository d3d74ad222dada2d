// Orders the nodes of an ONNX graph by their dependencies.
//
// ONNX requires each node to follow the nodes that it needs, and most files
// comply. Some tools append nodes at the end of the list nevertheless, and
// runtimes accept such models.

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
// use of the graphs around it, including the graphs inside of it.
absl::StatusOr<std::vector<absl::string_view>> NamesUsedIn(
    absl::string_view graph);

// The inputs of a node, and the names that its graphs use. Names may be empty.
absl::StatusOr<std::vector<absl::string_view>> NamesUsedBy(
    const NodeProto& node);

// Returns the positions of `nodes` (NodeProto messages) in an order in which
// each node follows the nodes that it uses. Otherwise keeps the order of the
// list. The first `first` nodes stay in front. In a cycle, one node precedes a
// node that it uses. Takes time linear in the size of the messages.
absl::StatusOr<std::vector<size_t>> DependencyOrder(
    absl::Span<const absl::string_view> nodes, size_t first = 0);

}  // namespace baton::onnx

#endif  // BATON_ONNX_NODE_ORDER_H_
