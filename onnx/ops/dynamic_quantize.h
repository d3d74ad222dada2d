// Quantizes tensors by the range of their elements, and multiplies them by
// quantized weights.

#ifndef BATON_ONNX_OPS_DYNAMIC_QUANTIZE_H_
#define BATON_ONNX_OPS_DYNAMIC_QUANTIZE_H_

#include "absl/status/statusor.h"
#include "baton/onnx/converter.h"
#include "baton/relay/ir/expr.h"

namespace baton::onnx {

// A tensor of floats as bytes: (values - zero_point) * scale. All are typed.
struct QuantizedBytes {
  Expr values;      // uint8, of the shape of the tensor
  Expr scale;       // a scalar of the tensor's dtype
  Expr zero_point;  // uint8, a scalar
};

// Quantizes a typed tensor of floats as DynamicQuantizeLinear does: the bytes
// span the range of the elements and 0. A tensor of zeros has the scale 1, as
// in ONNX Runtime.
absl::StatusOr<QuantizedBytes> QuantizeToBytes(NodeContext& node,
                                               const Expr& x);

// The product of `x`, quantized to bytes, and `weights`, in float32: sums of
// integers, times the scale of `x` and `scale`. `x`: typed, float32. `weights`:
// typed, int32, with the zero points already subtracted. `scale`: a scalar, or
// one for each column of `weights`. The result is not typed.
absl::StatusOr<Expr> QuantizedProduct(NodeContext& node, const Expr& x,
                                      const Expr& weights, const Expr& scale);

}  // namespace baton::onnx

#endif  // BATON_ONNX_OPS_DYNAMIC_QUANTIZE_H_
