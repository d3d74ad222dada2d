#include "baton/instrument/node_matcher.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/hash_table.h"
#include "baton/base/tensor.h"
#include "baton/instrument/field_changes.h"
#include "baton/instrument/node_text.h"
#include "baton/ir/expr.h"
#include "baton/ir/node_kind.h"
#include "baton/relay/ir/adt.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/visit.h"

namespace baton::internal {

using relay::ExprKind;
using relay::FunctionNode;
using relay::Var;
using relay::VarNode;

void NodesOfBoth::Add(Side side, const ExprNode* root, int function) {
  // Nodes to visit, and whether their children have been.
  std::vector<std::pair<const ExprNode*, bool>> stack = {{root, false}};
  std::vector<const ExprNode*> children;
  std::vector<const ExprNode*> open;  // local functions that are under way
  while (!stack.empty()) {
    const auto [node, expanded] = stack.back();
    stack.pop_back();
    if (expanded) {
      if (!open.empty() && open.back() == node) open.pop_back();
      const int id = size();
      Entry entry;
      entry.node = node;
      entry.function = function;
      if (!open.empty()) entry.scope_node = open.back();
      entry.first_child = static_cast<int>(children_.size());
      relay::ForEachChild(node, [&](const Expr& child) {
        if (child.defined()) children_.push_back(*index_.Find(child.get()));
      });
      entry.num_children =
          static_cast<int>(children_.size()) - entry.first_child;
      nodes_.push_back(entry);
      *index_.TryEmplace(node).first = id;
      continue;
    }
    if (const int* known = index_.Find(node)) {
      if (side == kAfter && *known < num_before_) nodes_[*known].shared = true;
      continue;
    }
    stack.push_back({node, true});
    if (node != root && node->kind() == ExprKind::kFunction) {
      open.push_back(node);
    }
    children.clear();
    relay::ForEachChild(node, [&](const Expr& child) {
      if (child.defined()) children.push_back(child.get());
    });
    for (auto it = children.rbegin(); it != children.rend(); ++it) {
      stack.push_back({*it, false});
    }
  }
  if (side == kBefore) num_before_ = size();
}

void NodesOfBoth::Finish() {
  for (int id = num_before_ - 1; id >= 0; --id) {
    if (!shared(id)) continue;
    for (const int child : children(id)) nodes_[child].shared = true;
  }
  for (std::vector<int>& alias : alias_) {
    alias.resize(nodes_.size());
    for (int id = 0; id < size(); ++id) alias[id] = id;
  }
  FindWrappers(kBefore, 0, num_before_);
  FindWrappers(kAfter, num_before_, size());
}

void NodesOfBoth::FindWrappers(Side side, int begin, int end) {
  std::vector<int>& alias = alias_[side];
  // Uses of local functions.
  FlatHashMap<int, int> uses;
  for (int id = begin; id < end; ++id) {
    for (const int child : children(id)) {
      if (node(child)->kind() == ExprKind::kFunction) ++uses[child];
    }
  }
  for (int id = begin; id < end; ++id) {
    if (shared(id)) continue;
    if (node(id)->kind() == ExprKind::kLet) {
      nodes_[id].wrapper = true;
      alias[id] = children(id)[2];
      alias[children(id)[0]] = children(id)[1];
    } else if (const auto* call = As<relay::CallNode>(id)) {
      const auto* function = call->op().As<FunctionNode>();
      const int callee = function == nullptr ? kNone : Find(function);
      if (callee == kNone || shared(callee) || uses[callee] != 1 ||
          static_cast<size_t>(call->num_args()) != function->params().size()) {
        continue;
      }
      nodes_[id].wrapper = true;
      nodes_[callee].wrapper = true;
      alias[id] = children(callee).back();
      for (int i = 0; i < call->num_args(); ++i) {
        alias[children(callee)[i]] = children(id)[i + 1];
      }
    }
  }
}

int NodesOfBoth::Resolve(Side side, int id) {
  std::vector<int>& alias = alias_[side];
  int root = id;
  // A program that is not well-formed may bind a variable to itself.
  for (int steps = 0; alias[root] != root && steps < size(); ++steps) {
    root = alias[root];
  }
  while (alias[id] != root && alias[id] != id) {
    id = std::exchange(alias[id], root);
  }
  return root;
}

bool SameConstant(const ExprNode* a, const ExprNode* b) {
  if (a->kind() != ExprKind::kConstant || b->kind() != ExprKind::kConstant) {
    return false;
  }
  const Tensor& x = static_cast<const relay::ConstantNode*>(a)->value();
  const Tensor& y = static_cast<const relay::ConstantNode*>(b)->value();
  return x == y;
}

void NodeMatcher::MatchRoots(int before, int after) {
  roots_.push_back({before, after});
}

void NodeMatcher::Pair(int a, int b) {
  partner_[a] = b;
  partner_[b] = a;
  const auto* f = nodes_.As<FunctionNode>(a);
  const auto* g = nodes_.As<FunctionNode>(b);
  if (f == nullptr || g == nullptr) return;
  // Parameters: those that are the same node are shared, then by name, then by
  // position.
  const auto pair = [&](const Var& p, const Var& q) {
    const int x = nodes_.Find(p.get());
    const int y = nodes_.Find(q.get());
    if (x != y && Left(x) && Left(y)) {
      partner_[x] = y;
      partner_[y] = x;
    }
  };
  std::map<absl::string_view, const Var*> by_name;
  for (const Var& p : f->params()) by_name[p->name()] = &p;
  for (const Var& q : g->params()) {
    auto it = by_name.find(q->name());
    if (it != by_name.end()) pair(*it->second, q);
  }
  if (f->params().size() == g->params().size()) {
    for (size_t i = 0; i < f->params().size(); ++i) {
      pair(f->params()[i], g->params()[i]);
    }
  }
}

void NodeMatcher::MatchGlobals() {
  FlatHashMap<std::string, int> by_name;
  for (int id = 0; id < nodes_.size(); ++id) {
    if (nodes_.shared(id)) continue;
    std::string name = NameOfGlobal(nodes_.node(id));
    if (name.empty()) continue;
    if (id < nodes_.num_before()) {
      by_name.emplace(std::move(name), id);
    } else if (auto it = by_name.find(name); it != by_name.end()) {
      if (Left(it->second)) Pair(it->second, id);
    }
  }
}

bool NodeMatcher::Alike(int a, int b, bool exact) {
  const ExprNode* x = nodes_.node(a);
  const ExprNode* y = nodes_.node(b);
  if (x->kind() != y->kind() || IsLeaf(x->kind())) return false;
  if (const auto* call = Expr(x).As<relay::CallNode>()) {
    const auto* other = static_cast<const relay::CallNode*>(y);
    const bool named = IsLeaf(call->op()->kind());
    if (named != IsLeaf(other->op()->kind())) return false;
    if (named && !SameOperand(Operand(a, 0), Operand(b, 0))) return false;
    if (exact && call->num_args() != other->num_args()) return false;
  } else if (exact && nodes_.children(a).size() != nodes_.children(b).size()) {
    return false;
  }
  return !exact || CompareFields(x, y).empty();
}

bool NodeMatcher::Try(int b, Effort effort) {
  const absl::Span<const int> operands = nodes_.children(b);
  // The search starts at the operand with the fewest users.
  int start = kNone;
  int fewest = 0;
  for (size_t i = 0; i < operands.size(); ++i) {
    const int operand = Operand(b, static_cast<int>(i));
    const int base = effort == kNear ? Near(operand) : partner(operand);
    if (base == kNone || !NameOfGlobal(nodes_.node(base)).empty()) continue;
    const int from =
        SideOf(base) == NodesOfBoth::kBefore ? base : partner(base);
    const int count = first_user_[from + 1] - first_user_[from];
    if (start == kNone || count < fewest) {
      start = from;
      fewest = count;
    }
  }
  if (start == kNone) return false;
  int best = kNone;
  int best_score = 0;
  int seen = 0;
  std::vector<int> level = {start};
  for (int depth = 0; depth < (effort == kNear ? kMostLevels : 1); ++depth) {
    std::vector<int> next;
    for (const int base : level) {
      for (int u = first_user_[base]; u < first_user_[base + 1]; ++u) {
        const int a = users_[u];
        if (!Left(a) || nodes_.is_wrapper(a)) continue;
        if (++seen > kMostCandidates) break;
        next.push_back(a);
        if (!Alike(a, b, effort != kNear)) continue;
        const absl::Span<const int> others = nodes_.children(a);
        int score = 0;
        bool all = others.size() == operands.size();
        for (size_t i = 0; i < std::min(others.size(), operands.size()); ++i) {
          const int x = Operand(a, static_cast<int>(i));
          const int y = Operand(b, static_cast<int>(i));
          if (SameOperand(x, y)) {
            score += 4;
          } else {
            all = false;
            if (effort == kNear && Near(y) != kNone &&
                (Near(x) == Near(y) || partner(Near(y)) == Near(x))) {
              score += 2;
            }
          }
        }
        if (effort == kExact && !all) continue;
        if (effort == kNear && depth == 0) ++score;
        if (score > best_score) {
          best = a;
          best_score = score;
        }
      }
    }
    level = std::move(next);
  }
  if (best == kNone) return false;
  Pair(best, b);
  return true;
}

void NodeMatcher::Sweep(Effort effort) {
  near_.assign(static_cast<size_t>(nodes_.size()), kNone);
  const auto set_near = [this](int id) {
    if (partner(id) != kNone) {
      near_[id] = id;
      return;
    }
    const absl::Span<const int> children = nodes_.children(id);
    for (size_t i = 0; i < children.size() && near_[id] == kNone; ++i) {
      const int operand = Operand(id, static_cast<int>(i));
      if (!NameOfGlobal(nodes_.node(operand)).empty()) continue;
      near_[id] = near_[operand];
    }
  };
  if (effort == kNear) {
    for (int id = 0; id < nodes_.num_before(); ++id) set_near(id);
  }
  for (int b = nodes_.num_before(); b < nodes_.size(); ++b) {
    if (Left(b) && !nodes_.is_wrapper(b) && !IsLeaf(nodes_.node(b)->kind())) {
      Try(b, kExact) || (effort >= kPartial && Try(b, kPartial)) ||
          (effort >= kNear && Try(b, kNear));
    }
    if (effort == kNear) set_near(b);
  }
}

void NodeMatcher::SweepDown() {
  // Users first: what stands at one place in both.
  for (int b = nodes_.size() - 1; b >= nodes_.num_before(); --b) {
    const int a = partner_[b];
    if (a == kNone) continue;
    const absl::Span<const int> x = nodes_.children(a);
    const absl::Span<const int> y = nodes_.children(b);
    // For functions, only the bodies, which follow the parameters.
    const bool is_function = nodes_.As<FunctionNode>(a) != nullptr;
    for (size_t i = is_function ? x.size() - 1 : 0; i < x.size(); ++i) {
      const size_t j = is_function ? y.size() - 1 : i;
      if (j >= y.size()) break;
      for (const auto& [c, d] : {std::pair(Operand(a, static_cast<int>(i)),
                                           Operand(b, static_cast<int>(j))),
                                 std::pair(x[i], y[j])}) {
        if (c == d || !Left(c) || !Left(d)) continue;
        if (c >= nodes_.num_before() || d < nodes_.num_before()) continue;
        if (nodes_.is_wrapper(c) != nodes_.is_wrapper(d)) continue;
        if (Alike(c, d, /*exact=*/false)) Pair(c, d);
      }
      // Variables of patterns.
      if (nodes_.As<relay::MatchNode>(a) != nullptr &&
          nodes_.As<VarNode>(x[i]) && nodes_.As<VarNode>(y[j]) &&
          x[i] != y[j] && Left(x[i]) && Left(y[j])) {
        Pair(x[i], y[j]);
      }
    }
  }
}

void NodeMatcher::MatchWrappers() {
  // A wrapper is the one that wraps the same value; functions, whose values are
  // those of their calls, go with these.
  FlatHashMap<int, std::vector<int>> wrappers;  // by value, those of `before`
  const auto value = [this](int id) {
    return nodes_.node(id)->kind() == ExprKind::kLet
               ? Operand(id, 1)
               : nodes_.Resolve(SideOf(id), id);
  };
  for (int id = nodes_.num_before() - 1; id >= 0; --id) {
    if (nodes_.is_wrapper(id) && Left(id) &&
        nodes_.node(id)->kind() != ExprKind::kFunction) {
      wrappers[value(id)].push_back(id);
    }
  }
  for (int b = nodes_.num_before(); b < nodes_.size(); ++b) {
    if (!nodes_.is_wrapper(b) || !Left(b)) continue;
    const int wrapped = partner(value(b));
    const auto it = wrappers.find(wrapped);
    if (wrapped == kNone || it == wrappers.end()) continue;
    while (!it->second.empty()) {
      const int a = it->second.back();
      if (!Left(a)) {
        it->second.pop_back();
        continue;
      }
      if (nodes_.node(a)->kind() != nodes_.node(b)->kind()) break;
      it->second.pop_back();
      Pair(a, b);
      if (nodes_.node(a)->kind() == ExprKind::kCall) {
        const int f = nodes_.children(a)[0];
        const int g = nodes_.children(b)[0];
        if (f != g && Left(f) && Left(g)) Pair(f, g);
      }
      break;
    }
  }
}

void NodeMatcher::Run() {
  partner_.assign(static_cast<size_t>(nodes_.size()), kNone);
  MatchGlobals();
  for (const auto& [a, b] : roots_) {
    if (Left(a) && Left(b)) Pair(a, b);
  }
  // The users of what `before` has.
  first_user_.assign(static_cast<size_t>(nodes_.num_before()) + 2, 0);
  for (const bool count : {true, false}) {
    for (int a = 0; a < nodes_.num_before(); ++a) {
      if (nodes_.shared(a) || nodes_.is_wrapper(a)) continue;
      int last = kNone;
      for (size_t i = 0; i < nodes_.children(a).size(); ++i) {
        const int operand = Operand(a, static_cast<int>(i));
        if (operand == last) continue;
        last = operand;
        if (count) {
          ++first_user_[operand + 2];
        } else {
          users_[first_user_[operand + 1]++] = a;
        }
      }
    }
    if (count) {
      for (size_t i = 2; i < first_user_.size(); ++i) {
        first_user_[i] += first_user_[i - 1];
      }
      users_.resize(static_cast<size_t>(first_user_.back()));
    }
  }
  Sweep(kExact);
  Sweep(kPartial);
  Sweep(kNear);
  SweepDown();
  Sweep(kNear);
  MatchWrappers();
}

}  // namespace baton::internal
