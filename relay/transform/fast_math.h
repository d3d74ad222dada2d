// FastMath: replaces operators by faster, approximate ones.
//
//   exp, tanh, erf, nn.softmax   fast_exp, fast_tanh, fast_erf, nn.fast_softmax
//
// fast_math.rules has the rules. Other libraries add rules `of FastMath`
// (relay/pattern/rule_text.h).

#ifndef BATON_RELAY_TRANSFORM_FAST_MATH_H_
#define BATON_RELAY_TRANSFORM_FAST_MATH_H_

#include "baton/transform/pass.h"

namespace baton::relay {

// A function pass of level 4, which requires InferType.
Pass FastMath();

}  // namespace baton::relay

#endif  // BATON_RELAY_TRANSFORM_FAST_MATH_H_
