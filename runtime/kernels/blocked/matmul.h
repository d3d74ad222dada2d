// Products of float32 matrices, of which the second is packed once.
//
// y[m, n] = x[m, k] * b[k, n]. The terms of a sum are added in the order of
// sums.h, where the index along k is the position. With m = 1, the product of a
// vector and a matrix, the packed matrix is read once, front to back. An item
// of work is a range of columns, of a band of rows.

#ifndef BATON_RUNTIME_KERNELS_BLOCKED_MATMUL_H_
#define BATON_RUNTIME_KERNELS_BLOCKED_MATMUL_H_

#include <cstddef>
#include <cstdint>

namespace baton::kernels::blocked {

struct MatmulParams {
  int64_t m = 1;
  int64_t n = 1;
  int64_t k = 1;
  // The number of elements from one row to the next; 0 if rows are adjacent.
  int64_t x_stride = 0;
  int64_t y_stride = 0;
  int64_t residual_stride = 0;
  int64_t b_stride = 0;  // of the rows of b, or, if transposed, of its columns
  // The least number of bands into which rows are divided, as long as a band
  // has enough rows (28): one for each thread, since a thread transposes the
  // bands that it multiplies. A product of few rows has one band; then columns
  // are divided into shares for this number of threads.
  int64_t least_bands = 1;
};

// The number of floats of a packed matrix, which are aligned to 64 bytes.
// Depends on n and k only.
int64_t PackedMatmulSize(const MatmulParams& params);

// Packs b, whose element (i, j) is b[i * b_stride + j], or, if `transposed`,
// b[j * b_stride + i].
void PackMatmul(const MatmulParams& params, const float* b, bool transposed,
                float* packed);

// Packs the rows [begin, end) of b that is not transposed; `rows` has these
// rows. The other rows may be packed before or later.
void PackMatmulRows(const MatmulParams& params, const float* rows,
                    int64_t begin, int64_t end, float* packed);

// The number of independent parts of the work, and the bytes of the workspace
// that each call of the kernel needs, aligned to 64.
int64_t MatmulItems(const MatmulParams& params);
size_t MatmulWorkspaceSize(const MatmulParams& params);

}  // namespace baton::kernels::blocked

#endif  // BATON_RUNTIME_KERNELS_BLOCKED_MATMUL_H_
