#include "baton/relay/analysis/sharing.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/ir/diagnostics.h"
#include "baton/ir/node.h"
#include "baton/relay/analysis/indexed_graph.h"
#include "baton/relay/ir/expr.h"

namespace baton::relay {

void ReportSharing(const Function& function, absl::string_view cannot,
                   Diagnostics& diagnostics) {
  const IndexedGraph graph(function, [](const ExprNode* node) {
    return node->kind() != ExprKind::kFunction ||
           !static_cast<const FunctionNode*>(node)->IsPrimitive();
  });
  for (int i = 0; i < graph.size(); ++i) {
    if (graph.num_uses(i) < 2 || IsLeaf(graph.kind(i))) continue;
    diagnostics.Error(graph.node(i)->span(),
                      absl::StrCat("a ", NodeKindName(graph.kind(i)),
                                   " that is used more than once ", cannot,
                                   "; ToANormalForm binds it to a variable"));
  }
}

}  // namespace baton::relay
