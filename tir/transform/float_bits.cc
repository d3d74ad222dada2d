#include "baton/tir/transform/float_bits.h"

#include <cstdint>

#include "baton/base/dtype.h"
#include "baton/ir/op.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/fold.h"

namespace baton::tir {
namespace {

struct Format {
  int exponent;  // bits
  int mantissa;  // bits
  int bias;
};

Format FormatOf(DType dtype) {
  if (IsBFloat16(dtype)) return {8, 7, 127};
  if (IsFloat8(dtype)) {
    return dtype.code() == kE4M3Float8.code() ? Format{4, 3, 7}
                                              : Format{5, 2, 15};
  }
  if (dtype.bits() == 16) return {5, 10, 15};
  if (dtype.bits() == 32) return {8, 23, 127};
  return {11, 52, 1023};
}

PrimExpr BitOp(const Op& op, const PrimExpr& a, const PrimExpr& b) {
  return Call(a.dtype(), op, {a, b});
}
PrimExpr ShiftLeft(const PrimExpr& a, int64_t bits) {
  return BitOp(BATON_OP("tir.shift_left"), a, MakeConst(a.dtype(), bits));
}
PrimExpr ShiftRight(const PrimExpr& a, int64_t bits) {
  return BitOp(BATON_OP("tir.shift_right"), a, MakeConst(a.dtype(), bits));
}
PrimExpr And(const PrimExpr& a, int64_t mask) {
  return BitOp(BATON_OP("tir.bitwise_and"), a, MakeConst(a.dtype(), mask));
}
PrimExpr Or(const PrimExpr& a, const PrimExpr& b) {
  return BitOp(BATON_OP("tir.bitwise_or"), a, b);
}

}  // namespace

DType BitsDType(DType dtype) {
  return DType(DType::Code::kUInt, dtype.bits(), dtype.lanes());
}

PrimExpr Reinterpreted(DType dtype, const PrimExpr& value) {
  if (value.dtype() == dtype) return value;
  return Call(dtype, BATON_OP("tir.reinterpret"), {value}, value->span());
}

PrimExpr ConvertFloat(const PrimExpr& value, DType dtype) {
  const Format from = FormatOf(value.dtype());
  const Format to = FormatOf(dtype);
  const int bias = to.bias - from.bias;
  const int mantissa = to.mantissa - from.mantissa;
  const DType from_bits = BitsDType(value.dtype());
  const DType to_bits = BitsDType(dtype);

  PrimExpr bits = Reinterpreted(from_bits, value);
  if (mantissa < 0) {
    const PrimExpr rounding =
        Add(And(ShiftRight(bits, -mantissa), 1),
            MakeConst(from_bits, (int64_t{1} << (-mantissa - 1)) - 1));
    bits = Add(bits, rounding);
  }
  const PrimExpr scaled = mantissa >= 0
                              ? ShiftLeft(CastTo(to_bits, bits), mantissa)
                              : CastTo(to_bits, ShiftRight(bits, -mantissa));
  if (from.exponent == to.exponent) {
    PrimExpr result = scaled;
    if (bias > 0) {
      result = Add(result, ShiftLeft(MakeConst(to_bits, bias), to.mantissa));
    } else if (bias < 0) {
      result = Sub(result, ShiftLeft(MakeConst(to_bits, -bias), to.mantissa));
    }
    return Reinterpreted(dtype, result);
  }
  const PrimExpr new_mantissa = And(scaled, (int64_t{1} << to.mantissa) - 1);
  const PrimExpr exponent = ShiftRight(ShiftLeft(bits, 1), from.mantissa + 1);
  const PrimExpr sign = ShiftLeft(
      CastTo(to_bits, ShiftRight(bits, from.mantissa + from.exponent)),
      to.mantissa + to.exponent);
  if (bias >= 0) {
    const PrimExpr shifted =
        bias > 0 ? Add(exponent, MakeConst(from_bits, bias)) : exponent;
    const PrimExpr new_exponent =
        ShiftLeft(CastTo(to_bits, shifted), to.mantissa);
    return Reinterpreted(dtype, Or(Or(new_mantissa, new_exponent), sign));
  }
  const PrimExpr is_too_small =
      MakeBinary(BinaryOp::kLT, exponent, MakeConst(from_bits, -bias));
  const PrimExpr new_exponent = ShiftLeft(
      CastTo(to_bits, Sub(exponent, MakeConst(from_bits, -bias))), to.mantissa);
  return Reinterpreted(dtype, Call(to_bits, BATON_OP("tir.if_then_else"),
                                   {is_too_small, MakeConst(to_bits, 0),
                                    Or(Or(new_mantissa, new_exponent), sign)}));
}

}  // namespace baton::tir
