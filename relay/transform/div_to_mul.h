// DivToMul: multiplies by the reciprocal in the place of dividing by a
// constant.
//
//   divide(x, 4f)   multiply(x, 0.25f)

#ifndef BATON_RELAY_TRANSFORM_DIV_TO_MUL_H_
#define BATON_RELAY_TRANSFORM_DIV_TO_MUL_H_

#include "baton/transform/pass.h"

namespace baton::relay {

// A function pass of level 0, which requires InferType and FoldConstant.
// Divisors are constants of float16, float32 or float64, none of whose elements
// is zero or has a reciprocal that overflows; other divisions stay.
Pass DivToMul();

}  // namespace baton::relay

#endif  // BATON_RELAY_TRANSFORM_DIV_TO_MUL_H_
