#include "baton/onnx/ops/dynamic_quantize.h"

#include <utility>

#include "absl/status/statusor.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/onnx/converter.h"
#include "baton/onnx/ops/matrix_products.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/op/tensor/elementwise.h"
#include "baton/relay/op/tensor/reduce.h"

namespace baton::onnx {

using relay::Cast;
using relay::Divide;
using relay::Subtract;

absl::StatusOr<QuantizedBytes> QuantizeToBytes(NodeContext& node,
                                               const Expr& x) {
  const Expr zero = ScalarLike(0, x);
  const Expr high = ScalarLike(255, x);
  const Expr max = relay::Maximum(zero, relay::Max(x));
  // Several results share these: typed, they are one expression.
  BATON_ASSIGN_OR_RETURN(const Expr low,
                         node.Typed(relay::Minimum(zero, relay::Min(x))));
  BATON_ASSIGN_OR_RETURN(const Expr range, node.Typed(Subtract(max, low)));
  BATON_ASSIGN_OR_RETURN(
      const Expr scale,
      node.Typed(relay::Where(relay::Equal(range, zero), ScalarLike(1, x),
                              Divide(range, high))));
  BATON_ASSIGN_OR_RETURN(const Expr zero_point,
                         node.Typed(relay::Round(relay::Clip(
                             Divide(Subtract(zero, low), scale), 0, 255))));
  const Expr quantized = relay::Clip(
      relay::Add(relay::Round(Divide(x, scale)), zero_point), 0, 255);
  const DType dtype = DType::UInt(8);
  QuantizedBytes result;
  BATON_ASSIGN_OR_RETURN(result.values, node.Typed(Cast(quantized, dtype)));
  result.scale = scale;
  BATON_ASSIGN_OR_RETURN(result.zero_point,
                         node.Typed(Cast(zero_point, dtype)));
  return result;
}

absl::StatusOr<Expr> QuantizedProduct(NodeContext& node, const Expr& x,
                                      const Expr& weights, const Expr& scale) {
  constexpr DType kInt32 = DType::Int(32);
  BATON_ASSIGN_OR_RETURN(const QuantizedBytes bytes, QuantizeToBytes(node, x));
  BATON_ASSIGN_OR_RETURN(const Expr lhs,
                         node.Typed(Subtract(Cast(bytes.values, kInt32),
                                             Cast(bytes.zero_point, kInt32))));
  BATON_ASSIGN_OR_RETURN(Expr sums, MatrixProduct(node, lhs, weights, kInt32));
  return relay::Multiply(Cast(std::move(sums), DType::Float(32)),
                         relay::Multiply(bytes.scale, scale));
}

}  // namespace baton::onnx
