// Registers the properties of Relay programs (transform/module_property.h).

#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/base/status_macros.h"
#include "baton/ir/expr.h"
#include "baton/ir/function_verifier.h"
#include "baton/ir/module.h"
#include "baton/ir/node_compare.h"
#include "baton/ir/node_kind.h"
#include "baton/ir/node_map.h"
#include "baton/relay/ir/adt.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/visit.h"
#include "baton/relay/op/op_flags.h"
#include "baton/relay/transform/basic_block_form.h"
#include "baton/transform/module_property.h"

namespace baton::relay {
namespace {

// The first error of `check` over all Relay functions of `module`.
absl::Status CheckFunctions(
    const IRModule& module,
    absl::FunctionRef<absl::Status(const Function&)> check) {
  for (const IRModule::Definition& definition : module.functions()) {
    if (!definition.function.Is<FunctionNode>()) continue;
    const absl::Status status =
        check(MoveAs<Function>(BaseFunc(definition.function)));
    if (!status.ok()) {
      return absl::Status(
          status.code(),
          absl::StrCat("@", definition.var->name(), ": ", status.message()));
    }
  }
  return absl::OkStatus();
}

absl::Status ErrorAt(const ExprNode* node, absl::string_view what) {
  return absl::FailedPreconditionError(
      absl::StrCat(baton::internal::DescribeNode(node), what));
}

// The first node of `function` of which `wrong` is true, as an error.
absl::Status CheckNodes(const Function& function,
                        absl::FunctionRef<bool(const ExprNode*)> wrong,
                        absl::string_view what) {
  const ExprNode* found = nullptr;
  PostOrderVisit(function, [&](const ExprNode* node) {
    if (found == nullptr && wrong(node)) found = node;
  });
  return found == nullptr ? absl::OkStatus() : ErrorAt(found, what);
}

// The expression below annotations such as `on_device`; `expr` itself if there
// are none.
const Expr& WithoutAnnotations(const Expr& expr) {
  const Expr* inner = &expr;
  while (const auto* call = inner->As<CallNode>()) {
    if (call->args().size() != 1 || !IsNonComputational(call->op())) break;
    inner = &call->arg(0);
  }
  return *inner;
}

// Checks the bodies of `function`: of functions, branches and clauses, each a
// chain of lets that ends in an atom and binds operations on atoms.
absl::Status CheckANormalForm(const Function& function) {
  std::vector<Expr> bodies;
  NodeSet seen;
  const auto push = [&](const Expr& body) {
    if (seen.Insert(body.get())) bodies.push_back(body);
  };
  const auto check_atom = [](const Expr& expr) {
    return IsLeaf(WithoutAnnotations(expr)->kind())
               ? absl::OkStatus()
               : ErrorAt(expr.get(), " is not bound to a variable");
  };
  const auto check_value = [&](const Expr& annotated) -> absl::Status {
    const Expr& value = WithoutAnnotations(annotated);
    if (const auto* inner = value.As<FunctionNode>()) {
      if (!inner->IsPrimitive()) push(inner->body());
    } else if (const auto* branch = value.As<IfNode>()) {
      push(branch->true_branch());
      push(branch->false_branch());
      return check_atom(branch->cond());
    } else if (const auto* match = value.As<MatchNode>()) {
      for (const Clause& clause : match->clauses()) push(clause.rhs);
      return check_atom(match->data());
    } else {
      absl::Status status;
      ForEachChild(value.get(), [&](const Expr& child) {
        if (status.ok()) status = check_atom(child);
      });
      return status;
    }
    return absl::OkStatus();
  };
  // A function for a code generator stays unchanged.
  if (function->attrs().Find(attr::kCompiler) != nullptr) {
    return absl::OkStatus();
  }
  BATON_RETURN_IF_ERROR(check_value(function));
  while (!bodies.empty()) {
    Expr expr = std::move(bodies.back());
    bodies.pop_back();
    while (const auto* let = expr.As<LetNode>()) {
      BATON_RETURN_IF_ERROR(check_value(let->value()));
      expr = let->body();
    }
    BATON_RETURN_IF_ERROR(check_atom(expr));
  }
  return absl::OkStatus();
}

BATON_REGISTER_MODULE_PROPERTY("typed",
                               {.doc = "Every expression has its type.",
                                .check = [](const IRModule& module) {
                                  return CheckTypes(module);
                                }});

BATON_REGISTER_MODULE_PROPERTY(
    "a_normal_form",
    {.doc = "Operands are variables, constants, or names; what else there is, "
            "a let binds (outside primitive functions).",
     .check = [](const IRModule& module) {
       return CheckFunctions(module, CheckANormalForm);
     }});

BATON_REGISTER_MODULE_PROPERTY(
    "basic_block_normal_form",
    {.doc = "What several scopes share, a let around those scopes binds.",
     .check = [](const IRModule& module) {
       return CheckFunctions(module, [](const Function& function) {
         return CheckBasicBlockNormalForm(function);
       });
     }});

BATON_REGISTER_MODULE_PROPERTY(
    "no_primitive_functions",
    {.doc = "No function is primitive: operators are not fused (but for "
            "functions that are for external compilers).",
     .check = [](const IRModule& module) {
       return CheckFunctions(module, [](const Function& function) {
         return CheckNodes(
             function,
             [](const ExprNode* node) {
               if (node->kind() != FunctionNode::kKind) return false;
               const auto* inner = static_cast<const FunctionNode*>(node);
               return inner->IsPrimitive() &&
                      inner->attrs().Find(attr::kCompiler) == nullptr;
             },
             " is primitive");
       });
     }});

BATON_REGISTER_MODULE_PROPERTY(
    "no_quantized_operators",
    {.doc = "No operator is one on quantized tensors.",
     .check = [](const IRModule& module) {
       return CheckFunctions(module, [](const Function& function) {
         return CheckNodes(
             function,
             [](const ExprNode* node) {
               return node->kind() == IrKind::kOp && IsQuantized(Expr(node));
             },
             " works on quantized tensors");
       });
     }});

}  // namespace
}  // namespace baton::relay
