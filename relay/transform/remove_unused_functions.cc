#include "baton/relay/transform/remove_unused_functions.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "baton/base/hash_table.h"
#include "baton/base/status_macros.h"
#include "baton/ir/global_references.h"
#include "baton/ir/module.h"
#include "baton/relay/ir/expr.h"
#include "baton/transform/module_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton::relay {
namespace {

absl::StatusOr<IRModule> RemoveUnused(IRModule module,
                                      const std::vector<std::string>& entries) {
  if (entries == RemoveUnusedFunctionsOptions().entry_functions &&
      !module.Find(entries[0]).defined()) {
    return module;
  }
  std::vector<std::string> roots = entries;
  for (const std::string& entry : entries) {
    BATON_RETURN_IF_ERROR(module.Lookup(entry).status());
  }
  // Functions of other levels are not this pass's to remove.
  for (const IRModule::Definition& definition : module.functions()) {
    if (!definition.function.Is<FunctionNode>()) {
      roots.push_back(definition.var->name());
    }
  }
  // The functions that are not among `names`.
  const auto others = [&module](const std::vector<std::string>& names) {
    const FlatHashSet<std::string> known(names.begin(), names.end());
    std::vector<std::string> result;
    for (const IRModule::Definition& definition : module.functions()) {
      if (!known.contains(definition.var->name())) {
        result.push_back(definition.var->name());
      }
    }
    return result;
  };
  // In most modules all functions are entries.
  if (others(roots).empty()) return module;
  for (const std::string& name : others(ReachableFunctions(module, roots))) {
    module.Remove(name);
  }
  return module;
}

}  // namespace

Pass RemoveUnusedFunctions(RemoveUnusedFunctionsOptions options) {
  return CreateModulePass(
      [options](IRModule module, const PassContext& /*context*/) {
        return RemoveUnused(std::move(module), options.entry_functions);
      },
      {.name = "RemoveUnusedFunctions",
       .opt_level = 1,
       .doc = "Removes functions that no entry function reaches.",
       .idempotent = true},
      options);
}
BATON_REGISTER_PASS(RemoveUnusedFunctions);

}  // namespace baton::relay
