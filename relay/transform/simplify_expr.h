// SimplifyExpr: replaces expressions by equal ones with fewer or cheaper
// operators.
//
//   zeros_like(x), reshape_like(x, y), ...  zeros(shape=..), reshape(x, ..) if
//                                           the shape is known
//   x + 0, x - 0, x * 1, x / 1              x (but see SimplifyExprOptions)
//   x + x                                   x * 2
//   x / sqrt(y)                             x * rsqrt(y)
//   x + full(value)                         x + value
//   (x + c) * d, (x + c) + d                x * d + c * d, x + (c + d)
//   a*x*x + b*x*y + c*y*y                   a * (x + p * y) * (x + q * y)
//   reshapes, transposes, layout transforms and casts in a row: one, or none
//   a clip to the whole range of its type, casts after a clip that keep values
//   argmax(qnn.dequantize(x, ..))           argmax(x); argmin, argsort as well
//
// Function passes of level 0, which require InferType. The rules are applied in
// turn (RuleOrder::kInTurn), until none changes anything. A node with another
// user that needs it unchanged is not rewritten, nor are the nodes that compute
// it.

#ifndef BATON_RELAY_TRANSFORM_SIMPLIFY_EXPR_H_
#define BATON_RELAY_TRANSFORM_SIMPLIFY_EXPR_H_

#include "baton/transform/pass.h"

namespace baton::relay {

struct SimplifyExprOptions {
  bool signed_zeros = false;

  template <typename V>
  static void VisitFields(V& v) {
    v("signed_zeros", &SimplifyExprOptions::signed_zeros,
      "Keep x + 0 of floats, which is 0 where x is -0, and clips to the finite "
      "range of a float, which make infinities finite.");
  }
};

Pass SimplifyExpr(SimplifyExprOptions options = {});

// Applies only the rules for the remains of a change of layouts: identities,
// and reshapes, casts and clips in a row.
Pass SimplifyExprPostAlterOp(SimplifyExprOptions options = {});

}  // namespace baton::relay

#endif  // BATON_RELAY_TRANSFORM_SIMPLIFY_EXPR_H_
