// Element-wise operators, with one operand or with operands broadcast together.

#ifndef BATON_RELAY_OP_TENSOR_ELEMENTWISE_H_
#define BATON_RELAY_OP_TENSOR_ELEMENTWISE_H_

#include <cstdint>
#include <vector>

#include "baton/base/dtype.h"
#include "baton/base/fields.h"
#include "baton/relay/ir/expr.h"

namespace baton::relay {

// cast, reinterpret
struct CastAttrs {
  DType dtype;

  static constexpr char kTypeKey[] = "relay.attrs.CastAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("dtype", &CastAttrs::dtype, "The element type wanted.", kRequired);
  }
};

struct ClipAttrs {
  double a_min = 0.0;
  double a_max = 0.0;

  static constexpr char kTypeKey[] = "relay.attrs.ClipAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("a_min", &ClipAttrs::a_min, "Lower bound.", kRequired);
    v("a_max", &ClipAttrs::a_max, "Upper bound.", kRequired);
  }
};

struct FixedPointMultiplyAttrs {
  int multiplier = 0;
  int shift = 0;

  static constexpr char kTypeKey[] = "relay.attrs.FixedPointMultiplyAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("multiplier", &FixedPointMultiplyAttrs::multiplier,
      "The multiplier, a fixed-point number below 1.", kRequired);
    v("shift", &FixedPointMultiplyAttrs::shift,
      "Bits by which the product is shifted left.", kRequired);
  }
};

struct FixedPointMultiplyPerAxisAttrs {
  bool is_lshift_required = false;
  bool is_rshift_required = false;
  std::vector<int64_t> axes;

  static constexpr char kTypeKey[] =
      "relay.attrs.FixedPointMultiplyPerAxisAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("is_lshift_required", &FixedPointMultiplyPerAxisAttrs::is_lshift_required,
      "Whether to shift left first.");
    v("is_rshift_required", &FixedPointMultiplyPerAxisAttrs::is_rshift_required,
      "Whether to shift right afterwards.");
    v("axes", &FixedPointMultiplyPerAxisAttrs::axes,
      "The axes along which the multipliers differ.", kRequired);
  }
};

// Builders of calls.

// Operators with one operand.
Expr Abs(Expr data);
Expr Acos(Expr data);
Expr Acosh(Expr data);
Expr Asin(Expr data);
Expr Asinh(Expr data);
Expr Atan(Expr data);
Expr Atanh(Expr data);
Expr BitwiseNot(Expr data);
Expr Ceil(Expr data);
Expr Copy(Expr data);
Expr Cos(Expr data);
Expr Cosh(Expr data);
Expr Erf(Expr data);
Expr Exp(Expr data);
Expr FastErf(Expr data);
Expr FastExp(Expr data);
Expr FastTanh(Expr data);
Expr Floor(Expr data);
Expr IsFinite(Expr data);
Expr IsInf(Expr data);
Expr IsNan(Expr data);
Expr Log(Expr data);
Expr Log10(Expr data);
Expr Log2(Expr data);
Expr LogicalNot(Expr data);
Expr Negative(Expr data);
Expr OnesLike(Expr data);
Expr Round(Expr data);
Expr Rsqrt(Expr data);
Expr Sigmoid(Expr data);
Expr Sign(Expr data);
Expr Sin(Expr data);
Expr Sinh(Expr data);
Expr Sqrt(Expr data);
Expr Tan(Expr data);
Expr Tanh(Expr data);
Expr Trunc(Expr data);
Expr ZerosLike(Expr data);

// Operators with two operands, which are broadcast together.
Expr Add(Expr lhs, Expr rhs);
Expr BitwiseAnd(Expr lhs, Expr rhs);
Expr BitwiseOr(Expr lhs, Expr rhs);
Expr BitwiseXor(Expr lhs, Expr rhs);
Expr Divide(Expr lhs, Expr rhs);
Expr Equal(Expr lhs, Expr rhs);
Expr FloorDivide(Expr lhs, Expr rhs);
Expr FloorMod(Expr lhs, Expr rhs);
Expr Greater(Expr lhs, Expr rhs);
Expr GreaterEqual(Expr lhs, Expr rhs);
Expr LeftShift(Expr lhs, Expr rhs);
Expr Less(Expr lhs, Expr rhs);
Expr LessEqual(Expr lhs, Expr rhs);
Expr LogicalAnd(Expr lhs, Expr rhs);
Expr LogicalOr(Expr lhs, Expr rhs);
Expr LogicalXor(Expr lhs, Expr rhs);
Expr Maximum(Expr lhs, Expr rhs);
Expr Minimum(Expr lhs, Expr rhs);
Expr Mod(Expr lhs, Expr rhs);
Expr Multiply(Expr lhs, Expr rhs);
Expr NotEqual(Expr lhs, Expr rhs);
Expr Power(Expr lhs, Expr rhs);
Expr RightShift(Expr lhs, Expr rhs);
Expr Subtract(Expr lhs, Expr rhs);
Expr TruncDivide(Expr lhs, Expr rhs);
Expr TruncMod(Expr lhs, Expr rhs);

Expr Clip(Expr data, double a_min, double a_max);
Expr Where(Expr condition, Expr x, Expr y);

// Element types.
Expr Cast(Expr data, DType dtype);
Expr CastLike(Expr data, Expr dtype_like);
Expr Reinterpret(Expr data, DType dtype);

}  // namespace baton::relay

#endif  // BATON_RELAY_OP_TENSOR_ELEMENTWISE_H_
