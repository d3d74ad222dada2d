// Operations across the channels of blocked float32 maps.

#ifndef BATON_RUNTIME_KERNELS_BLOCKED_CHANNELS_H_
#define BATON_RUNTIME_KERNELS_BLOCKED_CHANNELS_H_

#include <cstdint>

#include "baton/runtime/kernels/blocked/blocked_conv.h"

namespace baton::kernels::blocked {

struct ChannelSource {
  int32_t input = 0;
  int32_t channel = 0;
};

// Copies channels of several maps of one size to one map: concatenations,
// shuffles, slices.
struct GatherParams {
  int64_t batch = 1;
  int64_t channels = 1;
  // Height times width.
  int64_t positions = 1;
  // For each channel of the result, the input and the channel to copy.
  const ChannelSource* sources = nullptr;
  // For each input, the number of floats from one image to the next.
  const int64_t* x_batch_strides = nullptr;
};

constexpr int64_t GatherItems(const GatherParams& params) {
  return params.batch * BlocksOf(params.channels);
}

// Local response normalization along the channels, as Lrn() of
// runtime/kernels/normalize_kernels.h with beta 0.75.
struct BlockedLrnParams {
  int64_t batch = 1;
  int64_t channels = 1;
  int64_t positions = 1;
  // The number of channels on each side in the window; at most kMostReach.
  int64_t reach = 2;
  double bias = 2;
  double alpha = 1e-5;  // Divided by the size of the window.
};

constexpr int64_t kMostReach = 16;
constexpr int64_t kPositionsOfLrn = 128;

constexpr int64_t LrnItems(const BlockedLrnParams& params) {
  return params.batch * BlocksOf(params.channels) *
         ((params.positions + kPositionsOfLrn - 1) / kPositionsOfLrn);
}

}  // namespace baton::kernels::blocked

#endif  // BATON_RUNTIME_KERNELS_BLOCKED_CHANNELS_H_
