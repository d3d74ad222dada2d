// Scatters elements to indices (the inverses of Gather and GatherNd), and finds
// the indices of elements.

#ifndef BATON_RUNTIME_KERNELS_SCATTER_H_
#define BATON_RUNTIME_KERNELS_SCATTER_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "baton/base/tensor.h"

namespace baton::kernels {

// The combination of an update with the old element. kMean divides the sum of
// the old element and its updates by the number of summands.
enum class ScatterMode { kUpdate, kAdd, kMul, kMin, kMax, kMean };

// `data` with data[i, indices[i, j, k], k] combined with updates[i, j, k] (for
// axis 1), in row-major order. `indices` and `updates` have one shape, at most
// that of `data` on axes other than `axis`; indices are in [-extent, extent).
// Half floats are combined in float32 and rounded at the end; of bools, kAdd
// and kMax are "or", kMul and kMin "and".
absl::StatusOr<Tensor> ScatterElements(const Tensor& data,
                                       const Tensor& indices,
                                       const Tensor& updates, int64_t axis,
                                       ScatterMode mode);

// `data` with data[indices[0, y...], indices[1, y...], ..., z...] combined with
// updates[y..., z...].
absl::StatusOr<Tensor> ScatterNd(const Tensor& data, const Tensor& indices,
                                 const Tensor& updates, ScatterMode mode);

// Replaces the elements of `data` that StridedSlice (shape_kernels.h) with these
// bounds would take by those of `part`, which has the shape of the slice. Axes
// without bounds are taken whole.
absl::StatusOr<Tensor> StridedSet(const Tensor& data, const Tensor& part,
                                  absl::Span<const int64_t> begin,
                                  absl::Span<const int64_t> end,
                                  absl::Span<const int64_t> strides);

// The matrices in the last two axes of `data` with diagonals `first` to `last`
// replaced by those of `diagonal` [..., last - first + 1, n], the last one
// first; [..., n] if there is only one. Diagonals shorter than n begin at 0, or
// end at n if `super_right` (above the main diagonal) or `sub_right` (below
// it).
absl::StatusOr<Tensor> MatrixSetDiag(const Tensor& data, const Tensor& diagonal,
                                     int64_t first, int64_t last,
                                     bool super_right, bool sub_right);

// The coordinates of row-major positions in `shape`, one row for each axis.
absl::StatusOr<Tensor> UnravelIndex(const Tensor& positions,
                                    absl::Span<const int64_t> shape);

// The coordinates of the elements that are not zero, one row for each; int32.
absl::StatusOr<Tensor> ArgWhere(const Tensor& x);

}  // namespace baton::kernels

#endif  // BATON_RUNTIME_KERNELS_SCATTER_H_
