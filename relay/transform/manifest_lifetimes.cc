#include "baton/relay/transform/manifest_lifetimes.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "baton/base/hash_table.h"
#include "baton/base/status_macros.h"
#include "baton/ir/module.h"
#include "baton/ir/op.h"
#include "baton/ir/origin.h"
#include "baton/relay/analysis/graph_queries.h"
#include "baton/relay/analysis/indexed_graph.h"
#include "baton/relay/ir/adt.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/visit.h"
#include "baton/relay/op/device/on_device.h"
#include "baton/relay/transform/function_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton::relay {
namespace {

// Puts variables in the place of those that are bound to them.
class AliasEliminator final : public ExprMutator {
 protected:
  Expr AfterLetValue(const LetNode* /*let*/, const Expr& value) override {
    const Expr& alias = IgnoringOnDevice(value);
    return alias.Is<VarNode>() ? alias : Expr();
  }
  Expr VisitLet(const LetNode* /*original*/, Let let) override {
    if (IgnoringOnDevice(let->value()).Is<VarNode>()) return let->body();
    return let;
  }
};

// The variables in functions inside of `root`, which may outlive the names that
// they had when the function was made.
FlatHashSet<const ExprNode*> CapturedVars(const Expr& root) {
  std::vector<const ExprNode*> functions;
  PostOrderVisit(root, [&](const ExprNode* node) {
    if (node->kind() == ExprKind::kFunction) functions.push_back(node);
  });
  FlatHashSet<const ExprNode*> captured;
  FlatHashSet<const ExprNode*> seen(functions.begin(), functions.end());
  while (!functions.empty()) {
    const ExprNode* node = functions.back();
    functions.pop_back();
    if (node->kind() == ExprKind::kVar) captured.insert(node);
    ForEachChild(node, [&](const Expr& child) {
      if (seen.insert(child.get()).second) functions.push_back(child.get());
    });
  }
  return captured;
}

// Goes through the lets of a function backwards. What was met is alive there:
// it is used later, or now.
class KillInserter {
 public:
  explicit KillInserter(const Function& function)
      : function_(function), captured_(CapturedVars(function->body())) {}

  Function Run() {
    Enter(function_->body());
    Expr result;
    while (!blocks_.empty()) {
      if (Step()) result = Leave();
    }
    std::vector<Expr> children(function_->params().begin(),
                               function_->params().end());
    children.push_back(std::move(result));
    const Expr killing = WithChildren(function_.get(), children);
    LogOrigins(killing, function_.get());
    return Function(killing.As<FunctionNode>());
  }

 private:
  // A chain of lets and what follows it: the body of a function, or a branch.
  struct Block {
    std::vector<const LetNode*> lets;  // those not gone through yet
    Expr result;                       // of those that were
    // The branches of the value of the last of `lets` that are done.
    std::vector<Expr> branches;
    // The variables whose life began in the branches.
    std::vector<const ExprNode*> alive_in_branches;
    // The number of variables that were met before this block.
    size_t first_met = 0;
  };

  void Enter(Expr expr) {
    Block block;
    block.first_met = met_.size();
    while (const auto* let = expr.As<LetNode>()) {
      block.lets.push_back(let);
      expr = let->body();
    }
    Meet(expr);
    block.result = std::move(expr);
    blocks_.push_back(std::move(block));
  }

  // The result of the last block, which is a branch of the one before if there
  // is one. What it met is not alive in the other branches.
  Expr Leave() {
    Expr result = std::move(blocks_.back().result);
    const size_t first_met = blocks_.back().first_met;
    blocks_.pop_back();
    if (blocks_.empty()) return result;
    Block& block = blocks_.back();
    block.branches.push_back(std::move(result));
    if (Branch(block.lets.back(), block.branches.size()) == nullptr) return {};
    for (size_t i = first_met; i < met_.size(); ++i) {
      alive_.erase(met_[i]);
      block.alive_in_branches.push_back(met_[i]);
    }
    met_.resize(first_met);
    return {};
  }

  // Goes on in the last block; true if it is done.
  bool Step() {
    Block& block = blocks_.back();
    if (block.lets.empty()) return true;
    const LetNode* let = block.lets.back();
    if (const ExprNode* branch = Branch(let, block.branches.size())) {
      Enter(Expr(branch));  // `block` is elsewhere now
      return false;
    }
    for (const ExprNode* node : block.alive_in_branches) MeetOne(node);
    const std::vector<Expr> kills = Meet(Scrutinee(let));
    Expr body = std::move(block.result);
    for (size_t k = kills.size(); k > 0; --k) {
      body = Let(Var("_"), Call(BATON_OP("memory.kill"), {kills[k - 1]}),
                 std::move(body));
      LogOrigins(body, let);
    }
    const std::vector<Expr> children = {
        let->var(), WithBranches(let->value(), block.branches),
        std::move(body)};
    block.result = WithChildren(let, children);
    LogOrigins(block.result, let);
    block.lets.pop_back();
    block.branches.clear();
    block.alive_in_branches.clear();
    return block.lets.empty();
  }

