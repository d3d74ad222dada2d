// Variables that are used and not defined.
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

// The variables that occur in the node, in the pointers, shapes and strides of
// its buffers included, before any part of it defines them; each once, in order
// of their first use. Those of `defined` are not listed.
std::vector<Var> UndefinedVars(const PrimExpr& e,
                               absl::Span<const Var> defined = {});
std::vector<Var> UndefinedVars(const Stmt& stmt,
                               absl::Span<const Var> defined = {});

}  // namespace baton::tir

#endif  // BATON_TIR_ANALYSIS_UNDEFINED_VARS_H_
