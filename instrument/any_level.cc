#include "baton/instrument/any_level.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "baton/ir/expr.h"
#include "baton/ir/node.h"
#include "baton/ir/node_class.h"
#include "baton/ir/node_kind.h"
#include "baton/ir/node_map.h"
#include "baton/ir/op.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/node_kind.h"
#include "baton/relay/ir/visit.h"

namespace baton {

bool IsOfOtherLevel(const ExprNode* node) {
  const int level = node->kind().level();
  return level != kIrLevel && level != relay::kRelayLevel;
}

void ForEachChildAtAnyLevel(const ExprNode* node,
                            absl::FunctionRef<void(const Expr&)> fn) {
  if (IsLeaf(node->kind())) return;
  if (!IsOfOtherLevel(node)) return relay::ForEachChild(node, fn);
  ForEachReference(node, [fn](const Node* reference) {
    if (reference->kind().Is(NodeSort::kExpr)) {
      fn(Expr(static_cast<const ExprNode*>(reference)));
    }
  });
}

void VisitAtAnyLevel(const Expr& root, NodeSet& seen,
                     absl::FunctionRef<void(const ExprNode*)> fn) {
  if (!root.defined()) return;
  // Nodes, and whether their children have been visited.
  std::vector<std::pair<const ExprNode*, bool>> stack = {{root.get(), false}};
  while (!stack.empty()) {
    const auto [node, expanded] = stack.back();
    if (expanded) {
      stack.pop_back();
      fn(node);
      continue;
    }
    // A node with one holder has one user.
    if ((node == root.get() || !node->unique()) && !seen.Insert(node)) {
      stack.pop_back();
      continue;
    }
    stack.back().second = true;
    const size_t first = stack.size();
    ForEachChildAtAnyLevel(node, [&stack](const Expr& child) {
      if (child.defined()) stack.emplace_back(child.get(), false);
    });
    std::reverse(stack.begin() + static_cast<std::ptrdiff_t>(first),
                 stack.end());
  }
}

void VisitAtAnyLevel(const Expr& root,
                     absl::FunctionRef<void(const ExprNode*)> fn) {
  NodeSet seen;
  VisitAtAnyLevel(root, seen, fn);
}

const ExprNode* CalleeOf(const ExprNode* node) {
  if (relay::CallNode::ClassOf(node->kind())) {
    return static_cast<const relay::CallNode*>(node)->op().get();
  }
  if (!IsOfOtherLevel(node) || IsLeaf(node->kind())) return nullptr;
  const ExprNode* first = nullptr;
  ForEachChildAtAnyLevel(node, [&first](const Expr& child) {
    if (first == nullptr) first = child.get();
  });
  const bool is_name =
      first != nullptr &&
      (OpNode::ClassOf(first->kind()) || GlobalVarNode::ClassOf(first->kind()));
  return is_name ? first : nullptr;
}

}  // namespace baton
