#include "baton/onnx/ops/formulas.h"

#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "baton/ir/type.h"
#include "baton/onnx/converter.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/op/tensor/elementwise.h"
#include "baton/relay/op/tensor/reduce.h"

namespace baton::onnx {

using relay::Add;
using relay::Multiply;
using relay::Subtract;

Expr GeluOf(const Expr& x) {
  const Expr half = ScalarLike(0.5, x);
  return Multiply(Multiply(half, x),
                  Add(ScalarLike(1, x),
                      relay::Erf(Multiply(x, ScalarLike(std::sqrt(0.5), x)))));
}

Expr GeluByTanh(const Expr& x) {
  const Expr half = ScalarLike(0.5, x);
  const Expr cube = Multiply(x, Multiply(x, x));
  const Expr inner = Multiply(ScalarLike(std::sqrt(2 / M_PI), x),
                              Add(x, Multiply(ScalarLike(0.044715, x), cube)));
  return Multiply(Multiply(half, x), Add(ScalarLike(1, x), relay::Tanh(inner)));
}

namespace {

relay::ReduceAttrs FromAxis(const Expr& x, int axis) {
  relay::ReduceAttrs result = {.axis = std::vector<int64_t>(),
                               .keepdims = true};
  for (int i = axis; i < x->tensor_type()->rank(); ++i) {
    result.axis->push_back(i);
  }
  return result;
}

}  // namespace

Normalized LayerNormOf(const Expr& x, const Expr& scale, const Expr& bias,
                       int axis, double epsilon) {
  const relay::ReduceAttrs over = FromAxis(x, axis);
  const Expr mean = relay::Mean(x, over);
  const Expr centered = Subtract(x, mean);
  const Expr inverse = relay::Rsqrt(Add(
      relay::Mean(Multiply(centered, centered), over), ScalarLike(epsilon, x)));
  Expr y = Multiply(Multiply(centered, inverse), scale);
  if (bias.defined()) y = Add(std::move(y), bias);
  return {std::move(y), mean, inverse};
}

Normalized RmsNormOf(const Expr& x, const Expr& scale, int axis,
                     double epsilon) {
  const Expr inverse = relay::Rsqrt(Add(
      relay::Mean(Multiply(x, x), FromAxis(x, axis)), ScalarLike(epsilon, x)));
  return {Multiply(Multiply(x, inverse), scale), {}, inverse};
}

}  // namespace baton::onnx
