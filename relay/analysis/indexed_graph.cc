#include "baton/relay/analysis/indexed_graph.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "baton/ir/node.h"
#include "baton/ir/node_map.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/visit.h"

namespace baton::relay {

IndexedGraph::IndexedGraph(const Expr& root)
    : IndexedGraph(root, [](const ExprNode*) { return true; }) {}

IndexedGraph::IndexedGraph(const Expr& root,
                           absl::FunctionRef<bool(const ExprNode*)> enter) {
  // A node that was entered and not yet left.
  struct Frame {
    const ExprNode* node;
    const Expr* args;      // of a call; null for other nodes
    size_t first_pending;  // of other nodes: where in `pending` children start
    int edge;              // where in `children_` the number of `node` goes
    int first_edge;
    int num_children;
    int next_child;
    bool shared;
  };
  absl::InlinedVector<Frame, 32> frames;
  absl::InlinedVector<const ExprNode*, 64> pending;
  int num_edges = 0;  // entries of `children_` that are taken
  // Nodes with several holders may be met again.
  NodeMap<int> shared_nodes;

  const auto append = [this](const ExprNode* node, int edge, int first_edge,
                             int num_children) {
    const int i = size();
    if (edge >= 0) children_[edge] = i;
    nodes_.push_back({node, first_edge, num_children, edge >= 0 ? 1 : 0});
    return i;
  };
  const auto meet_again = [this](int i, int edge) {
    ++nodes_[i].num_uses;
    children_[edge] = i;
  };
  // Enters a node, or appends it at once if there is nothing below it.
  const auto arrive = [&](const ExprNode* node, int edge) {
    const bool shared = !node->unique();
    if (IsLeaf(node->kind())) {
      int* known = nullptr;
      if (shared) {
        const auto [i, is_new] = shared_nodes.TryEmplace(node);
        if (!is_new) return meet_again(*i, edge);
        known = i;
      }
      const int i = append(node, edge, num_edges, 0);
      if (known != nullptr) *known = i;
      return;
    }
    if (shared) {
      if (const int* i = shared_nodes.Find(node)) return meet_again(*i, edge);
    }
    const int first_edge = num_edges;
    if (!enter(node)) {
      const int i = append(node, edge, first_edge, 0);
      if (shared) shared_nodes[node] = i;
      return;
    }
    const Expr* args = nullptr;
    const size_t first_pending = pending.size();
    int num_children;
    if (node->kind() == ExprKind::kCall) {
      const auto* call = static_cast<const CallNode*>(node);
      args = call->args().data();
      num_children = call->num_args() + 1;
    } else {
      ForEachChild(node,
                   [&](const Expr& child) { pending.push_back(child.get()); });
      num_children = static_cast<int>(pending.size() - first_pending);
    }
    num_edges += num_children;
    if (static_cast<size_t>(num_edges) > children_.size()) {
      children_.resize(2 * static_cast<size_t>(num_edges));
    }
    frames.push_back(
        {node, args, first_pending, edge, first_edge, num_children, 0, shared});
  };

  if (!root.defined()) return;
  nodes_.reserve(32);
  if (const auto* function = root.As<FunctionNode>()) {
    shared_nodes.Reserve(2 * function->params().size());
  }
  arrive(root.get(), -1);
  while (!frames.empty()) {
    Frame& frame = frames.back();
    if (frame.next_child == frame.num_children) {
      const int i =
          append(frame.node, frame.edge, frame.first_edge, frame.num_children);
      if (frame.shared) shared_nodes[frame.node] = i;
      pending.resize(frame.first_pending);
      frames.pop_back();
      continue;
    }
    const int k = frame.next_child++;
    const ExprNode* child;
    if (frame.node->kind() != ExprKind::kCall) {
      child = pending[frame.first_pending + k];
    } else if (k > 0) {
      child = frame.args[k - 1].get();
    } else {
      child = static_cast<const CallNode*>(frame.node)->op().get();
    }
    arrive(child, frame.first_edge + k);  // moves the frames
  }
  children_.resize(static_cast<size_t>(num_edges));
}

bool ContainsKind(const Expr& root, NodeKind kind) {
  if (!root.defined() || IsLeaf(root->kind())) return false;
  absl::InlinedVector<const ExprNode*, 64> pending = {root.get()};
  NodeSet seen;
  while (!pending.empty()) {
    const ExprNode* node = pending.back();
    pending.pop_back();
    if (node->kind() == kind) return true;
    if (!node->unique() && !seen.Insert(node)) continue;
    ForEachChild(node, [&](const Expr& child) {
      if (!IsLeaf(child->kind())) pending.push_back(child.get());
    });
  }
  return false;
}

absl::Span<const Expr> GraphRewriter::Args(int i) {
  scratch_.clear();
  for (const int arg : graph_->args(i)) scratch_.push_back(Get(arg));
  return scratch_;
}

void GraphRewriter::Rebuild(int i) {
  const absl::Span<const int> children = graph_->children(i);
  const bool any_changed =
      std::any_of(children.begin(), children.end(),
                  [this](int child) { return changed(child); });
  if (!any_changed) return;
  scratch_.clear();
  for (const int child : children) scratch_.push_back(Get(child));
  Replace(i, WithChildren(graph_->node(i), scratch_));
}

}  // namespace baton::relay
