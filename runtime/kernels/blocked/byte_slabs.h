// Kernels on maps of bytes with slabs of 32 channels (int8_conv.h): conversions
// from and to planar maps, concatenations, maximum pools, and sums of quantized
// maps.
//
// All instruction sets give the same bytes. Functions here neither allocate nor
// check their arguments.

#ifndef BATON_RUNTIME_KERNELS_BLOCKED_BYTE_SLABS_H_
#define BATON_RUNTIME_KERNELS_BLOCKED_BYTE_SLABS_H_

#include <cstdint>

#include "baton/runtime/kernels/blocked/blocked_conv.h"
#include "baton/runtime/kernels/blocked/int8_isa.h"

namespace baton::kernels::blocked {

// A map of bytes [batch, channels, plane]; `plane` is the number of positions
// (height * width). In slabs: [batch, slabs, plane, 32].
struct ByteMap {
  int64_t batch = 1;
  int64_t channels = 1;
  int64_t plane = 1;
};

// The number of items (slabs of all images) of a conversion. Here and below, a
// kernel computes the items [begin, end), independent of all others.
int64_t SlabItems(const ByteMap& map);

// Convert items of a planar map to slabs, and of slabs to a planar map.
// ToSlabs() writes 0 beyond the last channel.
void ToSlabs(const ByteMap& map, const void* planar, void* slabs, int64_t begin,
             int64_t end);
void FromSlabs(const ByteMap& map, const void* slabs, void* planar,
               int64_t begin, int64_t end);

// Channels of several maps of one image, one map after the other.
struct SlabJoinParams {
  int64_t plane = 1;
  int64_t channels = 1;  // of the result
  int64_t num_parts = 0;
  const int64_t* part_channels = nullptr;  // num_parts of them
};

// Computes the slabs [begin, end) of the result. Writes 0 beyond the last
// channel.
void JoinSlabs(const SlabJoinParams& params, const void* const* parts,
               void* slabs, int64_t begin, int64_t end);

// The maximum pool of a map in slabs. Each window must overlap the map.
struct SlabPoolParams {
  int64_t slabs = 1;  // of all images
  Axis h;
  Axis w;
  bool is_signed = false;
};

int64_t SlabPoolItems(const SlabPoolParams& params);
void SlabMaxPool(const SlabPoolParams& params, const void* x, void* y,
                 int64_t begin, int64_t end);

// The quantized sum of two quantized maps, computed in floats:
//   (x - zero of x) * scale of x + (y - zero of y) * scale of y
// is clamped to [least, most], divided by `divisor`, rounded to the nearest
// integer with ties to even, added to `shift`, and clamped to [low, high].
struct ByteSumParams {
  struct Operand {
    bool is_signed = false;
    int32_t zero = 0;
    float scale = 1;
  };
  int64_t size = 1;
  Operand x;
  Operand y;
  float least = 0;
  float most = 0;
  float divisor = 1;
  float shift = 0;
  float low = 0;
  float high = 0;
};

// True if SumOfBytes() supports these parameters.
bool IsByteSum(const ByteSumParams& params);

int64_t ByteSumItems(const ByteSumParams& params);
void SumOfBytes(const ByteSumParams& params, Int8Isa isa, const void* x,
                const void* y, void* to, int64_t begin, int64_t end);

}  // namespace baton::kernels::blocked

#endif  // BATON_RUNTIME_KERNELS_BLOCKED_BYTE_SLABS_H_
