// Convolutions of 8-bit maps with 8-bit weights, summed in 32 bits.
//
// Maps are planar, [N, C, H, W], or have slabs of 32 channels, [N, ceil(C /
// 32), H, W, 32]. What is beyond the last channel of an argument may have any
// values; in a result it has those of a channel whose sums are 0 and whose
// constants are the last channel's. Sums of integers wrap, so that their order
// does not matter and all instruction sets give the same bytes. Functions here
// neither allocate nor check their arguments.

#ifndef BATON_RUNTIME_KERNELS_BLOCKED_INT8_CONV_H_
#define BATON_RUNTIME_KERNELS_BLOCKED_INT8_CONV_H_

#include <cstddef>
#include <cstdint>

#include "baton/runtime/kernels/blocked/blocked_conv.h"
#include "baton/runtime/kernels/blocked/int8_isa.h"

namespace baton::kernels::blocked {

constexpr int64_t kByteSlab = 32;

// Numbers of channels are those of one group. If there are several groups, each
// has one channel of the map and one of the result; or in_channels is a
// multiple of 4, out_channels a multiple of 16, and maps are planar.
struct Int8ConvParams {
  int64_t batch = 1;
  int64_t groups = 1;
  int64_t in_channels = 1;
  int64_t out_channels = 1;
  Axis h;
  Axis w;
  bool signed_data = false;
  bool unsigned_weights = false;
  bool slabs_input = false;
  bool slabs_output = false;  // of Int8ConvToBytes()
  uint8_t padding = 0;        // the value of elements outside of the map
  // The least number of bands of rows into which the work of an image is
  // divided, if it has enough rows (see Int8ConvBandsFor). There can be fewer
  // bands, since they have equal numbers of rows.
  int64_t least_bands = 1;
};

// Converts sums to bytes. A sum is converted to float, multiplied by `factor`,
// added to `addend`, divided by `divisor`, rounded to the nearest integer with
// ties to even (if `round`), added to `shift`, clamped to [low, high], and
// truncated. NaN becomes 0.
struct Int8Requantization {
  // An element for each channel; null to leave out the operation.
  const float* factor = nullptr;
  const float* addend = nullptr;
  const float* divisor = nullptr;
  const float* shift = nullptr;
  bool round = false;
  // Integers of 32 bits.
  float low = 0;
  float high = 0;
};

// The value of least_bands for which `threads` threads have about equal shares
// of the items.
int64_t Int8ConvBandsFor(int64_t threads, const Int8ConvParams& params);

// The bytes of packed weights, which are aligned to 64.
int64_t PackedInt8ConvSize(const Int8ConvParams& params);

// Packs `weights` [groups * out_channels, in_channels, h.kernel, w.kernel],
// which are the bytes of uint8_t if they are unsigned, and
// the correction that Int8Conv() adds to the sums of each channel.
void PackInt8ConvWeights(const Int8ConvParams& params, const int8_t* weights,
                         void* packed);

// The number of items of work, and the bytes of workspace, aligned to 64, that
// each call of Int8Conv() needs.
int64_t Int8ConvItems(const Int8ConvParams& params);
size_t Int8ConvWorkspaceSize(const Int8ConvParams& params);

// Computes the items [begin, end) of y = the convolution + the bias of each
// channel; `bias` may be null. `resumes` says that the workspace is as the last
// call left it, which had the same parameters, x and packed weights.
void Int8Conv(const Int8ConvParams& params, Int8Isa isa, const void* x,
              const void* packed, const int32_t* bias, int32_t* y,
              void* workspace, bool resumes, int64_t begin, int64_t end);

// As above, for a result of bytes.
void Int8ConvToBytes(const Int8ConvParams& params, Int8Isa isa, const void* x,
                     const void* packed, const int32_t* bias,
                     const Int8Requantization& requantization, void* y,
                     void* workspace, bool resumes, int64_t begin, int64_t end);

}  // namespace baton::kernels::blocked

#endif  // BATON_RUNTIME_KERNELS_BLOCKED_INT8_CONV_H_
