#include "baton/relay/transform/annotate_spans.h"

#include "absl/status/statusor.h"
#include "baton/base/status_macros.h"
#include "baton/ir/module.h"
#include "baton/ir/origin.h"
#include "baton/relay/analysis/indexed_graph.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/ir/text_parser.h"
#include "baton/relay/ir/text_printer.h"
#include "baton/transform/module_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton::relay {
namespace {

// Node by node, where the text says all that there is.
void RecordOrigins(const Expr& read, const Expr& given) {
  const IndexedGraph made(read);
  const IndexedGraph from(given);
  if (made.size() == from.size()) {
    for (int i = 0; i < made.size(); ++i) {
      if (made.kind(i) != from.kind(i)) continue;
      LogOrigin(Expr(made.node(i)), from.node(i));
    }
  }
  LogOrigins(read, given.get());
}

}  // namespace

absl::StatusOr<IRModule> AnnotateSpansInModule(const IRModule& module) {
  BATON_ASSIGN_OR_RETURN(const IRModule read,
                         ParseModule(AsText(module), "GeneratedSource"));
  // Spans are Relay's: functions of other levels stay.
  IRModule result = read;
  for (const IRModule::Definition& definition : module.functions()) {
    if (!definition.function.Is<FunctionNode>()) {
      result.Set(definition.var, definition.function);
    } else if (WantsOrigins()) {
      RecordOrigins(result.Find(definition.var->name()), definition.function);
    }
  }
  return InferTypes(result);
}

Pass AnnotateSpans() {
  return CreateModulePass(
      [](const IRModule& module, const PassContext& /*context*/) {
        return AnnotateSpansInModule(module);
      },
      {.name = "AnnotateSpans",
       .doc = "Gives expressions their places in the module's text.",
       .waivers = {{"no_op", "All nodes are new: they have other places."}}});
}
BATON_REGISTER_PASS(AnnotateSpans);

}  // namespace baton::relay
