// Operators on quantized tensors (`qnn.*`).

#ifndef BATON_RELAY_OP_QNN_QNN_H_
#define BATON_RELAY_OP_QNN_QNN_H_

#include <optional>
#include <string>

#include "baton/base/dtype.h"
#include "baton/base/fields.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/op/nn/conv.h"
#include "baton/relay/op/nn/dense.h"
#include "baton/relay/op/nn/pool.h"

namespace baton::relay {

struct RequantizeAttrs {
  int axis = -1;
  std::string rounding = "None";
  std::string compute_dtype = "None";
  DType out_dtype;

  static constexpr char kTypeKey[] = "relay.attrs.RequantizeAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("axis", &RequantizeAttrs::axis, "The axis of the channels.");
    v("rounding", &RequantizeAttrs::rounding,
      "The rounding of ties: UPWARD, TONEAREST, or None for the default.");
    v("compute_dtype", &RequantizeAttrs::compute_dtype,
      "The type computed in: int64, float32, float64, or None for the "
      "default.");
    v("out_dtype", &RequantizeAttrs::out_dtype, "Element type of the result.");
  }
};

struct QuantizeAttrs {
  DType out_dtype;
  int axis = -1;

  static constexpr char kTypeKey[] = "relay.attrs.QuantizeAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("out_dtype", &QuantizeAttrs::out_dtype, "Element type of the result.",
      kRequired);
    v("axis", &QuantizeAttrs::axis, "The axis of the channels.");
  }
};

struct DequantizeAttrs {
  DType out_dtype;
  int axis = -1;

  static constexpr char kTypeKey[] = "relay.attrs.DequantizeAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("out_dtype", &DequantizeAttrs::out_dtype, "Element type of the result.",
      kRequired);
    v("axis", &DequantizeAttrs::axis, "The axis of the channels.");
  }
};

struct SimulatedQuantizeAttrs {
  int axis = -1;

  static constexpr char kTypeKey[] = "relay.attrs.SimulatedQuantizeAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("axis", &SimulatedQuantizeAttrs::axis, "The axis of the channels.");
  }
};

// relay.op.annotation.simulated_quantize. TVM has the type key of
// SimulatedQuantizeAttrs here as well; with equal keys a reader could not
// distinguish them.
struct AnnotateQuantizeAttrs {
  int kind = 0;
  bool sign = true;
  std::string rounding = "round";

  static constexpr char kTypeKey[] = "relay.attrs.AnnotateQuantizeAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("kind", &AnnotateQuantizeAttrs::kind,
      "The kind of the quantized tensor: 0 none, 1 an input, 2 a weight, 3 an "
      "activation.",
      kRequired);
    v("sign", &AnnotateQuantizeAttrs::sign, "Whether the integers are signed.");
    v("rounding", &AnnotateQuantizeAttrs::rounding, "floor, ceil or round.");
  }
};

// Attributes of the quantized binary operators.
struct BroadcastAttrs {
  int lhs_axis = -1;
  int rhs_axis = -1;

  static constexpr char kTypeKey[] = "relay.attrs.BroadcastAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("lhs_axis", &BroadcastAttrs::lhs_axis,
      "The axis of the channels of the left operand.");
    v("rhs_axis", &BroadcastAttrs::rhs_axis,
      "The axis of the channels of the right operand.");
  }
};

}  // namespace baton::relay

namespace baton::relay::qnn {

// The quantization of a tensor: a quantized element q represents the number
// scale * (q - zero_point). The scale is a float32 and the zero point an int32.
// Each is a scalar or, if an operator allows it, has an element for each
// channel.
struct Quantization {
  Expr scale;
  Expr zero_point;
};

// The range of quantized elements of a dtype.
struct Range {
  double low;
  double high;
};
// Nullopt unless `dtype` is an integer type of at most 32 bits.
std::optional<Range> RangeOf(DType dtype);

// Builders of calls.

Expr Quantize(Expr data, Quantization to, QuantizeAttrs attrs);
Expr Dequantize(Expr data, Quantization from,
                DequantizeAttrs attrs = {.out_dtype = DType::Float(32)});
Expr Requantize(Expr data, Quantization from, Quantization to,
                RequantizeAttrs attrs);

// Products. The scale of the result is the product of both scales, and its zero
// point is 0.
Expr Conv2D(Expr data, Expr weight, Quantization data_from,
            Quantization weight_from, Conv2DAttrs attrs);
Expr Conv2DTranspose(Expr data, Expr weight, Quantization data_from,
                     Quantization weight_from, Conv2DTransposeAttrs attrs);
Expr Dense(Expr data, Expr weight, Quantization data_from,
           Quantization weight_from, DenseAttrs attrs);
// The right operand is transposed.
Expr BatchMatmul(Expr x, Expr y, Quantization x_from, Quantization y_from,
                 DType out_dtype = DType::Int(32));

Expr AvgPool2D(Expr data, Quantization from, Quantization to,
               AvgPool2DAttrs attrs);
// `data`, `scales` and `zero_points` are tuples of equal length.
Expr Concatenate(Expr data, Expr scales, Expr zero_points, Quantization to,
                 int axis);

Expr Add(Expr lhs, Expr rhs, Quantization lhs_from, Quantization rhs_from,
         Quantization to, BroadcastAttrs attrs = {});
Expr Multiply(Expr lhs, Expr rhs, Quantization lhs_from, Quantization rhs_from,
              Quantization to, BroadcastAttrs attrs = {});
Expr Subtract(Expr lhs, Expr rhs, Quantization lhs_from, Quantization rhs_from,
              Quantization to, BroadcastAttrs attrs = {});

Expr Abs(Expr data, Quantization from, Quantization to);
Expr Erf(Expr data, Quantization from, Quantization to);
Expr Exp(Expr data, Quantization from, Quantization to);
Expr HardSwish(Expr data, Quantization from, Quantization to);
// Builds the formula of qnn.hardswish for real numbers in float32.
Expr RealHardSwish(Expr data);
Expr LeakyRelu(Expr data, double alpha, Quantization from, Quantization to);
Expr Log(Expr data, Quantization from, Quantization to);
Expr Rsqrt(Expr data, Quantization from, Quantization to);
Expr Sigmoid(Expr data, Quantization from, Quantization to);
Expr Softmax(Expr data, int axis, Quantization from, Quantization to);
Expr Sqrt(Expr data, Quantization from, Quantization to);
Expr Tanh(Expr data, Quantization from, Quantization to);

}  // namespace baton::relay::qnn

#endif  // BATON_RELAY_OP_QNN_QNN_H_
