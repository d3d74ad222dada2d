// FastMath: replaces operators by faster, approximate ones.
//
//   exp, tanh, erf, nn.softmax   fast_exp, fast_tanh, fast_erf, nn.fast_softmax

#ifndef BATON_RELAY_TRANSFORM_FAST_MATH_H_
#define BATON_RELAY_TRANSFORM_FAST_MATH_H_

#include <string>

#include "absl/status/statusor.h"
#include "baton/ir/op.h"
#include "baton/relay/ir/expr.h"
#include "baton/transform/pass.h"

namespace baton::relay {

// The name of the fast operator, which takes the same arguments and attributes
// and approximates the result.
OpAttrMap<std::string>& FastCounterparts();

// A function pass of level 4, which requires InferType.
Pass FastMath();

// Runs the pass on one expression.
absl::StatusOr<Expr> FastMathInExpr(const Expr& expr);

}  // namespace baton::relay

#endif  // BATON_RELAY_TRANSFORM_FAST_MATH_H_
