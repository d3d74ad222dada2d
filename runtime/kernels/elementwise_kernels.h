// Element-wise functions of one operand, or of two operands that broadcast as
// in NumPy.
//
// Half floats are computed in float32 and rounded at the end. Integer
// arithmetic wraps. Functions with Operands compute in place where possible
// (operand.h). Other dtypes than those listed, operands whose dtypes differ,
// and shapes that do not broadcast are InvalidArgumentErrors.

#ifndef BATON_RUNTIME_KERNELS_ELEMENTWISE_KERNELS_H_
#define BATON_RUNTIME_KERNELS_ELEMENTWISE_KERNELS_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "baton/base/tensor.h"
#include "baton/runtime/kernels/operand.h"

namespace baton::kernels {

// Floating dtypes only.
absl::StatusOr<Tensor> Sqrt(const Tensor& x);
absl::StatusOr<Tensor> Rsqrt(const Tensor& x);
absl::StatusOr<Tensor> Exp(const Tensor& x);
absl::StatusOr<Tensor> Log(const Tensor& x);
absl::StatusOr<Tensor> Log2(const Tensor& x);
absl::StatusOr<Tensor> Log10(const Tensor& x);
absl::StatusOr<Tensor> Sin(const Tensor& x);
absl::StatusOr<Tensor> Cos(const Tensor& x);
absl::StatusOr<Tensor> Tan(const Tensor& x);
absl::StatusOr<Tensor> Asin(const Tensor& x);
absl::StatusOr<Tensor> Acos(const Tensor& x);
absl::StatusOr<Tensor> Atan(const Tensor& x);
absl::StatusOr<Tensor> Sinh(const Tensor& x);
absl::StatusOr<Tensor> Cosh(const Tensor& x);
absl::StatusOr<Tensor> Tanh(const Tensor& x);
absl::StatusOr<Tensor> Asinh(const Tensor& x);
absl::StatusOr<Tensor> Acosh(const Tensor& x);
absl::StatusOr<Tensor> Atanh(const Tensor& x);
absl::StatusOr<Tensor> Sigmoid(const Tensor& x);
absl::StatusOr<Tensor> Erf(const Tensor& x);

// For Relay's operators fast_exp, fast_tanh and fast_erf, which may
// approximate: these functions do not.
inline absl::StatusOr<Tensor> FastExp(const Tensor& x) { return Exp(x); }
inline absl::StatusOr<Tensor> FastTanh(const Tensor& x) { return Tanh(x); }
inline absl::StatusOr<Tensor> FastErf(const Tensor& x) { return Erf(x); }

// Floating and integer dtypes. Sign is -1, 0 or 1 (NaN for NaN); Relu keeps a
// NaN.
absl::StatusOr<Tensor> Negative(Operand x);
absl::StatusOr<Tensor> Abs(Operand x);
absl::StatusOr<Tensor> Sign(Operand x);
absl::StatusOr<Tensor> Relu(Operand x);

// Floating dtypes; integer tensors are returned unchanged. Round rounds ties to
// even.
absl::StatusOr<Tensor> Ceil(const Tensor& x);
absl::StatusOr<Tensor> Floor(const Tensor& x);
absl::StatusOr<Tensor> Round(const Tensor& x);
absl::StatusOr<Tensor> Trunc(const Tensor& x);

// Predicates on floating and integer dtypes; the result is bool.
absl::StatusOr<Tensor> IsNan(const Tensor& x);
absl::StatusOr<Tensor> IsInf(const Tensor& x);
absl::StatusOr<Tensor> IsFinite(const Tensor& x);

// Bool; integers and bool.
absl::StatusOr<Tensor> LogicalNot(const Tensor& x);
absl::StatusOr<Tensor> BitwiseNot(const Tensor& x);

// Floating and integer dtypes: min(max(x, low), high), with the bounds clamped
// to the range of an integer dtype and truncated. NaN stays.
absl::StatusOr<Tensor> Clip(Operand x, double low, double high);
// Floating dtypes: x where x > 0, else alpha * x.
absl::StatusOr<Tensor> LeakyRelu(const Tensor& x, double alpha);
// As LeakyRelu, with one alpha for each index along `axis`: `alpha` has as many
// elements as `x` has there, or one.
absl::StatusOr<Tensor> Prelu(const Tensor& x, const Tensor& alpha,
                             int64_t axis);

// Floating and integer dtypes. Divide and Mod truncate integers toward zero,
// FloorDivide and FloorMod round toward negative infinity, for floats too;
// Mod of floats is fmod. An integer divided by zero, or raised to a negative
// power, is an error. Maximum and Minimum also take bool, and return NaN if
// either operand is NaN.
absl::StatusOr<Tensor> Add(Operand a, Operand b);
absl::StatusOr<Tensor> Subtract(Operand a, Operand b);
absl::StatusOr<Tensor> Multiply(Operand a, Operand b);
absl::StatusOr<Tensor> Divide(Operand a, Operand b);
absl::StatusOr<Tensor> FloorDivide(const Tensor& a, const Tensor& b);
absl::StatusOr<Tensor> Mod(const Tensor& a, const Tensor& b);
absl::StatusOr<Tensor> FloorMod(const Tensor& a, const Tensor& b);
absl::StatusOr<Tensor> Power(const Tensor& a, const Tensor& b);
absl::StatusOr<Tensor> Maximum(Operand a, Operand b);
absl::StatusOr<Tensor> Minimum(Operand a, Operand b);

// Comparisons of any dtype; the result is bool.
absl::StatusOr<Tensor> Equal(Operand a, Operand b);
absl::StatusOr<Tensor> NotEqual(Operand a, Operand b);
absl::StatusOr<Tensor> Less(Operand a, Operand b);
absl::StatusOr<Tensor> LessEqual(Operand a, Operand b);
absl::StatusOr<Tensor> Greater(Operand a, Operand b);
absl::StatusOr<Tensor> GreaterEqual(Operand a, Operand b);

// Bool.
absl::StatusOr<Tensor> LogicalAnd(Operand a, Operand b);
absl::StatusOr<Tensor> LogicalOr(Operand a, Operand b);
absl::StatusOr<Tensor> LogicalXor(Operand a, Operand b);

// Integers and bool.
absl::StatusOr<Tensor> BitwiseAnd(const Tensor& a, const Tensor& b);
absl::StatusOr<Tensor> BitwiseOr(const Tensor& a, const Tensor& b);
absl::StatusOr<Tensor> BitwiseXor(const Tensor& a, const Tensor& b);

// Integers. RightShift keeps the sign of signed integers. An amount outside
// [0, bits) is an error.
absl::StatusOr<Tensor> LeftShift(const Tensor& a, const Tensor& b);
absl::StatusOr<Tensor> RightShift(const Tensor& a, const Tensor& b);

// x + bias, where `bias` has rank 1 and the extent of axis `axis` of `x`.
absl::StatusOr<Tensor> BiasAdd(Operand x, const Tensor& bias, int64_t axis);

}  // namespace baton::kernels

#endif  // BATON_RUNTIME_KERNELS_ELEMENTWISE_KERNELS_H_
