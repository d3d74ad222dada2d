#include "baton/tir/arith/fold_wraps.h"

#include <cstdint>
#include <utility>

#include "baton/base/dtype.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/fold.h"

namespace baton::tir {

bool FoldWraps(BinaryOp op, const PrimExpr& a, const PrimExpr& b) {
  const auto* x = a.As<IntImmNode>();
  const auto* y = b.As<IntImmNode>();
  const DType dtype =
      b.dtype().bits() > a.dtype().bits() ? b.dtype() : a.dtype();
  if (x == nullptr || y == nullptr || !dtype.is_int()) return false;
  int64_t result = 0;
  switch (op) {
    case BinaryOp::kAdd:
      if (__builtin_add_overflow(x->value(), y->value(), &result)) return true;
      break;
    case BinaryOp::kSub:
      if (__builtin_sub_overflow(x->value(), y->value(), &result)) return true;
      break;
    case BinaryOp::kMul:
      if (__builtin_mul_overflow(x->value(), y->value(), &result)) return true;
      break;
    case BinaryOp::kDiv:
    case BinaryOp::kFloorDiv:
      if (y->value() != -1) return false;
      if (__builtin_sub_overflow(0, x->value(), &result)) return true;
      break;
    default:
      return false;
  }
  return !FitsDType(result, dtype);
}

PrimExpr MakeBinaryInRange(BinaryOp op, PrimExpr a, PrimExpr b) {
  MatchTypes(a, b);
  return FoldWraps(op, a, b) ? Binary(op, std::move(a), std::move(b))
                             : MakeBinary(op, std::move(a), std::move(b));
}

PrimExpr NotedFolds::Combine(BinaryOp op, const PrimExpr& a,
                             const PrimExpr& b) {
  NoteOutOfRange(FoldWraps(op, a, b));
  return MakeBinary(op, a, b);
}

PrimExpr NotedFolds::Negate(const PrimExpr& e) {
  return Combine(BinaryOp::kSub, MakeConst(e.dtype(), 0), e);
}

}  // namespace baton::tir
