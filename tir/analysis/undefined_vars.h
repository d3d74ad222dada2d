// Finds variables that are used and not defined.
//
//   UndefinedVars(i + n)                         // i, n
//   UndefinedVars(<for i in range(n): A[i] = 0>) // A's pointer, n

#ifndef BATON_TIR_ANALYSIS_UNDEFINED_VARS_H_
#define BATON_TIR_ANALYSIS_UNDEFINED_VARS_H_

#include <vector>

#include "absl/types/span.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/stmt.h"

namespace baton::tir {

// The variables that the node uses outside of the scope of a definition, except
// those in `defined`; each once, in order of first use. The pointers, shapes
// and strides of accessed buffers count as uses.
std::vector<Var> UndefinedVars(const PrimExpr& e,
                               absl::Span<const Var> defined = {});
std::vector<Var> UndefinedVars(const Stmt& stmt,
                               absl::Span<const Var> defined = {});

}  // namespace baton::tir

#endif  // BATON_TIR_ANALYSIS_UNDEFINED_VARS_H_
