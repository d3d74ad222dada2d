// NumPy broadcasting of N operands against each other.

#ifndef BATON_RUNTIME_KERNELS_INTERNAL_BROADCAST_H_
#define BATON_RUNTIME_KERNELS_INTERNAL_BROADCAST_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/tensor.h"
#include "baton/runtime/kernels/internal/util.h"

namespace baton::kernels::internal {

// The shape to which all of `shapes` broadcast. `kernel` is its name in errors.
absl::StatusOr<TensorShape> BroadcastShape(
    absl::string_view kernel,
    absl::Span<const absl::Span<const int64_t>> shapes);

// A plan for walking N operands that broadcast to `shape`. `dims` is `shape`
// with dimensions merged where all operands allow it. It has at least one
// dimension, and none of extent 1 unless that is the only one. Strides are in
// elements, 0 along a broadcast dimension.
template <size_t N>
struct BroadcastPlan {
  TensorShape shape;
  TensorShape dims;
  std::array<TensorShape, N> strides;
};

// Strides of a dense tensor of shape `from`, broadcast to `to`.
TensorShape BroadcastStrides(absl::Span<const int64_t> from,
                             absl::Span<const int64_t> to);

template <size_t N>
absl::StatusOr<BroadcastPlan<N>> PlanBroadcast(
    absl::string_view kernel,
    const std::array<absl::Span<const int64_t>, N>& shapes) {
  BroadcastPlan<N> plan;
  auto shape = BroadcastShape(kernel, shapes);
  if (!shape.ok()) return shape.status();
  plan.shape = *std::move(shape);
  std::array<TensorShape, N> strides;
  for (size_t k = 0; k < N; ++k) {
    strides[k] = BroadcastStrides(shapes[k], plan.shape);
  }
  for (size_t d = 0; d < plan.shape.size(); ++d) {
    const int64_t extent = plan.shape[d];
    if (extent == 1) continue;
    bool merge = !plan.dims.empty();
    for (size_t k = 0; k < N && merge; ++k) {
      merge = plan.strides[k].back() == strides[k][d] * extent;
    }
    if (merge) {
      plan.dims.back() *= extent;
      for (size_t k = 0; k < N; ++k) plan.strides[k].back() = strides[k][d];
    } else {
      plan.dims.push_back(extent);
      for (size_t k = 0; k < N; ++k) plan.strides[k].push_back(strides[k][d]);
    }
  }
  if (plan.dims.empty()) {
    plan.dims.push_back(1);
    for (size_t k = 0; k < N; ++k) plan.strides[k].push_back(0);
  }
  return plan;
}

// Calls fn(offsets of the operands, offset of the result) at the start of each
// run of plan.dims.back() elements. The strides within a run are
// plan.strides[k].back(). Does nothing if the result is empty.
template <size_t N, typename Fn>
void ForEachRun(const BroadcastPlan<N>& plan, const Fn& fn) {
  for (int64_t d : plan.dims) {
    if (d == 0) return;
  }
  std::array<int64_t, N> offsets{};
  int64_t out = 0;
  const size_t outer = plan.dims.size() - 1;
  TensorShape index(outer, 0);
  while (true) {
    fn(offsets, out);
    out += plan.dims.back();
    size_t d = outer;
    while (true) {
      if (d == 0) return;
      --d;
      for (size_t k = 0; k < N; ++k) offsets[k] += plan.strides[k][d];
      if (++index[d] < plan.dims[d]) break;
      for (size_t k = 0; k < N; ++k) {
        offsets[k] -= plan.strides[k][d] * plan.dims[d];
      }
      index[d] = 0;
    }
  }
}

}  // namespace baton::kernels::internal

#endif  // BATON_RUNTIME_KERNELS_INTERNAL_BROADCAST_H_
