#include "baton/ir/origin.h"

#include <cstddef>

#include "absl/container/inlined_vector.h"
#include "baton/ir/expr.h"
#include "baton/ir/node.h"
#include "baton/ir/node_class.h"

namespace baton::internal {

void RecordOriginsOfBuilt(const ExprNode* made, const ExprNode* from) {
  if (made == from || from == nullptr) return;
  // A node with one holder, which is new itself, is new.
  absl::InlinedVector<const ExprNode*, 16> built = {made};
  for (size_t i = 0; i < built.size(); ++i) {
    ForEachReference(built[i], [&built](const Node* child) {
      if (!child->unique() || !ExprNode::ClassOf(child->kind())) return;
      const auto* expr = static_cast<const ExprNode*>(child);
      if (!HasRecordedOrigin(expr)) built.push_back(expr);
    });
  }
  for (size_t i = built.size(); i-- > 0;) {  // children first, as in rewriters
    RecordOrigin(built[i], from);
  }
}

}  // namespace baton::internal
