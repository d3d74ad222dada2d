// Queries by which passes find out whether a graph concerns them.

#ifndef BATON_RELAY_ANALYSIS_GRAPH_QUERIES_H_
#define BATON_RELAY_ANALYSIS_GRAPH_QUERIES_H_

#include "baton/ir/op.h"
#include "baton/relay/analysis/indexed_graph.h"

namespace baton::relay {

// Whether the graph refers to operator `op`, usually by a call.
inline bool RefersToOp(const IndexedGraph& graph, const Op& op) {
  for (int i = 0; i < graph.size(); ++i) {
    if (graph.node(i) == op.get()) return true;
  }
  return false;
}

// The same for any operator that `map` has an entry for.
template <typename T>
bool RefersToOpOf(const IndexedGraph& graph, const OpAttrMap<T>& map) {
  for (int i = 0; i < graph.size(); ++i) {
    const OpNode* op = graph.As<OpNode>(i);
    if (op != nullptr && map.Get(*op) != nullptr) return true;
  }
  return false;
}

}  // namespace baton::relay

#endif  // BATON_RELAY_ANALYSIS_GRAPH_QUERIES_H_
