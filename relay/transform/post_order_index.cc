#include "baton/relay/transform/post_order_index.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/container/inlined_vector.h"
#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "baton/ir/expr.h"
#include "baton/ir/node.h"
#include "baton/ir/op.h"
#include "baton/ir/visit.h"

namespace baton::relay {

PostOrderIndex::PostOrderIndex(const Expr& root)
    : PostOrderIndex(root, [](const ExprNode*) { return true; }) {}

PostOrderIndex::PostOrderIndex(const Expr& root,
                               absl::FunctionRef<bool(const ExprNode*)> enter) {
  // A node to enter, or one to leave once its children are done.
  struct Step {
    const ExprNode* node;
    int edge;  // where in `children_` the node's index goes; -1 for the root
    bool leave;
  };
  // A node that was entered and not yet left.
  struct Open {
    int first_child;
    int num_children;
    int shared_id;  // -1 if no other node can have it as a child
  };
  absl::InlinedVector<Step, 64> steps;
  absl::InlinedVector<Open, 32> open;
  // Nodes with several holders may be met again: an id for each, and its index.
  absl::flat_hash_map<const ExprNode*, int> shared_ids;
  std::vector<int> shared_indices;

  if (!root.defined()) return;
  if (const auto* function = root.As<FunctionNode>()) {
    shared_ids.reserve(2 * function->params().size());
  }
  steps.push_back({root.get(), -1, false});
  while (!steps.empty()) {
    const Step step = steps.back();
    steps.pop_back();
    if (!step.leave) {
      int shared_id = -1;
      if (!step.node->unique()) {
        const auto [it, is_new] = shared_ids.try_emplace(
            step.node, static_cast<int>(shared_indices.size()));
        shared_id = it->second;
        if (!is_new) {
          const int index = shared_indices[shared_id];
          ++nodes_[index].num_uses;
          children_[step.edge] = index;
          continue;
        }
        shared_indices.push_back(kNoIndex);
      }
      const int first_child = static_cast<int>(children_.size());
      const size_t first_step = steps.size() + 1;
      steps.push_back({step.node, step.edge, true});
      if (!IsLeaf(step.node->kind()) && enter(step.node)) {
        ForEachChild(step.node, [&](const Expr& child) {
          if (child->kind() != NodeKind::kOp) {
            steps.push_back(
                {child.get(), static_cast<int>(children_.size()), false});
          }
          children_.push_back(kNoIndex);
        });
      }
      open.push_back({first_child,
                      static_cast<int>(children_.size()) - first_child,
                      shared_id});
      if (steps.size() > first_step) {
        // The first child is to be on top.
        std::reverse(steps.begin() + static_cast<ptrdiff_t>(first_step),
                     steps.end());
        continue;
      }
      steps.pop_back();
    }
    const Open& entered = open.back();
    const int index = size();
    nodes_.push_back({step.node, entered.first_child, entered.num_children,
                      step.edge >= 0 ? 1 : 0});
    if (step.edge >= 0) children_[step.edge] = index;
    if (entered.shared_id >= 0) shared_indices[entered.shared_id] = index;
    open.pop_back();
  }
}

bool ContainsKind(const Expr& root, NodeKind kind) {
  if (!root.defined() || IsLeaf(root->kind())) return false;
  absl::InlinedVector<const ExprNode*, 64> pending = {root.get()};
  absl::flat_hash_set<const ExprNode*> seen;
  while (!pending.empty()) {
    const ExprNode* node = pending.back();
    pending.pop_back();
    if (node->kind() == kind) return true;
    if (!node->unique() && !seen.insert(node).second) continue;
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
