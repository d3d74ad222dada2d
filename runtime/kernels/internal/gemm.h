// Matrix products (GEMM).

#ifndef BATON_RUNTIME_KERNELS_INTERNAL_GEMM_H_
#define BATON_RUNTIME_KERNELS_INTERNAL_GEMM_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "absl/functional/function_ref.h"

namespace baton::kernels::internal {

// A matrix in memory. Element (i, j) is data[i * stride + j]; if `transposed`,
// data[j * stride + i].
template <typename T>
struct ConstMatrix {
  const T* data;
  int64_t stride;
  bool transposed = false;
};

// A part of a matrix, to be filled with its rows [first_row, first_row + rows)
// and columns [first_column, first_column + columns). The memory is a sequence
// of panels of `width` columns each: row after row, `width` elements a row.
// Columns of the last panel that the matrix lacks are zero.
template <typename T>
struct PackedBlock {
  int64_t first_row;
  int64_t rows;
  int64_t first_column;
  int64_t columns;
  int64_t width;
  T* data;
};

// Writes one row of a block, from its first column to its last.
template <typename T>
class PackedRow {
 public:
  PackedRow(const PackedBlock<T>& block, int64_t row)
      : to_(block.data + row * block.width),
        left_(block.width),
        width_(block.width),
        skip_((block.rows - 1) * block.width) {}

  void Copy(const T* from, int64_t count) {
    Write(count, [&](T* to, int64_t n) {
      std::memcpy(to, from, static_cast<size_t>(n) * sizeof(T));
      from += n;
    });
  }
  // Copies every `stride`-th element.
  void Copy(const T* from, int64_t count, int64_t stride) {
    if (stride == 1) return Copy(from, count);
    Write(count, [&](T* to, int64_t n) {
      for (int64_t i = 0; i < n; ++i) to[i] = from[i * stride];
      from += n * stride;
    });
  }
  void Zeros(int64_t count) {
    Write(count, [](T* to, int64_t n) { std::fill_n(to, n, T(0)); });
  }
  // Call after the last column.
  void Finish() {
    if (left_ < width_) std::fill_n(to_, left_, T(0));
  }

 private:
  template <typename Fn>
  void Write(int64_t count, const Fn& fn) {
    while (count > 0) {
      const int64_t n = std::min(count, left_);
      fn(to_, n);
      to_ += n;
      count -= n;
      left_ -= n;
      if (left_ == 0) {
        to_ += skip_;
        left_ = width_;
      }
    }
  }

  T* to_;
  int64_t left_;  // In this panel.
  int64_t width_;
  int64_t skip_;  // From the end of a row to that row in the next panel.
};

// Fills a block of the right operand.
template <typename T>
using PackFn = absl::FunctionRef<void(const PackedBlock<T>& block)>;

// c = a * b, where a is [m, k], b is [k, n] and row i of c starts at
// c + i * c_stride. T is float, double, uint32_t or uint64_t; integers wrap.
// A float32 sum stays within 1e-5 of the sum of its terms' magnitudes, however
// large k is.
template <typename T>
void Gemm(int64_t m, int64_t n, int64_t k, ConstMatrix<T> a, ConstMatrix<T> b,
          T* c, int64_t c_stride);

// As above, where `b` exists only as blocks that Gemm requests.
template <typename T>
void Gemm(int64_t m, int64_t n, int64_t k, ConstMatrix<T> a, PackFn<T> b, T* c,
          int64_t c_stride);

}  // namespace baton::kernels::internal

#endif  // BATON_RUNTIME_KERNELS_INTERNAL_GEMM_H_
