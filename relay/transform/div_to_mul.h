// DivToMul: replaces divisions by a constant by multiplications with its
// reciprocal.
//
//   divide(x, 4f)   multiply(x, 0.25f)

#ifndef BATON_RELAY_TRANSFORM_DIV_TO_MUL_H_
#define BATON_RELAY_TRANSFORM_DIV_TO_MUL_H_

#include "baton/transform/pass.h"

namespace baton::relay {

// A function pass of level 0, which requires InferType and FoldConstant.
// Converts divisors that are constants of float16, float32 or float64, without
// elements that are zero or whose reciprocal overflows. Other divisions stay
// unchanged.
Pass DivToMul();

}  // namespace baton::relay

#endif  // BATON_RELAY_TRANSFORM_DIV_TO_MUL_H_
