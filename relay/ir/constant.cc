#include "baton/relay/ir/constant.h"

#include <cstring>
#include <utility>

namespace baton::relay {

Constant Const(Tensor value) { return Constant(std::move(value)); }

Constant Const(double value, DType dtype) {
  return Constant(Tensor::ScalarOf(dtype, value));
}

const Tensor* ConstantTensor(const Expr& expr) {
  const auto* constant = expr.As<ConstantNode>();
  return constant == nullptr ? nullptr : &constant->value();
}

std::optional<double> ConstantScalar(const Expr& expr) {
  const Tensor* tensor = ConstantTensor(expr);
  if (tensor == nullptr || tensor->rank() != 0) return std::nullopt;
  return tensor->AtAsDouble(0);
}

std::optional<double> ConstantSplat(const Expr& expr) {
  const Tensor* tensor = ConstantTensor(expr);
  if (tensor == nullptr || tensor->num_elements() == 0) return std::nullopt;
  const char* const data = tensor->bytes().data();
  const int size = tensor->dtype().bytes();
  // Each element equals the next one.
  if (std::memcmp(data, data + size, tensor->byte_size() - size) != 0) {
    return std::nullopt;
  }
  return tensor->AtAsDouble(0);
}

std::optional<std::vector<int64_t>> ConstantInts(const Expr& expr) {
  const Tensor* tensor = ConstantTensor(expr);
  if (tensor == nullptr || tensor->rank() > 1) return std::nullopt;
  std::vector<int64_t> ints(tensor->num_elements());
  for (int64_t i = 0; i < tensor->num_elements(); ++i) {
    ints[i] = tensor->AtAsInt64(i);
  }
  return ints;
}

}  // namespace baton::relay
