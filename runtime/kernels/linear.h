// Kernels of matrix products: Dense, Matmul, BatchMatmul.
//
// Operands are both floating or both integral. Half floats are computed in
// float32. Integers are computed in 32 bits, or in 64 if one of the dtypes has
// 64, and wrap. The result is converted to `out_dtype` (void: the dtype of the
// first operand). The error of a float32 sum is at most 1e-5 times the sum of
// the magnitudes of its terms.

#ifndef BATON_RUNTIME_KERNELS_LINEAR_H_
#define BATON_RUNTIME_KERNELS_LINEAR_H_

#include "absl/status/statusor.h"
#include "baton/base/dtype.h"
#include "baton/base/tensor.h"

namespace baton::kernels {

// Selects the operands whose last two dimensions are swapped, and the dtype of
// the result.
struct MatmulParams {
  bool transpose_a = false;
  bool transpose_b = false;
  DType out_dtype;
};

// [..., K] times the transpose of `weight` [N, K]: [..., N].
absl::StatusOr<Tensor> Dense(const Tensor& data, const Tensor& weight,
                             DType out_dtype = DType());

// [..., K] (or [..., K, M] if `transpose_a`) times [K, N] (or [N, K] if
// `transpose_b`): [..., N] (or [..., M, N]).
absl::StatusOr<Tensor> Matmul(const Tensor& a, const Tensor& b,
                              const MatmulParams& params);

// [B, M, K] times [B, K, N], each with its last two dimensions swapped if
// `params` says so: [B, M, N]. A batch of 1 is repeated.
absl::StatusOr<Tensor> BatchMatmul(const Tensor& a, const Tensor& b,
                                   const MatmulParams& params);

}  // namespace baton::kernels

#endif  // BATON_RUNTIME_KERNELS_LINEAR_H_
