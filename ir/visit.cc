#include "baton/ir/visit.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "baton/ir/adt.h"
#include "baton/ir/expr.h"
#include "baton/ir/op.h"

namespace baton {
namespace {

bool IsLeaf(const ExprNode* node) {
  switch (node->kind()) {
    case NodeKind::kVar:
    case NodeKind::kGlobalVar:
    case NodeKind::kConstant:
    case NodeKind::kConstructor:
    case NodeKind::kOp:
      return true;
    default:
      return false;
  }
}

// What to do with a node on the stack of a depth-first walk.
enum class Step : uintptr_t {
  kEnter = 0,
  kLeave = 1,     // all children have been walked
  kLetValue = 2,  // the value of a let has been walked, its body comes next
};

// The stack of a depth-first walk.
class WalkStack {
 public:
  explicit WalkStack(const ExprNode* root) { Push(root, Step::kEnter); }

  bool empty() const { return items_.empty(); }

  struct Item {
    const ExprNode* node;
    Step step;
  };
  Item Pop() {
    const uintptr_t item = items_.back();
    items_.pop_back();
    return {reinterpret_cast<const ExprNode*>(item & ~kStepMask),
            static_cast<Step>(item & kStepMask)};
  }

  // Arranges that the children of `node` are entered next, first child first,
  // and that `node` is left after them.
  void PushLeaveAndChildren(const ExprNode* node, bool stop_at_let_value) {
    Push(node, Step::kLeave);
    if (stop_at_let_value && node->kind() == NodeKind::kLet) {
      const auto* let = static_cast<const LetNode*>(node);
      Push(let->body().get(), Step::kEnter);
      Push(let, Step::kLetValue);
      Push(let->value().get(), Step::kEnter);
      Push(let->var().get(), Step::kEnter);
      return;
    }
    const size_t first = items_.size();
    ForEachChild(
        node, [this](const Expr& child) { Push(child.get(), Step::kEnter); });
    std::reverse(items_.begin() + static_cast<ptrdiff_t>(first), items_.end());
  }

