// Finds the global functions to which functions of any level refer.

#ifndef BATON_IR_GLOBAL_REFERENCES_H_
#define BATON_IR_GLOBAL_REFERENCES_H_

#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "baton/ir/expr.h"
#include "baton/ir/module.h"

namespace baton {

// Calls `pred` with the name of each global function to which `function`
// refers, until `pred` returns true. Returns true if it did. A name may occur
// more than once.
bool AnyGlobalReference(const BaseFunc& function,
                        absl::FunctionRef<bool(const std::string&)> pred);

// The names to which the functions `roots` refer, directly or through other
// functions of `module`, each once: first `roots`, then the others in the order
// of the walk. The result may contain names that `module` lacks.
std::vector<std::string> ReachableFunctions(
    const IRModule& module, const std::vector<std::string>& roots);

}  // namespace baton

#endif  // BATON_IR_GLOBAL_REFERENCES_H_
