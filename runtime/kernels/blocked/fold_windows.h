// Adds the windows of a transposed convolution where they overlap.
//
// A transposed convolution is a pointwise convolution into taps * out_channels
// channels, then a fold.

#ifndef BATON_RUNTIME_KERNELS_BLOCKED_FOLD_WINDOWS_H_
#define BATON_RUNTIME_KERNELS_BLOCKED_FOLD_WINDOWS_H_

#include <cstdint>

#include "baton/runtime/kernels/blocked/blocked_conv.h"

namespace baton::kernels::blocked {

// The axes are those of the convolution that is transposed: `in` is an extent
// of the result, `out` one of the operand.
struct FoldParams {
  int64_t batch = 1;
  int64_t channels = 1;  // of the result
  Axis h;
  Axis w;
};

// The number of independent parts of the work, of which Fold() computes
// [begin, end).
constexpr int64_t FoldItems(const FoldParams& params) {
  return params.batch * BlocksOf(params.channels);
}

// `windows` is [batch, taps, channels / 16, h.out, w.out, 16], `y` is
// [batch, channels / 16, h.in, w.in, 16]. An element is 0 plus the elements of
// windows at its place, in the order of taps.
void Fold(const FoldParams& params, const float* windows, float* y,
          int64_t begin, int64_t end);

}  // namespace baton::kernels::blocked

#endif  // BATON_RUNTIME_KERNELS_BLOCKED_FOLD_WINDOWS_H_
