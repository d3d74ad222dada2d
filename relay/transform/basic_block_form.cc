#include "baton/relay/transform/basic_block_form.h"

#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "baton/ir/diagnostics.h"
#include "baton/ir/node.h"
#include "baton/ir/op.h"
#include "baton/relay/analysis/scope_graph.h"
#include "baton/relay/ir/expr.h"

namespace baton::relay {

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

}  // namespace baton::relay
