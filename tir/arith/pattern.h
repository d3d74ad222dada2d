// Recognizes equal and linear expressions and bounds of variables.

#ifndef BATON_TIR_ARITH_PATTERN_H_
#define BATON_TIR_ARITH_PATTERN_H_

#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "baton/tir/arith/int_set.h"
#include "baton/tir/ir/expr.h"

namespace baton::tir {

// True for equal trees of equal types with the same variables. Loads from
// buffers compare as others: two loads are taken to give one value.
bool ExprDeepEqual(const PrimExpr& a, const PrimExpr& b);

// The effects of calls and loads in `e` that matter to its use as a value:
// true if `e` only computes, so that it may be computed again or not at all.
bool IsPure(const PrimExpr& e);
// True if `e` computes and may read memory.
bool IsReadOnly(const PrimExpr& e);

// The factors of `vars` in `e` and, last, the rest: e is the sum of factors
// times variables and the rest. Empty if `e` is not linear in them.
std::vector<PrimExpr> DetectLinearEquation(const PrimExpr& e,
                                           absl::Span<const Var> vars);

// The least and greatest values that the conjunction `e` of inequalities allows
// for each variable; null where it gives none. Empty if `e` is no such
// conjunction.
std::vector<PrimExpr> DetectClipBound(const PrimExpr& e,
                                      absl::Span<const Var> vars);

// The set of values of `v` with which `condition` is true, for all values of
// other variables in `relax`; `hints` are known sets. Nothing if there is none
// that can be found.
IntSet DeduceBound(const PrimExpr& v, const PrimExpr& condition,
                   const Domains& hints, const Domains& relax);

// Calls `fn` for the terms of a sum with their signs.
void UnpackSum(const PrimExpr& e,
               absl::FunctionRef<void(const PrimExpr&, int sign)> fn,
               int sign = 1);
// Calls `fn` for the operands of nested `op`, from the left.
void UnpackReduction(const PrimExpr& e, BinaryOp op,
                     absl::FunctionRef<void(const PrimExpr&)> fn);

// The conjuncts of `condition`. With `keep_composite`, conjunctions themselves
// as well.
std::vector<PrimExpr> ExtractConstraints(const PrimExpr& condition,
                                         bool keep_composite = true);
// The conditions one of which is true.
std::vector<PrimExpr> ExtractComponents(const PrimExpr& condition);

// A condition without the variables of `free` that implies `condition` for all
// their values; false where there is none.
PrimExpr NarrowPredicateExpression(const PrimExpr& condition,
                                   const VarRanges& free);

// The vector `e` at `lane`.
PrimExpr UnwrapVectorExpr(const PrimExpr& e, const PrimExpr& lane);

// `condition` as a conjunction of disjunctions, its comparisons simplified.
PrimExpr SimplifyAsAndOfOrs(const PrimExpr& condition, Analyzer& analyzer);

}  // namespace baton::tir

#endif  // BATON_TIR_ARITH_PATTERN_H_
