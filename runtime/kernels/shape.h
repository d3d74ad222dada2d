// Functions that move, select and repeat elements, and that make tensors.
//
// Any dtype unless stated. Axes may be negative: they count from the end. Where
// the elements stay in order and in number, the result shares the buffer of the
// argument.

#ifndef BATON_RUNTIME_KERNELS_SHAPE_H_
#define BATON_RUNTIME_KERNELS_SHAPE_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/optional.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/tensor.h"

namespace baton::kernels {

// The elements of `x` in the shape that `newshape` describes: positive numbers
// are extents; 0 copies the extent of `x`; -1 (once) takes what is left; -2
// copies all remaining extents; -3 multiplies the next two extents of `x`; -4
// splits the next extent into the two numbers that follow, one of which may be
// -1.
absl::StatusOr<Tensor> Reshape(const Tensor& x,
                               absl::Span<const int64_t> newshape);
// [N, ...] as [N, M].
absl::StatusOr<Tensor> BatchFlatten(const Tensor& x);
// Inserts `count` dimensions of extent 1 before `axis` (in [-rank-1, rank]).
absl::StatusOr<Tensor> ExpandDims(const Tensor& x, int64_t axis,
                                  int64_t count = 1);
// Drops `axes`, whose extents must be 1; by default all of extent 1.
absl::StatusOr<Tensor> Squeeze(
    const Tensor& x,
    absl::optional<absl::Span<const int64_t>> axes = absl::nullopt);

// Tensors of one dtype, whose shapes differ at most along `axis`, one after the
// other. At least one tensor.
absl::StatusOr<Tensor> Concatenate(absl::Span<const Tensor> tensors,
                                   int64_t axis);
// Tensors of one dtype and shape along a new dimension before `axis`.
absl::StatusOr<Tensor> Stack(absl::Span<const Tensor> tensors, int64_t axis);
// `sections` equal parts along `axis`.
absl::StatusOr<std::vector<Tensor>> Split(const Tensor& x, int64_t sections,
                                          int64_t axis);
// The parts between 0, the ascending `indices` and the end of `axis`.
absl::StatusOr<std::vector<Tensor>> SplitAt(const Tensor& x,
                                            absl::Span<const int64_t> indices,
                                            int64_t axis);

struct StridedSliceParams {
  std::vector<int64_t> begin;
  std::vector<int64_t> end;
  // Missing ones are 1.
  std::vector<int64_t> strides;
  // The axes that the values above belong to; by default the first ones.
  absl::optional<std::vector<int64_t>> axes;
  // `end` holds sizes, of which -1 means up to the end, and strides are 1.
  bool end_is_size = false;
};
// As in Python: negative positions count from the end, those beyond the ends
// are clamped, strides may be negative but not 0. Axes not mentioned are kept.
absl::StatusOr<Tensor> StridedSlice(const Tensor& x,
                                    const StridedSliceParams& params);

enum class PadMode { kConstant, kEdge, kReflect };
// Puts before[i] and after[i] elements around axis i: `value` (one element,
// converted to the dtype of `x`), the nearest element of `x`, or the mirror
// image of `x` without its edge. A negative number, which only kConstant takes,
// cuts off as many.
absl::StatusOr<Tensor> Pad(const Tensor& x, absl::Span<const int64_t> before,
                           absl::Span<const int64_t> after, PadMode mode,
                           const Tensor& value);

// The treatment of an index outside of [0, extent): clamp it, take it modulo
// the extent, or report an error.
enum class IndexMode { kClip, kWrap, kCheck };
// The elements of `x` at `indices` (integers of any shape) along `axis`; the
// shape of `indices` replaces that axis. Without an axis, `x` is taken as a
// vector. The first `batch_dims` dimensions of `indices` correspond to those of
// `x`.
absl::StatusOr<Tensor> Take(const Tensor& x, const Tensor& indices,
                            absl::optional<int64_t> axis,
                            IndexMode mode = IndexMode::kClip,
                            int64_t batch_dims = 0);
// out[i, j, k] = x[i, indices[i, j, k], k] for axis 1. `indices` has the shape
// of `x` but along `axis`; indices in [-extent, extent).
absl::StatusOr<Tensor> Gather(const Tensor& x, int64_t axis,
                              const Tensor& indices);
// out[y..., z...] = x[y[:batch_dims]..., indices[0, y...], indices[1, y...],
// ..., z...]; indices in [-extent, extent).
absl::StatusOr<Tensor> GatherNd(const Tensor& x, const Tensor& indices,
                                int64_t batch_dims = 0);

// `x` repeated reps[i] times along axis i; the shorter of shape and `reps` is
// padded with ones at the front.
absl::StatusOr<Tensor> Tile(const Tensor& x, absl::Span<const int64_t> reps);
// Each element `repeats` times along `axis`.
absl::StatusOr<Tensor> Repeat(const Tensor& x, int64_t repeats, int64_t axis);
// In reverse order along `axis`.
absl::StatusOr<Tensor> Reverse(const Tensor& x, int64_t axis);
// Broadcast as in NumPy.
absl::StatusOr<Tensor> BroadcastTo(const Tensor& x,
                                   absl::Span<const int64_t> shape);
// The sum of the elements that BroadcastTo would make out of one element of
// `shape`: its inverse, up to the counts. Floating and integer dtypes.
absl::StatusOr<Tensor> CollapseSumTo(const Tensor& x,
                                     absl::Span<const int64_t> shape);

// x where `condition` (bool, or different from zero), else y; all three
// broadcast, x and y have one dtype.
absl::StatusOr<Tensor> Where(const Tensor& condition, const Tensor& x,
                             const Tensor& y);

// `value` (one element, converted to `dtype`; void: its own) everywhere.
absl::StatusOr<Tensor> Full(const Tensor& value,
                            absl::Span<const int64_t> shape,
                            DType dtype = DType());
// start, start + step, ... up to but without stop, as `dtype` (not bool). The
// arguments have one element each; integers are computed as integers.
absl::StatusOr<Tensor> Arange(const Tensor& start, const Tensor& stop,
                              const Tensor& step, DType dtype);
// A new dimension `depth` before `axis` (-1: last), with `on` where its
// position is the index and `off` elsewhere.
absl::StatusOr<Tensor> OneHot(const Tensor& indices, const Tensor& on,
                              const Tensor& off, int64_t depth, int64_t axis,
                              DType dtype);

// Integers wrap. A float becomes an integer by truncation to 64 bits,
// saturating there (NaN is 0), and then wraps. Bool is "different from zero".
absl::StatusOr<Tensor> Cast(const Tensor& x, DType dtype);

}  // namespace baton::kernels

#endif  // BATON_RUNTIME_KERNELS_SHAPE_H_
