#include "baton/tir/arith/wide_binary.h"

#include <algorithm>
#include <optional>

#include "baton/tir/ir/expr.h"

namespace baton::tir {

std::optional<Wide> WideBinary(BinaryOp op, Wide a, Wide b) {
  Wide value = 0;
  switch (op) {
    case BinaryOp::kAdd:
      if (__builtin_add_overflow(a, b, &value)) return std::nullopt;
      return value;
    case BinaryOp::kSub:
      if (__builtin_sub_overflow(a, b, &value)) return std::nullopt;
      return value;
    case BinaryOp::kMul:
      if (__builtin_mul_overflow(a, b, &value)) return std::nullopt;
      return value;
    case BinaryOp::kDiv:
      if (b == 0) return std::nullopt;
      return a / b;
    case BinaryOp::kMod:
      if (b == 0) return std::nullopt;
      return a % b;
    case BinaryOp::kFloorDiv:
      if (b == 0) return std::nullopt;
      return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
    case BinaryOp::kFloorMod:
      if (b == 0) return std::nullopt;
      return a % b + (a % b != 0 && (a < 0) != (b < 0) ? b : 0);
    case BinaryOp::kMin:
      return std::min(a, b);
    case BinaryOp::kMax:
      return std::max(a, b);
    case BinaryOp::kEQ:
      return a == b;
    case BinaryOp::kNE:
      return a != b;
    case BinaryOp::kLT:
      return a < b;
    case BinaryOp::kLE:
      return a <= b;
    case BinaryOp::kGT:
      return a > b;
    case BinaryOp::kGE:
      return a >= b;
    case BinaryOp::kAnd:
      return a != 0 && b != 0;
    case BinaryOp::kOr:
      return a != 0 || b != 0;
  }
  return std::nullopt;
}

}  // namespace baton::tir
