#include "baton/runtime/kernels/blocked/int_matmul.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "baton/runtime/kernels/blocked/int8_conv.h"

#ifdef __x86_64__
#include <immintrin.h>
#endif

namespace baton::kernels::blocked {
namespace {

// A tile: rows and columns of the result.
constexpr int kMostRows = 12;
constexpr int64_t kSlab = 32;
constexpr int64_t kBandBytes = int64_t{128} << 10;

// Two elements of a row are one word.
int64_t PairsOf(const IntMatmulParams& p) { return (p.k + 1) / 2; }
int64_t SlabsOf(const IntMatmulParams& p) { return (p.n + kSlab - 1) / kSlab; }

// The elements of 16 bits of a packed slab, [pair][32 columns][2].
int64_t SlabSize(const IntMatmulParams& p) { return PairsOf(p) * kSlab * 2; }

// Rows of the first matrix that are converted at a time.
int64_t BandRows(const IntMatmulParams& p) {
  const int64_t fit = kBandBytes / std::max<int64_t>(1, PairsOf(p) * 4);
  return std::clamp<int64_t>(fit / kMostRows, 1, 8) * kMostRows;
}
int64_t BandsOf(const IntMatmulParams& p) {
  return (p.m + BandRows(p) - 1) / BandRows(p);
}

// A tile: rows of pairs, a slab of weights, and the result, whose rows are
// `step` elements apart.
struct Tile {
  const int16_t* x;
  int64_t pairs;
  const int16_t* weights;
  int32_t* y;
  int64_t step;
};

template <int kRows>
void PlainTile(const Tile& tile) {
  for (int t = 0; t < kRows; ++t) {
    uint32_t sums[kSlab] = {};
    const int16_t* const x = tile.x + t * tile.pairs * 2;
    const int16_t* w = tile.weights;
    for (int64_t i = 0; i < tile.pairs * 2; i += 2) {
      for (int64_t o = 0; o < kSlab; ++o, w += 2) {
        sums[o] += static_cast<uint32_t>(int32_t{x[i]} * int32_t{w[0]}) +
                   static_cast<uint32_t>(int32_t{x[i + 1]} * int32_t{w[1]});
      }
    }
    std::memcpy(tile.y + t * tile.step, sums, sizeof(sums));
  }
}

#ifdef __x86_64__

template <int kRows>
[[gnu::target("avx512f,avx512vnni")]] void VnniTile(const Tile& tile) {
  __m512i acc[kRows][2];
  for (int t = 0; t < kRows; ++t) {
    acc[t][0] = acc[t][1] = _mm512_setzero_si512();
  }
  const int16_t* x = tile.x;
  const int16_t* w = tile.weights;
  for (int64_t p = 0; p < tile.pairs; ++p) {
    const __m512i w0 = _mm512_loadu_si512(w);
    const __m512i w1 = _mm512_loadu_si512(w + kSlab);
#pragma GCC unroll 12
    for (int t = 0; t < kRows; ++t) {
      int32_t word;
      std::memcpy(&word, x + t * tile.pairs * 2, sizeof(word));
      const __m512i data = _mm512_set1_epi32(word);
      acc[t][0] = _mm512_dpwssd_epi32(acc[t][0], data, w0);
      acc[t][1] = _mm512_dpwssd_epi32(acc[t][1], data, w1);
    }
    x += 2;
    w += 2 * kSlab;
  }
  for (int t = 0; t < kRows; ++t) {
    _mm512_storeu_si512(tile.y + t * tile.step, acc[t][0]);
    _mm512_storeu_si512(tile.y + t * tile.step + 16, acc[t][1]);
  }
}

// Eight columns.
template <int kRows>
[[gnu::target("avx2")]] void Avx2Part(const Tile& tile) {
  __m256i acc[kRows];
  for (__m256i& sum : acc) sum = _mm256_setzero_si256();
  const int16_t* x = tile.x;
  const int16_t* w = tile.weights;
  for (int64_t p = 0; p < tile.pairs; ++p) {
    const __m256i weights =
        _mm256_loadu_si256(reinterpret_cast<const __m256i*>(w));
#pragma GCC unroll 12
    for (int t = 0; t < kRows; ++t) {
      int32_t word;
      std::memcpy(&word, x + t * tile.pairs * 2, sizeof(word));
      acc[t] = _mm256_add_epi32(
          acc[t], _mm256_madd_epi16(_mm256_set1_epi32(word), weights));
    }
    x += 2;
    w += 2 * kSlab;
  }
  for (int t = 0; t < kRows; ++t) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(tile.y + t * tile.step),
                        acc[t]);
  }
}

template <int kRows>
void Avx2Tile(const Tile& tile) {
  for (int64_t o = 0; o < kSlab; o += 8) {
    Tile part = tile;
    part.weights += o * 2;
    part.y += o;
    Avx2Part<kRows>(part);
  }
}

#endif  // __x86_64__

template <int kRows>
void TileOf(Int8Isa isa, const Tile& tile) {
#ifdef __x86_64__
  if (isa == Int8Isa::kVnni) return VnniTile<kRows>(tile);
  if (isa == Int8Isa::kAvx2) return Avx2Tile<kRows>(tile);
#endif
  PlainTile<kRows>(tile);
}

