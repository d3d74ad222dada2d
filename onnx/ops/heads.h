// Helpers for the converters of attention operators.

#ifndef BATON_ONNX_OPS_HEADS_H_
#define BATON_ONNX_OPS_HEADS_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "baton/onnx/converter.h"
#include "baton/relay/ir/expr.h"

namespace baton::onnx {

// The constant `value`: an int64 without axes.
Expr IntScalar(int64_t value);

// Converts (batch, length, heads * size) to (batch, heads, length, size),
// typed.
absl::StatusOr<Expr> SplitHeads(NodeContext& node, const Expr& x,
                                int64_t heads);
// The inverse of SplitHeads.
Expr JoinHeads(Expr x);

// Rotates pairs of elements of the last axis of `x`, which has four axes and
// `size` elements in the last one: of the first `rotated` elements, neighbours
// if `interleaved`, otherwise elements of the first and the second half.
// `cosine` and `sine` have `rotated` / 2 elements in their last axis, and
// broadcast to `x` in the others.
Expr Rotate(const Expr& x, int64_t size, int64_t rotated, bool interleaved,
            const Expr& cosine, const Expr& sine);

}  // namespace baton::onnx

#endif  // BATON_ONNX_OPS_HEADS_H_
