// The order of sums that all kernels share: one answer for any layout, any
// width of vectors and any number of threads.
//
// The terms of a sum have positions. A convolution numbers them by (input
// channel / 16, kernel row, kernel column, input channel % 16), where the
// channels of a group are rounded up to 16; in a matrix product k is the
// position. Positions that are skipped, because they read padding or a channel
// that is missing, add nothing and do not change the positions of other terms.
//
// Positions are cut into chunks of 128. The sum of a chunk is one chain of
// fused multiply-adds that starts at +0. A sum starts at +0, too, to which the
// chunks are added in order, in float32. If there are more than 36 chunks, each
// group of 36 is summed in this way, and the sums of the groups are added in
// double.
//
// Hence a sum is never -0, and a finite weight times zero adds nothing, so that
// padding may be multiplied as well as skipped.

#ifndef BATON_RUNTIME_KERNELS_BLOCKED_SUMS_H_
#define BATON_RUNTIME_KERNELS_BLOCKED_SUMS_H_

#include <cstdint>

namespace baton::kernels::blocked {

constexpr int64_t kPositionsOfChunk = 128;
// In taps of 16 channels.
constexpr int64_t kTapsOfChunk = kPositionsOfChunk / 16;
constexpr int64_t kChunksOfGroup = 36;

// The chunks of sums over `channels` channels and `taps` taps. A matrix product
// has one tap.
struct Sums {
  int64_t channels = 1;
  int64_t taps = 1;

  // Pairs of a block of channels and a tap.
  int64_t units() const { return (channels + 15) / 16 * taps; }
  int64_t chunks() const { return (units() + kTapsOfChunk - 1) / kTapsOfChunk; }
  bool in_double() const { return chunks() > kChunksOfGroup; }
  // Terms before chunk c, if only the channels that exist are counted.
  int64_t TermsBefore(int64_t c) const {
    const int64_t unit = c < chunks() ? c * kTapsOfChunk : units();
    const int64_t full = channels / 16 * taps;
    return unit <= full ? unit * 16
                        : full * 16 + (unit - full) * (channels % 16);
  }
};

}  // namespace baton::kernels::blocked

#endif  // BATON_RUNTIME_KERNELS_BLOCKED_SUMS_H_
