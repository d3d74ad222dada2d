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

// Removes loops without iterations, unused lets and declarations of buffers,
// stores of the value that the element has already, and statements that become
// empty. Calls with side effects stay. An `if` with a constant condition
// becomes the case that runs.
Pass RemoveNoOp();

// Removes statements without effect from `stmt`. `known`, which may be null,
// has the values of buffers at each statement of the function. The values are
// those at `context` if it is not null, otherwise those at each statement.
Stmt RemoveNoOps(const Stmt& stmt, Analyzer& analyzer, KnownValues* known,
                 const Stmt& context = {});

}  // namespace baton::tir

#endif  // BATON_TIR_TRANSFORM_REMOVE_NO_OP_H_
