// Finds folds of constants that leave the range of their type.

#ifndef BATON_TIR_ARITH_FOLD_WRAPS_H_
#define BATON_TIR_ARITH_FOLD_WRAPS_H_

#include "baton/tir/ir/expr.h"

namespace baton::tir {

// True if MakeBinary() wraps: `a` and `b` are constants of integer types with a
// sign, and what `op` makes of them is out of the range of the wider type.
bool FoldWraps(BinaryOp op, const PrimExpr& a, const PrimExpr& b);

// MakeBinary(), which does not fold where that would wrap.
PrimExpr MakeBinaryInRange(BinaryOp op, PrimExpr a, PrimExpr b);

// MakeBinary() for a result that counts only if none of its parts wraps: notes
// whether one did.
class NotedFolds {
 public:
  PrimExpr Combine(BinaryOp op, const PrimExpr& a, const PrimExpr& b);
  PrimExpr Negate(const PrimExpr& e);
  // Notes that a part is out of range for another reason.
  void Note(bool wraps) { wraps_ = wraps_ || wraps; }
  bool wraps() const { return wraps_; }

 private:
  bool wraps_ = false;
};

}  // namespace baton::tir

#endif  // BATON_TIR_ARITH_FOLD_WRAPS_H_
