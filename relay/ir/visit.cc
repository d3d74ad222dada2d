#include "baton/relay/ir/visit.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "baton/ir/node_map.h"
#include "baton/ir/op.h"
#include "baton/relay/ir/adt.h"
#include "baton/relay/ir/expr.h"

namespace baton {
namespace {

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
    if (node->kind() == NodeKind::kCall) {
      const auto* call = static_cast<const CallNode*>(node);
      const absl::Span<const Expr> args = call->args();
      for (size_t i = args.size(); i-- > 0;) {
        Push(args[i].get(), Step::kEnter);
      }
      Push(call->op().get(), Step::kEnter);
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

// The shared nodes that a walk has met. Operators, which every call shares,
// are marked by their index; all else is hashed.
class SeenNodes {
 public:
  bool FirstTime(const ExprNode* node) {
    if (node->kind() != NodeKind::kOp) return nodes_.Insert(node);
    const auto i =
        static_cast<size_t>(static_cast<const OpNode*>(node)->index());
    if (i / 64 >= ops_.size()) ops_.resize(i / 64 + 1);
    uint64_t& word = ops_[i / 64];
    const uint64_t bit = uint64_t{1} << (i % 64);
    if ((word & bit) != 0) return false;
    word |= bit;
    return true;
  }

 private:
  NodeSet nodes_;
  absl::InlinedVector<uint64_t, 8> ops_;
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
    if (IsLeaf(node->kind()) || !enter(node)) {
      leave(node);
    } else {
      stack.PushLeaveAndChildren(node, /*stop_at_let_value=*/false);
    }
  }
}

size_t NumChildren(const ExprNode* node) {
  if (node->kind() == NodeKind::kCall) {
    return static_cast<size_t>(static_cast<const CallNode*>(node)->num_args()) +
           1;
  }
  size_t count = 0;
  ForEachChild(node, [&count](const Expr&) { ++count; });
  return count;
}

bool SameType(const ExprNode* a, const ExprNode* b) {
  return a == b || (a->type().defined() && TypeEqual(a->type(), b->type()));
}

}  // namespace

void PostOrderVisit(const Expr& root,
                    absl::FunctionRef<void(const ExprNode*)> fn) {
  PostOrderVisit(
      root, [](const ExprNode*) { return true; }, fn);
}

void PostOrderVisit(const Expr& root,
                    absl::FunctionRef<bool(const ExprNode*)> enter,
                    absl::FunctionRef<void(const ExprNode*)> fn) {
  SeenNodes seen;
  Walk(
      root, [&](const ExprNode* node) { return seen.FirstTime(node); }, enter,
      fn);
}

std::vector<Var> BoundVars(const Expr& expr) {
  std::vector<Var> bound;
  SeenNodes seen;
  Walk(
      expr, [&](const ExprNode* node) { return seen.FirstTime(node); },
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
      [this](const ExprNode* node) {
        const auto [held, is_new] = seen_.TryEmplace(node);
        if (is_new) *held = Expr(node);
        return is_new;
      },
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
  if (node->unique()) return;
  const auto [memo, is_new] = memo_.TryEmplace(node);
  if (is_new) *memo = {Expr(node), result};
  if (node->kind() == NodeKind::kOp) remembers_ops_ = true;
}

Expr ExprMutator::Mutate(const Expr& root) {
  if (!root.defined()) return root;
  WalkStack stack(root.get());
  std::vector<Expr> results;
  results.reserve(16);
  while (!stack.empty()) {
    const auto [node, step] = stack.Pop();
    if (step == Step::kLetValue) {
      const auto* let = static_cast<const LetNode*>(node);
      Expr replacement = AfterLetValue(let, results.back());
      if (replacement.defined()) {
        memo_[let->var().get()] = {let->var(), std::move(replacement)};
      }
      continue;
    }
    if (step == Step::kLeave) {
      const size_t first = results.size() - NumChildren(node);
      Expr result = Dispatch(
          node,
          WithChildren(node, absl::MakeConstSpan(results).subspan(first)));
      results.resize(first);
      Remember(node, result);
      results.push_back(std::move(result));
      continue;
    }
    // Every call shares its operator: those are seldom worth a look-up.
    if (!node->unique() && (node->kind() != NodeKind::kOp || remembers_ops_)) {
      if (const Result* memo = memo_.Find(node); memo != nullptr) {
        results.push_back(memo->result);
        continue;
      }
    }
    Expr result = Before(node);
    const bool is_leaf = IsLeaf(node->kind());
    if (is_leaf && !result.defined()) result = Dispatch(node, Expr(node));
    if (result.defined()) {
      if (!is_leaf || result.get() != node) Remember(node, result);
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
  switch (original->kind()) {
    case NodeKind::kVar:
      return VisitVar(MoveAs<Var>(std::move(rebuilt)));
    case NodeKind::kGlobalVar:
      return VisitGlobalVar(MoveAs<GlobalVar>(std::move(rebuilt)));
    case NodeKind::kConstant:
      return VisitConstant(MoveAs<Constant>(std::move(rebuilt)));
    case NodeKind::kOp:
      return VisitOp(MoveAs<Op>(std::move(rebuilt)));
    case NodeKind::kConstructor:
      return VisitConstructor(MoveAs<Constructor>(std::move(rebuilt)));
    case NodeKind::kCall:
      return VisitCall(static_cast<const CallNode*>(original),
                       MoveAs<Call>(std::move(rebuilt)));
    case NodeKind::kTuple:
      return VisitTuple(static_cast<const TupleNode*>(original),
                        MoveAs<Tuple>(std::move(rebuilt)));
    case NodeKind::kTupleGetItem:
      return VisitTupleGetItem(static_cast<const TupleGetItemNode*>(original),
                               MoveAs<TupleGetItem>(std::move(rebuilt)));
    case NodeKind::kFunction:
      return VisitFunction(static_cast<const FunctionNode*>(original),
                           MoveAs<Function>(std::move(rebuilt)));
    case NodeKind::kLet:
      return VisitLet(static_cast<const LetNode*>(original),
                      MoveAs<Let>(std::move(rebuilt)));
    case NodeKind::kIf:
      return VisitIf(static_cast<const IfNode*>(original),
                     MoveAs<If>(std::move(rebuilt)));
    case NodeKind::kRefCreate:
      return VisitRefCreate(static_cast<const RefCreateNode*>(original),
                            MoveAs<RefCreate>(std::move(rebuilt)));
    case NodeKind::kRefRead:
      return VisitRefRead(static_cast<const RefReadNode*>(original),
                          MoveAs<RefRead>(std::move(rebuilt)));
    case NodeKind::kRefWrite:
      return VisitRefWrite(static_cast<const RefWriteNode*>(original),
                           MoveAs<RefWrite>(std::move(rebuilt)));
    case NodeKind::kMatch:
      return VisitMatch(static_cast<const MatchNode*>(original),
                        MoveAs<Match>(std::move(rebuilt)));
    default:
      return rebuilt;
  }
}

Expr WithChildren(const ExprNode* node, absl::Span<const Expr> children) {
  // The usual case, quickly.
  if (node->kind() == NodeKind::kCall) {
    const auto* call = static_cast<const CallNode*>(node);
    if (call->op() == children[0] && call->args() == children.subspan(1)) {
      return Expr(node);
    }
  }
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
