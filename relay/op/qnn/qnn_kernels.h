// Kernels of the operators on quantized tensors that compute: each as the
// reference does it after its lowering of these operators.

#ifndef BATON_RELAY_OP_QNN_QNN_KERNELS_H_
#define BATON_RELAY_OP_QNN_QNN_KERNELS_H_

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "baton/base/tensor.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/runtime/value.h"

namespace baton::relay {

// qnn.dense, qnn.batch_matmul, qnn.conv2d and qnn.conv2d_transpose: the
// unquantized operator on integers, zero points taken away. Both zero points
// must be scalars.
absl::StatusOr<Value> QnnProduct(const CallNode& call,
                                 absl::Span<const Value> args);

// Both operands are brought to the quantization of the result first.
absl::StatusOr<Value> QnnAdd(const CallNode& call,
                             absl::Span<const Value> args);
absl::StatusOr<Value> QnnSubtract(const CallNode& call,
                                  absl::Span<const Value> args);
absl::StatusOr<Value> QnnConcatenate(const CallNode& call,
                                     absl::Span<const Value> args);

// The product of integers is requantized. All scales and zero points must be
// scalars.
absl::StatusOr<Value> QnnMul(const CallNode& call,
                             absl::Span<const Value> args);

// A function of the real numbers that the elements stand for.
absl::StatusOr<Value> QnnUnary(
    absl::StatusOr<Tensor> (*function)(const Tensor&),
    absl::Span<const Value> args);
template <absl::StatusOr<Tensor> (*kFunction)(const Tensor&)>
absl::StatusOr<Value> QnnUnaryKernel(const CallNode& /*call*/,
                                     absl::Span<const Value> args) {
  return QnnUnary(kFunction, args);
}

}  // namespace baton::relay

#endif  // BATON_RELAY_OP_QNN_QNN_KERNELS_H_
