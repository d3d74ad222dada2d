// Folded: computes the constants that rules make.

#ifndef BATON_RELAY_PATTERN_FOLDED_H_
#define BATON_RELAY_PATTERN_FOLDED_H_

#include "baton/relay/ir/expr.h"

namespace baton::relay {

// Returns the constant that `expr` computes; `expr` itself if it depends on
// more than constants, if an operator has no kernel or an effect, or if the
// constant would be large: more than 4 million elements, and more than the
// constants in `expr`.
Expr Folded(const Expr& expr);

}  // namespace baton::relay

#endif  // BATON_RELAY_PATTERN_FOLDED_H_
