// Sparse matrices, stored by rows: CSR, and BSR, whose elements are blocks.

#ifndef BATON_RUNTIME_KERNELS_SPARSE_KERNELS_H_
#define BATON_RUNTIME_KERNELS_SPARSE_KERNELS_H_

#include "absl/status/statusor.h"
#include "baton/base/tensor.h"

namespace baton::kernels {

// Row i has the elements values[k] at the columns indices[k], for k in
// [row_begins[i], row_begins[i + 1]). `values` has rank 1, or is (blocks,
// height, width), or (blocks, height) for blocks that are one column wide.
struct SparseMatrix {
  Tensor values;
  Tensor indices;
  Tensor row_begins;
};

// `x` (m, k) times the transpose of `weight` (n, k): (m, n); the transpose of
// that if `sparse_first`. Floats and integers, all of the dtype of `x`.
absl::StatusOr<Tensor> SparseDense(const Tensor& x, const SparseMatrix& weight,
                                   bool sparse_first);

// `x` plus `sparse`, of one dtype. `sparse` must be CSR.
absl::StatusOr<Tensor> SparseAdd(const Tensor& x, const SparseMatrix& sparse);

// The transpose of a square CSR matrix, with ascending columns in each row.
absl::StatusOr<SparseMatrix> SparseTranspose(const SparseMatrix& x);

}  // namespace baton::kernels

#endif  // BATON_RUNTIME_KERNELS_SPARSE_KERNELS_H_
