#include "baton/relay/ir/type_sizes.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "baton/ir/node.h"
#include "baton/ir/type.h"

namespace baton::relay {
namespace {

// Calls fn(part) for the types and dimensions that `node` consists of.
template <typename Fn>
void ForEachPart(const Node* node, const Fn& fn) {
  if (node->kind() == DimExprNode::kKind) {
    const auto* dim = static_cast<const DimExprNode*>(node);
    if (dim->is_var()) return;
    if (const Node* lhs = ReferredNode(dim->lhs())) fn(lhs);
    if (const Node* rhs = ReferredNode(dim->rhs())) fn(rhs);
    return;
  }
  const auto each = [&fn](absl::Span<const Type> types) {
    for (const Type& type : types) {
      if (type.defined()) fn(type.get());
    }
  };
  const auto* type = static_cast<const TypeNode*>(node);
  switch (TypeKindOf(type)) {
    case TypeKind::kTensorType:
      for (const Dim& dim : static_cast<const TensorTypeNode*>(type)->shape()) {
        if (const Node* expr = ReferredNode(dim)) fn(expr);
      }
      break;
    case TypeKind::kTupleType:
      each(static_cast<const TupleTypeNode*>(type)->fields());
      break;
    case TypeKind::kFuncType:
      each(static_cast<const FuncTypeNode*>(type)->args());
      each({&static_cast<const FuncTypeNode*>(type)->result(), 1});
      break;
    case TypeKind::kTypeCall:
      each({&static_cast<const TypeCallNode*>(type)->func(), 1});
      each(static_cast<const TypeCallNode*>(type)->args());
      break;
    case TypeKind::kRefType:
      each({&static_cast<const RefTypeNode*>(type)->value(), 1});
      break;
    case TypeKind::kTypeVar:
    case TypeKind::kGlobalTypeVar:
    case TypeKind::kIncompleteType:
      break;
  }
}

bool HasParts(const Node* node) {
  bool has_parts = false;
  ForEachPart(node, [&has_parts](const Node* /*part*/) { has_parts = true; });
  return has_parts;
}

}  // namespace

int64_t TypeSizes::Of(const Type& type) {
  if (!type.defined()) return 0;
  if (!HasParts(type.get())) return 1;
  if (const auto it = sizes_.find(type.get()); it != sizes_.end()) {
    return it->second;
  }
  held_.push_back(type);
  absl::InlinedVector<const Node*, 16> stack = {type.get()};
  while (!stack.empty()) {
    const Node* const node = stack.back();
    const size_t before = stack.size();
    int64_t size = 1;
    ForEachPart(node, [&](const Node* part) {
      const auto it = sizes_.find(part);
      if (it != sizes_.end()) {
        size = std::min(kMost, size + it->second);
      } else if (HasParts(part)) {
        stack.push_back(part);
      } else {
        ++size;
      }
    });
    // Again, after its parts.
    if (stack.size() > before) continue;
    sizes_[node] = size;
    stack.pop_back();
  }
  return sizes_.at(type.get());
}

}  // namespace baton::relay
