#include "baton/relay/transform/post_order_index.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "baton/ir/expr.h"
#include "baton/ir/op.h"
#include "baton/ir/visit.h"

namespace baton::relay {

PostOrderIndex::PostOrderIndex(const Expr& root) {
  struct Frame {
    const ExprNode* node;
    int edge;              // where in `children_` the index goes; -1: the root
    int shared = -1;       // position in `shared_indices`, if shared
    int first_child = -1;  // -1 until the node is entered
    int num_children = 0;
  };
  std::vector<Frame> stack;
  // Only nodes with several holders can be met again.
  absl::flat_hash_map<const ExprNode*, int> shared_ids;
  std::vector<int> shared_indices;

  if (root.defined()) stack.push_back({root.get(), -1});
  while (!stack.empty()) {
    Frame frame = stack.back();
    if (frame.first_child < 0) {
      if (!frame.node->unique()) {
        const auto [it, is_new] = shared_ids.try_emplace(
            frame.node, static_cast<int>(shared_indices.size()));
        if (!is_new) {
          const int index = shared_indices[it->second];
          ++nodes_[index].num_uses;
          if (frame.edge >= 0) children_[frame.edge] = index;
          stack.pop_back();
          continue;
        }
        frame.shared = it->second;
        shared_indices.push_back(kNoIndex);
      }
      frame.first_child = static_cast<int>(children_.size());
      const size_t first_frame = stack.size();
      ForEachChild(frame.node, [&](const Expr& child) {
        if (!child.Is<OpNode>()) {
          stack.push_back({child.get(), static_cast<int>(children_.size())});
        }
        children_.push_back(kNoIndex);
      });
      frame.num_children =
          static_cast<int>(children_.size()) - frame.first_child;
      stack[first_frame - 1] = frame;
      if (stack.size() > first_frame) {
        // The first child is to be on top.
        std::reverse(stack.begin() + first_frame, stack.end());
        continue;
      }
    }
    const int index = size();
    nodes_.push_back({frame.node, frame.first_child, frame.num_children,
                      frame.edge >= 0 ? 1 : 0});
    if (frame.edge >= 0) children_[frame.edge] = index;
    if (frame.shared >= 0) shared_indices[frame.shared] = index;
    stack.pop_back();
  }
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
