// Relay's verifier: see ir/function_verifier.h.

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/base/hash_table.h"
#include "baton/base/status_macros.h"
#include "baton/ir/diagnostics.h"
#include "baton/ir/expr.h"
#include "baton/ir/function_verifier.h"
#include "baton/ir/module.h"
#include "baton/ir/node.h"
#include "baton/ir/node_kind.h"
#include "baton/ir/node_map.h"
#include "baton/ir/node_rebuild.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/dispatch.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/ir/visit.h"
#include "baton/relay/ir/well_formed.h"

namespace baton::relay {
namespace {

// A copy of `function` without inferred types.
Function WithoutTypes(const Function& function) {
  NodeMap<Expr> results;
  std::vector<Expr> children;
  PostOrderVisit(function, [&](const ExprNode* node) {
    children.clear();
    ForEachChild(node, [&](const Expr& child) {
      children.push_back(child.defined() ? *results.Find(child.get()) : child);
    });
    results[node] =
        IsLeaf(node->kind())
            ? WithType(Expr(node), {})
            : DispatchExpr(
                  node,
                  [&children](const auto* n) {
                    return Expr(CopyWithChildren(*n, children, /*type=*/{}));
                  },
                  [](const ExprNode* other) { return Expr(other); });
  });
  return Function(results.Find(function.get())->As<FunctionNode>());
}

// `%x`, `a call of nn.dense`, `a Tuple`.
std::string Describe(const ExprNode* node) {
  const Expr expr(node);
  if (const auto* var = expr.As<VarNode>()) {
    return absl::StrCat("%", var->name());
  }
  if (const auto* call = expr.As<CallNode>()) {
    if (const OpNode* op = call->op_node()) {
      return absl::StrCat("a call of ", op->name());
    }
  }
  return absl::StrCat("a ", NodeKindName(node->kind()));
}

// Compares the types of two graphs that are the same but for types.
absl::Status CompareTypes(const Expr& recorded, const Expr& inferred,
                          absl::string_view function) {
  FlatHashSet<const ExprNode*> seen;
  std::vector<std::pair<const ExprNode*, const ExprNode*>> stack = {
      {recorded.get(), inferred.get()}};
  std::vector<const ExprNode*> children;
  while (!stack.empty()) {
    const auto [a, b] = stack.back();
    stack.pop_back();
    if (!seen.insert(a).second) continue;
    if (a->kind() != b->kind()) {
      return absl::InternalError("type inference changed the program");
    }
    if (a->type().defined() && !TypeEqual(a->type(), b->type())) {
      return absl::InvalidArgumentError(absl::StrCat(
          "function @", function, ": ", Describe(a),
          " is recorded to have type ", a->type().ToString(), ", but has type ",
          b->type().defined() ? b->type().ToString() : "unknown"));
    }
    children.clear();
    ForEachChild(a,
                 [&](const Expr& child) { children.push_back(child.get()); });
    size_t i = 0;
    ForEachChild(b, [&](const Expr& child) {
      if (i < children.size()) stack.emplace_back(children[i++], child.get());
    });
  }
  return absl::OkStatus();
}

class RelayVerifier final : public FunctionVerifier {
 public:
  void CheckWellFormed(const IRModule& module, const GlobalVar& var,
                       const BaseFunc& function,
                       Diagnostics& diagnostics) const override {
    CheckFunctionWellFormed(module, var, Function(function.As<FunctionNode>()),
                            diagnostics);
  }

  // The types are right if inference finds them anew. Expressions without a
  // type are not compared.
  absl::Status CheckTypes(const IRModule& module,
                          WhichFunctions which) const override {
    const std::vector<IRModule::DefinitionOf<Function>> relay =
        module.functions<Function>();
    // Types of functions without any depend on each other.
    const bool typed = absl::c_all_of(relay, [](const auto& definition) {
      return definition.function->type().defined();
    });
    std::vector<BaseFunc> stripped;
    std::vector<bool> checked;
    stripped.reserve(module.size());
    for (int i = 0; i < module.size(); ++i) {
      const BaseFunc& function = module.functions()[i].function;
      const auto* node = function.As<FunctionNode>();
      checked.push_back(node != nullptr && (!typed || which(i)));
      stripped.push_back(checked[i] ? WithoutTypes(Function(node)) : function);
    }
    BATON_ASSIGN_OR_RETURN(const IRModule inferred,
                           relay::InferTypes(module.WithFunctions(stripped)));
    for (int i = 0; i < module.size(); ++i) {
      if (!checked[i]) continue;
      const auto& [var, function] = module.functions()[i];
      BATON_RETURN_IF_ERROR(CompareTypes(
          function, inferred.functions()[i].function, var->name()));
    }
    return absl::OkStatus();
  }

  absl::StatusOr<IRModule> InferTypes(const IRModule& module) const override {
    return relay::InferTypes(module);
  }
};

BATON_REGISTER_FUNCTION_VERIFIER(FunctionNode, RelayVerifier);

}  // namespace
}  // namespace baton::relay
