// Convolutions of float32 maps whose channels lie in blocks of 16.
//
// A blocked map [N, C, H, W] is [N, ceil(C / 16), H, W, 16] in memory; what is
// beyond the last channel has unspecified values, which no kernel reads into
// an element that counts. A planar map is [N, C, H, W].
//
// Weights are packed once, in one form for all widths of vectors. An element
// is the sum of products in one order (sums.h), whatever the width of vectors
// and the range of work.
//
// Nothing here allocates or checks. Kernels themselves are in kernels.h.

#ifndef BATON_RUNTIME_KERNELS_BLOCKED_CONV_H_
#define BATON_RUNTIME_KERNELS_BLOCKED_CONV_H_

#include <cstddef>
#include <cstdint>

#include "baton/runtime/kernels/blocked/epilogue.h"

namespace baton::kernels::blocked {

constexpr int64_t kBlock = 16;

constexpr int64_t BlocksOf(int64_t channels) {
  return (channels + kBlock - 1) / kBlock;
}

// The window along one dimension. Output o reads input
// o * stride - pad_before + k * dilation for k < kernel, where that is in
// [0, in).
struct Axis {
  int64_t in = 1;
  int64_t kernel = 1;
  int64_t stride = 1;
  int64_t dilation = 1;
  int64_t pad_before = 0;
  int64_t out = 1;
};

// Channels are those of one group. The map has groups * in_channels channels,
// the result groups * out_channels.
struct ConvParams {
  int64_t batch = 1;
  int64_t groups = 1;
  int64_t in_channels = 1;
  int64_t out_channels = 1;
  Axis h;
  Axis w;
  // The map is planar, as images are that a network gets. The result is blocked
  // in any case.
  bool planar_input = false;
  // No weight is infinite or NaN, as PackConvWeights says. If false, and there
  // is padding, a slow kernel runs, which skips padding instead of multiplying
  // zeros by weights.
  bool finite_weights = false;
  // Elements from one image to the next, where they are not adjacent (0).
  int64_t x_batch_stride = 0;
  int64_t y_batch_stride = 0;
  int64_t residual_batch_stride = 0;
  // An image has at least so many bands, if it has as many rows (see
  // ConvBandsFor). The bytes of the result do not depend on it.
  int64_t least_bands = 1;
};

// Floats of packed weights, which are aligned to 64 bytes.
int64_t PackedConvSize(const ConvParams& params);

// Packs `weights` [groups * out_channels, in_channels, h.kernel, w.kernel].
// Returns true if all of them are finite.
bool PackConvWeights(const ConvParams& params, const float* weights,
                     float* packed);

// Items of work. Each caller of a kernel does a range of [0, ConvItems()).
int64_t ConvItems(const ConvParams& params);

// The least_bands with which `threads` threads, each with an equal share of
// items that follow each other, are done first.
int64_t ConvBandsFor(int64_t threads, const ConvParams& params);

// Bytes that each caller of a kernel lends, aligned to 64.
size_t ConvWorkspaceSize(const ConvParams& params);

}  // namespace baton::kernels::blocked

#endif  // BATON_RUNTIME_KERNELS_BLOCKED_CONV_H_
