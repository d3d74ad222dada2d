// The global functions that functions refer to by name, of whatever level.

#ifndef BATON_IR_GLOBAL_REFERENCES_H_
#define BATON_IR_GLOBAL_REFERENCES_H_

#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "baton/ir/expr.h"
#include "baton/ir/module.h"

namespace baton {

// Calls `pred` with the names of the global functions that `function` refers
// to, until it returns true. Returns whether it did. A name may come more than
// once.
bool AnyGlobalReference(const BaseFunc& function,
                        absl::FunctionRef<bool(const std::string&)> pred);

// The names that functions called `roots` refer to, directly or through other
// functions of `module`, each once: first `roots`, then the others in the order
// in which they are met. A name that `module` lacks may be among them.
std::vector<std::string> ReachableFunctions(
    const IRModule& module, const std::vector<std::string>& roots);

}  // namespace baton

#endif  // BATON_IR_GLOBAL_REFERENCES_H_
