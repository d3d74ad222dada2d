#include "baton/ir/global_references.h"

#include <cstddef>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "baton/base/hash_table.h"
#include "baton/ir/expr.h"
#include "baton/ir/module.h"
#include "baton/ir/node.h"
#include "baton/ir/node_class.h"
#include "baton/ir/node_kind.h"
#include "baton/ir/node_map.h"

namespace baton {

bool AnyGlobalReference(const BaseFunc& function,
                        absl::FunctionRef<bool(const std::string&)> pred) {
  NodeSet seen;
  std::vector<const Node*> stack = {function.get()};
  while (!stack.empty()) {
    const Node* const node = stack.back();
    stack.pop_back();
    if (!seen.Insert(node)) continue;
    if (node->kind() == IrKind::kGlobalVar &&
        pred(static_cast<const GlobalVarNode*>(node)->name())) {
      return true;
    }
    ForEachReference(node,
                     [&stack](const Node* next) { stack.push_back(next); });
  }
  return false;
}

std::vector<std::string> ReachableFunctions(
    const IRModule& module, const std::vector<std::string>& roots) {
  std::vector<std::string> names;
  FlatHashSet<std::string> known;
  const auto add = [&](const std::string& name) {
    if (known.insert(name).second) names.push_back(name);
    return false;
  };
  for (const std::string& root : roots) add(root);
  for (size_t i = 0; i < names.size(); ++i) {
    const BaseFunc function = module.Find(names[i]);
    if (function.defined()) AnyGlobalReference(function, add);
  }
  return names;
}

}  // namespace baton
