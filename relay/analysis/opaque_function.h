// Recognizes functions whose bodies passes must not change.

#ifndef BATON_RELAY_ANALYSIS_OPAQUE_FUNCTION_H_
#define BATON_RELAY_ANALYSIS_OPAQUE_FUNCTION_H_

#include "baton/ir/attrs.h"
#include "baton/relay/ir/expr.h"

namespace baton::relay {

// True if passes that change calls and control flow must not change the
// function and its body: it is primitive, or another compiler compiles it.
inline bool IsOpaque(const FunctionNode& function) {
  return function.IsPrimitive() ||
         function.attrs().Find(attr::kCompiler) != nullptr;
}

}  // namespace baton::relay

#endif  // BATON_RELAY_ANALYSIS_OPAQUE_FUNCTION_H_
