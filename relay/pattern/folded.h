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

// Returns Folded(expr); null if folding may lose accuracy or range that the
// program has when it applies the operands one after the other. The result is
// null if an element of the constant, or of the constant of a call in `expr`, -
// is infinite or not a number, although those of all constants are finite; - is
// zero or subnormal, although it is the product or quotient of numbers that
//   are neither;
// - is a sum or difference of numbers that cancel each other, in which the
//   rounding of `(x + a) + b` is more than that of `x + (a + b)` by 1e-5 and by
//   eight units in the last place.
Expr FoldedInRange(const Expr& expr);

}  // namespace baton::relay

#endif  // BATON_RELAY_PATTERN_FOLDED_H_
