// Convolutions of float32 maps whose channels lie in blocks of 16.
//
// A blocked map [N, C, H, W] is [N, ceil(C / 16), H, W, 16] in memory. Elements
// beyond the last channel have unspecified values, on which no other element of
// a result depends. A planar map is [N, C, H, W].
//
// Weights are packed once, in one form for all widths of vectors. An element
// is the sum of products in one order (sums.h), whatever the width of vectors
// and the range of work.
//
// Functions here neither allocate nor check their arguments. Kernels themselves
// are in kernels.h.

#ifndef BATON_RUNTIME_KERNELS_BLOCKED_BLOCKED_CONV_H_
#define BATON_RUNTIME_KERNELS_BLOCKED_BLOCKED_CONV_H_

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
  // True if the map is planar, as input images of networks are. The result is
  // blocked in any case.
  bool planar_input = false;
  // True if PackConvWeights() returned true: no weight is infinite or NaN. If
  // false, and there is padding, a slower kernel runs, which skips padding
  // instead of multiplying zeros by weights.
  bool finite_weights = false;
  // The number of elements from one image to the next; 0 if images are
  // adjacent.
  int64_t x_batch_stride = 0;
  int64_t y_batch_stride = 0;
  int64_t residual_batch_stride = 0;
  // The least number of bands of rows into which the work of an image is
  // divided, if it has as many rows (see ConvBandsFor). The bytes of the result
  // do not depend on it.
  int64_t least_bands = 1;
};

// The number of floats of packed weights, which are aligned to 64 bytes.
int64_t PackedConvSize(const ConvParams& params);

// Packs `weights` [groups * out_channels, in_channels, h.kernel, w.kernel].
// Returns true if all of them are finite.
bool PackConvWeights(const ConvParams& params, const float* weights,
                     float* packed);

// The number of independent parts of the work. Each call of the kernel computes
// a range of [0, ConvItems()).
int64_t ConvItems(const ConvParams& params);

// The value of least_bands for which `threads` threads, each with an equal
// share of adjacent items, finish in the shortest time.
int64_t ConvBandsFor(int64_t threads, const ConvParams& params);

// The bytes of the workspace that each call of the kernel needs, aligned to 64.
size_t ConvWorkspaceSize(const ConvParams& params);

}  // namespace baton::kernels::blocked

#endif  // BATON_RUNTIME_KERNELS_BLOCKED_BLOCKED_CONV_H_
