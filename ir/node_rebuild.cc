#include "baton/ir/node_rebuild.h"

#include <cstddef>

#include "absl/container/inlined_vector.h"
#include "baton/ir/expr.h"
#include "baton/ir/node.h"
#include "baton/ir/node_class.h"

namespace baton::internal {

void TellOrigins(const Expr& made, const ExprNode* from) {
  if (!made.defined() || made.get() == from) return;
  const Expr origin(from);
  if (!made->unique()) return origin_sink(made, origin);
  // A node with one holder, which is new itself, is new.
  absl::InlinedVector<const ExprNode*, 16> built = {made.get()};
  for (size_t i = 0; i < built.size(); ++i) {
    ForEachReference(built[i], [&built](const Node* child) {
      if (child->unique() && ExprNode::ClassOf(child->kind())) {
        built.push_back(static_cast<const ExprNode*>(child));
      }
    });
  }
  for (size_t i = built.size(); i-- > 0;) {  // children first, as in rewriters
    origin_sink(Expr(built[i]), origin);
  }
}

}  // namespace baton::internal
