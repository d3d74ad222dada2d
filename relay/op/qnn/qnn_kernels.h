// Kernels of operators on quantized tensors. Each kernel gives the result of
// the reference, which lowers the operator first.

#ifndef BATON_RELAY_OP_QNN_QNN_KERNELS_H_
#define BATON_RELAY_OP_QNN_QNN_KERNELS_H_

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "baton/base/tensor.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/runtime/value.h"

namespace baton::relay {

// qnn.dense, qnn.contrib_dense_pack, qnn.batch_matmul, qnn.conv2d and
// qnn.conv2d_transpose: the unquantized operator on the integers minus their
// zero points. Both zero points must be scalars.
absl::StatusOr<Value> QnnProduct(const CallNode& call,
                                 absl::Span<const Value> args);

// These kernels first requantize both operands to the quantization of the
// result.
absl::StatusOr<Value> QnnAdd(const CallNode& call,
                             absl::Span<const Value> args);
absl::StatusOr<Value> QnnSubtract(const CallNode& call,
                                  absl::Span<const Value> args);
absl::StatusOr<Value> QnnConcatenate(const CallNode& call,
                                     absl::Span<const Value> args);

// Requantizes the product of the integers minus their zero points. All scales
// and zero points must be scalars.
absl::StatusOr<Value> QnnMul(const CallNode& call,
                             absl::Span<const Value> args);

// Applies `function` to the real numbers that the elements represent.
absl::StatusOr<Value> QnnUnary(
    absl::FunctionRef<absl::StatusOr<Tensor>(const Tensor&)> function,
    absl::Span<const Value> args);
template <auto kFunction>
absl::StatusOr<Value> QnnUnaryKernel(const CallNode& /*call*/,
                                     absl::Span<const Value> args) {
  return QnnUnary(kFunction, args);
}

absl::StatusOr<Value> QnnLeakyRelu(const CallNode& call,
                                   absl::Span<const Value> args);

// Computes the mean of the elements in the quantization of the result.
absl::StatusOr<Value> QnnAvgPool2D(const CallNode& call,
                                   absl::Span<const Value> args);

// Computes in integer arithmetic; the scale of the argument must be in (0, 1].
absl::StatusOr<Value> QnnSoftmax(const CallNode& call,
                                 absl::Span<const Value> args);

// The second argument is the code of an element type: 1 for int8, 2 for uint8,
// 3 for int32. For any other code the result is the data.
absl::StatusOr<Value> QnnSimulatedQuantize(const CallNode& call,
                                           absl::Span<const Value> args);
absl::StatusOr<Value> QnnSimulatedDequantize(const CallNode& call,
                                             absl::Span<const Value> args);

}  // namespace baton::relay

#endif  // BATON_RELAY_OP_QNN_QNN_KERNELS_H_
