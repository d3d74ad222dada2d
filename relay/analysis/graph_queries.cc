#include "baton/relay/analysis/graph_queries.h"

#include "baton/ir/node.h"
#include "baton/ir/op.h"
#include "baton/relay/ir/expr.h"

namespace baton::relay {

bool ContainsKind(const Expr& root, NodeKind kind) {
  return AnyInnerNode(
      root, [kind](const ExprNode* node) { return node->kind() == kind; });
}

bool CallsOp(const Expr& root, const Op& op) {
  return AnyInnerNode(root, [&op](const ExprNode* node) {
    return node->kind() == ExprKind::kCall &&
           static_cast<const CallNode*>(node)->op() == op;
  });
}

}  // namespace baton::relay
