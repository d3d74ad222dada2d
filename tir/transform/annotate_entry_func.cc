#include "baton/tir/transform/annotate_entry_func.h"

#include <utility>

#include "absl/status/statusor.h"
#include "baton/ir/expr.h"
#include "baton/ir/module.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/transform/func_target.h"
#include "baton/transform/module_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton::tir {
namespace {

IRModule Annotated(IRModule module) {
  IRModule::Definition entry;
  const auto functions = module.functions();
  int candidates = 0;
  for (const IRModule::Definition& definition : functions) {
    const bool is_external =
        functions.size() == 1 ||
        definition.function->attrs().Find(kGlobalSymbol) != nullptr;
    if (!is_external) continue;
    ++candidates;
    entry = definition;
  }
  if (candidates != 1) return module;
  const auto* function = entry.function.As<PrimFuncNode>();
  if (function == nullptr || function->attrs().IsTrue(kIsEntryFunc)) {
    return module;
  }
  module.Set(entry.var, WithAttr(PrimFunc(function), kIsEntryFunc, true));
  return module;
}

}  // namespace

Pass AnnotateEntryFunc() {
  return CreateModulePass(
      [](IRModule module, const PassContext& /*context*/)
          -> absl::StatusOr<IRModule> { return Annotated(std::move(module)); },
      {.name = "tir.AnnotateEntryFunc",
       .doc = "Marks the function where a module is entered.",
       .idempotent = true});
}
BATON_REGISTER_PASS_AS("tir.AnnotateEntryFunc", AnnotateEntryFunc);

}  // namespace baton::tir
