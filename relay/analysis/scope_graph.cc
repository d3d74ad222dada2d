#include "baton/relay/analysis/scope_graph.h"

#include <cstddef>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "baton/relay/ir/adt.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/visit.h"

namespace baton::relay {
namespace {

// True if all operands are walked before the first of them counts as used.
bool IsDataflow(NodeKind kind) {
  return kind == ExprKind::kCall || kind == ExprKind::kTuple ||
         kind == ExprKind::kTupleGetItem;
}

bool IsPrimitive(const ExprNode* node) {
  return node->kind() == ExprKind::kFunction &&
         static_cast<const FunctionNode*>(node)->IsPrimitive();
}

// The number of first children that a function or let binds.
int NumBinders(const ExprNode* node) {
  if (node->kind() == ExprKind::kFunction) {
    return static_cast<int>(
        static_cast<const FunctionNode*>(node)->params().size());
  }
  return node->kind() == ExprKind::kLet ? 1 : 0;
}

// Returns, for each child of `match`, whether it is a variable that a pattern
// binds.
std::vector<bool> PatternVars(const MatchNode* match) {
  std::vector<bool> result = {false};
  for (const Clause& clause : match->clauses()) {
    result.insert(result.end(), static_cast<size_t>(NumVars(clause)), true);
    result.push_back(false);
  }
  return result;
}

}  // namespace

int NumVars(const Clause& clause) {
  int count = 0;
  ForEachVar(clause.lhs.get(), [&count](const Var&) { ++count; });
  return count;
}

ScopeGraph::ScopeGraph(const Expr& root)
    : index_(root, [](const ExprNode* node) { return !IsPrimitive(node); }),
      nodes_(index_.size()) {
  if (size() == 0) return;
  FindFirstUses();
  AssignScopes();
}

// Time is the number of nodes that a depth-first walk has left. An edge is
// walked when its child has been, first by this edge or before: the child's
// index, if it is not below the time so far, is when that happened.
void ScopeGraph::FindFirstUses() {
  std::vector<int> entered(nodes_.size(), 0);
  std::vector<int> first_time(nodes_.size(), -1);
  std::vector<bool> pattern_vars;
  // Parents first.
  for (int i = size() - 1; i >= 0; --i) {
    const ExprNode* parent = node(i);
    const bool dataflow = IsDataflow(parent->kind());
    const auto* match = As<MatchNode>(i);
    if (match != nullptr) pattern_vars = PatternVars(match);
    const int num_binders = NumBinders(parent);
    any_let_ |= parent->kind() == ExprKind::kLet;
    int time = entered[i];
    int edge = index_.first_edge(i);
    int k = 0;
    for (const int child : children(i)) {
      if (child >= time) {
        entered[child] = time;
        time = child + 1;
      }
      Entry& entry = nodes_[child];
      // A pattern does not use its variables.
      const bool in_pattern = match != nullptr && pattern_vars[k];
      entry.bound |= in_pattern || k < num_binders;
      const int used = dataflow ? i : time;
      if (!in_pattern &&
          (entry.first_use < 0 || used < first_time[child] ||
           (used == first_time[child] && edge < entry.first_use))) {
        entry.first_use = edge;
        first_time[child] = used;
      }
      ++edge;
      ++k;
    }
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
    const absl::Span<const int> used = children(i);
    const int first = index_.first_edge(i);
    switch (ExprKindOf(node(i))) {
      case ExprKind::kFunction:
      case ExprKind::kLet:
        entry.first_opened = OpenScope(scope);
        for (size_t k = 0; k < used.size(); ++k) {
          Use(used[k], first + static_cast<int>(k), entry.first_opened);
        }
        break;
      case ExprKind::kIf:
        entry.first_opened = OpenScope(scope);
        OpenScope(scope);
        Use(used[0], first, scope);
        Use(used[1], first + 1, entry.first_opened);
        Use(used[2], first + 2, entry.first_opened + 1);
        break;
      case ExprKind::kMatch: {
        entry.first_opened = num_scopes();
        Use(used[0], first, scope);
        int k = 1;
        for (const Clause& clause : As<MatchNode>(i)->clauses()) {
          k += NumVars(clause);
          Use(used[k], first + k, OpenScope(scope));
          ++k;
        }
        break;
      }
      case ExprKind::kVar:
        if (!entry.bound && free_var_ == nullptr) free_var_ = As<VarNode>(i);
        continue;
      case ExprKind::kGlobalVar:
      case ExprKind::kConstructor:
      case ExprKind::kOp:
        continue;
      case ExprKind::kConstant:
      case ExprKind::kCall:
      case ExprKind::kTuple:
      case ExprKind::kTupleGetItem:
      case ExprKind::kRefCreate:
      case ExprKind::kRefRead:
      case ExprKind::kRefWrite:
        for (size_t k = 0; k < used.size(); ++k) {
          Use(used[k], first + static_cast<int>(k), scope);
        }
        break;
    }
    entry.lifted = scope != entry.first_use_scope;
    any_lifted_ |= entry.lifted;
  }
}

void ScopeGraph::Use(int child, int edge, int scope) {
  // Operators are in all scopes.
  if (index_.kind(child) == ExprKind::kOp) return;
  Entry& entry = nodes_[child];
  if (entry.first_use == edge) entry.first_use_scope = scope;
  entry.scope = entry.scope < 0 ? scope : CommonScope(entry.scope, scope);
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
