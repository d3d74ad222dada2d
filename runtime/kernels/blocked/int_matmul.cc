#include "baton/runtime/kernels/blocked/int_matmul.h"

#include <algorithm>
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
using integers::matmul::UsesAmx;

Int8Isa BestIntMatmulIsa(const IntMatmulParams& params) {
  // Permission is asked for where it is needed.
  return UsesAmx(params, Int8Isa::kAmx) && IsSupported(Int8Isa::kAmx)
             ? Int8Isa::kAmx
             : BestInt8Isa();
}

int64_t PackedIntMatmulSize(const IntMatmulParams& params) {
  return SlabsOf(params) * (SlabSize(params) + kSlab) * 4;
}

namespace {

// Packs some columns of a slab, of which element (i, o) is
// weights[i * row + o * column], and adds up the elements of each. A word has
// kWidth elements.
template <int kWidth, typename T>
void PackSlab(const T* weights, int64_t k, int64_t columns, int64_t row,
              int64_t column, uint32_t* words, uint32_t* sums) {
  constexpr int kBits = 32 / kWidth;
  constexpr uint32_t kMask = (uint32_t{1} << kBits) - 1;
  // Some words of each column at a time: the tile stays in the nearest cache,
  // whichever dimension of the weights is the inner one.
  constexpr int64_t kTile = 16;
  const int64_t whole = k / kWidth;
  for (int64_t first = 0; first < whole; first += kTile) {
    const int64_t end = std::min(whole, first + kTile);
    for (int64_t o = 0; o < columns; ++o) {
      const T* from = weights + first * kWidth * row + o * column;
      uint32_t sum = 0;
      for (int64_t i = first; i < end; ++i) {
        uint32_t word = 0;
        for (int j = 0; j < kWidth; ++j, from += row) {
          const auto element = static_cast<uint32_t>(*from);
          sum += element;
          word |= (element & kMask) << (j * kBits);
        }
        words[i * kSlab + o] = word;
      }
      sums[o] += sum;
    }
  }
  for (int64_t o = 0; o < columns; ++o) {
    for (int64_t i = whole * kWidth; i < k; ++i) {
      const auto element = static_cast<uint32_t>(weights[i * row + o * column]);
      sums[o] += element;
      words[whole * kSlab + o] |= (element & kMask) << (i % kWidth * kBits);
    }
  }
}

// As PackSlab, for all columns of a slab and weights whose columns are
// adjacent: the inner loops have vectors of columns.
template <int kWidth, typename T>
void PackWholeSlab(const T* weights, int64_t k, int64_t row, uint32_t* words,
                   uint32_t* sums) {
  constexpr int kBits = 32 / kWidth;
  constexpr uint32_t kMask = (uint32_t{1} << kBits) - 1;
  for (int64_t i = 0; i < k; ++i) {
    const T* const from = weights + i * row;
    uint32_t* const to = words + i / kWidth * kSlab;
    const int shift = static_cast<int>(i % kWidth) * kBits;
    for (int64_t o = 0; o < kSlab; ++o) {
      const auto element = static_cast<uint32_t>(from[o]);
      sums[o] += element;
      to[o] |= (element & kMask) << shift;
    }
  }
}

}  // namespace

template <typename T>
void PackIntMatmul(const IntMatmulParams& params, const T* weights,
                   bool transposed, void* packed) {
  auto* const words = static_cast<uint32_t*>(packed);
  uint32_t* const sums = words + SlabsOf(params) * SlabSize(params);
  std::memset(packed, 0, static_cast<size_t>(PackedIntMatmulSize(params)));
  const int64_t row = transposed ? 1 : params.n;
  const int64_t column = transposed ? params.k : 1;
  for (int64_t o = 0; o < params.n; o += kSlab) {
    const int64_t columns = std::min(kSlab, params.n - o);
    if (!transposed && columns == kSlab) {
      (params.has_byte_weights
           ? PackWholeSlab<4, T>
           : PackWholeSlab<2, T>)(weights + o, params.k, row,
                                  words + o / kSlab * SlabSize(params),
                                  sums + o);
      continue;
    }
    (params.has_byte_weights
         ? PackSlab<4, T>
         : PackSlab<2, T>)(weights + o * column, params.k, columns, row, column,
                           words + o / kSlab * SlabSize(params), sums + o);
  }
}

template void PackIntMatmul(const IntMatmulParams& params,
                            const int8_t* weights, bool transposed,
                            void* packed);
template void PackIntMatmul(const IntMatmulParams& params,
                            const uint8_t* weights, bool transposed,
                            void* packed);
template void PackIntMatmul(const IntMatmulParams& params,
                            const int32_t* weights, bool transposed,
                            void* packed);

int64_t IntMatmulItems(const IntMatmulParams& params) {
  return BandsOf(params) * SlabsOf(params);
}

size_t IntMatmulWorkspaceSize(const IntMatmulParams& params) {
  return static_cast<size_t>(integers::matmul::WorkspaceBytes(params));
}

}  // namespace baton::kernels::blocked
