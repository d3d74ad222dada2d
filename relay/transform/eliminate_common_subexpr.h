// EliminateCommonSubexpr: computes equal things once.
//
// Level 3, a function pass. A call of an operator becomes the earlier call of
// the same operator with the same attributes and the same arguments; a field
// taken from a tuple becomes the same field taken earlier. Arguments are the
// same if they are one node (after rewriting), equal scalar constants, or
// tuples whose fields are. Operators that are stateful, and calls without
// arguments, are left alone.

#ifndef BATON_RELAY_TRANSFORM_ELIMINATE_COMMON_SUBEXPR_H_
#define BATON_RELAY_TRANSFORM_ELIMINATE_COMMON_SUBEXPR_H_

#include "baton/relay/ir/expr.h"
#include "baton/transform/pass.h"

namespace baton::relay {

struct EliminateCommonSubexprOptions {
  // Asked of calls and of fields of tuples, after their children have been
  // rewritten. Must give one answer whenever it is asked the same; may be
  // called on several threads.
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
