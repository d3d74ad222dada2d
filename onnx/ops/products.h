// Products of matrices.

#ifndef BATON_ONNX_OPS_PRODUCTS_H_
#define BATON_ONNX_OPS_PRODUCTS_H_

#include "absl/status/statusor.h"
#include "baton/base/dtype.h"
#include "baton/onnx/converter.h"
#include "baton/relay/ir/expr.h"

namespace baton::onnx {

// As numpy.matmul, of typed tensors of any rank: nn.dense where the right
// operand is a matrix, else nn.batch_matmul. `out_dtype`: void for that of the
// operands.
absl::StatusOr<Expr> MatrixProduct(NodeContext& node, Expr a, Expr b,
                                   DType out_dtype);

// Gemm of inputs 0 to 2 with the attributes of the node.
Expr GemmProduct(NodeContext& node);

}  // namespace baton::onnx

#endif  // BATON_ONNX_OPS_PRODUCTS_H_
