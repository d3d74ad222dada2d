// CommonSubexprElimTIR: computes equal expressions once.
//
//   B[i * 4] = A[i * 4] + x          cse_var_1: T.int32 = i * 4
//                                    B[cse_var_1] = A[cse_var_1] + x

#ifndef BATON_TIR_TRANSFORM_COMMON_SUBEXPR_ELIM_TIR_H_
#define BATON_TIR_TRANSFORM_COMMON_SUBEXPR_ELIM_TIR_H_

#include "baton/transform/pass.h"

namespace baton::tir {

struct CommonSubexprElimTIROptions {
  bool enable_cse_tir = true;
  bool identify_equiv_terms = false;

  template <typename V>
  static void VisitFields(V& v) {
    v("enable_cse_tir", &CommonSubexprElimTIROptions::enable_cse_tir,
      "If false, nothing changes.");
    v("identify_equiv_terms",
      &CommonSubexprElimTIROptions::identify_equiv_terms,
      "Expressions that simplify to one form are equal.");
  }
};

// Binds an expression that occurs twice to a variable, at the outermost
// statement that has all its variables, larger expressions first. Expressions
// with calls and loads stay. Occurrences in one branch of a statement, or only
// in the body of a loop, do not count outside of it.
Pass CommonSubexprElimTIR(CommonSubexprElimTIROptions options = {});

}  // namespace baton::tir

#endif  // BATON_TIR_TRANSFORM_COMMON_SUBEXPR_ELIM_TIR_H_
