// Loops over two operands that broadcast against each other.

#ifndef BATON_RUNTIME_KERNELS_INTERNAL_BINARY_H_
#define BATON_RUNTIME_KERNELS_INTERNAL_BINARY_H_

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/base/dtype.h"
#include "baton/base/tensor.h"
#include "baton/runtime/kernels/internal/vectorize.h"
#include "baton/runtime/kernels/operand.h"

namespace baton::kernels::internal {

// A run of `n` elements. The stride of an operand is 1, or 0 if it is
// broadcast. `out` may be equal to `a` or `b` if the stride of that operand is
// 1.
struct BinaryRun {
  const void* a;
  int64_t a_stride;
  const void* b;
  int64_t b_stride;
  void* out;
  int64_t n;
};

// A tensor of `dtype` and the shape to which `a` and `b` broadcast. `fill`
// computes the elements, run by run. The result uses the buffer of an operand
// that may be reused, or a new one.
absl::StatusOr<Tensor> ForEachBinaryRun(
    absl::string_view kernel, Operand a, Operand b, DType dtype,
    absl::FunctionRef<void(const BinaryRun&)> fill);

// The compilation of the loops of MapBinary.
enum class Loops {
  // A loop for each way in which an operand may broadcast, in vectors that all
  // processors have: for cheap functions, which are bound by memory.
  kEach,
  // As kEach, in the widest vectors.
  kWidest,
};

// A tensor of `dtype`, stored as R, with fn(a, b) for the elements of two
// tensors stored as T.
template <typename T, typename R, Loops kLoops, typename Fn>
absl::StatusOr<Tensor> MapBinary(absl::string_view kernel, Operand a, Operand b,
                                 DType dtype, const Fn& fn) {
  return ForEachBinaryRun(kernel, a, b, dtype, [&fn](const BinaryRun& run) {
    const T* x = static_cast<const T*>(run.a);
    const T* y = static_cast<const T*>(run.b);
    R* z = static_cast<R*>(run.out);
    const int64_t n = run.n;
    const auto start = [](const auto& loop) {
      if constexpr (kLoops == Loops::kWidest) {
        RunLoop(loop);
      } else {
        loop();
      }
    };
    if (run.a_stride == 1 && run.b_stride == 1) {
      return start([=]() BATON_LOOP {
        BATON_SAME_INDEX
        for (int64_t i = 0; i < n; ++i) z[i] = fn(x[i], y[i]);
      });
    }
    if (run.a_stride == 1) {
      const T v = *y;
      return start([=]() BATON_LOOP {
        BATON_SAME_INDEX
        for (int64_t i = 0; i < n; ++i) z[i] = fn(x[i], v);
      });
    }
    if (run.b_stride == 1) {
      const T v = *x;
      return start([=]() BATON_LOOP {
        BATON_SAME_INDEX
        for (int64_t i = 0; i < n; ++i) z[i] = fn(v, y[i]);
      });
    }
    for (int64_t i = 0; i < n; ++i) {
      z[i] = fn(x[i * run.a_stride], y[i * run.b_stride]);
    }
  });
}

}  // namespace baton::kernels::internal

#endif  // BATON_RUNTIME_KERNELS_INTERNAL_BINARY_H_
