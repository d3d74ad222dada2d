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

// MakeBinary() for a result that counts only if all its parts are in range:
// notes whether one wraps, or is out of range in another way.
class NotedFolds {
 public:
  PrimExpr Combine(BinaryOp op, const PrimExpr& a, const PrimExpr& b);
  PrimExpr Negate(const PrimExpr& e);
  // Notes a part that is out of range, for any reason, if `value` is true.
  void NoteOutOfRange(bool value) { is_out_of_range_ |= value; }
  bool is_out_of_range() const { return is_out_of_range_; }

 private:
  bool is_out_of_range_ = false;
};

}  // namespace baton::tir

#endif  // BATON_TIR_ARITH_FOLD_WRAPS_H_
