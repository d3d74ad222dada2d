// Modules of Relay functions.

#ifndef BATON_RELAY_IR_MODULE_H_
#define BATON_RELAY_IR_MODULE_H_

#include "baton/ir/expr.h"
#include "baton/ir/module.h"

namespace baton {

// A module whose `main` is `expr`: itself if it is a function, otherwise a
// function of the free variables of `expr`.
IRModule ModuleFromExpr(const Expr& expr);

// The same program, of which no expression is one of `module`: for whoever
// needs the program, and wants those to be shared no more than they are.
// Operators, constructors and global names stay, and so do functions of other
// levels.
IRModule DeepCopy(const IRModule& module);

}  // namespace baton

#endif  // BATON_RELAY_IR_MODULE_H_
