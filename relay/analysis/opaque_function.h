// Functions that passes do not look into.

#ifndef BATON_RELAY_ANALYSIS_OPAQUE_FUNCTION_H_
#define BATON_RELAY_ANALYSIS_OPAQUE_FUNCTION_H_

#include "baton/ir/attrs.h"
#include "baton/relay/ir/expr.h"

namespace baton::relay {

// Whether a pass that changes calls and control flow leaves the function as it
// is, with all that is in it: it is primitive, or for another compiler.
inline bool IsOpaque(const FunctionNode& function) {
  return function.IsPrimitive() ||
         function.attrs().Find(attr::kCompiler) != nullptr;
}

}  // namespace baton::relay

#endif  // BATON_RELAY_ANALYSIS_OPAQUE_FUNCTION_H_
