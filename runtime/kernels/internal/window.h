// Arithmetic of windows that slide over spatial dimensions, for convolutions
// and pools.

#ifndef BATON_RUNTIME_KERNELS_INTERNAL_WINDOW_H_
#define BATON_RUNTIME_KERNELS_INTERNAL_WINDOW_H_

#include <algorithm>
#include <array>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace baton::kernels::internal {

// The window along one spatial dimension. CheckWindow bounds all fields but
// `in` and `kernel` by kMaxWindowParam.
struct Window {
  int64_t in = 1;
  int64_t kernel = 1;
  int64_t stride = 1;
  int64_t dilation = 1;
  int64_t pad_before = 0;
  int64_t pad_after = 0;
  int64_t out = 1;

  // The input position of tap `k` of output `o`; may be outside of [0, in).
  int64_t Input(int64_t o, int64_t k) const {
    return o * stride - pad_before + k * dilation;
  }
  // The outputs [first, last) whose tap `k` reads inside of [0, in).
  struct Range {
    int64_t first;
    int64_t last;
  };
  Range ValidOutputs(int64_t k) const {
    const int64_t offset = k * dilation - pad_before;
    // Smallest o with o * stride + offset >= 0; largest with <= in - 1.
    const int64_t first = offset >= 0 ? 0 : (-offset + stride - 1) / stride;
    const int64_t room = in - 1 - offset;
    const int64_t last = room < 0 ? 0 : room / stride + 1;
    return {std::min(first, out),
            std::max(std::min(first, out), std::min(last, out))};
  }
  // The taps [first, last) of output `o` that read inside [0, in).
  Range ValidTaps(int64_t o) const {
    const int64_t offset = o * stride - pad_before;
    const int64_t first = offset >= 0 ? 0 : (-offset + dilation - 1) / dilation;
    const int64_t room = in - 1 - offset;
    const int64_t last = room < 0 ? 0 : room / dilation + 1;
    return {std::min(first, kernel),
            std::max(std::min(first, kernel), std::min(last, kernel))};
  }
  bool pads() const { return pad_before != 0 || pad_after != 0; }
};

constexpr int64_t kMaxWindowParam = int64_t{1} << 31;

// Checks extents, stride, dilation and padding; not `out`.
absl::Status CheckWindow(absl::string_view kernel, const Window& window);

// As CheckWindow; also sets `window.out` to the number of positions of the
// window: rounded down, or up if `ceil_mode`. An error if there is none.
absl::Status SetWindowOutputs(absl::string_view kernel, bool ceil_mode,
                              Window& window);

// The windows of the vertical and the horizontal axis, in this order. `in` are
// the extents of the data, `sizes` those of the kernel; `padding` is top, left,
// bottom, right.
absl::StatusOr<std::array<Window, 2>> Windows2d(
    absl::string_view kernel, bool ceil_mode, absl::Span<const int64_t> in,
    absl::Span<const int64_t> sizes, absl::Span<const int64_t> strides,
    absl::Span<const int64_t> dilation, absl::Span<const int64_t> padding);

}  // namespace baton::kernels::internal

#endif  // BATON_RUNTIME_KERNELS_INTERNAL_WINDOW_H_
