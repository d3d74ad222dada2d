// LowerIntrin: computes flooring divisions by truncating ones, shifts and
// masks.
//
//   i // 4      T.shift_right(i, 2)
//   i % 4       T.bitwise_and(i, 3)
//   i // 3      T.Div(i, 3)   where i is not negative

#ifndef BATON_TIR_TRANSFORM_LOWER_INTRIN_H_
#define BATON_TIR_TRANSFORM_LOWER_INTRIN_H_

#include "baton/transform/pass.h"

namespace baton::tir {

// Where the signs of operands are not known, corrects the truncated result.
// Each function must have a target. Calls of intrinsics stay: code generators
// have them.
Pass LowerIntrin();

}  // namespace baton::tir

#endif  // BATON_TIR_TRANSFORM_LOWER_INTRIN_H_
