// Builds matrix products for the converters of MatMul, Gemm and the like.

#ifndef BATON_ONNX_OPS_MATRIX_PRODUCTS_H_
#define BATON_ONNX_OPS_MATRIX_PRODUCTS_H_

#include "absl/status/statusor.h"
#include "baton/base/dtype.h"
#include "baton/onnx/converter.h"
#include "baton/relay/ir/expr.h"

namespace baton::onnx {

// The product of typed tensors of any rank with the semantics of numpy.matmul:
// nn.dense if the right operand is a matrix, otherwise nn.batch_matmul. If
// `out_dtype` is void, the result has the dtype of the operands.
absl::StatusOr<Expr> MatrixProduct(NodeContext& node, Expr a, Expr b,
                                   DType out_dtype);

// Gemm of inputs 0 to 2, with the attributes of the node.
absl::StatusOr<Expr> GemmProduct(NodeContext& node);

}  // namespace baton::onnx

#endif  // BATON_ONNX_OPS_MATRIX_PRODUCTS_H_
