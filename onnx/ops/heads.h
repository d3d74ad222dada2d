// Helpers for the converters of attention operators.

#ifndef BATON_ONNX_OPS_HEADS_H_
#define BATON_ONNX_OPS_HEADS_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "baton/onnx/converter.h"
#include "baton/relay/ir/expr.h"

namespace baton::onnx {

// Converts (batch, length, heads * size) to (batch, heads, length, size),
// typed.
absl::StatusOr<Expr> SplitHeads(NodeContext& node, const Expr& x,
                                int64_t heads);
// The inverse of SplitHeads.
Expr JoinHeads(Expr x);

}  // namespace baton::onnx

#endif  // BATON_ONNX_OPS_HEADS_H_
