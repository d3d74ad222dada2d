#include "baton/ir/node_rebuild.h"

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "baton/ir/expr.h"
#include "baton/ir/node.h"
#include "baton/ir/node_class.h"
#include "baton/ir/node_compare.h"

namespace baton::internal {
namespace {

inline void Tell(const ExprNode* made, const ExprNode* from) {
  const OriginSink sink = origin_sink;
  std::atomic<uint64_t>& memo = NodeAccess::Memo(made);
  const uint64_t known = memo.load(std::memory_order_relaxed);
  const bool is_first = (known & kToldMemo) == 0;
  if (is_first) memo.store(known | kToldMemo, std::memory_order_relaxed);
  sink(made, from, is_first);
}

}  // namespace

void TellOrigin(const Expr& made, const ExprNode* from) {
  const ExprNode* const node = made.get();
  if (node == from) return;
  if (node == nullptr || from == nullptr) return;
  Tell(node, from);
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
