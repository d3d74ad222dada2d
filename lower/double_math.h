// Arithmetic of computations in double.

#ifndef BATON_LOWER_DOUBLE_MATH_H_
#define BATON_LOWER_DOUBLE_MATH_H_

#include "baton/base/dtype.h"
#include "baton/lower/computation.h"
#include "baton/tir/ir/expr.h"

namespace baton::lower {

inline constexpr DType kDouble = DType::Float(64);

inline tir::PrimExpr Real(double value) {
  return tir::FloatImm(kDouble, value);
}

// a + b, a - b, a * b, a / b: see Op2().
inline tir::PrimExpr Plus(const tir::PrimExpr& a, const tir::PrimExpr& b) {
  return Op2(tir::BinaryOp::kAdd, a, b);
}
inline tir::PrimExpr Minus(const tir::PrimExpr& a, const tir::PrimExpr& b) {
  return Op2(tir::BinaryOp::kSub, a, b);
}
inline tir::PrimExpr Times(const tir::PrimExpr& a, const tir::PrimExpr& b) {
  return Op2(tir::BinaryOp::kMul, a, b);
}
inline tir::PrimExpr Over(const tir::PrimExpr& a, const tir::PrimExpr& b) {
  return Op2(tir::BinaryOp::kDiv, a, b);
}

}  // namespace baton::lower

#endif  // BATON_LOWER_DOUBLE_MATH_H_
