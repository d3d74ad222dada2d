// Constants: made from values, and read as values.

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
// Const(2) an int32.
Constant Const(Tensor value);
template <typename T>
Constant Const(T value) {
  return Const(Tensor::Scalar<T>(value));
}
Constant Const(double value, DType dtype);

// The tensor of a constant; null if `expr` is no constant.
const Tensor* ConstantTensor(const Expr& expr);

// The value of a constant scalar (rank 0); nullopt if `expr` is none.
std::optional<double> ConstantScalar(const Expr& expr);

// The value that every element of a constant of any rank has, bit for bit;
// nullopt if `expr` is none, or has no elements.
std::optional<double> ConstantSplat(const Expr& expr);

// The integers in a constant of rank 0 or 1; nullopt if `expr` is none. Other
// elements are converted as by static_cast.
std::optional<std::vector<int64_t>> ConstantInts(const Expr& expr);

}  // namespace baton::relay

#endif  // BATON_RELAY_IR_CONSTANT_H_
