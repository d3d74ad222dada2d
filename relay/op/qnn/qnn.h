// Operators on quantized tensors (`qnn.*`).

#ifndef BATON_RELAY_OP_QNN_QNN_H_
#define BATON_RELAY_OP_QNN_QNN_H_

#include <string>

#include "baton/base/dtype.h"
#include "baton/base/fields.h"

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
      "How ties are rounded: UPWARD, TONEAREST, or None for the default.");
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

// relay.op.annotation.simulated_quantize. The reference has the type key of
// SimulatedQuantizeAttrs here as well; a reader could not tell them apart.
struct AnnotateQuantizeAttrs {
  int kind = 0;
  bool sign = true;
  std::string rounding = "round";

  static constexpr char kTypeKey[] = "relay.attrs.AnnotateQuantizeAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("kind", &AnnotateQuantizeAttrs::kind,
      "What is quantized: 0 nothing, 1 an input, 2 a weight, 3 an activation.",
      kRequired);
    v("sign", &AnnotateQuantizeAttrs::sign, "Whether to signed integers.");
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

#endif  // BATON_RELAY_OP_QNN_QNN_H_
