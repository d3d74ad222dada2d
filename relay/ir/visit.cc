#include "baton/relay/ir/visit.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "baton/base/hash_table.h"
#include "baton/ir/node_fields.h"
#include "baton/ir/node_map.h"
#include "baton/ir/node_rebuild.h"
#include "baton/ir/op.h"
#include "baton/ir/origin.h"
#include "baton/relay/ir/adt.h"
#include "baton/relay/ir/dispatch.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/node_kind.h"

namespace baton::relay {
namespace {

// The next step for a node on the stack of a depth-first walk.
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
    if (stop_at_let_value && node->kind() == ExprKind::kLet) {
      const auto* let = static_cast<const LetNode*>(node);
      Push(let->body().get(), Step::kEnter);
      Push(let, Step::kLetValue);
      Push(let->value().get(), Step::kEnter);
      Push(let->var().get(), Step::kEnter);
      return;
    }
    if (node->kind() == ExprKind::kCall) {
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

// The shared nodes that a walk has met. Operators of the registry, which every
// call shares, are marked by their index; all else is hashed.
class SeenNodes {
 public:
  // A node with one holder is met once.
  bool FirstTime(const ExprNode* node) {
    if (node->unique()) return true;
    if (node->kind() != ExprKind::kOp) return nodes_.Insert(node);
    const int index = static_cast<const OpNode*>(node)->index();
    if (index < 0) return nodes_.Insert(node);  // not in the registry
    const auto i = static_cast<size_t>(index);
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

// The walk behind every visitor. `first_time(node)` says whether a node is met
// for the first time; the walk goes on as long as `leave(node)` is true.
template <typename FirstTime, typename EnterFn, typename LeaveFn>
void Walk(const Expr& root, FirstTime&& first_time, EnterFn&& enter,
          LeaveFn&& leave) {
  if (!root.defined()) return;
  WalkStack stack(root.get());
  while (!stack.empty()) {
    const auto [node, step] = stack.Pop();
    if (step == Step::kLeave) {
      if (!leave(node)) return;
      continue;
    }
    if (!first_time(node)) continue;
    if (IsLeaf(node->kind()) || !enter(node)) {
      if (!leave(node)) return;
    } else {
      stack.PushLeaveAndChildren(node, /*stop_at_let_value=*/false);
    }
  }
}

size_t NumChildren(const ExprNode* node) {
  return DispatchExpr(
      node, [](const auto* n) { return NumChildrenOf(*n); },
      [](const ExprNode*) { return size_t{0}; });
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
      [&](const ExprNode* node) {
        fn(node);
        return true;
      });
}

std::vector<Var> BoundVars(const Expr& expr) {
  std::vector<Var> bound;
  SeenNodes seen;
  Walk(
      expr, [&](const ExprNode* node) { return seen.FirstTime(node); },
      [&](const ExprNode* node) {
        // On the way down: binders in the order in which they are read.
        if (node->kind() == ExprKind::kFunction) {
          const auto* function = static_cast<const FunctionNode*>(node);
          bound.insert(bound.end(), function->params().begin(),
                       function->params().end());
        } else if (node->kind() == ExprKind::kLet) {
          bound.push_back(static_cast<const LetNode*>(node)->var());
        } else if (node->kind() == ExprKind::kMatch) {
          for (const Clause& clause :
               static_cast<const MatchNode*>(node)->clauses()) {
            ForEachVar(clause.lhs.get(),
                       [&bound](const Var& var) { bound.push_back(var); });
          }
        }
        return true;
      },
      [](const ExprNode*) { return true; });
  return bound;
}

std::vector<Var> FreeVars(const Expr& expr) {
  std::vector<Var> used;
  PostOrderVisit(expr, [&](const ExprNode* node) {
    if (node->kind() == ExprKind::kVar) {
      used.push_back(Var(static_cast<const VarNode*>(node)));
    }
  });
  const std::vector<Var> bound = BoundVars(expr);
  const FlatHashSet<Var> is_bound(bound.begin(), bound.end());
  used.erase(
      std::remove_if(used.begin(), used.end(),
                     [&](const Var& var) { return is_bound.contains(var); }),
      used.end());
  return used;
}

absl::Status ExprVisitor::Visit(const Expr& root) {
  status_ = absl::OkStatus();
  Walk(
      root,
      [this](const ExprNode* node) {
        const auto [held, is_new] = seen_.TryEmplace(node);
        if (is_new) *held = Expr(node);
        return is_new;
      },
      [this](const ExprNode* node) { return ShouldEnter(node); },
      [this](const ExprNode* node) {
        Dispatch(node);
        return status_.ok();
      });
  return status_;
}

void ExprVisitor::Dispatch(const ExprNode* node) {
  switch (ExprKindOf(node)) {
#define BATON_VISIT(index, Name, sort) \
  case ExprKind::k##Name:              \
    return Visit##Name(static_cast<const Name##Node*>(node));
    BATON_RELAY_EXPRS(BATON_VISIT)
#undef BATON_VISIT
  }
}

void ExprMutator::Remember(const ExprNode* node, const Expr& result) {
  const auto [memo, is_new] = memo_.TryEmplace(node);
  if (is_new) *memo = {Expr(node), result};
  if (node->kind() == ExprKind::kOp) remembers_ops_ = true;
}

Expr ExprMutator::Fail(absl::Status error) {
  status_.Update(error);
  return {};
}

absl::Status ExprMutator::TakeError(const ExprNode* node) {
  if (!status_.ok()) return std::exchange(status_, absl::OkStatus());
  return absl::InternalError(absl::StrCat("the hook of an ExprMutator for a ",
                                          NodeKindName(node->kind()),
                                          " returned null"));
}

absl::StatusOr<Expr> ExprMutator::Mutate(const Expr& root) {
  if (!root.defined()) return root;
  if (const Result* memo = memo_.Find(root.get())) return memo->result;
  WalkStack stack(root.get());
  std::vector<Expr> results;
  results.reserve(16);
  const bool tells_origins = WantsOrigins();
  while (!stack.empty()) {
    const auto [node, step] = stack.Pop();
    if (step == Step::kLetValue) {
      const auto* let = static_cast<const LetNode*>(node);
      Expr replacement = AfterLetValue(let, results.back());
      if (!status_.ok()) return TakeError(let);
      if (replacement.defined()) {
        if (tells_origins) LogOrigins(replacement, let->var().get());
        memo_[let->var().get()] = {let->var(), std::move(replacement)};
      }
      continue;
    }
    if (step == Step::kLeave) {
      const size_t first = results.size() - NumChildren(node);
      Expr result = Dispatch(
          node,
          WithChildren(node, absl::MakeConstSpan(results).subspan(first)));
      if (!result.defined() || !status_.ok()) return TakeError(node);
      if (tells_origins) LogOrigins(result, node);  // while children are held
      results.resize(first);
      if (!node->unique()) Remember(node, result);
      results.push_back(std::move(result));
      continue;
    }
    // Every call shares its operator: those are seldom worth a look-up.
    if (!node->unique() && (node->kind() != ExprKind::kOp || remembers_ops_)) {
      if (const Result* memo = memo_.Find(node); memo != nullptr) {
        results.push_back(memo->result);
        continue;
      }
    }
    Expr result = Before(node);
    const bool is_leaf = IsLeaf(node->kind());
    if (is_leaf && !result.defined() && status_.ok()) {
      result = Dispatch(node, Expr(node));
      if (!result.defined()) return TakeError(node);
    }
    if (!status_.ok()) return TakeError(node);
    if (result.defined()) {
      if (tells_origins) LogOrigins(result, node);
      if (!node->unique() && (!is_leaf || result.get() != node)) {
        Remember(node, result);
      }
      results.push_back(std::move(result));
    } else {
      stack.PushLeaveAndChildren(node, /*stop_at_let_value=*/true);
    }
  }
  if (!IsLeaf(root->kind())) Remember(root.get(), results.back());
  return std::move(results.back());
}

absl::StatusOr<Function> ExprMutator::MutateFunction(const Function& function) {
  if (!function.defined()) return function;
  absl::StatusOr<Expr> result = Mutate(function);
  if (!result.ok()) return result.status();
  if (const auto* node = result->As<FunctionNode>()) return Function(node);
  return absl::InternalError(absl::StrCat("a function was replaced by a ",
                                          NodeKindName((*result)->kind())));
}

Expr ExprMutator::Dispatch(const ExprNode* original, Expr rebuilt) {
  switch (ExprKindOf(original)) {
// By sort: the hook of a leaf takes the leaf.
#define BATON_HOOK_kLeafExpr(Name) \
  return Visit##Name(MoveAs<Name>(std::move(rebuilt)))
#define BATON_HOOK_kExpr(Name)                                 \
  return Visit##Name(static_cast<const Name##Node*>(original), \
                     MoveAs<Name>(std::move(rebuilt)))
#define BATON_HOOK_kFunction(Name) BATON_HOOK_kExpr(Name)
#define BATON_HOOK(index, Name, sort) \
  case ExprKind::k##Name:             \
    BATON_HOOK_##sort(Name);
    BATON_RELAY_EXPRS(BATON_HOOK)
#undef BATON_HOOK
#undef BATON_HOOK_kLeafExpr
#undef BATON_HOOK_kExpr
#undef BATON_HOOK_kFunction
  }
  return rebuilt;
}

namespace {

template <typename N>
Expr WithChildrenOf(const N* node, absl::Span<const Expr> children) {
  bool changed = false;
  bool keep_type = node->type().defined();
  size_t i = 0;
  ForEachChildOf(*node, [&](const Expr& old_child) {
    const Expr& child = children[i++];
    if (child == old_child) return;
    changed = true;
    if (keep_type && !SameType(old_child.get(), child.get())) keep_type = false;
  });
  if (!changed) return Expr(node);
  return CopyWithChildren(*node, children, keep_type ? node->type() : Type());
}

}  // namespace

Expr WithChildren(const ExprNode* node, absl::Span<const Expr> children) {
  return DispatchExpr(
      node, [children](const auto* n) { return WithChildrenOf(n, children); },
      [](const ExprNode* other) { return Expr(other); });
}

Expr WithType(const Expr& expr, Type type) {
  if (expr->type() == type) return expr;
  return DispatchExpr(
      expr.get(),
      [&type](const auto* node) -> Expr {
        return CopyWithType(*node, std::move(type));
      },
      [](const ExprNode* other) { return Expr(other); });
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
  return *Substituter(values).Mutate(expr);  // no hook fails
}

}  // namespace baton::relay
