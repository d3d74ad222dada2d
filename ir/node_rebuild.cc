#include "baton/ir/node_rebuild.h"

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "baton/ir/expr.h"
#include "baton/ir/node.h"
#include "baton/ir/node_class.h"

namespace baton::internal {
namespace {

// The memo of an expression of which something was told and whose hash is not
// known: no hash (IsHash of node_compare.h). A hash replaces it.
constexpr uint64_t kTold = 2;

bool WasTold(const ExprNode* node) {
  return NodeAccess::Memo(node).load(std::memory_order_relaxed) != 0;
}

void Tell(const ExprNode* made, const ExprNode* from) {
  const bool is_first = !WasTold(made);
  if (is_first) {
    NodeAccess::Memo(made).store(kTold, std::memory_order_relaxed);
  }
  origin_sink(made, from, is_first);
}

}  // namespace

void TellOrigin(const Expr& made, const ExprNode* from) {
  if (!made.defined() || made.get() == from || from == nullptr) return;
  Tell(made.get(), from);
}

void TellOrigins(const Expr& made, const ExprNode* from) {
  if (!made.defined() || made.get() == from || from == nullptr) return;
  if (!made->unique()) return Tell(made.get(), from);
  // A node with one holder, which is new itself, is new.
  absl::InlinedVector<const ExprNode*, 16> built = {made.get()};
  for (size_t i = 0; i < built.size(); ++i) {
    ForEachReference(built[i], [&built](const Node* child) {
      if (!child->unique() || !ExprNode::ClassOf(child->kind())) return;
      const auto* expr = static_cast<const ExprNode*>(child);
      if (!WasTold(expr)) built.push_back(expr);
    });
  }
  for (size_t i = built.size(); i-- > 0;) {  // children first, as in rewriters
    Tell(built[i], from);
  }
}

}  // namespace baton::internal
