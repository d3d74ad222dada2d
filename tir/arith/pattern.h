// Recognizes equal and linear expressions and bounds of variables.

#ifndef BATON_TIR_ARITH_PATTERN_H_
#define BATON_TIR_ARITH_PATTERN_H_

#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "baton/tir/arith/int_set.h"
#include "baton/tir/ir/expr.h"

namespace baton::tir {

// True for equal trees of equal types with the same variables. Two loads with
// equal buffers and indices are equal, though a store between them may change
// the value.
bool ExprDeepEqual(const PrimExpr& a, const PrimExpr& b);

// True if `e` neither reads memory nor has an effect, so that it may be
// computed at another place, again, or not at all.
bool IsPure(const PrimExpr& e);
// True if `e` has no effect; it may read memory.
bool IsReadOnly(const PrimExpr& e);

// The factors of `vars` in `e` and, last, the rest: e is the sum of factors
// times variables and the rest. Empty if `e` is not linear in them.
std::vector<PrimExpr> DetectLinearEquation(const PrimExpr& e,
                                           absl::Span<const Var> vars);

// The least and the greatest value of each variable that `e`, a conjunction of
// inequalities, allows: [min of vars[0], max of vars[0], min of vars[1], ...];
// null where `e` gives no bound. Empty if `e` is not such a conjunction.
std::vector<PrimExpr> DetectClipBound(const PrimExpr& e,
                                      absl::Span<const Var> vars);

// A set of values of `v` for which `condition` is true, whatever values the
// variables of `relax` have in their sets; `hints` are the known sets of
// variables. IntSet::Nothing() if no such set is found.
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
