// Makes arithmetic expressions as the operators of scripts do: converts
// operands to a common data type, and computes operations on constants.
//
//   Add(i, IntImm(kInt32, 0)) is i; Mul(2, 3) is 6; Add(i, x) casts.

#ifndef BATON_TIR_IR_FOLD_H_
#define BATON_TIR_IR_FOLD_H_

#include <cstdint>
#include <utility>

#include "baton/base/dtype.h"
#include "baton/tir/ir/expr.h"

namespace baton::tir {

// Converts `value`; converts constants at once. `value` must not be a pointer
// unless `dtype` is its type.
PrimExpr CastTo(DType dtype, PrimExpr value);

// Converts two operands to a common data type as TVM does: broadcasts a scalar
// to a vector; converts a narrower float to the wider type, an integer to the
// float, a narrower integer to the wider type, and of two integers of equal
// width the signed one to the unsigned type. If that is not possible, returns
// false and leaves both unchanged.
bool MatchTypes(PrimExpr& a, PrimExpr& b);

// The constant or operand that `op` on `a` and `b`, of equal types, folds to by
// TVM's rules; null if it folds to nothing. A division by zero folds to
// nothing.
PrimExpr TryFold(BinaryOp op, const PrimExpr& a, const PrimExpr& b);

// The operation, folded if it can be. `a` and `b` must have types that
// MatchTypes() can match.
PrimExpr MakeBinary(BinaryOp op, PrimExpr a, PrimExpr b);
inline PrimExpr Add(PrimExpr a, PrimExpr b) {
  return MakeBinary(BinaryOp::kAdd, std::move(a), std::move(b));
}
inline PrimExpr Sub(PrimExpr a, PrimExpr b) {
  return MakeBinary(BinaryOp::kSub, std::move(a), std::move(b));
}
inline PrimExpr Mul(PrimExpr a, PrimExpr b) {
  return MakeBinary(BinaryOp::kMul, std::move(a), std::move(b));
}

// Wraps `value` to the width of the integer type `dtype`.
int64_t WrapToDType(int64_t value, DType dtype);
// True if that is `value` itself.
bool FitsDType(int64_t value, DType dtype);

// `value` as an IntImm, a FloatImm, or a Broadcast of one, as `dtype` says.
PrimExpr MakeConst(DType dtype, int64_t value);

}  // namespace baton::tir

#endif  // BATON_TIR_IR_FOLD_H_
