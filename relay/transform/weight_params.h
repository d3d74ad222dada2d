// What passes that replace weights of a function by new parameters share.

#ifndef BATON_RELAY_TRANSFORM_WEIGHT_PARAMS_H_
#define BATON_RELAY_TRANSFORM_WEIGHT_PARAMS_H_

#include "baton/relay/ir/expr.h"

namespace baton::relay {

// Whether `expr` is a parameter of `function`.
bool IsParam(const Function& function, const Expr& expr);

// `function` with other parameters: those of its own that its body uses, then
// the variables that are free in it, both in order of first use.
Function WithUsedParams(const Function& function);

}  // namespace baton::relay

#endif  // BATON_RELAY_TRANSFORM_WEIGHT_PARAMS_H_
