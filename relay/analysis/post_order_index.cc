#include "baton/relay/analysis/post_order_index.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "baton/ir/node.h"
#include "baton/ir/node_map.h"
#include "baton/ir/op.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/visit.h"

namespace baton::relay {

PostOrderIndex::PostOrderIndex(const Expr& root)
    : PostOrderIndex(root, [](const ExprNode*) { return true; }) {}

PostOrderIndex::PostOrderIndex(const Expr& root,
                               absl::FunctionRef<bool(const ExprNode*)> enter) {
  // A node that was entered and not yet left.
  struct Frame {
    const ExprNode* node;
    int edge;  // where in `children_` the index of `node` goes
    int first_edge;
    int num_children;
    int next_child;
    int shared_id;         // -1 if no other node can have it as a child
    size_t first_pending;  // where in `pending` its children start
  };
  absl::InlinedVector<Frame, 32> frames;
  // The children of the nodes in `frames`; null for operators.
  absl::InlinedVector<const ExprNode*, 64> pending;
  // Nodes with several holders may be met again: an id for each, and its index.
  NodeMap<int> shared_ids;
  std::vector<int> shared_indices;

  const auto leave = [&](const ExprNode* node, int edge, int first_edge,
                         int num_children, int shared_id) {
    if (edge >= 0) children_[edge] = size();
    if (shared_id >= 0) shared_indices[shared_id] = size();
    nodes_.push_back({node, first_edge, num_children, edge >= 0 ? 1 : 0});
  };
  // Enters a node, or leaves it at once if there is nothing below it.
  const auto arrive = [&](const ExprNode* node, int edge) {
    int shared_id = -1;
    if (!node->unique()) {
      const auto [id, is_new] = shared_ids.TryEmplace(node);
      if (!is_new) {
        const int index = shared_indices[*id];
        ++nodes_[index].num_uses;
        children_[edge] = index;
        return;
      }
      shared_id = static_cast<int>(shared_indices.size());
      *id = shared_id;
      shared_indices.push_back(kNoIndex);
    }
    const int first_edge = static_cast<int>(children_.size());
    if (IsLeaf(node->kind()) || !enter(node)) {
      return leave(node, edge, first_edge, 0, shared_id);
    }
    const size_t first_pending = pending.size();
    ForEachChild(node, [&](const Expr& child) {
      pending.push_back(child->kind() == NodeKind::kOp ? nullptr : child.get());
    });
    const size_t num_children = pending.size() - first_pending;
    children_.resize(children_.size() + num_children, kNoIndex);
    frames.push_back({node, edge, first_edge, static_cast<int>(num_children), 0,
                      shared_id, first_pending});
  };

  if (!root.defined()) return;
  if (const auto* function = root.As<FunctionNode>()) {
    shared_ids.Reserve(2 * function->params().size());
  }
  arrive(root.get(), -1);
  while (!frames.empty()) {
    Frame& frame = frames.back();
    if (frame.next_child == frame.num_children) {
      leave(frame.node, frame.edge, frame.first_edge, frame.num_children,
            frame.shared_id);
      pending.resize(frame.first_pending);
      frames.pop_back();
      continue;
    }
    const int k = frame.next_child++;
    const ExprNode* child = pending[frame.first_pending + k];
    // Moves the frames if it enters the child.
    if (child != nullptr) arrive(child, frame.first_edge + k);
  }
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

void IndexedRewriter::RebuildFromChildren(int i) {
  const absl::Span<const int> children = graph_->children(i);
  const bool any_changed =
      std::any_of(children.begin(), children.end(), [this](int child) {
        return child != PostOrderIndex::kNoIndex && changed(child);
      });
  if (!any_changed) return;
  scratch_.clear();
  ForEachChild(graph_->node(i), [&](const Expr& child) {
    const int index = children[scratch_.size()];
    scratch_.push_back(index != PostOrderIndex::kNoIndex && changed(index)
                           ? results_[index]
                           : child);
  });
  Set(i, WithChildren(graph_->node(i), scratch_));
  scratch_.clear();
}

}  // namespace baton::relay
