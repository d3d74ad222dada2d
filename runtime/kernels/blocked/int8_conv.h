// Convolutions of 8-bit maps with signed 8-bit weights, summed in 32 bits.
//
// Maps are planar: [N, C, H, W]. Sums of integers wrap, so that their order
// does not matter and all instruction sets give the same bytes. Nothing here
// allocates or checks.

#ifndef BATON_RUNTIME_KERNELS_BLOCKED_INT8_CONV_H_
#define BATON_RUNTIME_KERNELS_BLOCKED_INT8_CONV_H_

#include <cstddef>
#include <cstdint>

#include "baton/runtime/kernels/blocked/conv.h"

namespace baton::kernels::blocked {

// Numbers of channels are those of one group. If there are several groups,
// in_channels is a multiple of 4 and out_channels a multiple of 16.
struct Int8ConvParams {
  int64_t batch = 1;
  int64_t groups = 1;
  int64_t in_channels = 1;
  int64_t out_channels = 1;
  Axis h;
  Axis w;
  bool signed_data = false;
};

// The instructions that compute: products of bytes (AVX-512 VNNI), AVX2, or
// those that every processor has.
enum class Int8Isa { kPlain, kAvx2, kVnni };
bool IsSupported(Int8Isa isa);
Int8Isa BestInt8Isa();

// The bytes of packed weights, which are aligned to 64.
int64_t PackedInt8ConvSize(const Int8ConvParams& params);

// Packs `weights` [groups * out_channels, in_channels, h.kernel, w.kernel], and
// the correction that Int8Conv() adds to the sums of each channel.
void PackInt8ConvWeights(const Int8ConvParams& params, const int8_t* weights,
                         void* packed);

// The number of items of work, and the bytes of workspace, aligned to 64, that
// each call of Int8Conv() needs.
int64_t Int8ConvItems(const Int8ConvParams& params);
size_t Int8ConvWorkspaceSize(const Int8ConvParams& params);

// Computes the items [begin, end) of y = the convolution + the bias of each
// channel; `bias` may be null.
void Int8Conv(const Int8ConvParams& params, Int8Isa isa, const void* x,
              const void* packed, const int32_t* bias, int32_t* y,
              void* workspace, int64_t begin, int64_t end);

}  // namespace baton::kernels::blocked

#endif  // BATON_RUNTIME_KERNELS_BLOCKED_INT8_CONV_H_
