// ExprKey: an expression as a key of hash maps, by ExprDeepEqual().

#ifndef BATON_TIR_ARITH_EXPR_KEY_H_
#define BATON_TIR_ARITH_EXPR_KEY_H_

#include <cstddef>
#include <utility>

#include "baton/tir/arith/pattern.h"
#include "baton/tir/ir/expr.h"

namespace baton::tir {

// A hash of the outermost nodes of `e`, in constant time. Expressions that are
// equal by ExprDeepEqual() have equal hashes.
size_t ExprShallowHash(const PrimExpr& e);

struct ExprKey {
  PrimExpr e;
  friend bool operator==(const ExprKey& a, const ExprKey& b) {
    return ExprDeepEqual(a.e, b.e);
  }
  template <typename H>
  friend H AbslHashValue(H h, const ExprKey& key) {
    return H::combine(std::move(h), ExprShallowHash(key.e));
  }
};

}  // namespace baton::tir

#endif  // BATON_TIR_ARITH_EXPR_KEY_H_
