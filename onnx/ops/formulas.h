// Builds formulas that operators of several domains share. Arguments are typed.

#ifndef BATON_ONNX_OPS_FORMULAS_H_
#define BATON_ONNX_OPS_FORMULAS_H_

#include "baton/relay/ir/expr.h"

namespace baton::onnx {

// x / 2 * (1 + erf(x / sqrt(2))), and its approximation by tanh.
Expr GeluOf(const Expr& x);
Expr GeluByTanh(const Expr& x);

// log(1 + t) of t in [0, 1], accurate also where 1 + t is rounded. `like` has
// the element type of `t`, which need not be typed.
Expr LogOnePlus(const Expr& t, const Expr& like);
// x where x is not negative, alpha (exp(x / scale) - 1) elsewhere, accurate
// also near 0. `like` as above.
Expr ExponentialUnit(const Expr& x, double alpha, double scale,
                     const Expr& like);

// `x` normalized over its axes from `axis` on, with the mean and the inverse
// deviation; these have extents of 1.
struct Normalized {
  Expr y;
  Expr mean;     // null for RmsNormOf
  Expr inverse;  // the inverse of the deviation
};
// `bias` may be null.
Normalized LayerNormOf(const Expr& x, const Expr& scale, const Expr& bias,
                       int axis, double epsilon);
Normalized RmsNormOf(const Expr& x, const Expr& scale, int axis,
                     double epsilon);

}  // namespace baton::onnx

#endif  // BATON_ONNX_OPS_FORMULAS_H_
