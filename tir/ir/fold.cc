#include "baton/tir/ir/fold.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "baton/base/dtype.h"
#include "baton/tir/ir/expr.h"

namespace baton::tir {
namespace {

// Arithmetic modulo 2^64, which is what folding has before it wraps.
int64_t WrappedAdd(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) +
                              static_cast<uint64_t>(b));
}
int64_t WrappedSub(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) -
                              static_cast<uint64_t>(b));
}
int64_t WrappedMul(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) *
                              static_cast<uint64_t>(b));
}
// The quotient of the least int64 and -1 wraps to the former.
int64_t TruncDiv(int64_t a, int64_t b) {
  return b == -1 ? WrappedSub(0, a) : a / b;
}
int64_t TruncMod(int64_t a, int64_t b) { return b == -1 ? 0 : a % b; }
// The quotient of integers of 64 bits without a sign.
int64_t UnsignedDiv(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) /
                              static_cast<uint64_t>(b));
}
int64_t FloorDivOf(int64_t a, int64_t b) {
  const int64_t quotient = TruncDiv(a, b);
  return TruncMod(a, b) != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}
int64_t FloorModOf(int64_t a, int64_t b) {
  const int64_t rest = TruncMod(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

// Integers that the reference treats as indices.
bool IsIndex(DType dtype) {
  return dtype.is_int() && dtype.lanes() == 1 &&
         (dtype.bits() == 32 || dtype.bits() == 64);
}

struct Operands {
  const IntImmNode* ia;
  const IntImmNode* ib;
  const FloatImmNode* fa;
  const FloatImmNode* fb;
};

PrimExpr FoldFloats(BinaryOp op, DType dtype, double a, double b) {
  const auto compute = [op](auto x, auto y) -> double {
    switch (op) {
      case BinaryOp::kAdd:
        return x + y;
      case BinaryOp::kSub:
        return x - y;
      case BinaryOp::kMul:
        return x * y;
      case BinaryOp::kDiv:
        return x / y;
      default:
        return std::floor(x / y);
    }
  };
  if (dtype.bits() == 32) {
    return FloatImm(dtype,
                    compute(static_cast<float>(a), static_cast<float>(b)));
  }
  if (dtype.bits() == 64) return FloatImm(dtype, compute(a, b));
  return {};
}

// Add, Sub, Mul, Div, FloorDiv.
PrimExpr FoldArithmetic(BinaryOp op, const PrimExpr& a, const PrimExpr& b,
                        const Operands& o) {
  const DType dtype = a.dtype();
  const bool divides = op == BinaryOp::kDiv || op == BinaryOp::kFloorDiv;
  if (divides && o.ib != nullptr && o.ib->value() == 0) return {};
  if (divides && o.fb != nullptr && o.fb->value() == 0) return {};
  if (o.ia != nullptr && o.ib != nullptr) {
    const int64_t x = o.ia->value();
    const int64_t y = o.ib->value();
    int64_t result = 0;
    switch (op) {
      case BinaryOp::kAdd:
        result = WrappedAdd(x, y);
        break;
      case BinaryOp::kSub:
        result = WrappedSub(x, y);
        break;
      case BinaryOp::kMul:
        result = WrappedMul(x, y);
        break;
      case BinaryOp::kDiv:
        result = dtype.is_uint() ? UnsignedDiv(x, y) : TruncDiv(x, y);
        break;
      default:
        result = dtype.is_uint() ? UnsignedDiv(x, y) : FloorDivOf(x, y);
        break;
    }
    // Truth values are added as kernels add them: what is not 0 is true.
    if (dtype.is_bool()) return IntImm::Bool(result != 0);
    return IntImm(dtype, WrapToDType(result, dtype));
  }
  const auto fold = [&](bool has_a, auto value_a, bool has_b,
                        auto value_b) -> PrimExpr {
    switch (op) {
      case BinaryOp::kAdd:
        if (has_a && value_a == 0) return b;
        if (has_b && value_b == 0) return a;
        break;
      case BinaryOp::kSub:
        if (has_b && value_b == 0) return a;
        break;
      case BinaryOp::kMul:
        if (has_a && value_a == 1) return b;
        if (has_a && value_a == 0) return a;
        if (has_b && value_b == 1) return a;
        if (has_b && value_b == 0) return b;
        break;
      default:
        if (has_a && value_a == 0) return a;
        if (has_b && value_b == 1) return a;
        break;
    }
    return {};
  };
  if (o.fa != nullptr && o.fb != nullptr) {
    PrimExpr result = FoldFloats(op, dtype, o.fa->value(), o.fb->value());
    if (result.defined()) return result;
  }
  PrimExpr result =
      fold(o.ia != nullptr, o.ia != nullptr ? o.ia->value() : int64_t{2},
           o.ib != nullptr, o.ib != nullptr ? o.ib->value() : int64_t{2});
  if (result.defined()) return result;
  return fold(o.fa != nullptr, o.fa != nullptr ? o.fa->value() : 2.0,
              o.fb != nullptr, o.fb != nullptr ? o.fb->value() : 2.0);
}

PrimExpr FoldMod(BinaryOp op, const PrimExpr& a, const PrimExpr& b,
                 const Operands& o) {
  const DType dtype = a.dtype();
  if (!IsIndex(dtype) || !IsIndex(b.dtype())) return {};
  if (o.ib != nullptr && o.ib->value() == 0) return {};
  if (o.ia != nullptr && o.ib != nullptr) {
    const int64_t result = op == BinaryOp::kMod
                               ? TruncMod(o.ia->value(), o.ib->value())
                               : FloorModOf(o.ia->value(), o.ib->value());
    return IntImm(dtype, WrapToDType(result, dtype));
  }
  if (o.ia != nullptr && o.ia->value() == 0) return a;
  if (o.ib != nullptr && o.ib->value() == 1) return IntImm(dtype, 0);
  return {};
}

template <typename T>
bool Compare(BinaryOp op, T a, T b) {
  switch (op) {
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
    default:
      return a >= b;
  }
}

bool Compare(BinaryOp op, DType dtype, const IntImmNode& a,
             const IntImmNode& b) {
  return dtype.is_uint() ? Compare(op, static_cast<uint64_t>(a.value()),
                                   static_cast<uint64_t>(b.value()))
                         : Compare(op, a.value(), b.value());
}

}  // namespace

int64_t WrapToDType(int64_t value, DType dtype) {
  if (dtype.bits() >= 64) return value;
  const uint64_t mask = (uint64_t{1} << dtype.bits()) - 1;
  uint64_t bits = static_cast<uint64_t>(value) & mask;
  if (dtype.is_int()) {
    const uint64_t sign = uint64_t{1} << (dtype.bits() - 1);
    bits = (bits ^ sign) - sign;
  }
  return static_cast<int64_t>(bits);
}

bool FitsDType(int64_t value, DType dtype) {
  return WrapToDType(value, dtype) == value;
}

PrimExpr MakeConst(DType dtype, int64_t value) {
  const DType element = WithLanes(dtype, 1);
  PrimExpr scalar;
  if (dtype.is_float() || IsFloat8(dtype)) {
    scalar = FloatImm(element, static_cast<double>(value));
  } else {
    scalar = IntImm(element, value);
  }
  if (dtype.lanes() == 1) return scalar;
  return Broadcast(std::move(scalar), dtype.lanes());
}

PrimExpr CastTo(DType dtype, PrimExpr value) {
  if (value.dtype() == dtype) return value;
  const DType element = WithLanes(dtype, 1);
  const auto scalar = [element](PrimExpr e) -> PrimExpr {
    if (e.dtype() == element) return e;
    const bool to_float = element.is_float() || IsFloat8(element);
    if (const auto* imm = e.As<IntImmNode>()) {
      if (to_float && e.dtype().is_uint()) {
        return FloatImm(
            element, static_cast<double>(static_cast<uint64_t>(imm->value())));
      }
      if (to_float) {
        return FloatImm(element, static_cast<double>(imm->value()));
      }
      if (element.is_bool()) return IntImm::Bool(imm->value() != 0);
      return IntImm(element, WrapToDType(imm->value(), element));
    }
    if (const auto* imm = e.As<FloatImmNode>()) {
      if (to_float) return FloatImm(element, imm->value());
      if (element.is_bool()) return IntImm::Bool(imm->value() != 0);
      // A number that is out of range is converted where it is computed.
      constexpr double kLimit = 9.2e18;
      if (imm->value() > -kLimit && imm->value() < kLimit) {
        const auto value = static_cast<int64_t>(imm->value());
        if (FitsDType(value, element) && (value >= 0 || element.is_int())) {
          return IntImm(element, value);
        }
      }
    }
    return Cast(element, std::move(e));
  };
  if (dtype.lanes() == 1) return scalar(std::move(value));
  if (value.dtype().lanes() == 1) {
    return Broadcast(scalar(std::move(value)), dtype.lanes());
  }
  if (const auto* broadcast = value.As<BroadcastNode>()) {
    return Broadcast(scalar(broadcast->value()), dtype.lanes());
  }
  // A ramp that may wrap around is no ramp of more bits.
  const DType from = value.dtype();
  const bool wraps = from.is_uint() || from.bits() < 32;
  if (const auto* ramp = value.As<RampNode>();
      ramp != nullptr && dtype.is_integral() && !dtype.is_bool() &&
      (!wraps || dtype.bits() <= from.bits())) {
    return Ramp(scalar(ramp->base()), scalar(ramp->stride()), ramp->lanes());
  }
  return Cast(dtype, std::move(value));
}

bool MatchTypes(PrimExpr& a, PrimExpr& b) {
  if (a.dtype() == b.dtype()) return true;
  PrimExpr x = a;
  PrimExpr y = b;
  if (x.dtype().lanes() != y.dtype().lanes()) {
    if (x.dtype().lanes() == 1) {
      x = Broadcast(std::move(x), y.dtype().lanes());
    } else if (y.dtype().lanes() == 1) {
      y = Broadcast(std::move(y), x.dtype().lanes());
    } else {
      return false;
    }
  }
  const DType l = x.dtype();
  const DType r = y.dtype();
  if (l != r) {
    const auto is_float = [](DType t) {
      return t.code() == DType::Code::kFloat;
    };
    const auto is_bfloat = [](DType t) {
      return t.code() == DType::Code::kBFloat;
    };
    bool cast_left = false;
    if (l.code() == DType::Code::kHandle || r.code() == DType::Code::kHandle) {
      return false;
    }
    if (is_float(l) && is_float(r)) {
      cast_left = l.bits() < r.bits();
    } else if (is_float(l) != is_float(r)) {
      cast_left = is_float(r);
    } else if (is_bfloat(l) != is_bfloat(r)) {
      cast_left = is_bfloat(r);
    } else if (IsFloat8(l) != IsFloat8(r)) {
      cast_left = IsFloat8(r);
    } else if (l.is_integral() && r.is_integral()) {
      cast_left = l.bits() != r.bits() ? l.bits() < r.bits() : r.is_uint();
    } else {
      return false;
    }
    if (cast_left) {
      x = CastTo(r, std::move(x));
    } else {
      y = CastTo(l, std::move(y));
    }
  }
  a = std::move(x);
  b = std::move(y);
  return true;
}

PrimExpr TryFold(BinaryOp op, const PrimExpr& a, const PrimExpr& b) {
  const Operands o = {a.As<IntImmNode>(), b.As<IntImmNode>(),
                      a.As<FloatImmNode>(), b.As<FloatImmNode>()};
  switch (op) {
    case BinaryOp::kAdd:
    case BinaryOp::kSub:
    case BinaryOp::kMul:
    case BinaryOp::kDiv:
    case BinaryOp::kFloorDiv:
      return FoldArithmetic(op, a, b, o);
    case BinaryOp::kMod:
    case BinaryOp::kFloorMod:
      return FoldMod(op, a, b, o);
    case BinaryOp::kMin:
    case BinaryOp::kMax: {
      const bool is_min = op == BinaryOp::kMin;
      if (o.ia != nullptr && o.ib != nullptr) {
        return Compare(BinaryOp::kLT, a.dtype(), *o.ia, *o.ib) == is_min ? a
                                                                         : b;
      }
      if (o.fa != nullptr && o.fb != nullptr) {
        return FloatImm(a.dtype(),
                        is_min ? std::min(o.fa->value(), o.fb->value())
                               : std::max(o.fa->value(), o.fb->value()));
      }
      return a == b ? a : PrimExpr();
    }
    case BinaryOp::kEQ:
    case BinaryOp::kNE:
    case BinaryOp::kLT:
    case BinaryOp::kLE:
    case BinaryOp::kGT:
    case BinaryOp::kGE:
      if (o.ia != nullptr && o.ib != nullptr) {
        return IntImm::Bool(Compare(op, a.dtype(), *o.ia, *o.ib));
      }
      if (o.fa != nullptr && o.fb != nullptr) {
        return IntImm::Bool(Compare(op, o.fa->value(), o.fb->value()));
      }
      return {};
    case BinaryOp::kAnd:
      if (o.ia != nullptr) return o.ia->value() != 0 ? b : a;
      if (o.ib != nullptr) return o.ib->value() != 0 ? a : b;
      return {};
    case BinaryOp::kOr:
      if (o.ia != nullptr) return o.ia->value() != 0 ? a : b;
      if (o.ib != nullptr) return o.ib->value() != 0 ? b : a;
      return {};
  }
  return {};
}

PrimExpr MakeBinary(BinaryOp op, PrimExpr a, PrimExpr b) {
  MatchTypes(a, b);
  PrimExpr folded = TryFold(op, a, b);
  if (folded.defined()) return folded;
  return Binary(op, std::move(a), std::move(b));
}

}  // namespace baton::tir
