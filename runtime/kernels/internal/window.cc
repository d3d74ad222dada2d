#include "baton/runtime/kernels/internal/window.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/status_macros.h"
#include "baton/runtime/kernels/internal/util.h"

namespace baton::kernels::internal {

absl::Status CheckWindow(absl::string_view kernel, const Window& window) {
  if (window.kernel < 1) {
    return Error(kernel, "the window's extent must be positive, not ",
                 window.kernel);
  }
  if (window.stride < 1 || window.stride > kMaxWindowParam) {
    return Error(kernel, "stride ", window.stride, " is out of range");
  }
  if (window.dilation < 1 || window.dilation > kMaxWindowParam) {
    return Error(kernel, "dilation ", window.dilation, " is out of range");
  }
  for (const int64_t pad : {window.pad_before, window.pad_after}) {
    if (pad < 0 || pad > kMaxWindowParam) {
      return Error(kernel, "padding ", pad, " is out of range");
    }
  }
  // So that no position of a tap overflows.
  const __int128 reach =
      static_cast<__int128>(window.kernel - 1) * window.dilation + window.in;
  if (reach > std::numeric_limits<int64_t>::max() / 4) {
    return Error(kernel, "a window of ", window.kernel, " with dilation ",
                 window.dilation, " is too large");
  }
  return absl::OkStatus();
}

absl::Status SetWindowOutputs(absl::string_view kernel, bool ceil_mode,
                              Window& window) {
  BATON_RETURN_IF_ERROR(CheckWindow(kernel, window));
  const int64_t span = (window.kernel - 1) * window.dilation + 1;
  const int64_t room = window.in + window.pad_before + window.pad_after - span;
  if (room < 0) {
    return Error(kernel, "a window that spans ", span,
                 " does not fit into an extent of ", window.in,
                 " with padding ", window.pad_before, " + ", window.pad_after);
  }
  window.out = (room + (ceil_mode ? window.stride - 1 : 0)) / window.stride + 1;
  return absl::OkStatus();
}

absl::StatusOr<std::array<Window, 2>> Windows2d(
    absl::string_view kernel, bool ceil_mode, absl::Span<const int64_t> in,
    absl::Span<const int64_t> sizes, absl::Span<const int64_t> strides,
    absl::Span<const int64_t> dilation, absl::Span<const int64_t> padding) {
  std::array<Window, 2> windows;
  for (size_t i = 0; i < 2; ++i) {
    windows[i] = {.in = in[i],
                  .kernel = sizes[i],
                  .stride = strides[i],
                  .dilation = dilation[i],
                  .pad_before = padding[i],
                  .pad_after = padding[i + 2]};
    BATON_RETURN_IF_ERROR(SetWindowOutputs(kernel, ceil_mode, windows[i]));
  }
  return windows;
}

}  // namespace baton::kernels::internal
