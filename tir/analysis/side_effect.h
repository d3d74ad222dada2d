// Computes the side effects of expressions.
//
//   if (SideEffectOf(load) <= CallEffect::kReadState) ...  // may be repeated

#ifndef BATON_TIR_ANALYSIS_SIDE_EFFECT_H_
#define BATON_TIR_ANALYSIS_SIDE_EFFECT_H_

#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/intrinsics.h"

namespace baton::tir {

// The largest effect of a part of `e`, from kPure to kUpdateState: a load is
// kReadState; effects above kUpdateState count as kUpdateState.
CallEffect SideEffectOf(const PrimExpr& e);

}  // namespace baton::tir

#endif  // BATON_TIR_ANALYSIS_SIDE_EFFECT_H_
