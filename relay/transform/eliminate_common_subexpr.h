// EliminateCommonSubexpr: computes equal expressions once.
//
// Level 3, a function pass. A call of an operator becomes the earlier call of
// the same operator with equal attributes and the same arguments; a projection
// becomes the earlier projection of the same field. Arguments are the same if
// they are one node (after rewriting), equal scalar constants, or tuples with
// the same fields. Skips stateful operators and calls without arguments.

#ifndef BATON_RELAY_TRANSFORM_ELIMINATE_COMMON_SUBEXPR_H_
#define BATON_RELAY_TRANSFORM_ELIMINATE_COMMON_SUBEXPR_H_

#include "baton/relay/ir/expr.h"
#include "baton/transform/pass.h"

namespace baton::relay {

struct EliminateCommonSubexprOptions {
  // If true for a call or a projection, whose children have been rewritten,
  // skips it. Must give one result for equal arguments; several threads may
  // call it.
  FunctionOption<bool(const Expr& expr)> fskip;

  template <typename V>
  static void VisitFields(V& v) {
    v("fskip", &EliminateCommonSubexprOptions::fskip,
      "True for expressions that are to be left alone.");
  }
};

Pass EliminateCommonSubexpr(EliminateCommonSubexprOptions options = {});

}  // namespace baton::relay

#endif  // BATON_RELAY_TRANSFORM_ELIMINATE_COMMON_SUBEXPR_H_
