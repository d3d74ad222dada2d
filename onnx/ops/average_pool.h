// The converter of AveragePool, for operators that are average pools, too.

#ifndef BATON_ONNX_OPS_AVERAGE_POOL_H_
#define BATON_ONNX_OPS_AVERAGE_POOL_H_

#include "absl/status/statusor.h"
#include "baton/onnx/converter.h"
#include "baton/relay/ir/expr.h"

namespace baton::onnx {

// The average pool of the typed floats `data` with the attributes of the node.
absl::StatusOr<Expr> AveragePoolOf(NodeContext& node, const Expr& data);

}  // namespace baton::onnx

#endif  // BATON_ONNX_OPS_AVERAGE_POOL_H_
