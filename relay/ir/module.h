// Makes modules from Relay expressions.

#ifndef BATON_RELAY_IR_MODULE_H_
#define BATON_RELAY_IR_MODULE_H_

#include "baton/ir/expr.h"
#include "baton/ir/module.h"

namespace baton::relay {

// A module whose `main` is `expr`: itself if it is a function, otherwise a
// function of the free variables of `expr`.
IRModule ModuleFromExpr(const Expr& expr);

}  // namespace baton::relay

#endif  // BATON_RELAY_IR_MODULE_H_
