// Makes constants from values, and reads the values of constants.

#ifndef BATON_RELAY_IR_CONSTANT_H_
#define BATON_RELAY_IR_CONSTANT_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "baton/base/dtype.h"
#include "baton/base/tensor.h"
#include "baton/relay/ir/expr.h"

namespace baton::relay {

// A scalar has the element type of the C++ type: Const(2.0f) is a float32,
// Const(2) is an int32.
Constant Const(Tensor value);
template <typename T>
Constant Const(T value) {
  return Const(Tensor::Scalar<T>(value));
}
Constant Const(double value, DType dtype);

// The tensor of a constant; null if `expr` is not a constant.
const Tensor* ConstantTensor(const Expr& expr);

// The value of a scalar constant (rank 0); nullopt if `expr` is not one.
std::optional<double> ConstantScalar(const Expr& expr);

// The value of a constant of any rank whose elements all have the same bits;
// nullopt if `expr` is not one or has no elements.
std::optional<double> ConstantSplat(const Expr& expr);

// The elements of a constant of rank 0 or 1 as integers (Tensor::AtAsInt64);
// nullopt if `expr` is not one.
std::optional<std::vector<int64_t>> ConstantInts(const Expr& expr);

}  // namespace baton::relay

#endif  // BATON_RELAY_IR_CONSTANT_H_