using TileFunction = void (*)(Int8Isa isa, const Tile& tile);
constexpr TileFunction kTiles[] = {
    TileOf<1>, TileOf<2>, TileOf<3>, TileOf<4>,  TileOf<5>,  TileOf<6>,
    TileOf<7>, TileOf<8>, TileOf<9>, TileOf<10>, TileOf<11>, TileOf<12>};

// Converts a row to pairs; returns whether all elements fit.
template <typename T>
bool ConvertRow(const T* from, int64_t k, int16_t* to) {
  int32_t beyond = 0;
  for (int64_t i = 0; i < k; ++i) {
    to[i] = static_cast<int16_t>(from[i]);
    beyond |= int32_t{from[i]} ^ int32_t { to[i] };
  }
  if (k % 2 != 0) to[k] = 0;
  return beyond == 0;
}

// A row whose elements do not fit.
void WideRow(const IntMatmulParams& p, const int32_t* x, const int16_t* weights,
             uint32_t* sums) {
  std::fill_n(sums, kSlab, 0u);
  for (int64_t i = 0; i < p.k; ++i) {
    const int16_t* const w = weights + i / 2 * 2 * kSlab + i % 2;
    for (int64_t o = 0; o < kSlab; ++o) {
      sums[o] += static_cast<uint32_t>(x[i]) *
                 static_cast<uint32_t>(int32_t{w[o * 2]});
    }
  }
}

}  // namespace

int64_t PackedIntMatmulSize(const IntMatmulParams& params) {
  return SlabsOf(params) * SlabSize(params) *
         static_cast<int64_t>(sizeof(int16_t));
}

void PackIntMatmul(const IntMatmulParams& params, const int16_t* weights,
                   bool transposed, void* packed) {
  auto* const to = static_cast<int16_t*>(packed);
  std::memset(packed, 0, static_cast<size_t>(PackedIntMatmulSize(params)));
  for (int64_t o = 0; o < params.n; ++o) {
    int16_t* const column = to + o / kSlab * SlabSize(params) + o % kSlab * 2;
    for (int64_t i = 0; i < params.k; ++i) {
      column[i / 2 * 2 * kSlab + i % 2] =
          transposed ? weights[o * params.k + i] : weights[i * params.n + o];
    }
  }
}

int64_t IntMatmulItems(const IntMatmulParams& params) {
  return BandsOf(params) * SlabsOf(params);
}

size_t IntMatmulWorkspaceSize(const IntMatmulParams& params) {
  const int64_t rows = std::min(BandRows(params), params.m);
  const int64_t bytes = rows * PairsOf(params) * 4;
  return static_cast<size_t>((bytes + 63) / 64 * 64);
}

void IntMatmul(const IntMatmulParams& params, Int8Isa isa, const void* x,
               const void* packed, int32_t* y, void* workspace, int64_t begin,
               int64_t end) {
  const IntMatmulParams& p = params;
  const int64_t slabs = SlabsOf(p);
  const int64_t pairs = PairsOf(p);
  auto* const copy = static_cast<int16_t*>(workspace);
  int64_t converted = -1;
  bool fits = true;
  for (int64_t item = begin; item < end; ++item) {
    // The slabs of a band share the converted rows.
    const int64_t band = item / slabs;
    const int64_t slab = item % slabs;
    const int64_t row0 = band * BandRows(p);
    const int64_t rows = std::min(BandRows(p), p.m - row0);
    if (converted != band) {
      converted = band;
      fits = true;
      for (int64_t r = 0; r < rows; ++r) {
        const int64_t at = (row0 + r) * p.k;
        int16_t* const to = copy + r * pairs * 2;
        switch (p.type) {
          case IntMatmulParams::Type::kInt32:
            fits &= ConvertRow(static_cast<const int32_t*>(x) + at, p.k, to);
            break;
          case IntMatmulParams::Type::kUint8:
            ConvertRow(static_cast<const uint8_t*>(x) + at, p.k, to);
            break;
          case IntMatmulParams::Type::kInt8:
            ConvertRow(static_cast<const int8_t*>(x) + at, p.k, to);
            break;
        }
      }
    }
    const int16_t* const weights =
        static_cast<const int16_t*>(packed) + slab * SlabSize(p);
    const int64_t columns = std::min(kSlab, p.n - slab * kSlab);
    int32_t* const to = y + row0 * p.n + slab * kSlab;
    alignas(64) int32_t sums[kMostRows * kSlab];
    const int64_t tiles = (rows + kMostRows - 1) / kMostRows;
    for (int64_t i = 0; i < tiles; ++i) {
      // Tiles of nearly the same size.
      const int64_t first = rows * i / tiles;
      const int64_t count = rows * (i + 1) / tiles - first;
      const bool is_direct = fits && columns == kSlab;
      if (fits) {
        const Tile tile = {copy + first * pairs * 2, pairs, weights,
                           is_direct ? to + first * p.n : sums,
                           is_direct ? p.n : kSlab};
        kTiles[count - 1](isa, tile);
      } else {
        for (int64_t t = 0; t < count; ++t) {
          uint32_t wide[kSlab];
          WideRow(p, static_cast<const int32_t*>(x) + (row0 + first + t) * p.k,
                  weights, wide);
          std::memcpy(sums + t * kSlab, wide, sizeof(wide));
        }
      }
      if (is_direct) continue;
      for (int64_t t = 0; t < count; ++t) {
        std::memcpy(to + (first + t) * p.n, sums + t * kSlab,
                    static_cast<size_t>(columns) * sizeof(int32_t));
      }
    }
  }
}

}  // namespace baton::kernels::blocked
