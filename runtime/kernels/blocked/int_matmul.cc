#include "baton/runtime/kernels/blocked/int_matmul.h"

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "baton/runtime/kernels/blocked/int8_isa.h"
#include "baton/runtime/kernels/blocked/internal/int_matmul.inc"

namespace baton::kernels::blocked {

using integers::matmul::BandsOf;
using integers::matmul::kSlab;
using integers::matmul::SlabSize;
using integers::matmul::SlabsOf;
using integers::matmul::WidthOf;
using integers::matmul::WordsOf;

int64_t PackedIntMatmulSize(const IntMatmulParams& params) {
  return SlabsOf(params) * (SlabSize(params) + kSlab) * 4;
}

void PackIntMatmul(const IntMatmulParams& params, const int16_t* weights,
                   bool transposed, void* packed) {
  auto* const words = static_cast<uint32_t*>(packed);
  uint32_t* const sums = words + SlabsOf(params) * SlabSize(params);
  std::memset(packed, 0, static_cast<size_t>(PackedIntMatmulSize(params)));
  const int64_t width = WidthOf(params);
  const int bits = static_cast<int>(32 / width);
  const uint32_t mask = (uint32_t{1} << bits) - 1;
  for (int64_t o = 0; o < params.n; ++o) {
    uint32_t* const column = words + o / kSlab * SlabSize(params) + o % kSlab;
    for (int64_t i = 0; i < params.k; ++i) {
      const int32_t weight =
          transposed ? weights[o * params.k + i] : weights[i * params.n + o];
      column[i / width * kSlab] |= (static_cast<uint32_t>(weight) & mask)
                                   << static_cast<int>(i % width) * bits;
      sums[o] += static_cast<uint32_t>(weight);
    }
  }
}

int64_t IntMatmulItems(const IntMatmulParams& params) {
  return BandsOf(params) * SlabsOf(params);
}

size_t IntMatmulWorkspaceSize(const IntMatmulParams& params) {
  return static_cast<size_t>(integers::matmul::WorkspaceBytes(params));
}

}  // namespace baton::kernels::blocked
