// Builds shapes that are not fully known when a model is imported.

#ifndef BATON_ONNX_OPS_EXTENTS_H_
#define BATON_ONNX_OPS_EXTENTS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/expr.h"

namespace baton::onnx {

// The extent of axis `axis` of the typed expression `x`, as an int64 scalar.
Expr ExtentOf(const Expr& x, int axis);

// The int64 numbers 0, 1 ... for the elements along axis `axis` of the typed
// expression `x`, followed by `axes_after` axes of extent 1.
Expr Positions(const Expr& x, int axis, int axes_after);

// Casts the typed expression `x` to int64; returns `x` if it is int64 already.
Expr AsInt64(const Expr& x);

// The numbers from 0 to `size` - 1.
std::vector<int64_t> Iota(int64_t size);

// The numbers of axes `axes` of a tensor of rank `rank` as int64, where
// negative ones count from the end.
Expr AxesFromFront(const Expr& axes, int64_t rank);

// The extents of all axes of `x`, as an int64 vector.
Expr ShapeVector(const Expr& x);

// The numbers of Relay's reshape (newshape) that convert a tensor of the shape
// `shape` to the shape `wanted`. In `wanted`, -1 is the remaining extent, and 0
// keeps an extent unless `allowzero`. Nullopt if there are no such numbers:
// more than one extent is neither a number nor a product of axes.
std::optional<std::vector<int64_t>> ReshapeNumbers(absl::Span<const Dim> shape,
                                                   absl::Span<const Dim> wanted,
                                                   bool allowzero);

// `x` with the extents `shape`, all of which are numbers. A 0 is the extent 0
// (allowzero).
Expr ReshapeTo(Expr x, std::vector<int64_t> shape);

// Merges the `count` axes of `x` from `begin` on into one axis. `rank` is the
// rank of `x`.
Expr MergeAxes(Expr x, int rank, int begin, int count);

// Replaces the first axis of `x` by the first `count` axes of `like`.
Expr SplitFirstAxis(Expr x, Expr like, int count);

// True if a tensor of the shape `shape` provably broadcasts to the shape
// `wanted`: each extent, from the last on, is 1 or equal.
bool FitsInto(absl::Span<const Dim> shape, absl::Span<const Dim> wanted);

// Reshapes `x`, whose extents are those of `like` along the axes for which
// `is_kept` is true, so that its type says so.
Expr WithExtentsOf(Expr x, const Expr& like, int rank,
                   absl::FunctionRef<bool(int)> is_kept);

// Reshapes `x`, whose extents are `extents`, so that its type has the numbers
// among them. Dim::Any() is any extent.
Expr WithExtents(Expr x, absl::Span<const Dim> extents);

// Broadcasts `x` to the shape `wanted`, an int64 vector.
Expr BroadcastTo(Expr x, Expr wanted);

// Broadcasts the typed expression `x` in both directions with the shape
// `wanted`, whose elements are a typed int64 vector of known length.
Expr BroadcastWith(const Expr& x, const Expr& wanted);

}  // namespace baton::onnx

#endif  // BATON_ONNX_OPS_EXTENTS_H_
