// Solves linear equations over integers.
//
//   SolveLinearEquations({i, j}, {i: [0, 4), j: [0, 8)}, {k == i * 8 + j})
//
// expresses i and j by k and, where the equations leave a choice, by new
// variables.

#ifndef BATON_TIR_ARITH_LINEAR_EQUATIONS_H_
#define BATON_TIR_ARITH_LINEAR_EQUATIONS_H_

#include <vector>

#include "absl/types/span.h"
#include "baton/tir/arith/var_map.h"
#include "baton/tir/ir/expr.h"

namespace baton::tir {

struct LinearSolution {
  // False if there is no solution.
  bool solvable = true;
  // New variables. `ranges` has their known ranges, and those of the given
  // ranges that are of variables not solved for.
  std::vector<Var> vars;
  VarRanges ranges;
  // Conditions on `vars` that the ranges do not imply.
  std::vector<PrimExpr> relations;
  // The values of the variables that were solved for.
  VarMap<PrimExpr> values;
};

// Equations that are not linear with constant factors become relations of the
// solution. If a factor overflows int64, all equations become relations, and
// `values` maps each variable to itself.
LinearSolution SolveLinearEquations(absl::Span<const Var> vars,
                                    const VarRanges& ranges,
                                    absl::Span<const PrimExpr> equations);

}  // namespace baton::tir

#endif  // BATON_TIR_ARITH_LINEAR_EQUATIONS_H_
