// Derives ranges of variables from linear inequalities (Fourier-Motzkin
// elimination).
//
//   i in [0, 16), i + j < 10, j >= 0       i in [0, 10), j in [0, 10)

#ifndef BATON_TIR_ANALYSIS_LINEAR_INEQUALITIES_H_
#define BATON_TIR_ANALYSIS_LINEAR_INEQUALITIES_H_

#include <vector>

#include "absl/types/span.h"
#include "baton/tir/arith/var_map.h"
#include "baton/tir/ir/expr.h"

namespace baton::tir {

struct SolvedRanges {
  // The ranges of variables that have one. A range may use variables that come
  // later in the list of variables.
  VarRanges ranges;
  // Conditions that the ranges do not imply; one that is false if there is no
  // solution.
  std::vector<PrimExpr> relations;
};

// Solves `relations`, comparisons of integers, for `vars`, which have values in
// `ranges` where they have one. Each variable is listed once.
SolvedRanges SolveInequalitiesToRange(absl::Span<const Var> vars,
                                      const VarRanges& ranges,
                                      absl::Span<const PrimExpr> relations);

}  // namespace baton::tir

#endif  // BATON_TIR_ANALYSIS_LINEAR_INEQUALITIES_H_
