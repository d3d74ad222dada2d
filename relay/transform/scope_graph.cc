#include "baton/relay/transform/scope_graph.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "baton/ir/adt.h"
#include "baton/ir/expr.h"
#include "baton/ir/visit.h"

namespace baton::relay {
namespace {

// Whether all operands are walked before the first of them counts as used.
bool IsDataflow(NodeKind kind) {
  return kind == NodeKind::kCall || kind == NodeKind::kTuple ||
         kind == NodeKind::kTupleGetItem;
}

bool IsPrimitive(const ExprNode* node) {
  return node->kind() == NodeKind::kFunction &&
         static_cast<const FunctionNode*>(node)->IsPrimitive();
}

// Calls `fn(child, binder)` for each child, in the order of ForEachChild;
// `binder` says whether `node` binds the child.
template <typename Fn>
void ForEachEdge(const ExprNode* node, Fn&& fn) {
  if (node->kind() == NodeKind::kMatch) {
    const auto* match = static_cast<const MatchNode*>(node);
    fn(match->data(), false);
    for (const Clause& clause : match->clauses()) {
      ForEachVar(clause.lhs.get(), [&fn](const Var& var) { fn(var, true); });
      fn(clause.rhs, false);
    }
    return;
  }
  size_t num_binders = 0;
  if (node->kind() == NodeKind::kFunction) {
    num_binders = static_cast<const FunctionNode*>(node)->params().size();
  } else if (node->kind() == NodeKind::kLet) {
    num_binders = 1;
  }
  size_t k = 0;
  ForEachChild(node, [&](const Expr& child) { fn(child, k++ < num_binders); });
}

}  // namespace

int NumVars(const Clause& clause) {
  int count = 0;
  ForEachVar(clause.lhs.get(), [&count](const Var&) { ++count; });
  return count;
}

ScopeGraph::ScopeGraph(const Expr& root) {
  if (!root.defined()) return;
  Index(root);
  AssignScopes();
}

void ScopeGraph::Index(const Expr& root) {
  enum Flags : uint8_t {
    kLeave = 1,   // the children have been walked
    kLink = 2,    // the parent uses the node as soon as it has been walked
    kBinder = 4,  // the parent binds it
  };
  struct Step {
    const ExprNode* node;
    int edge;  // where in `children_` the node's index goes; -1 for the root
    uint8_t flags;
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

  const auto arrive = [this](const Step& step, int index) {
    if (step.edge < 0) return;
    children_[step.edge] = index;
    if ((step.flags & kLink) != 0) Link(step.edge);
    if ((step.flags & kBinder) != 0) nodes_[index].bound = true;
  };

  steps.push_back({root.get(), -1, 0});
  while (!steps.empty()) {
    const Step step = steps.back();
    steps.pop_back();
    if ((step.flags & kLeave) == 0) {
      int shared_id = -1;
      if (!step.node->unique()) {
        const auto [it, is_new] = shared_ids.try_emplace(
            step.node, static_cast<int>(shared_indices.size()));
        shared_id = it->second;
        if (!is_new) {
          arrive(step, shared_indices[shared_id]);
          continue;
        }
        shared_indices.push_back(kNoIndex);
      }
      const int first_child = static_cast<int>(children_.size());
      const size_t first_step = steps.size() + 1;
      steps.push_back(
          {step.node, step.edge, static_cast<uint8_t>(step.flags | kLeave)});
      if (!IsPrimitive(step.node)) {
        const NodeKind kind = step.node->kind();
        ForEachEdge(step.node, [&](const Expr& child, bool binder) {
          const int edge = static_cast<int>(children_.size());
          if (child->kind() != NodeKind::kOp) {
            // A pattern does not use its variables.
            const bool link =
                !IsDataflow(kind) && !(binder && kind == NodeKind::kMatch);
            steps.push_back({child.get(), edge,
                             static_cast<uint8_t>((link ? kLink : 0) |
                                                  (binder ? kBinder : 0))});
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
    if (IsDataflow(step.node->kind())) {
      for (int k = 0; k < entered.num_children; ++k) {
        Link(entered.first_child + k);
      }
    }
    const int index = size();
    nodes_.push_back({step.node, entered.first_child, entered.num_children});
    if (entered.shared_id >= 0) shared_indices[entered.shared_id] = index;
    open.pop_back();
    arrive(step, index);
    if (step.node->kind() == NodeKind::kLet) any_let_ = true;
  }
}

void ScopeGraph::AssignScopes() {
  scopes_.push_back({.parent = 0, .jump = 0, .depth = 0});
  nodes_.back().scope = 0;
  nodes_.back().first_use_scope = 0;
  // Users first.
  for (int i = size() - 1; i >= 0; --i) {
    Entry& entry = nodes_[i];
    const int scope = entry.scope;
    const int first = entry.first_child;
    switch (entry.node->kind()) {
      case NodeKind::kFunction:
      case NodeKind::kLet:
        entry.first_opened = OpenScope(scope);
        for (int k = 0; k < entry.num_children; ++k) {
          Use(first + k, entry.first_opened);
        }
        break;
      case NodeKind::kIf:
        entry.first_opened = OpenScope(scope);
        OpenScope(scope);
        Use(first, scope);
        Use(first + 1, entry.first_opened);
        Use(first + 2, entry.first_opened + 1);
        break;
      case NodeKind::kMatch: {
        const auto* match = static_cast<const MatchNode*>(entry.node);
        entry.first_opened = num_scopes();
        Use(first, scope);
        int k = 1;
        for (const Clause& clause : match->clauses()) {
          k += NumVars(clause);
          Use(first + k++, OpenScope(scope));
        }
        break;
      }
      case NodeKind::kVar:
        if (!entry.bound && free_var_ == nullptr) free_var_ = As<VarNode>(i);
        continue;
      case NodeKind::kGlobalVar:
      case NodeKind::kConstructor:
        continue;
      default:
        for (int k = 0; k < entry.num_children; ++k) Use(first + k, scope);
        break;
    }
    entry.lifted = scope != entry.first_use_scope;
    any_lifted_ |= entry.lifted;
  }
}

void ScopeGraph::Use(int edge, int scope) {
  if (children_[edge] == kNoIndex) return;
  Entry& child = nodes_[children_[edge]];
  if (child.first_use == edge) child.first_use_scope = scope;
  child.scope = child.scope < 0 ? scope : CommonScope(child.scope, scope);
}

// A scope's `jump` is its parent, or, where the two jumps before are equally
// long, the target of both; see E. Myers, "An applicative random-access stack",
// 1983.
int ScopeGraph::OpenScope(int parent) {
  const Scope& p = scopes_[parent];
  const Scope& target = scopes_[p.jump];
  const bool join =
      p.depth - target.depth == target.depth - scopes_[target.jump].depth;
  const Scope scope = {.parent = parent,
                       .jump = join ? target.jump : parent,
                       .depth = p.depth + 1};
  scopes_.push_back(scope);
  return num_scopes() - 1;
}

int ScopeGraph::CommonScope(int a, int b) const {
  if (a == b) return a;
  if (scopes_[a].depth > scopes_[b].depth) std::swap(a, b);
  const int depth = scopes_[a].depth;
  while (scopes_[b].depth > depth) {
    b = scopes_[scopes_[b].jump].depth >= depth ? scopes_[b].jump
                                                : scopes_[b].parent;
  }
  while (a != b) {
    const bool jump = scopes_[a].jump != scopes_[b].jump;
    a = jump ? scopes_[a].jump : scopes_[a].parent;
    b = jump ? scopes_[b].jump : scopes_[b].parent;
  }
  return a;
}

}  // namespace baton::relay
