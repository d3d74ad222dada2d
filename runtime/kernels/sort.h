// Sorting, searching and scanning along one axis.
//
// Floating, integer and bool dtypes unless stated. A NaN counts as the largest
// number. Negative axes count from the end.

#ifndef BATON_RUNTIME_KERNELS_SORT_H_
#define BATON_RUNTIME_KERNELS_SORT_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/types/optional.h"
#include "baton/base/dtype.h"
#include "baton/base/tensor.h"

namespace baton::kernels {

// Sorts `x` along `axis`; equal elements keep their order.
absl::StatusOr<Tensor> Sort(const Tensor& x, int64_t axis, bool ascending);
// The indices that sort `x`.
absl::StatusOr<Tensor> Argsort(const Tensor& x, int64_t axis, bool ascending,
                               DType index_dtype);

struct TopKResult {
  Tensor values;
  Tensor indices;
};
// The first `k` elements (all if below 1) after sorting, and their indices.
absl::StatusOr<TopKResult> TopK(const Tensor& x, int64_t k, int64_t axis,
                                bool ascending, DType index_dtype);

// The kernel of TopK on [outer, extent, inner] elements along the second
// dimension. `k` is from 1 to the extent.
struct TopKParams {
  DType dtype;
  int64_t extent = 1;
  int64_t inner = 1;
  int64_t k = 1;
  bool ascending = false;
  bool has_wide_indices = false;  // int64, else int32
};
// Bytes, which are aligned to 64.
int64_t TopKWorkspaceSize(const TopKParams& params);
// `values` or `indices`, [outer, k, inner], may be null. Allocates nothing.
// Results are the same if `outer` is divided among several calls.
void TopKInto(const TopKParams& params, const void* x, int64_t outer,
              void* workspace, void* values, void* indices);

// For each value, the first (or, if `right`, last) position in the ascending
// `sorted` where it can be inserted. `sorted` is one vector, or has a vector
// for each row of `values`.
absl::StatusOr<Tensor> SearchSorted(const Tensor& sorted, const Tensor& values,
                                    bool right, DType index_dtype);

// Sums and products of all elements up to each element (of those before it if
// `exclusive`) along `axis`; without an axis, of the flattened `x`. The result
// has `dtype` (void: that of `x`). Not bool.
absl::StatusOr<Tensor> CumSum(const Tensor& x, absl::optional<int64_t> axis,
                              DType dtype, bool exclusive);
absl::StatusOr<Tensor> CumProd(const Tensor& x, absl::optional<int64_t> axis,
                               DType dtype, bool exclusive);

// The kernel of CumSum and CumProd on [outer, extent, inner] elements of a
// dtype that HasScanInto. Allocates nothing. Results are the same if `outer` is
// divided among several calls.
struct ScanParams {
  DType dtype;
  bool multiply = false;
  bool exclusive = false;
  int64_t extent = 1;
  int64_t inner = 1;
};
bool HasScanInto(DType dtype);
void ScanInto(const ScanParams& params, const void* x, int64_t outer, void* y);

struct UniqueResult {
  Tensor values;
  Tensor indices;  // of the first occurrence of each value
  Tensor inverse;  // for each element, the index of its value
  Tensor count;    // the number of distinct values; one element
  Tensor counts;   // the number of occurrences of each value
};
// The distinct values of a vector, ascending if `sorted`, otherwise in the
// order of their first occurrence. All results but `count` are as long as the
// vector; entries after the last value are 0. Indices and counts are int32.
absl::StatusOr<UniqueResult> Unique(const Tensor& x, bool sorted);

// The inverse of a permutation of 0, ..., n - 1.
absl::StatusOr<Tensor> InvertPermutation(const Tensor& x);

}  // namespace baton::kernels

#endif  // BATON_RUNTIME_KERNELS_SORT_H_
