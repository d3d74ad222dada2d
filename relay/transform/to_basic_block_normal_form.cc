#include "baton/relay/transform/to_basic_block_normal_form.h"

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "baton/ir/diagnostics.h"
#include "baton/ir/module.h"
#include "baton/ir/node.h"
#include "baton/ir/op.h"
#include "baton/relay/analysis/scope_graph.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/transform/let_insertion.h"
#include "baton/transform/module_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton::relay {

absl::StatusOr<Function> ToBasicBlockNormalFormInFunction(
    const Function& function) {
  return InsertLets(function, LetInsertion::kLifted);
}

absl::Status CheckBasicBlockNormalForm(const Expr& expr) {
  const ScopeGraph graph(expr);
  if (!graph.any_lifted()) return absl::OkStatus();
  Diagnostics diagnostics;
  for (int i = 0; i < graph.size(); ++i) {
    if (!graph.lifted(i)) continue;
    const auto* call = graph.As<CallNode>(i);
    const OpNode* op = call == nullptr ? nullptr : call->op_node();
    diagnostics.Error(
        graph.node(i)->span(),
        absl::StrCat("a ",
                     op != nullptr
                         ? absl::StrCat("call of ", op->name())
                         : std::string(NodeKindName(graph.node(i)->kind())),
                     " is shared by scopes and not bound around them"));
  }
  return diagnostics.ToStatus();
}

Pass ToBasicBlockNormalForm() {
  return CreateModulePass(
      [](const IRModule& module, const PassContext& /*context*/) {
        return InsertLets(module, LetInsertion::kLifted);
      },
      {.name = "ToBasicBlockNormalForm",
       .opt_level = 1,
       .doc = "Binds what scopes share to variables, around those scopes.",
       .establishes = {"basic_block_normal_form"},
       .destroys = {"typed"}});
}
BATON_REGISTER_PASS(ToBasicBlockNormalForm);

}  // namespace baton::relay
