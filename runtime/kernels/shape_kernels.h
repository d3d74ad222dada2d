// Moves, selects and repeats elements, changes shapes, and makes tensors.
//
// Any dtype unless stated. Negative axes count from the end. If the elements
// keep their order and number, the result shares the buffer of the argument.

#ifndef BATON_RUNTIME_KERNELS_SHAPE_KERNELS_H_
#define BATON_RUNTIME_KERNELS_SHAPE_KERNELS_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/optional.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/tensor.h"

namespace baton::kernels {

// The elements of `x` in the shape that `newshape` describes: positive numbers
// are extents; 0 copies the extent of `x`; -1 (once) is the remaining extent;
// -2 copies all remaining extents; -3 multiplies the next two extents of `x`;
// -4 splits the next extent into the two numbers that follow, one of which may
// be -1.
absl::StatusOr<Tensor> Reshape(const Tensor& x,
                               absl::Span<const int64_t> newshape);
// Reshapes [N, ...] to [N, M].
absl::StatusOr<Tensor> BatchFlatten(const Tensor& x);
// Inserts `count` dimensions of extent 1 before `axis` (in [-rank-1, rank]).
absl::StatusOr<Tensor> ExpandDims(const Tensor& x, int64_t axis,
                                  int64_t count = 1);
// Drops `axes`, whose extents must be 1; by default all of extent 1.
absl::StatusOr<Tensor> Squeeze(
    const Tensor& x,
    absl::optional<absl::Span<const int64_t>> axes = absl::nullopt);

// Concatenates tensors of one dtype, whose shapes differ at most along `axis`.
// At least one tensor.
absl::StatusOr<Tensor> Concatenate(absl::Span<const Tensor> tensors,
                                   int64_t axis);
// Stacks tensors of one dtype and shape along a new dimension before `axis`.
absl::StatusOr<Tensor> Stack(absl::Span<const Tensor> tensors, int64_t axis);
// Splits `x` into `sections` equal parts along `axis`.
absl::StatusOr<std::vector<Tensor>> Split(const Tensor& x, int64_t sections,
                                          int64_t axis);
// Splits `x` at 0, the ascending `indices` and the end of `axis`.
absl::StatusOr<std::vector<Tensor>> SplitAt(const Tensor& x,
                                            absl::Span<const int64_t> indices,
                                            int64_t axis);

struct StridedSliceParams {
  std::vector<int64_t> begin;
  std::vector<int64_t> end;
  // Missing strides are 1.
  std::vector<int64_t> strides;
  // The axes of the values above; by default the first axes.
  absl::optional<std::vector<int64_t>> axes;
  // `end` contains sizes, where -1 means up to the end, and strides are 1.
  bool end_is_size = false;
};
// As in Python: negative positions count from the end, positions out of range
// are clamped, strides may be negative but not 0. Other axes are kept.
absl::StatusOr<Tensor> StridedSlice(const Tensor& x,
                                    const StridedSliceParams& params);

enum class PadMode { kConstant, kEdge, kReflect };
// Adds before[i] and after[i] elements around axis i: `value` (one element,
// converted to the dtype of `x`), the nearest element of `x`, or the mirror
// image of `x` without its edge. A negative number, which only kConstant
// allows, removes elements.
absl::StatusOr<Tensor> Pad(const Tensor& x, absl::Span<const int64_t> before,
                           absl::Span<const int64_t> after, PadMode mode,
                           const Tensor& value);

// The treatment of an index outside of [0, extent): clamp it, take it modulo
// the extent, or report an error.
enum class IndexMode { kClip, kWrap, kCheck };
// The elements of `x` at `indices` (integers of any shape) along `axis`; the
// shape of `indices` replaces that axis. Without an axis, `x` is flattened. The
// first `batch_dims` dimensions of `indices` correspond to those of `x`.
absl::StatusOr<Tensor> Take(const Tensor& x, const Tensor& indices,
                            absl::optional<int64_t> axis,
                            IndexMode mode = IndexMode::kClip,
                            int64_t batch_dims = 0);
// out[i, j, k] = x[i, indices[i, j, k], k] for axis 1. `indices` has the shape
// of `x` on all axes but `axis`; indices are in [-extent, extent).
absl::StatusOr<Tensor> Gather(const Tensor& x, int64_t axis,
                              const Tensor& indices);
// out[y..., z...] = x[y[:batch_dims]..., indices[0, y...], indices[1, y...],
// ..., z...]; indices are in [-extent, extent).
absl::StatusOr<Tensor> GatherNd(const Tensor& x, const Tensor& indices,
                                int64_t batch_dims = 0);

// The kernel of GatherNd. The indices are [m, points], where `extents` are the
// m dimensions of `x` that they select from.
struct GatherNdParams {
  TensorShape extents;
  int64_t points = 1;
  int64_t per_batch = 1;          // points of a batch
  int64_t run = 1;                // bytes that a point selects
  bool has_wide_indices = false;  // int64, else int32
};
// Writes points [begin, end) of `y`. Returns false if an index is out of range.
// Allocates nothing if there are at most 6 extents.
bool GatherNdInto(const GatherNdParams& params, const void* x,
                  const void* indices, int64_t begin, int64_t end, void* y);

// `x` repeated reps[i] times along axis i; the shorter of shape and `reps` is
// padded with ones at the front.
absl::StatusOr<Tensor> Tile(const Tensor& x, absl::Span<const int64_t> reps);
// Repeats each element `repeats` times along `axis`.
absl::StatusOr<Tensor> Repeat(const Tensor& x, int64_t repeats, int64_t axis);
// Reverses the order along `axis`.
absl::StatusOr<Tensor> Reverse(const Tensor& x, int64_t axis);
// Broadcasts as in NumPy.
absl::StatusOr<Tensor> BroadcastTo(const Tensor& x,
                                   absl::Span<const int64_t> shape);
// The inverse of BroadcastTo, up to the counts: sums the elements that
// BroadcastTo would copy from one element of `shape`. Floating and integer
// dtypes.
absl::StatusOr<Tensor> CollapseSumTo(const Tensor& x,
                                     absl::Span<const int64_t> shape);

// x where `condition` (bool, or nonzero) is true, otherwise y. All three
// broadcast; x and y have one dtype.
absl::StatusOr<Tensor> Where(const Tensor& condition, const Tensor& x,
                             const Tensor& y);
// The kernel of Where: `condition` is of bools, and `result` has room for all
// elements. Allocates nothing for up to 6 dimensions.
absl::Status WhereInto(const Tensor& condition, const Tensor& x,
                       const Tensor& y, void* result);

// A tensor filled with `value` (one element, converted to `dtype`; void: its
// own dtype).
absl::StatusOr<Tensor> Full(const Tensor& value,
                            absl::Span<const int64_t> shape,
                            DType dtype = DType());
// start, start + step, ... up to but excluding stop, as `dtype` (not bool). The
// arguments have one element each; integers are computed as integers.
absl::StatusOr<Tensor> Arange(const Tensor& start, const Tensor& stop,
                              const Tensor& step, DType dtype);
// A new dimension of extent `depth` before `axis` (-1: last), with `on` where
// its position equals the index and `off` elsewhere.
absl::StatusOr<Tensor> OneHot(const Tensor& indices, const Tensor& on,
                              const Tensor& off, int64_t depth, int64_t axis,
                              DType dtype);

// The kernel of OneHot, which writes [outer, depth, inner] elements of `bytes`
// bytes. Allocates nothing.
struct OneHotParams {
  int64_t depth = 1;
  int64_t inner = 1;
  int64_t bytes = 4;
  bool has_wide_indices = false;  // int64, else int32
};
void OneHotInto(const OneHotParams& params, const void* indices, const void* on,
                const void* off, int64_t outer, void* y);

// Converts elements to `dtype`. Integers wrap. A float becomes an integer by
// truncation to 64 bits, saturating (NaN is 0), and then wraps. A bool is true
// for nonzero elements.
absl::StatusOr<Tensor> Cast(const Tensor& x, DType dtype);
// The kernel of Cast on n elements, for storable dtypes that differ and are no
// half floats. Allocates nothing.
void CastInto(DType from, const void* x, int64_t n, DType to, void* y);

}  // namespace baton::kernels

#endif  // BATON_RUNTIME_KERNELS_SHAPE_KERNELS_H_
