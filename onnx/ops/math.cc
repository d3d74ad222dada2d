// Converters of element-wise operators: arithmetic, comparison, activation,
// casts.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"
#include "baton/onnx/converter.h"
#include "baton/onnx/model.h"
#include "baton/onnx/narrow_float.h"
#include "baton/onnx/operator_table.h"
#include "baton/onnx/ops/extents.h"
#include "baton/onnx/ops/formulas.h"
#include "baton/onnx/ops/narrow_casts.h"
#include "baton/relay/ir/constant.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/op/nn/activation.h"
#include "baton/relay/op/tensor/create.h"
#include "baton/relay/op/tensor/elementwise.h"
#include "baton/relay/op/tensor/indexing.h"
#include "baton/relay/op/tensor/reduce.h"
#include "baton/relay/op/tensor/shape.h"

namespace baton::onnx {
namespace {

using relay::Add;
using relay::Cast;
using relay::Clip;
using relay::Divide;
using relay::Exp;
using relay::Log;
using relay::Maximum;
using relay::Minimum;
using relay::Multiply;
using relay::Subtract;
using relay::Where;
using relay::nn::Relu;

// Both operands of a binary operator. Before opset 7 the right one is extended
// only if the attributes say so, and may stand in the middle of the left one.
absl::StatusOr<std::pair<Expr, Expr>> Operands(NodeContext& node) {
  Expr lhs = node.Input(0);
  Expr rhs = node.Input(1);
  if (node.opset() < 7 && node.Int("broadcast", 0) != 0 &&
      node.HasAttr("axis")) {
    BATON_ASSIGN_OR_RETURN(const int lhs_rank, RankOf(lhs));
    BATON_ASSIGN_OR_RETURN(const int rhs_rank, RankOf(rhs));
    BATON_ASSIGN_OR_RETURN(const int axis,
                           NormalAxis(node.Int("axis", 0), lhs_rank));
    const int trailing = lhs_rank - axis - rhs_rank;
    if (trailing < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("a tensor of rank ", rhs_rank, " does not fit at axis ",
                       axis, " of a tensor of rank ", lhs_rank));
    }
    if (trailing > 0) {
      rhs = relay::ExpandDims(std::move(rhs), rhs_rank, trailing);
    }
  }
  return std::pair(std::move(lhs), std::move(rhs));
}

// A row of kElementwise.
absl::StatusOr<Outputs> OneToOne(NodeContext& node) {
  const Elementwise& row =
      RowOf(kElementwise, &Elementwise::onnx, node.node().op_type);
  const Op op = Op::Find(row.relay);
  if (row.num_operands == 1) return One(relay::Call(op, {node.Input(0)}));
  BATON_ASSIGN_OR_RETURN(auto operands, Operands(node));
  return One(
      relay::Call(op, {std::move(operands.first), std::move(operands.second)}));
}

template <Expr (*kBuild)(Expr, Expr)>
absl::StatusOr<Outputs> Variadic(NodeContext& node) {
  Expr result = node.Input(0);
  for (int i = 1; i < node.num_inputs(); ++i) {
    result = kBuild(std::move(result), node.Input(i));
  }
  return One(std::move(result));
}

// Erf of integers is computed in float64 and truncated.
absl::StatusOr<Outputs> Erf(NodeContext& node) {
  const Expr& x = node.Input(0);
  BATON_ASSIGN_OR_RETURN(const DType dtype, ElementTypeOf(x));
  if (dtype.is_float()) return One(relay::Erf(x));
  return One(Cast(relay::Erf(Cast(x, DType::Float(64))), dtype));
}

absl::StatusOr<Outputs> Identity(NodeContext& node) {
  if (node.num_inputs() == 0) node.Input(0);
  return node.num_inputs() == 0 ? Outputs() : One(node.inputs()[0]);
}

absl::StatusOr<Outputs> Mean(NodeContext& node) {
  BATON_ASSIGN_OR_RETURN(Outputs sum, Variadic<Add>(node));
  if (node.num_inputs() < 2) return sum;
  return One(Divide(sum[0], ScalarLike(node.num_inputs(), node.Input(0))));
}

absl::StatusOr<Outputs> Pow(NodeContext& node) {
  BATON_ASSIGN_OR_RETURN(auto operands, Operands(node));
  auto& [base, exponent] = operands;
  BATON_ASSIGN_OR_RETURN(const DType dtype, ElementTypeOf(base));
  BATON_ASSIGN_OR_RETURN(const DType exponent_dtype, ElementTypeOf(exponent));
  if (dtype.is_float()) {
    if (exponent_dtype != dtype) exponent = Cast(exponent, dtype);
    return One(relay::Power(base, exponent));
  }
  // As NumPy: in the wider type, then converted back.
  const DType wide = DType::Float(64);
  return One(Cast(relay::Power(Cast(base, wide), Cast(exponent, wide)), dtype));
}

absl::StatusOr<Outputs> Mod(NodeContext& node) {
  BATON_ASSIGN_OR_RETURN(auto operands, Operands(node));
  BATON_ASSIGN_OR_RETURN(const DType dtype, ElementTypeOf(operands.first));
  if (node.Int("fmod", 0) != 0) {
    return One(relay::Mod(operands.first, operands.second));
  }
  if (dtype.is_float()) {
    return absl::InvalidArgumentError("floats need fmod=1");
  }
  return One(relay::FloorMod(operands.first, operands.second));
}

absl::StatusOr<Outputs> BitShift(NodeContext& node) {
  const std::string direction = node.String("direction", "");
  if (direction != "LEFT" && direction != "RIGHT") {
    return absl::InvalidArgumentError(
        absl::StrCat("the direction '", direction, "'"));
  }
  const auto shift =
      direction == "LEFT" ? &relay::LeftShift : &relay::RightShift;
  const Expr& x = node.Input(0);
  const Expr& by = node.Input(1);
  BATON_ASSIGN_OR_RETURN(const DType dtype, ElementTypeOf(x));
  const Tensor* known = relay::ConstantTensor(by);
  bool is_less = known != nullptr;
  for (int64_t i = 0; is_less && i < known->num_elements(); ++i) {
    is_less = known->AtAsDouble(i) < dtype.bits();
  }
  if (is_less) return One(shift(x, by));
  // A shift by the width of the element, or by more, leaves no bit; Relay's
  // operators refuse it.
  const Expr zero = ScalarLike(0, x);
  const Expr fits = relay::Less(by, ScalarLike(dtype.bits(), by));
  return One(relay::Where(fits, shift(x, relay::Where(fits, by, zero)), zero));
}

absl::StatusOr<Outputs> Reciprocal(NodeContext& node) {
  return One(Divide(ScalarLike(1, node.Input(0)), node.Input(0)));
}

absl::StatusOr<Outputs> ClipByAttributes(NodeContext& node) {
  constexpr double kMax = std::numeric_limits<float>::max();
  return One(
      Clip(node.Input(0), node.Float("min", -kMax), node.Float("max", kMax)));
}

absl::StatusOr<Outputs> ClipByInputs(NodeContext& node) {
  const Expr& x = node.Input(0);
  BATON_ASSIGN_OR_RETURN(const DType dtype, ElementTypeOf(x));
  // Bounds of several elements would broadcast.
  Expr bounds[2];
  for (int i = 0; i < 2; ++i) {
    if (!node.HasInput(i + 1)) continue;
    BATON_ASSIGN_OR_RETURN(bounds[i], ScalarInput(node, i + 1));
  }
  if (dtype.is_float() && node.IsConstant(1) && node.IsConstant(2)) {
    BATON_ASSIGN_OR_RETURN(const Tensor min, node.Constant(1));
    BATON_ASSIGN_OR_RETURN(const Tensor max, node.Constant(2));
    if (min.AtAsDouble(0) <= max.AtAsDouble(0)) {
      return One(Clip(x, min.AtAsDouble(0), max.AtAsDouble(0)));
    }
  }
  Expr result = x;
  for (const int i : {0, 1}) {
    const Expr& bound = bounds[i];
    if (!bound.defined()) continue;
    bool is_number = !dtype.is_float();
    if (!is_number && node.IsConstant(i + 1)) {
      BATON_ASSIGN_OR_RETURN(const Tensor value, node.Constant(i + 1));
      is_number = !std::isnan(value.AtAsDouble(0));
    }
    if (is_number) {
      result = i == 0 ? Maximum(result, bound) : Minimum(result, bound);
      continue;
    }
    // As in ONNX's definition by comparisons, a bound that is not a number is
    // none.
    const Expr is_outside =
        i == 0 ? relay::Less(result, bound) : relay::Less(bound, result);
    result = relay::Where(is_outside, bound, result);
  }
  return One(std::move(result));
}

absl::StatusOr<Outputs> HardSigmoid(NodeContext& node) {
  const Expr& x = node.Input(0);
  return One(Clip(Add(Multiply(x, ScalarLike(node.Float("alpha", 0.2), x)),
                      ScalarLike(node.Float("beta", 0.5), x)),
                  0, 1));
}

absl::StatusOr<Outputs> HardSwish(NodeContext& node) {
  const Expr& x = node.Input(0);
  return One(Multiply(
      x, Clip(Add(Multiply(x, ScalarLike(1.0 / 6, x)), ScalarLike(0.5, x)), 0,
              1)));
}

absl::StatusOr<Outputs> LeakyRelu(NodeContext& node) {
  return One(relay::nn::LeakyRelu(node.Input(0), node.Float("alpha", 0.01)));
}

absl::StatusOr<Outputs> PRelu(NodeContext& node) {
  const Expr& x = node.Input(0);
  Expr slope = node.Input(1);
  BATON_ASSIGN_OR_RETURN(const TensorTypeNode* type, TensorTypeOf(x));
  BATON_ASSIGN_OR_RETURN(const TensorTypeNode* slope_type, TensorTypeOf(slope));
  // One slope a channel: before opset 7 as a vector, since then with an axis
  // of one for each that follows.
  const auto slopes = ConstDims(slope_type->shape());
  if (type->dtype().is_float() && slopes.has_value() && type->rank() >= 2 &&
      type->dim(1).is_const() &&
      (slopes->size() == static_cast<size_t>(type->rank() - 1) ||
       (node.opset() < 7 && slopes->size() == 1))) {
    bool is_per_channel = (*slopes)[0] == type->dim(1).value();
    for (size_t i = 1; i < slopes->size(); ++i) {
      is_per_channel = is_per_channel && (*slopes)[i] == 1;
    }
    if (is_per_channel) {
      if (slopes->size() > 1) slope = relay::Reshape(slope, {(*slopes)[0]});
      return One(relay::nn::PRelu(x, slope, 1));
    }
  }
  return One(Where(relay::Less(x, ScalarLike(0, x)), Multiply(x, slope), x));
}

// log(1 + exp(x)), in a form that does not overflow.
absl::StatusOr<Expr> SoftplusOf(NodeContext& node, const Expr& x) {
  BATON_ASSIGN_OR_RETURN(const Expr t,
                         node.Typed(Exp(relay::Negative(relay::Abs(x)))));
  return Add(Relu(x), LogOnePlus(t, t));
}

// Half floats are computed in float32: a few roundings of theirs are too many.
template <absl::StatusOr<Expr> (*kFunction)(NodeContext&, const Expr&)>
absl::StatusOr<Outputs> InFloat32(NodeContext& node) {
  const Expr& x = node.Input(0);
  BATON_ASSIGN_OR_RETURN(const DType dtype, ElementTypeOf(x));
  if (dtype.bits() >= 32) {
    BATON_ASSIGN_OR_RETURN(Expr result, kFunction(node, x));
    return One(std::move(result));
  }
  BATON_ASSIGN_OR_RETURN(const Expr wide,
                         node.Typed(Cast(x, DType::Float(32))));
  BATON_ASSIGN_OR_RETURN(Expr result, kFunction(node, wide));
  return One(Cast(std::move(result), dtype));
}

absl::StatusOr<Expr> EluOf(NodeContext& node, const Expr& x) {
  return ExponentialUnit(x, node.Float("alpha", 1), 1, x);
}

absl::StatusOr<Expr> SeluOf(NodeContext& node, const Expr& x) {
  const bool is_old = node.opset() < 6;
  const Expr unit = ExponentialUnit(
      x, node.Float("alpha", is_old ? 1.6732 : 1.67326319217681884765625), 1,
      x);
  return Multiply(
      ScalarLike(
          node.Float("gamma", is_old ? 1.0507 : 1.05070102214813232421875), x),
      unit);
}

absl::StatusOr<Expr> CeluOf(NodeContext& node, const Expr& x) {
  const double alpha = node.Float("alpha", 1);
  return ExponentialUnit(x, alpha, alpha, x);
}

// x tanh(log(1 + exp(x))), which is a quotient of sums of positive numbers:
// with u = exp(-|x|), x (1 + 2u) / (1 + 2u + 2u^2) where x is not negative, and
// x u (u + 2) / (u (u + 2) + 2) elsewhere. There u is the square of h, which is
// a normal number where u is not.
absl::StatusOr<Expr> MishOf(NodeContext& node, const Expr& x) {
  const auto scalar = [&x](double value) { return ScalarLike(value, x); };
  BATON_ASSIGN_OR_RETURN(
      const Expr h, node.Typed(Exp(Multiply(scalar(-0.5), relay::Abs(x)))));
  const Expr u = Multiply(h, h);
  const Expr more = Add(u, scalar(2));
  const Expr product = Multiply(u, more);
  const Expr twice = Add(scalar(1), Multiply(scalar(2), u));
  const Expr positive = Multiply(
      x, Divide(twice, Add(twice, Multiply(scalar(2), Multiply(u, u)))));
  const Expr negative = Divide(Multiply(Multiply(x, h), Multiply(h, more)),
                               Add(product, scalar(2)));
  return Where(relay::Less(x, scalar(0)), negative, positive);
}

absl::StatusOr<Outputs> Swish(NodeContext& node) {
  const Expr& x = node.Input(0);
  return One(Multiply(
      x, relay::Sigmoid(Multiply(x, ScalarLike(node.Float("alpha", 1), x)))));
}

absl::StatusOr<Outputs> SwiGlu(NodeContext& node) {
  BATON_ASSIGN_OR_RETURN(Outputs gate, Swish(node));
  return One(Multiply(std::move(gate[0]), node.Input(1)));
}

// The bits as those of another type.
absl::StatusOr<Outputs> BitCast(NodeContext& node) {
  const Expr& x = node.Input(0);
  BATON_ASSIGN_OR_RETURN(const DType from, ElementTypeOf(x));
  const int64_t type = node.Int("to", 0);
  BATON_ASSIGN_OR_RETURN(const DType to, DTypeOf(type));
  const ElementType from_narrow = node.NarrowType(0);
  const ElementType narrow = NarrowTypeOf(type);
  if (NarrowFloatOf(static_cast<int64_t>(from_narrow)) != nullptr ||
      NarrowFloatOf(type) != nullptr) {
    return absl::UnimplementedError(
        "the bits of floats of 4 and 8 bits are not supported");
  }
  if (SubByteWidth(from_narrow) != SubByteWidth(narrow)) {
    return absl::InvalidArgumentError("the types differ in size");
  }
  node.SetNarrowType(narrow);
  if (from == to) return One(x);
  if (const int bits = SubByteWidth(narrow)) {
    return One(ToNarrowInteger(x, to, bits));
  }
  if (from.bytes() != to.bytes()) {
    return absl::InvalidArgumentError("the types differ in size");
  }
  return One(relay::Reinterpret(x, to));
}

absl::StatusOr<Outputs> Gelu(NodeContext& node) {
  const Expr& x = node.Input(0);
  const std::string approximate = node.String("approximate", "none");
  if (approximate != "none" && approximate != "tanh") {
    return absl::InvalidArgumentError(
        absl::StrCat("approximate is '", approximate, "'"));
  }
  return One(approximate == "tanh" ? GeluByTanh(x) : GeluOf(x));
}

absl::StatusOr<Outputs> Softsign(NodeContext& node) {
  const Expr& x = node.Input(0);
  return One(Divide(x, Add(ScalarLike(1, x), relay::Abs(x))));
}

absl::StatusOr<Outputs> ThresholdedRelu(NodeContext& node) {
  const Expr& x = node.Input(0);
  return One(Where(relay::Greater(x, ScalarLike(node.Float("alpha", 1), x)), x,
                   ScalarLike(0, x)));
}

absl::StatusOr<Outputs> Shrink(NodeContext& node) {
  const Expr& x = node.Input(0);
  const double lambda = node.Float("lambd", 0.5);
  const Expr bias = ScalarLike(node.Float("bias", 0), x);
  const Expr zero = ScalarLike(0, x);
  return One(Where(relay::Less(x, ScalarLike(-lambda, x)), Add(x, bias),
                   Where(relay::Greater(x, ScalarLike(lambda, x)),
                         Subtract(x, bias), zero)));
}

absl::StatusOr<Outputs> IsInf(NodeContext& node) {
  const Expr& x = node.Input(0);
  const bool negative = node.Int("detect_negative", 1) != 0;
  const bool positive = node.Int("detect_positive", 1) != 0;
  Expr is_inf = relay::IsInf(x);
  if (negative && positive) return One(std::move(is_inf));
  const Expr zero = ScalarLike(0, x);
  if (negative) {
    return One(relay::LogicalAnd(std::move(is_inf), relay::Less(x, zero)));
  }
  if (positive) {
    return One(relay::LogicalAnd(std::move(is_inf), relay::Greater(x, zero)));
  }
  return One(relay::LogicalAnd(std::move(is_inf),
                               relay::Const(Tensor::Scalar<bool>(false))));
}

// The axes that softmax and its like sum over: before opset 13, all from
// `axis` on, of which those of one element do not count.
absl::StatusOr<std::vector<int64_t>> SoftmaxAxes(NodeContext& node) {
  BATON_ASSIGN_OR_RETURN(const int rank, RankOf(node.Input(0)));
  const bool is_old = node.opset() < 13;
  const int64_t given = node.Int("axis", is_old ? 1 : -1);
  if (is_old && given == rank) return std::vector<int64_t>();
  BATON_ASSIGN_OR_RETURN(const int axis, NormalAxis(given, rank));
  std::vector<int64_t> axes = {axis};
  if (is_old) {
    const TensorTypeNode* type = node.Input(0)->tensor_type();
    for (int i = axis + 1; i < rank; ++i) {
      if (!type->dim(i).is_const(1)) axes.push_back(i);
    }
  }
  return axes;
}

absl::StatusOr<Outputs> Softmax(NodeContext& node) {
  const Expr& x = node.Input(0);
  BATON_ASSIGN_OR_RETURN(const std::vector<int64_t> axes, SoftmaxAxes(node));
  if (axes.size() == 1) {
    return One(relay::nn::Softmax(x, static_cast<int>(axes[0])));
  }
  const relay::ReduceAttrs over = {.axis = axes, .keepdims = true};
  const Expr e = Exp(Subtract(x, relay::Max(x, over)));
  return One(Divide(e, relay::Sum(e, over)));
}

absl::StatusOr<Outputs> LogSoftmax(NodeContext& node) {
  const Expr& x = node.Input(0);
  BATON_ASSIGN_OR_RETURN(const std::vector<int64_t> axes, SoftmaxAxes(node));
  BATON_ASSIGN_OR_RETURN(const int rank, RankOf(x));
  if (axes.size() == 1 && axes[0] == rank - 1) {
    return One(relay::nn::LogSoftmax(x, static_cast<int>(axes[0])));
  }
  const relay::ReduceAttrs over = {.axis = axes, .keepdims = true};
  const Expr shifted = Subtract(x, relay::Max(x, over));
  return One(Subtract(shifted, Log(relay::Sum(Exp(shifted), over))));
}

// One where the first of the largest elements along an axis is.
Expr MarkOfLargest(const Expr& x, int axis) {
  const TensorTypeNode& type = *x->tensor_type();
  if (type.dim(axis).is_const(0)) return x;  // there is no element to mark
  Expr places = Positions(x, axis, type.rank() - 1 - axis);
  const Expr largest =
      relay::ArgMax(x, {.axis = std::vector<int64_t>{axis}, .keepdims = true});
  return relay::Cast(
      relay::Equal(std::move(places), relay::Cast(largest, DType::Int(64))),
      type.dtype());
}

absl::StatusOr<Outputs> Hardmax(NodeContext& node) {
  const Expr& x = node.Input(0);
  BATON_ASSIGN_OR_RETURN(const std::vector<int64_t> axes, SoftmaxAxes(node));
  if (axes.size() == 1) return One(MarkOfLargest(x, static_cast<int>(axes[0])));
  // Several axes, which are the last, as one.
  BATON_ASSIGN_OR_RETURN(const int rank, RankOf(x));
  const int first = axes.empty() ? rank : static_cast<int>(axes[0]);
  Expr data = MergeAxes(x, rank, first, rank - first);
  if (axes.empty()) data = relay::ExpandDims(std::move(data), rank);
  BATON_ASSIGN_OR_RETURN(data, node.Typed(std::move(data)));
  return One(relay::ReshapeLike(MarkOfLargest(data, first), x));
}

// `x` in `dtype`, which stores `narrow` unless that is kUndefined.
absl::StatusOr<Outputs> CastOf(NodeContext& node, DType dtype,
                               ElementType narrow) {
  const Expr& x = node.Input(0);
  BATON_ASSIGN_OR_RETURN(const DType from, ElementTypeOf(x));
  const ElementType from_narrow = node.NarrowType(0);
  node.SetNarrowType(narrow);
  if (from == dtype &&
      (narrow == ElementType::kUndefined || narrow == from_narrow)) {
    // A value of its own, if it is of more bits from here on.
    return One(narrow == from_narrow ? x : Cast(x, dtype));
  }
  if (const NarrowFloat* format = NarrowFloatOf(static_cast<int64_t>(narrow))) {
    BATON_ASSIGN_OR_RETURN(
        Expr rounded,
        ToNarrowFloat(x, from, *format, node.Int("saturate", 1) != 0,
                      node.String("round_mode", "up")));
    return One(std::move(rounded));
  }
  if (const int bits = SubByteWidth(narrow)) {
    return One(ToNarrowInteger(x, dtype, bits));
  }
  return One(Cast(x, dtype));
}

absl::StatusOr<Outputs> CastTo(NodeContext& node) {
  const int64_t to = node.Int("to", 0);
  BATON_ASSIGN_OR_RETURN(const DType dtype, DTypeOf(to));
  return CastOf(node, dtype, NarrowTypeOf(to));
}

absl::StatusOr<Outputs> CastLike(NodeContext& node) {
  BATON_ASSIGN_OR_RETURN(const DType dtype, ElementTypeOf(node.Input(1)));
  return CastOf(node, dtype, node.NarrowType(1));
}

absl::StatusOr<Outputs> SelectWhere(NodeContext& node) {
  return One(Where(node.Input(0), node.Input(1), node.Input(2)));
}

[[maybe_unused]] const bool elementwise_is_registered = [] {
  for (const Elementwise& row : kElementwise) {
    RegisterOpConverters({{row.onnx, OneToOne, row.first_opset}});
  }
  return true;
}();

BATON_ONNX_CONVERTERS({
    {"BitCast", BitCast, 26},
    {"BitShift", BitShift, 11},
    {"Cast", CastTo, 6},
    {"CastLike", CastLike, 15},
    {"Celu", InFloat32<CeluOf>, 12},
    {"Clip", ClipByAttributes, 1, 10},
    {"Clip", ClipByInputs, 11},
    {"Elu", InFloat32<EluOf>},
    {"Erf", Erf, 9},
    {"Gelu", Gelu, 20},
    {"HardSigmoid", HardSigmoid},
    {"HardSwish", HardSwish, 14},
    {"Hardmax", Hardmax},
    {"Identity", Identity},
    {"IsInf", IsInf, 10},
    {"LeakyRelu", LeakyRelu},
    {"LogSoftmax", LogSoftmax},
    {"Max", Variadic<Maximum>},
    {"Mean", Mean},
    {"Min", Variadic<Minimum>},
    {"Mish", InFloat32<MishOf>, 18},
    {"Mod", Mod, 10},
    {"PRelu", PRelu},
    {"Pow", Pow},
    {"Reciprocal", Reciprocal},
    {"Selu", InFloat32<SeluOf>},
    {"Shrink", Shrink, 9},
    {"Softmax", Softmax},
    {"Softplus", InFloat32<SoftplusOf>},
    {"Softsign", Softsign},
    {"Sum", Variadic<Add>},
    {"SwiGLU", SwiGlu, 28},
    {"Swish", Swish, 24},
    {"ThresholdedRelu", ThresholdedRelu},
    {"Where", SelectWhere, 9},
});

}  // namespace
}  // namespace baton::onnx
