// Helpers for passes that replace weights of a function by new parameters.

#ifndef BATON_RELAY_TRANSFORM_WEIGHT_PARAMS_H_
#define BATON_RELAY_TRANSFORM_WEIGHT_PARAMS_H_

#include "baton/relay/ir/expr.h"

namespace baton::relay {

// True if `expr` is a parameter of `function`.
bool IsParam(const Function& function, const Expr& expr);

// Returns `function` with new parameters: its parameters that the body uses,
// followed by the free variables, both in order of first use.
Function WithUsedParams(const Function& function);

}  // namespace baton::relay

#endif  // BATON_RELAY_TRANSFORM_WEIGHT_PARAMS_H_
