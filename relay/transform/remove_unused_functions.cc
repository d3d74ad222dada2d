#include "baton/relay/transform/remove_unused_functions.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "baton/base/hash_table.h"
#include "baton/base/status_macros.h"
#include "baton/ir/expr.h"
#include "baton/ir/module.h"
#include "baton/ir/node.h"
#include "baton/ir/node_class.h"
#include "baton/ir/node_kind.h"
#include "baton/ir/node_map.h"
#include "baton/relay/ir/expr.h"
#include "baton/transform/module_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton::relay {
namespace {

// Calls `fn` for the names of global functions in `function`, of any level.
void ForEachNameIn(const BaseFunc& function,
                   absl::FunctionRef<void(const std::string&)> fn) {
  NodeSet seen;
  std::vector<const Node*> stack = {function.get()};
  while (!stack.empty()) {
    const Node* const node = stack.back();
    stack.pop_back();
    if (!seen.Insert(node)) continue;
    if (node->kind() == IrKind::kGlobalVar) {
      fn(static_cast<const GlobalVarNode*>(node)->name());
    }
    ForEachReference(node, [&](const Node* next) { stack.push_back(next); });
  }
}

absl::StatusOr<IRModule> RemoveUnused(IRModule module,
                                      const std::vector<std::string>& entries) {
  if (entries == RemoveUnusedFunctionsOptions().entry_functions &&
      !module.Find(entries[0]).defined()) {
    return module;
  }
  FlatHashSet<std::string> used;
  std::vector<std::string> pending;
  for (const std::string& entry : entries) {
    BATON_RETURN_IF_ERROR(module.Lookup(entry).status());
    if (used.insert(entry).second) pending.push_back(entry);
  }
  // Functions of other levels are not this pass's to remove.
  for (const IRModule::Definition& definition : module.functions()) {
    const std::string& name = definition.var->name();
    if (definition.function.Is<FunctionNode>()) continue;
    if (used.insert(name).second) pending.push_back(name);
  }
  while (!pending.empty()) {
    const BaseFunc function = module.Find(pending.back());
    pending.pop_back();
    if (!function.defined()) continue;
    ForEachNameIn(function, [&](const std::string& name) {
      if (used.insert(name).second) pending.push_back(name);
    });
  }
  std::vector<std::string> unused;
  for (const IRModule::Definition& definition : module.functions()) {
    if (!used.contains(definition.var->name())) {
      unused.push_back(definition.var->name());
    }
  }
  for (const std::string& name : unused) module.Remove(name);
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
