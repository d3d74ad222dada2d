// LowerIntrin: computes flooring divisions by truncating ones, shifts and
// masks, and mathematical functions by those of the target.
//
//   i // 4      T.shift_right(i, 2)
//   i % 4       T.bitwise_and(i, 3)
//   i // 3      T.Div(i, 3)   where i is not negative
//   T.exp(x)    T.call_llvm_pure_intrin("float32", "llvm.exp", T.uint32(1), x)
//               for the target llvm
//               T.call_pure_extern("float32", "expf", x)   for the target c

#ifndef BATON_TIR_TRANSFORM_LOWER_INTRIN_H_
#define BATON_TIR_TRANSFORM_LOWER_INTRIN_H_

#include "baton/transform/pass.h"

namespace baton::tir {

// If the signs of operands are not known, corrects the truncated result.
// Each function must have a target. For llvm, a floating-point multiplication
// and addition become a call that rounds once. A call for which the target has
// no rule stays; targets other than llvm and c have no rules.
Pass LowerIntrin();

}  // namespace baton::tir

#endif  // BATON_TIR_TRANSFORM_LOWER_INTRIN_H_
