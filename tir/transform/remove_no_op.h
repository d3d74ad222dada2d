// RemoveNoOp: removes statements without effect.
//
//   for i in range(n):                  T.evaluate(0)
//       if i < 4:
//           T.evaluate(0)

#ifndef BATON_TIR_TRANSFORM_REMOVE_NO_OP_H_
#define BATON_TIR_TRANSFORM_REMOVE_NO_OP_H_

#include "baton/tir/arith/analyzer.h"
#include "baton/tir/ir/stmt.h"
#include "baton/tir/transform/known_values.h"
#include "baton/transform/pass.h"

namespace baton::tir {

// Removes loops that run never, lets and declarations of buffers that are not
// used, stores of the value that is there, and all that becomes empty. Calls
// with side effects stay. Branches whose condition is constant are taken.
Pass RemoveNoOp();

// Does that for a statement. `known`, which may be null, has the values of the
// program; they are those at `context`, if it is not null, else those at each
// part of the statement.
Stmt RemoveNoOps(const Stmt& stmt, Analyzer& analyzer, KnownValues* known,
                 const Stmt& context = {});

}  // namespace baton::tir

#endif  // BATON_TIR_TRANSFORM_REMOVE_NO_OP_H_