 private:
  static constexpr uintptr_t kStepMask = 3;
  void Push(const ExprNode* node, Step step) {
    items_.push_back(reinterpret_cast<uintptr_t>(node) |
                     static_cast<uintptr_t>(step));
  }
  absl::InlinedVector<uintptr_t, 64> items_;
};

// The walk behind every visitor. `first_time(node)` says whether a shared node
// is met for the first time.
template <typename FirstTime, typename EnterFn, typename LeaveFn>
void Walk(const Expr& root, FirstTime&& first_time, EnterFn&& enter,
          LeaveFn&& leave) {
  if (!root.defined()) return;
  WalkStack stack(root.get());
  while (!stack.empty()) {
    const auto [node, step] = stack.Pop();
    if (step == Step::kLeave) {
      leave(node);
      continue;
    }
    if (!node->unique() && !first_time(node)) continue;
    if (IsLeaf(node) || !enter(node)) {
      leave(node);
    } else {
      stack.PushLeaveAndChildren(node, /*stop_at_let_value=*/false);
    }
  }
}

bool SameType(const ExprNode* a, const ExprNode* b) {
  return a == b || (a->type().defined() && TypeEqual(a->type(), b->type()));
}

}  // namespace

void PostOrderVisit(const Expr& root,
                    absl::FunctionRef<void(const ExprNode*)> fn) {
  absl::flat_hash_set<const ExprNode*> seen;
  Walk(
      root, [&](const ExprNode* node) { return seen.insert(node).second; },
      [](const ExprNode*) { return true; }, fn);
}

void PostOrderVisit(const Expr& root,
                    absl::FunctionRef<bool(const ExprNode*)> enter,
                    absl::FunctionRef<void(const ExprNode*)> fn) {
  absl::flat_hash_set<const ExprNode*> seen;
  Walk(
      root, [&](const ExprNode* node) { return seen.insert(node).second; },
      enter, fn);
}

std::vector<Var> BoundVars(const Expr& expr) {
  std::vector<Var> bound;
  absl::flat_hash_set<const ExprNode*> seen;
  Walk(
      expr, [&](const ExprNode* node) { return seen.insert(node).second; },
      [&](const ExprNode* node) {
        // On the way down: binders in the order in which they are read.
        if (node->kind() == NodeKind::kFunction) {
          const auto* function = static_cast<const FunctionNode*>(node);
          bound.insert(bound.end(), function->params().begin(),
                       function->params().end());
        } else if (node->kind() == NodeKind::kLet) {
          bound.push_back(static_cast<const LetNode*>(node)->var());
        } else if (node->kind() == NodeKind::kMatch) {
          for (const Clause& clause :
               static_cast<const MatchNode*>(node)->clauses()) {
            ForEachVar(clause.lhs.get(),
                       [&bound](const Var& var) { bound.push_back(var); });
          }
        }
        return true;
      },
      [](const ExprNode*) {});
  return bound;
}

std::vector<Var> FreeVars(const Expr& expr) {
  std::vector<Var> used;
  PostOrderVisit(expr, [&](const ExprNode* node) {
    if (node->kind() == NodeKind::kVar) {
      used.push_back(Var(static_cast<const VarNode*>(node)));
    }
  });
  const std::vector<Var> bound = BoundVars(expr);
  const absl::flat_hash_set<Var> is_bound(bound.begin(), bound.end());
  used.erase(
      std::remove_if(used.begin(), used.end(),
                     [&](const Var& var) { return is_bound.contains(var); }),
      used.end());
  return used;
}

void ExprVisitor::Visit(const Expr& root) {
  Walk(
      root,
      [this](const ExprNode* node) { return seen_.insert(Expr(node)).second; },
      [this](const ExprNode* node) { return ShouldEnter(node); },
      [this](const ExprNode* node) { Dispatch(node); });
}

void ExprVisitor::Dispatch(const ExprNode* node) {
  switch (node->kind()) {
    case NodeKind::kVar:
      return VisitVar(static_cast<const VarNode*>(node));
    case NodeKind::kGlobalVar:
      return VisitGlobalVar(static_cast<const GlobalVarNode*>(node));
    case NodeKind::kConstant:
      return VisitConstant(static_cast<const ConstantNode*>(node));
    case NodeKind::kCall:
      return VisitCall(static_cast<const CallNode*>(node));
    case NodeKind::kTuple:
      return VisitTuple(static_cast<const TupleNode*>(node));
    case NodeKind::kTupleGetItem:
      return VisitTupleGetItem(static_cast<const TupleGetItemNode*>(node));
    case NodeKind::kFunction:
      return VisitFunction(static_cast<const FunctionNode*>(node));
    case NodeKind::kLet:
      return VisitLet(static_cast<const LetNode*>(node));
    case NodeKind::kIf:
      return VisitIf(static_cast<const IfNode*>(node));
    case NodeKind::kRefCreate:
      return VisitRefCreate(static_cast<const RefCreateNode*>(node));
    case NodeKind::kRefRead:
      return VisitRefRead(static_cast<const RefReadNode*>(node));
    case NodeKind::kRefWrite:
      return VisitRefWrite(static_cast<const RefWriteNode*>(node));
    case NodeKind::kMatch:
      return VisitMatch(static_cast<const MatchNode*>(node));
    case NodeKind::kConstructor:
      return VisitConstructor(static_cast<const ConstructorNode*>(node));
    case NodeKind::kOp:
      return VisitOp(static_cast<const OpNode*>(node));
    default:
      return;
  }
}

void ExprMutator::Remember(const ExprNode* node, const Expr& result) {
  if (!node->unique()) memo_.emplace(Expr(node), result);
}

Expr ExprMutator::Mutate(const Expr& root) {
  if (!root.defined()) return root;
  WalkStack stack(root.get());
  std::vector<Expr> results;
  while (!stack.empty()) {
    const auto [node, step] = stack.Pop();
    if (step == Step::kLetValue) {
      const auto* let = static_cast<const LetNode*>(node);
      Expr replacement = AfterLetValue(let, results.back());
      if (replacement.defined()) {
        memo_.insert_or_assign(let->var(), std::move(replacement));
      }
      continue;
    }
    if (step == Step::kLeave) {
      size_t num_children = 0;
      ForEachChild(node, [&](const Expr&) { ++num_children; });
      const size_t first = results.size() - num_children;
      Expr result = Dispatch(
          node,
          WithChildren(node, absl::MakeConstSpan(results).subspan(first)));
      results.resize(first);
      Remember(node, result);
      results.push_back(std::move(result));
      continue;
    }
    if (!node->unique()) {
      const auto it = memo_.find(Expr(node));
      if (it != memo_.end()) {
        results.push_back(it->second);
        continue;
      }
    }
    Expr result = Before(node);
    if (!result.defined() && IsLeaf(node)) result = Dispatch(node, Expr(node));
    if (result.defined()) {
      Remember(node, result);
      results.push_back(std::move(result));
    } else {
      stack.PushLeaveAndChildren(node, /*stop_at_let_value=*/true);
    }
  }
  return results.back();
}

Function ExprMutator::MutateFunction(const Function& function) {
  const Expr result = Mutate(function);
  const auto* node = result.As<FunctionNode>();
  return node == nullptr ? Function() : Function(node);
}

Expr ExprMutator::Dispatch(const ExprNode* original, Expr rebuilt) {
  const ExprNode* node = rebuilt.get();
  switch (original->kind()) {
    case NodeKind::kVar:
      return VisitVar(Var(static_cast<const VarNode*>(node)));
    case NodeKind::kGlobalVar:
      return VisitGlobalVar(GlobalVar(static_cast<const GlobalVarNode*>(node)));
    case NodeKind::kConstant:
      return VisitConstant(Constant(static_cast<const ConstantNode*>(node)));
    case NodeKind::kOp:
      return VisitOp(Op(static_cast<const OpNode*>(node)));
    case NodeKind::kCall:
      return VisitCall(static_cast<const CallNode*>(original),
                       Call(static_cast<const CallNode*>(node)));
    case NodeKind::kTuple:
      return VisitTuple(static_cast<const TupleNode*>(original),
                        Tuple(static_cast<const TupleNode*>(node)));
    case NodeKind::kTupleGetItem:
      return VisitTupleGetItem(
          static_cast<const TupleGetItemNode*>(original),
          TupleGetItem(static_cast<const TupleGetItemNode*>(node)));
    case NodeKind::kFunction:
      return VisitFunction(static_cast<const FunctionNode*>(original),
                           Function(static_cast<const FunctionNode*>(node)));
    case NodeKind::kLet:
      return VisitLet(static_cast<const LetNode*>(original),
                      Let(static_cast<const LetNode*>(node)));
    case NodeKind::kIf:
      return VisitIf(static_cast<const IfNode*>(original),
                     If(static_cast<const IfNode*>(node)));
    case NodeKind::kRefCreate:
      return VisitRefCreate(static_cast<const RefCreateNode*>(original),
                            RefCreate(static_cast<const RefCreateNode*>(node)));
    case NodeKind::kRefRead:
      return VisitRefRead(static_cast<const RefReadNode*>(original),
                          RefRead(static_cast<const RefReadNode*>(node)));
    case NodeKind::kRefWrite:
      return VisitRefWrite(static_cast<const RefWriteNode*>(original),
                           RefWrite(static_cast<const RefWriteNode*>(node)));
    case NodeKind::kMatch:
      return VisitMatch(static_cast<const MatchNode*>(original),
                        Match(static_cast<const MatchNode*>(node)));
    case NodeKind::kConstructor:
      return VisitConstructor(
          Constructor(static_cast<const ConstructorNode*>(node)));
    default:
      return rebuilt;
  }
}

Expr WithChildren(const ExprNode* node, absl::Span<const Expr> children) {
  bool changed = false;
  bool keep_type = node->type().defined();
  size_t i = 0;
  ForEachChild(node, [&](const Expr& old_child) {
    const Expr& child = children[i++];
    if (child == old_child) return;
    changed = true;
    if (keep_type && !SameType(old_child.get(), child.get())) keep_type = false;
  });
  if (!changed) return Expr(node);
  const Type type = keep_type ? node->type() : Type();
  switch (node->kind()) {
    case NodeKind::kCall: {
      const auto* call = static_cast<const CallNode*>(node);
      return Call(children[0], children.subspan(1), call->attrs(),
                  {call->type_args().begin(), call->type_args().end()}, type,
                  call->span());
    }
    case NodeKind::kTuple:
      return Tuple({children.begin(), children.end()}, type, node->span());
    case NodeKind::kTupleGetItem:
      return TupleGetItem(children[0],
                          static_cast<const TupleGetItemNode*>(node)->index(),
                          type, node->span());
    case NodeKind::kFunction: {
      const auto* function = static_cast<const FunctionNode*>(node);
      std::vector<Var> params;
      params.reserve(function->params().size());
      for (size_t p = 0; p < function->params().size(); ++p) {
        const auto* var = children[p].As<VarNode>();
        params.push_back(var != nullptr ? Var(var) : function->params()[p]);
      }
      return Function(
          std::move(params), children.back(), function->result_type(),
          {function->type_params().begin(), function->type_params().end()},
          function->attrs(), type, node->span());
    }
    case NodeKind::kLet: {
      const auto* let = static_cast<const LetNode*>(node);
      const auto* var = children[0].As<VarNode>();
      return Let(var != nullptr ? Var(var) : let->var(), children[1],
                 children[2], type, node->span());
    }
    case NodeKind::kIf:
      return If(children[0], children[1], children[2], type, node->span());
    case NodeKind::kRefCreate:
      return RefCreate(children[0], type, node->span());
    case NodeKind::kRefRead:
      return RefRead(children[0], type, node->span());
    case NodeKind::kRefWrite:
      return RefWrite(children[0], children[1], type, node->span());
    case NodeKind::kMatch: {
      const auto* match = static_cast<const MatchNode*>(node);
      std::vector<Clause> clauses;
      clauses.reserve(match->clauses().size());
      size_t next = 1;
      std::vector<Var> vars;
      for (const Clause& clause : match->clauses()) {
        vars.clear();
        ForEachVar(clause.lhs.get(), [&](const Var& old_var) {
          const auto* var = children[next++].As<VarNode>();
          vars.push_back(var != nullptr ? Var(var) : old_var);
        });
        absl::Span<const Var> rest = vars;
        clauses.push_back(
            {WithVars(clause.lhs.get(), &rest), children[next++]});
      }
      return Match(children[0], std::move(clauses), match->complete(), type,
                   node->span());
    }
    default:
      return Expr(node);
  }
}

Expr WithType(const Expr& expr, Type type) {
  if (expr->type() == type) return expr;
  switch (expr->kind()) {
    case NodeKind::kVar: {
      const auto* n = expr.As<VarNode>();
      return Var(
          new VarNode(n->name(), n->annotation(), std::move(type), n->span()));
    }
    case NodeKind::kGlobalVar: {
      const auto* n = expr.As<GlobalVarNode>();
      return GlobalVar(n->name(), std::move(type), n->span());
    }
    case NodeKind::kConstant: {
      const auto* n = expr.As<ConstantNode>();
      return Constant(n->value(), std::move(type), n->span());
    }
    case NodeKind::kCall: {
      const auto* n = expr.As<CallNode>();
      return Call(n->op(), n->args(), n->attrs(),
                  {n->type_args().begin(), n->type_args().end()},
                  std::move(type), n->span());
    }
    case NodeKind::kTuple: {
      const auto* n = expr.As<TupleNode>();
      return Tuple({n->fields().begin(), n->fields().end()}, std::move(type),
                   n->span());
    }
    case NodeKind::kTupleGetItem: {
      const auto* n = expr.As<TupleGetItemNode>();
      return TupleGetItem(n->tuple(), n->index(), std::move(type), n->span());
    }
    case NodeKind::kFunction: {
      const auto* n = expr.As<FunctionNode>();
      return Function({n->params().begin(), n->params().end()}, n->body(),
                      n->result_type(),
                      {n->type_params().begin(), n->type_params().end()},
                      n->attrs(), std::move(type), n->span());
    }
    case NodeKind::kLet: {
      const auto* n = expr.As<LetNode>();
      return Let(n->var(), n->value(), n->body(), std::move(type), n->span());
    }
    case NodeKind::kIf: {
      const auto* n = expr.As<IfNode>();
      return If(n->cond(), n->true_branch(), n->false_branch(), std::move(type),
                n->span());
    }
    case NodeKind::kRefCreate: {
      const auto* n = expr.As<RefCreateNode>();
      return RefCreate(n->value(), std::move(type), n->span());
    }
    case NodeKind::kRefRead: {
      const auto* n = expr.As<RefReadNode>();
      return RefRead(n->ref(), std::move(type), n->span());
    }
    case NodeKind::kRefWrite: {
      const auto* n = expr.As<RefWriteNode>();
      return RefWrite(n->ref(), n->value(), std::move(type), n->span());
    }
    case NodeKind::kMatch: {
      const auto* n = expr.As<MatchNode>();
      return Match(n->data(), {n->clauses().begin(), n->clauses().end()},
                   n->complete(), std::move(type), n->span());
    }
    default:
      return expr;
  }
}

namespace {

class Substituter : public ExprMutator {
 public:
  explicit Substituter(const absl::flat_hash_map<const VarNode*, Expr>& values)
      : values_(values) {}

 protected:
  Expr VisitVar(const Var& var) override {
    const auto it = values_.find(var.get());
    return it == values_.end() ? Expr(var) : it->second;
  }

 private:
  const absl::flat_hash_map<const VarNode*, Expr>& values_;
};

}  // namespace

Expr Substitute(const Expr& expr,
                const absl::flat_hash_map<const VarNode*, Expr>& values) {
  if (values.empty()) return expr;
  return Substituter(values).Mutate(expr);
}

}  // namespace baton
