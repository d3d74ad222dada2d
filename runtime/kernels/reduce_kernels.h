// Reductions over axes.
//
// Sums of floats are accumulated in double and rounded once, in an order that
// depends on the number of elements alone: the k-th of n elements, counted
// row-major over the reduced axes, has one place in it, wherever it lies in
// memory. Half floats are computed in float32 or wider. Integer sums and
// products wrap.

#ifndef BATON_RUNTIME_KERNELS_REDUCE_KERNELS_H_
#define BATON_RUNTIME_KERNELS_REDUCE_KERNELS_H_

#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "baton/base/dtype.h"
#include "baton/base/tensor.h"

namespace baton::kernels {

struct ReduceParams {
  // The axes to reduce; negative ones count from the end. If empty, all axes
  // (also with `exclude`).
  absl::InlinedVector<int64_t, 6> axes;
  // Keeps the reduced axes, with extent 1.
  bool keepdims = false;
  // Reduces the axes that are not in `axes`.
  bool exclude = false;
};

// Floating and integer dtypes; the result has the dtype of `x`. A mean of
// integers is the sum, wrapped to 64 bits, over the count, truncated toward
// zero. A mean of no integers is an error; the maximum of no elements is the
// least value of the type, minus infinity of floats, and the minimum the
// greatest. Max and Min of elements with a NaN are NaN.
absl::StatusOr<Tensor> Sum(const Tensor& x, const ReduceParams& params);
absl::StatusOr<Tensor> Prod(const Tensor& x, const ReduceParams& params);
absl::StatusOr<Tensor> Mean(const Tensor& x, const ReduceParams& params);
absl::StatusOr<Tensor> Max(const Tensor& x, const ReduceParams& params);
absl::StatusOr<Tensor> Min(const Tensor& x, const ReduceParams& params);

// Reduces [outer, extent, inner] floats along the second dimension, as the
// functions above do. Allocates nothing. Results are the same if `outer` is
// divided among several calls.
enum class FloatReduction { kSum, kMean, kMax, kMin };
void ReduceInto(FloatReduction reduction, const float* x, int64_t outer,
                int64_t extent, int64_t inner, float* y);

// The means of the squared distances of rows [outer, extent] to `mean` [outer].
// `squares` has room for a row.
void VarianceInto(const float* x, const float* mean, int64_t outer,
                  int64_t extent, float* squares, float* y);

// Floating dtypes. The squared distances to the mean are divided by their
// count, or by their count - 1 if `unbiased`.
absl::StatusOr<Tensor> Variance(const Tensor& x, const ReduceParams& params,
                                bool unbiased = false);
absl::StatusOr<Tensor> Std(const Tensor& x, const ReduceParams& params,
                           bool unbiased = false);

// Bool.
absl::StatusOr<Tensor> All(const Tensor& x, const ReduceParams& params);
absl::StatusOr<Tensor> Any(const Tensor& x, const ReduceParams& params);

// The index of the first (or last) largest or smallest element, counted
// row-major over the reduced axes; a NaN counts as the extreme. Floating and
// integer dtypes; no elements are an error. `index_dtype` is int32 or int64.
absl::StatusOr<Tensor> ArgMax(const Tensor& x, const ReduceParams& params,
                              bool select_last_index = false,
                              DType index_dtype = DType::Int(32));
absl::StatusOr<Tensor> ArgMin(const Tensor& x, const ReduceParams& params,
                              bool select_last_index = false,
                              DType index_dtype = DType::Int(32));

// The search of ArgMax and ArgMin.
struct ArgReduction {
  bool is_max = true;
  // True for the last of equal elements, false for the first.
  bool is_last = false;
};
// True for the dtypes of ArgReduceInto().
bool HasArgReduceInto(DType dtype);
// Searches [outer, extent, inner] elements of `dtype` along the second
// dimension, as ArgMax and ArgMin do. Positions are int64 if `is_wide`, else
// int32. `extent` is not 0. Allocates nothing. Results are the same if `outer`
// is divided among several calls.
void ArgReduceInto(const ArgReduction& search, DType dtype, const void* x,
                   int64_t outer, int64_t extent, int64_t inner, bool is_wide,
                   void* y);

}  // namespace baton::kernels

#endif  // BATON_RUNTIME_KERNELS_REDUCE_KERNELS_H_
