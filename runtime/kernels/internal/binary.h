// Loops over two operands that broadcast against each other.
//
// MapRuns() serves all loops: it computes how the operands broadcast, and
// passes short runs to the loop several at a time. So a typed loop has one
// form, for whole blocks.

#ifndef BATON_RUNTIME_KERNELS_INTERNAL_BINARY_H_
#define BATON_RUNTIME_KERNELS_INTERNAL_BINARY_H_

#include <cstdint>
#include <cstring>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/base/dtype.h"
#include "baton/base/tensor.h"
#include "baton/runtime/kernels/internal/vectorize.h"
#include "baton/runtime/kernels/operand.h"

namespace baton::kernels::internal {

// Elements that a loop computes at a time, a whole vector of any width or
// several, if the elements of its result have `bytes` bytes. (The compiler
// unrolls inner loops of up to 16 steps before it looks for vectors.)
constexpr int64_t BlockElements(int64_t bytes) { return bytes == 1 ? 64 : 32; }

// Runs of elements of the result, which are adjacent, and of two operands.
struct BinaryRuns {
  // An operand's elements in a run are adjacent if its step is 1. It has one
  // element if the step is 0.
  const void* a;
  int64_t a_step;
  const void* b;
  int64_t b_step;
  // May be the memory of an operand whose step is 1.
  void* out;
  // Elements of a run. If a result has at least BlockElements, no run has less.
  int64_t n;
  // The number of runs, and how many elements after a run the next one begins.
  int64_t runs;
  int64_t a_distance;
  int64_t b_distance;
};

using BinaryLoop = absl::FunctionRef<void(const BinaryRuns& runs)>;

// A tensor of `dtype` and the shape to which `a` and `b` broadcast, whose
// elements `loop` computes. It has the buffer of an operand that may be reused,
// or a new one. For cheap functions, whose time is that of memory.
absl::StatusOr<Tensor> MapRuns(absl::string_view kernel, Operand a, Operand b,
                               DType dtype, BinaryLoop loop);

// Computes n elements of a result, a multiple of kRun, from as many elements of
// both operands. They do not overlap the result.
using WholeRunsLoop =
    absl::FunctionRef<void(const void* a, const void* b, void* out, int64_t n)>;

// As MapRuns, in a new buffer. For functions of many steps.
absl::StatusOr<Tensor> MapWholeRuns(absl::string_view kernel, const Tensor& a,
                                    const Tensor& b, DType dtype,
                                    WholeRunsLoop loop);

// The typed loop of MapRuns: elements of a result stored as R are fn(x, y) of
// operands stored as T.
template <typename T, typename R, Vectors kWidest, typename Fn>
void ComputeRuns(const BinaryRuns& given, const Fn& fn) {
  if (given.n < BlockElements(sizeof(R))) {
    const T* x = static_cast<const T*>(given.a);
    const T* y = static_cast<const T*>(given.b);
    R* z = static_cast<R*>(given.out);
    for (int64_t run = 0; run != given.runs; ++run) {
      for (int64_t i = 0; i < given.n; ++i) {
        *z++ = fn(x[i * given.a_step], y[i * given.b_step]);
        asm volatile("" : : : "memory");  // Keeps the loop scalar.
      }
      x += given.a_distance;
      y += given.b_distance;
    }
    return;
  }
  RunLoop<kWidest>([given, fn]() BATON_LOOP {
    constexpr int64_t kBlock = BlockElements(sizeof(R));
    const BinaryRuns r = given;
    const T* a = static_cast<const T*>(r.a);
    const T* b = static_cast<const T*>(r.b);
    R* out = static_cast<R*>(r.out);
    const int64_t blocks = r.n / kBlock;
    // The last block, if it is not whole, overlaps the one before. It is
    // computed first, since that one may be written over its operands.
    const int64_t last = r.n - kBlock;
    const int64_t first_block = r.n % kBlock == 0 ? 0 : -1;
    T repeated_a[kBlock];
    T repeated_b[kBlock];
    R last_results[kBlock];
    for (int64_t run = 0; run != r.runs; ++run) {
      const T* left = a;
      const T* right = b;
      if (r.a_step == 0) {
        for (int64_t i = 0; i < kBlock; ++i) repeated_a[i] = *a;
        left = repeated_a;
      }
      if (r.b_step == 0) {
        for (int64_t i = 0; i < kBlock; ++i) repeated_b[i] = *b;
        right = repeated_b;
      }
      for (int64_t k = first_block; k != blocks; ++k) {
        const int64_t at = k < 0 ? last : k * kBlock;
        const T* x = left + at * r.a_step;
        const T* y = right + at * r.b_step;
        R* z = k < 0 ? last_results : out + at;
        BATON_SAME_INDEX
        for (int64_t i = 0; i < kBlock; ++i) z[i] = fn(x[i], y[i]);
      }
      if (first_block < 0) {
        std::memcpy(out + last, last_results, sizeof(last_results));
      }
      a += r.a_distance;
      b += r.b_distance;
      out += r.n;
    }
  });
}

// A tensor of `dtype`, stored as R, with fn(a, b) for the elements of two
// tensors stored as T.
template <typename T, typename R, Vectors kWidest, typename Fn>
absl::StatusOr<Tensor> MapBinary(absl::string_view kernel, Operand a, Operand b,
                                 DType dtype, const Fn& fn) {
  return MapRuns(kernel, a, b, dtype, [&fn](const BinaryRuns& runs) {
    ComputeRuns<T, R, kWidest>(runs, fn);
  });
}

}  // namespace baton::kernels::internal

#endif  // BATON_RUNTIME_KERNELS_INTERNAL_BINARY_H_
