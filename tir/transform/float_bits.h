// Conversions between floating-point types as operations on their bits, for
// types that a processor does not have.
//
//   ConvertFloat(x, DType::Float(32))   x of bfloat16:
//     T.reinterpret("float32", T.shift_left(
//         T.Cast("uint32", T.reinterpret("uint16", x)), T.uint32(16)))

#ifndef BATON_TIR_TRANSFORM_FLOAT_BITS_H_
#define BATON_TIR_TRANSFORM_FLOAT_BITS_H_

#include "baton/base/dtype.h"
#include "baton/tir/ir/expr.h"

namespace baton::tir {

inline bool IsBFloat16(DType dtype) {
  return dtype.code() == DType::Code::kBFloat;
}

// The unsigned integers that have the bits of `dtype`.
DType BitsDType(DType dtype);

// `value`, of a floating-point type, as `dtype`, another one with as many
// lanes. Rounds to nearest, ties to even. Values too small for `dtype` become
// zero. If `dtype` has a smaller range of exponents, infinities, NaNs and
// values too large for it are not preserved.
PrimExpr ConvertFloat(const PrimExpr& value, DType dtype);

// The bits of `value` as `dtype`; `value` itself if it has that type.
PrimExpr Reinterpreted(DType dtype, const PrimExpr& value);

}  // namespace baton::tir

#endif  // BATON_TIR_TRANSFORM_FLOAT_BITS_H_
