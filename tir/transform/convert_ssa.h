// ConvertSSA: gives each definition a variable of its own.
//
//   with T.LetStmt(16) as v: ...      with T.LetStmt(16) as v: ...
//   with T.LetStmt(32) as v: ...      with T.LetStmt(32) as v_1: ...
//
// where both statements defined one variable.

#ifndef BATON_TIR_TRANSFORM_CONVERT_SSA_H_
#define BATON_TIR_TRANSFORM_CONVERT_SSA_H_

#include "baton/ir/module.h"
#include "baton/tir/ir/stmt.h"
#include "baton/transform/pass.h"

namespace baton::tir {

// A module pass. The first definition of a variable keeps it; each further one
// has a new variable of that name. Parameters count as definitions, those of
// other functions of the module included.
Pass ConvertSSA();

// Converts one statement; converts a module.
Stmt ConvertSSA(const Stmt& stmt);
IRModule ConvertSSA(const IRModule& module);

}  // namespace baton::tir

#endif  // BATON_TIR_TRANSFORM_CONVERT_SSA_H_
