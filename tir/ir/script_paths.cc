#include "baton/tir/ir/script_paths.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "baton/ir/node.h"
#include "baton/ir/node_class.h"
#include "baton/ir/node_map.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/ir/node_kind.h"
#include "baton/tir/ir/stmt.h"

namespace baton::tir {
namespace {

// A place at which the printer can declare something.
bool IsPlace(const Node* node) {
  return IsStmtKind(node->kind()) || node->kind() == TirKind::kPrimFunc ||
         node->kind() == TirKind::kCommReducer ||
         node->kind() == TirKind::kIndexMap;
}

// Appends the nodes to which `node` refers, in the order in which the reference
// visits them.
void AppendParts(const Node* node, std::vector<const Node*>& parts) {
  const auto add = [&parts](const Node* part) {
    if (part != nullptr && part->kind().level() == kNodeLevel) {
      parts.push_back(part);
    }
  };
  const auto add_all = [&add](const auto& list) {
    for (const auto& part : list) add(part.get());
  };
  if (node->kind() == TirKind::kPrimFunc) {
    const auto* function = static_cast<const PrimFuncNode*>(node);
    add_all(function->params());
    add(function->body().get());
    add_all(function->buffers());
  } else if (node->kind() == TirKind::kBlock) {
    const auto* block = static_cast<const BlockNode*>(node);
    add_all(block->iter_vars());
    add_all(block->reads());
    add_all(block->writes());
    add(block->body().get());
    add(block->init().get());
    add_all(block->alloc_buffers());
    add_all(block->match_buffers());
    add(block->annotations().get());
  } else {
    ForEachReference(node, add);
  }
}

// The pointer that a statement defines; null if there is none.
const Node* DefinedPointer(const Node* node) {
  if (node->kind() == TirKind::kAllocate) {
    return static_cast<const AllocateNode*>(node)->var().get();
  }
  if (node->kind() == TirKind::kAllocateConst) {
    return static_cast<const AllocateConstNode*>(node)->var().get();
  }
  if (node->kind() == TirKind::kLetStmt) {
    return static_cast<const LetStmtNode*>(node)->var().get();
  }
  return nullptr;
}

}  // namespace

ScriptPaths::ScriptPaths(const Node* root) {
  struct Visit {
    const Node* node;  // null: the end of the innermost place
  };
  NodeSet seen;
  std::vector<Visit> stack = {{root}};
  std::vector<const Node*> parts;
  int current = -1;
  while (!stack.empty()) {
    const Node* node = stack.back().node;
    stack.pop_back();
    if (node == nullptr) {
      places_[current].open = false;
      places_[current].end = static_cast<int>(places_.size());
      current = places_[current].parent;
      continue;
    }
    const bool is_variable =
        node->kind() == TirKind::kVar || node->kind() == TirKind::kBuffer;
    if (is_variable) Meet(node, current);
    // A node with one holder is met but once.
    if ((is_variable || !node->unique()) && !seen.Insert(node)) {
      if (const int* place = place_of_node_.Find(node)) {
        int& shared = places_[*place].shared;
        shared = OpenAround(shared);
      }
      continue;
    }
    if (IsPlace(node) || (!is_variable && !node->unique())) {
      places_.push_back({node, current, 0, true, 0});
      places_.back().shared = static_cast<int>(places_.size()) - 1;
      current = static_cast<int>(places_.size()) - 1;
      *place_of_node_.TryEmplace(node).first = current;
      const Node* const pointer = DefinedPointer(node);
      if (pointer != nullptr) pointers_[pointer] = current;
      stack.push_back({nullptr});
    }
    parts.clear();
    AppendParts(node, parts);
    for (size_t i = parts.size(); i-- > 0;) stack.push_back({parts[i]});
  }
  // A place inside of a shared one occurs wherever that one does.
  for (Place& place : places_) {
    if (place.parent < 0) continue;
    const int around = places_[place.parent].shared;
    if (around < place.parent) place.shared = std::min(place.shared, around);
  }
  for (const Met& met : met_) {
    if (met.place < 0) continue;
    Use& use = *uses_.Find(met.variable);
    use.shared = std::min(use.shared, places_[met.place].shared);
  }
  met_ = {};
}

int ScriptPaths::OpenAround(int place) const {
  while (place >= 0 && !places_[place].open) place = places_[place].parent;
  return place;
}

void ScriptPaths::Meet(const Node* variable, int place) {
  met_.push_back({variable, place});
  const auto [use, is_new] = uses_.TryEmplace(variable);
  ++use->count;
  if (is_new) {
    use->place = place;
    use->shared = place;
    return;
  }
  use->place = OpenAround(use->place);
}

int ScriptPaths::PlaceOf(const Node* variable) const {
  const Use* use = uses_.Find(variable);
  if (use == nullptr || use->place < 0) return -1;
  const int place = std::min(use->place, use->shared);
  if (place == use->place || variable->kind() != TirKind::kBuffer) return place;
  // The place must be inside of the definition of the buffer's memory.
  const int* const pointer =
      pointers_.Find(static_cast<const BufferNode*>(variable)->data().get());
  const bool is_inside = pointer != nullptr && *pointer <= use->place &&
                         use->place < places_[*pointer].end;
  return is_inside ? std::max(place, *pointer) : place;
}

bool ScriptPaths::IsAround(const Node* node, const Node* variable) const {
  const int* outer = place_of_node_.Find(node);
  const Use* use = uses_.Find(variable);
  const int inner = use == nullptr ? -1 : use->place;
  return outer != nullptr && inner >= *outer && inner < places_[*outer].end;
}

int64_t ScriptPaths::CountOf(const Node* variable) const {
  const Use* use = uses_.Find(variable);
  return use == nullptr ? 0 : use->count;
}

}  // namespace baton::tir
