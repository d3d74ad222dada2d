// Algebraic properties of operators, set where the operator is registered.

#ifndef BATON_RELAY_OP_ALGEBRA_H_
#define BATON_RELAY_OP_ALGEBRA_H_

#include "baton/ir/op.h"

namespace baton::relay {

// Operators of two arguments that may be exchanged: patterns match the
// arguments in either order (relay/pattern/dataflow_pattern.h).
OpProperty<bool>& CommutativeOps();

}  // namespace baton::relay

#endif  // BATON_RELAY_OP_ALGEBRA_H_
