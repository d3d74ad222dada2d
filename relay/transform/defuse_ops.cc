#include "baton/relay/transform/defuse_ops.h"

#include <algorithm>
#include <utility>

#include "absl/status/statusor.h"
#include "baton/base/hash_table.h"
#include "baton/base/status_macros.h"
#include "baton/ir/module.h"
#include "baton/ir/node.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/adt.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/visit.h"
#include "baton/relay/transform/function_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton::relay {
namespace {

bool IsCallOfLiteral(const ExprNode* node) {
  return node->kind() == ExprKind::kCall &&
         static_cast<const CallNode*>(node)->op().As<FunctionNode>() != nullptr;
}

bool BindsVariables(const ExprNode* node) {
  switch (ExprKindOf(node)) {
    case ExprKind::kLet:
      return true;
    case ExprKind::kFunction:
      return !static_cast<const FunctionNode*>(node)->params().empty();
    case ExprKind::kMatch: {
      bool result = false;
      for (const Clause& c : static_cast<const MatchNode*>(node)->clauses()) {
        ForEachVar(c.lhs.get(), [&](const Var&) { result = true; });
      }
      return result;
    }
    case ExprKind::kVar:
    case ExprKind::kConstant:
    case ExprKind::kCall:
    case ExprKind::kTuple:
    case ExprKind::kTupleGetItem:
    case ExprKind::kIf:
    case ExprKind::kRefCreate:
    case ExprKind::kRefRead:
    case ExprKind::kRefWrite:
    case ExprKind::kConstructor:
    case ExprKind::kGlobalVar:
    case ExprKind::kOp:
      break;
  }
  return false;
}

// The calls that are to be replaced, found in one walk.
class CallsToReplace {
 public:
  explicit CallsToReplace(const Expr& root) {
    PostOrderVisit(root, [this](const ExprNode* node) { Leave(node); });
  }

  bool Contains(const CallNode* call) const { return calls_.contains(call); }
  // True if `call` is the only use of its function.
  bool IsOnlyUse(const CallNode* call) const {
    return uses_.find(call->op().get())->second == 1;
  }

 private:
  void Leave(const ExprNode* node) {
    bool binds = BindsVariables(node);
    ForEachChild(node, [&](const Expr& child) {
      if (child->kind() == ExprKind::kFunction) ++uses_[child.get()];
      binds = binds || binds_.contains(child.get());
    });
    if (IsCallOfLiteral(node)) {
      const auto* call = static_cast<const CallNode*>(node);
      const auto* function = call->op().As<FunctionNode>();
      if (function->params().size() == call->args().size() &&
          !binds_.contains(function->body().get())) {
        calls_.insert(call);
        binds = std::any_of(
            call->args().begin(), call->args().end(),
            [this](const Expr& arg) { return binds_.contains(arg.get()); });
      }
    }
    if (binds) binds_.insert(node);
  }

  FlatHashSet<const CallNode*> calls_;
  // The numbers of edges to function literals.
  FlatHashMap<const Node*, int> uses_;
  // Expressions in which something that stays binds a variable.
  FlatHashSet<const Node*> binds_;
};

using Bindings = FlatHashMap<const VarNode*, Expr>;

using Variables = FlatHashSet<const VarNode*>;

// Puts the values of lets of `parameters` in the place of these.
class ParameterReplacer : public ExprMutator {
 public:
  explicit ParameterReplacer(const Variables& parameters)
      : parameters_(parameters) {}

 protected:
  Expr AfterLetValue(const LetNode* let, const Expr& value) override {
    return parameters_.contains(let->var().get()) ? value : Expr();
  }
  Expr VisitLet(const LetNode* original, Let let) override {
    return parameters_.contains(original->var().get()) ? let->body()
                                                       : Expr(let);
  }

 private:
  const Variables& parameters_;
};

// Substituting in the body of each call, inside out, would copy a body as often
// as it is nested. So a call of a function that nothing else uses becomes lets
// of its parameters first, and then all of these are replaced in one walk. The
// body of a function that has other uses is copied for each call.
class OperatorDefuser : public ExprMutator {
 public:
  explicit OperatorDefuser(const Expr& root) : calls_(root) {}

  absl::StatusOr<Expr> Run(const Expr& root) {
    BATON_ASSIGN_OR_RETURN(const Expr result, Mutate(root));
    return WithoutLets(result);
  }

 protected:
  Expr VisitCall(const CallNode* original, Call call) override {
    if (!calls_.Contains(original)) return call;
    const Function function(call->op().As<FunctionNode>());
    const int num_args = call->num_args();
    if (!calls_.IsOnlyUse(original)) {
      FlatHashMap<const VarNode*, Expr> values;
      for (int i = 0; i < num_args; ++i) {
        values.emplace(function->params()[i].get(), call->arg(i));
      }
      Expr& body = bodies_[function];
      if (!body.defined()) {
        absl::StatusOr<Expr> without_lets = WithoutLets(function->body());
        if (!without_lets.ok()) return Fail(without_lets.status());
        body = *std::move(without_lets);
      }
      return Substitute(body, values);
    }
    Expr result = function->body();
    for (int i = num_args - 1; i >= 0; --i) {
      const Var& parameter = function->params()[i];
      replaced_.insert(parameter.get());
      Type type = result->type();
      result = Let(parameter, call->arg(i), std::move(result), std::move(type));
    }
    return result;
  }

 private:
  absl::StatusOr<Expr> WithoutLets(const Expr& expr) const {
    if (replaced_.empty()) return expr;
    return ParameterReplacer(replaced_).Mutate(expr);
  }

  const CallsToReplace calls_;
  Variables replaced_;                  // have become variables of lets
  FlatHashMap<Function, Expr> bodies_;  // without such lets
};

}  // namespace

absl::StatusOr<Expr> DefuseOpsInExpr(const Expr& expr) {
  bool found = false;
  PostOrderVisit(expr, [&](const ExprNode* node) {
    found = found || IsCallOfLiteral(node);
  });
  if (!found) return expr;
  return OperatorDefuser(expr).Run(expr);
}

Pass DefuseOps() {
  return CreateFunctionPass(
      [](Function function, const IRModule& /*module*/,
         const PassContext& /*context*/) -> absl::StatusOr<Function> {
        BATON_ASSIGN_OR_RETURN(const Expr result, DefuseOpsInExpr(function));
        return Function(result.As<FunctionNode>());
      },
      {.name = "DefuseOps",
       .opt_level = 3,
       .required = {"InferType"},
       .doc = "Replaces calls of function literals by their bodies.",
       .invalidates = {"a_normal_form", "basic_block_normal_form"}});
}
BATON_REGISTER_PASS(DefuseOps);

}  // namespace baton::relay