  // The k-th branch of the value of `let`; null if it has no more.
  static const ExprNode* Branch(const LetNode* let, size_t k) {
    const Expr& value = IgnoringOnDevice(let->value());
    if (const auto* branches = value.As<IfNode>()) {
      return k == 0   ? branches->true_branch().get()
             : k == 1 ? branches->false_branch().get()
                      : nullptr;
    }
    if (const auto* match = value.As<MatchNode>()) {
      return k < match->clauses().size() ? match->clauses()[k].rhs.get()
                                         : nullptr;
    }
    return nullptr;
  }

  // The operand of the branches in the value of `let`; the value itself
  // otherwise.
  static const Expr& Scrutinee(const LetNode* let) {
    const Expr& value = IgnoringOnDevice(let->value());
    if (const auto* branches = value.As<IfNode>()) return branches->cond();
    if (const auto* match = value.As<MatchNode>()) return match->data();
    return let->value();
  }

  static Expr WithBranches(const Expr& value,
                           const std::vector<Expr>& branches) {
    if (branches.empty()) return value;
    const Expr& inner = IgnoringOnDevice(value);
    std::vector<Expr> children;
    size_t k = 0;
    const bool is_if = inner.Is<IfNode>();
    ForEachChild(inner.get(), [&](const Expr& child) {
      const bool is_branch =
          is_if ? !children.empty()
                : k < branches.size() &&
                      child == inner.As<MatchNode>()->clauses()[k].rhs;
      children.push_back(is_branch ? branches[k++] : child);
    });
    Expr result = WithChildren(inner.get(), children);
    if (inner == value) return result;
    const auto* on_device = value.As<CallNode>();
    return WithChildren(on_device,
                        std::vector<Expr>{on_device->op(), std::move(result)});
  }

  bool MeetOne(const ExprNode* node) {
    if (!alive_.insert(node).second) return false;
    met_.push_back(node);
    return true;
  }

  // Makes `expr` and all that it is made of alive. The variables that were not
  // before, without those that are bound in it or captured.
  std::vector<Expr> Meet(const Expr& expr) {
    std::vector<Expr> vars;
    std::vector<const ExprNode*> stack = {expr.get()};
    while (!stack.empty()) {
      const ExprNode* node = stack.back();
      stack.pop_back();
      if (!MeetOne(node)) continue;
      if (node->kind() == ExprKind::kVar && !captured_.contains(node)) {
        vars.push_back(Expr(node));
      }
      // Binders are no uses.
      if (const auto* let = Expr(node).As<LetNode>()) {
        MeetOne(let->var().get());
      } else if (const auto* match = Expr(node).As<MatchNode>()) {
        ForEachChild(match, [&](const Expr& child) {
          if (child.Is<VarNode>() && child != match->data()) {
            for (const Clause& clause : match->clauses()) {
              if (child == clause.rhs) return;
            }
            MeetOne(child.get());
          }
        });
      }
      const size_t first = stack.size();
      ForEachChild(node,
                   [&](const Expr& child) { stack.push_back(child.get()); });
      std::reverse(stack.begin() + static_cast<std::ptrdiff_t>(first),
                   stack.end());
    }
    return vars;
  }

  const Function& function_;
  const FlatHashSet<const ExprNode*> captured_;
  std::vector<Block> blocks_;
  FlatHashSet<const ExprNode*> alive_;
  std::vector<const ExprNode*> met_;  // `alive_`, in order
};

absl::StatusOr<Function> Rewrite(const Function& function) {
  if (!ContainsKind(function, ExprKind::kLet)) return function;
  BATON_ASSIGN_OR_RETURN(const Function distinct,
                         AliasEliminator().MutateFunction(function));
  return KillInserter(distinct).Run();
}

}  // namespace

Pass ManifestLifetimes() {
  return CreateFunctionPass(
      [](const Function& function, const IRModule& /*module*/,
         const PassContext& /*context*/) { return Rewrite(function); },
      {.name = "ManifestLifetimes",
       .doc = "Says where the life of each variable ends.",
       .needs = {"a_normal_form"}});
}
BATON_REGISTER_PASS(ManifestLifetimes);

}  // namespace baton::relay
