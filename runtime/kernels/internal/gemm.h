// Matrix products (GEMM).

#ifndef BATON_RUNTIME_KERNELS_INTERNAL_GEMM_H_
#define BATON_RUNTIME_KERNELS_INTERNAL_GEMM_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "absl/functional/function_ref.h"
#include "baton/runtime/kernels/blocked/sums.h"

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
// of panels of `width` columns each: row after row, each of `width` elements.
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

// The terms of a sum, in the order in which they are added (blocked/sums.h): by
// block of 16 channels, tap, and channel. A plain product has as many channels
// as it has terms, and one tap.
struct Terms {
  int64_t channels;
  int64_t taps = 1;
  // The order of the terms of operands in memory: (tap, channel) if true,
  // otherwise (channel, tap).
  bool taps_first = false;

  blocked::Sums sums() const { return {channels, taps}; }
  int64_t count() const { return channels * taps; }

  struct Term {
    int64_t channel;
    int64_t tap;
  };
  // The i-th term to be added.
  Term At(int64_t i) const {
    const int64_t full = channels / 16 * 16;
    const int64_t lanes = i < full * taps ? 16 : channels - full;
    const int64_t from = i < full * taps ? 0 : full;
    const int64_t j = i - from * taps;
    return {from + j / (lanes * taps) * lanes + j % lanes, j / lanes % taps};
  }
  // True if operands in memory have the terms in the order of sums.
  bool are_ordered() const {
    return taps == 1 || (taps_first && channels <= 16);
  }
  // The position of the term in operands in memory.
  int64_t IndexOf(const Term& term) const {
    return taps_first ? term.tap * channels + term.channel
                      : term.channel * taps + term.tap;
  }
};

// c = a * b, where a is [m, terms], b is [terms, n] and row i of c starts at
// c + i * c_stride. T is float, double, uint32_t or uint64_t; integers wrap.
// The error of a float32 sum is at most 1e-5 times the sum of the magnitudes of
// its terms, however many they are.
template <typename T>
void Gemm(int64_t m, int64_t n, const Terms& terms, ConstMatrix<T> a,
          ConstMatrix<T> b, T* c, int64_t c_stride);

// As above, where `b` exists only as blocks that Gemm requests, with rows in
// the order of sums.
template <typename T>
void Gemm(int64_t m, int64_t n, const Terms& terms, ConstMatrix<T> a,
          PackFn<T> b, T* c, int64_t c_stride);

// out[i] is the product of two vectors of k elements, x + i * x_step and
// y + i * y_step, for i < n: summed as Gemm does.
void Dots(const float* x, int64_t x_step, const float* y, int64_t y_step,
          int64_t k, float* out, int64_t n);

// --- Sums of other loops ---------------------------------------------------

// Adds one product to each of n sums, as Gemm does: fused, where the processor
// can. Element i of an operand is at i * its step.
void AddProducts(int64_t n, const float* a, int64_t a_step, const float* b,
                 int64_t b_step, float* sums, int64_t sums_step);

// Adds products with one factor to `rows` rows of n sums. Element (i, j) of an
// operand is at i * its row + j * its step.
void AddMultiples(int64_t rows, int64_t n, float factor, const float* x,
                  int64_t x_row, int64_t x_step, float* sums, int64_t sums_row);

// Sums of float32 in the order of blocked/sums.h, n of them at a time.
class OrderedSums {
 public:
  OrderedSums(int64_t n, const blocked::Sums& order);

  void Start();
  // The n partial sums of the chunk that contains `unit` (a block of channels
  // and a tap), to which the caller adds products by AddProducts(). Call it for
  // the units in ascending order.
  float* ChainsOf(int64_t unit);
  // The sums.
  const float* Finish();

 private:
  void EndChunk();

  bool in_double_;
  int64_t chunk_ = 0;
  std::vector<float> chains_;
  std::vector<float> sums_;
  std::vector<double> doubles_;
};

}  // namespace baton::kernels::internal

#endif  // BATON_RUNTIME_KERNELS_INTERNAL_GEMM_H_
