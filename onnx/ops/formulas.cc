#include "baton/onnx/ops/formulas.h"

#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "baton/ir/type.h"
#include "baton/onnx/converter.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/op/nn/activation.h"
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

// The error of the sum is that of t / ((1 + t) - 1), too.
Expr LogOnePlus(const Expr& t, const Expr& like) {
  const Expr one = ScalarLike(1, like);
  const Expr sum = Add(one, t);
  return relay::Where(
      relay::Equal(sum, one), t,
      Multiply(relay::Log(sum), relay::Divide(t, Subtract(sum, one))));
}

// With m the lesser of x and 0, exp(m) - 1 = tanh(m / 2) (exp(m) + 1), which has
// no difference of near numbers. Sums and minima keep the sign of a zero.
Expr ExponentialUnit(const Expr& x, double alpha, double scale,
                     const Expr& like) {
  const auto scalar = [&like](double value) { return ScalarLike(value, like); };
  Expr m = relay::Minimum(scalar(0), x);
  if (scale != 1) m = relay::Divide(std::move(m), scalar(scale));
  Expr minus_one = Multiply(relay::Tanh(Multiply(scalar(0.5), m)),
                            Add(relay::Exp(m), scalar(1)));
  if (alpha != 1) minus_one = Multiply(scalar(alpha), std::move(minus_one));
  return Add(relay::nn::Relu(x), std::move(minus_one));
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
