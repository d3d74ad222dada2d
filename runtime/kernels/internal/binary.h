// Loops over two operands that broadcast against each other.

#ifndef BATON_RUNTIME_KERNELS_INTERNAL_BINARY_H_
#define BATON_RUNTIME_KERNELS_INTERNAL_BINARY_H_

#include <array>
#include <cstdint>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/ir/dtype.h"
#include "baton/ir/tensor.h"
#include "baton/runtime/kernels/internal/broadcast.h"
#include "baton/runtime/kernels/internal/util.h"

namespace baton::kernels::internal {

// A tensor of `dtype`, stored as R, that holds fn(a, b) for the elements of two
// tensors stored as T. kUnroll makes a loop for each way an operand may
// broadcast, which the compiler can vectorize; worth it for cheap functions.
template <typename T, typename R, bool kUnroll, typename Fn>
absl::StatusOr<Tensor> MapBinary(absl::string_view kernel, const Tensor& a,
                                 const Tensor& b, DType dtype, const Fn& fn) {
  auto plan = PlanBroadcast<2>(kernel, {a.shape(), b.shape()});
  if (!plan.ok()) return plan.status();
  auto result = MutableTensor::Create(dtype, plan->shape);
  if (!result.ok()) return result.status();
  const T* left = static_cast<const T*>(a.data());
  const T* right = static_cast<const T*>(b.data());
  R* out = static_cast<R*>(result->data());
  const int64_t n = plan->dims.back();
  const int64_t sa = plan->strides[0].back();
  const int64_t sb = plan->strides[1].back();
  ForEachRun(*plan, [&](const std::array<int64_t, 2>& at, int64_t to) {
    const T* x = left + at[0];
    const T* y = right + at[1];
    R* z = out + to;
    if constexpr (kUnroll) {
      if (sa == 1 && sb == 1) {
        for (int64_t i = 0; i < n; ++i) z[i] = fn(x[i], y[i]);
        return;
      }
      if (sa == 1 && sb == 0) {
        const T v = *y;
        for (int64_t i = 0; i < n; ++i) z[i] = fn(x[i], v);
        return;
      }
      if (sa == 0 && sb == 1) {
        const T v = *x;
        for (int64_t i = 0; i < n; ++i) z[i] = fn(v, y[i]);
        return;
      }
    }
    for (int64_t i = 0; i < n; ++i) z[i] = fn(x[i * sa], y[i * sb]);
  });
  return std::move(*result).Freeze();
}

}  // namespace baton::kernels::internal

#endif  // BATON_RUNTIME_KERNELS_INTERNAL_BINARY_H_
