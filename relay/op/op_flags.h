// Yes-or-no properties of operators that passes ask for.

#ifndef BATON_RELAY_OP_OP_FLAGS_H_
#define BATON_RELAY_OP_OP_FLAGS_H_

#include "baton/ir/op.h"

namespace baton::relay {

// Bookkeeping that computes nothing: annotations, storage, device placement.
// Constant folding leaves such calls alone.
OpAttrMap<bool>& NonComputationalOps();

// The value of a call depends on more than its arguments (random numbers), or
// the call has an effect. Such calls are neither merged, nor dropped, nor
// folded.
OpAttrMap<bool>& StatefulOps();

// Changes the shape and leaves the elements in their row-major order.
OpAttrMap<bool>& ReshapeOps();

// Each is false for an operator without an entry, and for anything that is not
// an operator.
inline bool IsNonComputational(const Expr& op) {
  return NonComputationalOps().Get(op) != nullptr;
}
inline bool IsStateful(const Expr& op) {
  return StatefulOps().Get(op) != nullptr;
}
inline bool IsReshape(const Expr& op) {
  return ReshapeOps().Get(op) != nullptr;
}

}  // namespace baton::relay

#endif  // BATON_RELAY_OP_OP_FLAGS_H_
