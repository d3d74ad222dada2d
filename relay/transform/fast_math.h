// FastMath: replaces operators by faster, approximate ones.
//
//   exp, tanh, erf, nn.softmax   fast_exp, fast_tanh, fast_erf, nn.fast_softmax

#ifndef BATON_RELAY_TRANSFORM_FAST_MATH_H_
#define BATON_RELAY_TRANSFORM_FAST_MATH_H_

#include <string>

#include "baton/ir/op.h"
#include "baton/transform/pass.h"

namespace baton::relay {

// The name of the fast operator, which takes the same arguments and attributes
// and approximates the result.
OpAttrMap<std::string>& FastCounterparts();

// A function pass of level 4, which requires InferType.
Pass FastMath();

}  // namespace baton::relay

#endif  // BATON_RELAY_TRANSFORM_FAST_MATH_H_
