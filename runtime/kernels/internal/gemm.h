// Matrix products.

#ifndef BATON_RUNTIME_KERNELS_INTERNAL_GEMM_H_
#define BATON_RUNTIME_KERNELS_INTERNAL_GEMM_H_

#include <cstdint>

namespace baton::kernels::internal {

// A matrix in memory: element (i, j) is data[i * stride + j], or, if
// `transposed`, data[j * stride + i].
template <typename T>
struct ConstMatrix {
  const T* data;
  int64_t stride;
  bool transposed = false;
};

// c = a * b, where a is [m, k], b is [k, n] and row i of c starts at
// c + i * c_stride. T is float, double, uint32_t or uint64_t; integers wrap.
// A float32 sum stays within 1e-5 of the sum of its terms' magnitudes, however
// large k is.
template <typename T>
void Gemm(int64_t m, int64_t n, int64_t k, ConstMatrix<T> a, ConstMatrix<T> b,
          T* c, int64_t c_stride);

}  // namespace baton::kernels::internal

#endif  // BATON_RUNTIME_KERNELS_INTERNAL_GEMM_H_
