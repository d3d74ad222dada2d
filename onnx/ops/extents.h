// Shapes that are not all numbers when a model is imported.

#ifndef BATON_ONNX_OPS_EXTENTS_H_
#define BATON_ONNX_OPS_EXTENTS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/expr.h"

namespace baton::onnx {

// The extent of an axis of `x`, which is typed, as a scalar of int64.
Expr ExtentOf(const Expr& x, int axis);

// 0, 1 ... for the elements of an axis of `x`, which is typed, as int64 with
// `axes_after` axes of extent 1 after it.
Expr Positions(const Expr& x, int axis, int axes_after);

// `x`, which is typed, as int64; itself if it is that already.
Expr AsInt64(const Expr& x);

// The extents of all axes, as a vector of int64.
Expr ShapeVector(const Expr& x);

// The numbers of Relay's reshape (newshape) that make a tensor of the shape
// `wanted` of one of the shape `shape`. -1 in `wanted` is what is left; 0 is
// an extent that is kept, unless `allowzero`. Nullopt if there are none: more
// than one extent is known neither as a number nor by its axes.
std::optional<std::vector<int64_t>> ReshapeNumbers(absl::Span<const Dim> shape,
                                                   absl::Span<const Dim> wanted,
                                                   bool allowzero);

// `x`, of the rank `rank`, with `count` axes from `begin` on made one axis.
Expr MergeAxes(Expr x, int rank, int begin, int count);

// `x` with the first `count` axes of `like` in place of its first axis.
Expr SplitFirstAxis(Expr x, Expr like, int count);

// Whether a tensor of the shape `shape` broadcasts to the shape `wanted`, as
// far as that can be told: each extent, from the last on, is 1 or the same.
bool FitsInto(absl::Span<const Dim> shape, absl::Span<const Dim> wanted);

// `x` broadcast to a shape, a vector of int64.
Expr BroadcastTo(Expr x, Expr wanted);

// `x`, which is typed, broadcast in both directions with the shape that the
// elements of `wanted`, a typed vector of int64 of known length, say.
Expr BroadcastWith(const Expr& x, const Expr& wanted);

}  // namespace baton::onnx

#endif  // BATON_ONNX_OPS_EXTENTS_H_
