// Fast queries over the nodes of a program, for passes that check whether a
// program concerns them. A query costs a fraction of an IndexedGraph.

#ifndef BATON_RELAY_ANALYSIS_GRAPH_QUERIES_H_
#define BATON_RELAY_ANALYSIS_GRAPH_QUERIES_H_

#include <utility>

#include "absl/container/inlined_vector.h"
#include "baton/ir/node.h"
#include "baton/ir/node_map.h"
#include "baton/ir/op.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/visit.h"

namespace baton::relay {

// True if `pred` is true for a node with children in the graph of `root`. Nodes
// without children are variables, constants, operators, constructors and global
// variables. Calls `pred` at most once for each node, in unspecified order, and
// stops when the result is true.
template <typename Pred>
bool AnyInnerNode(const Expr& root, Pred&& pred);

// As AnyInnerNode; if `with_leaves` is true, also calls `pred` for the nodes
// without children.
template <typename Pred>
bool AnyNode(const Expr& root, bool with_leaves, Pred&& pred);

// True if the graph of `root` contains a node of `kind`, a kind of nodes with
// children.
bool ContainsKind(const Expr& root, NodeKind kind);

// True if the graph of `root` contains a call of `op`.
bool CallsOp(const Expr& root, const Op& op);

// True if the graph of `root` contains a call of an operator with an entry in
// `map`.
template <typename T>
bool CallsOpOf(const Expr& root, const OpProperty<T>& map) {
  return AnyInnerNode(root, [&map](const ExprNode* node) {
    return node->kind() == ExprKind::kCall &&
           map.Get(static_cast<const CallNode*>(node)->op()) != nullptr;
  });
}

// Implementation details below.

template <typename Pred>
bool AnyInnerNode(const Expr& root, Pred&& pred) {
  return AnyNode(root, /*with_leaves=*/false, pred);
}

template <typename Pred>
bool AnyNode(const Expr& root, bool with_leaves, Pred&& pred) {
  if (!root.defined() || (!with_leaves && IsLeaf(root->kind()))) return false;
  absl::InlinedVector<const ExprNode*, 64> pending;
  NodeSet seen;  // shared nodes that were visited
  const ExprNode* next = root.get();
  // Most nodes have one such child, which skips `pending`.
  const auto add = [&pending, &next, with_leaves](const Expr& child) {
    if (!with_leaves && IsLeaf(child->kind())) return;
    if (next != nullptr) pending.push_back(next);
    next = child.get();
  };
  while (next != nullptr) {
    const ExprNode* node = std::exchange(next, nullptr);
    if (node->unique() || seen.Insert(node)) {
      if (pred(node)) return true;
      if (node->kind() == ExprKind::kCall) {
        const auto* call = static_cast<const CallNode*>(node);
        // Most callees are operators.
        if (with_leaves || !IsLeaf(call->op()->kind())) add(call->op());
        for (const Expr& arg : call->args()) add(arg);
      } else if (node->kind() == ExprKind::kTupleGetItem) {
        add(static_cast<const TupleGetItemNode*>(node)->tuple());
      } else {
        ForEachChild(node, add);
      }
    }
    if (next == nullptr && !pending.empty()) {
      next = pending.back();
      pending.pop_back();
    }
  }
  return false;
}

}  // namespace baton::relay

#endif  // BATON_RELAY_ANALYSIS_GRAPH_QUERIES_H_
