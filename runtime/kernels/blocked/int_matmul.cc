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

// Two or four elements of a row are one word: int16, or bytes from the least
// element of the row on.
int64_t WidthOf(const IntMatmulParams& p) { return p.has_byte_weights ? 4 : 2; }
int64_t WordsOf(const IntMatmulParams& p) {
  return (p.k + WidthOf(p) - 1) / WidthOf(p);
}
int64_t SlabsOf(const IntMatmulParams& p) { return (p.n + kSlab - 1) / kSlab; }

// The words of a packed slab, [word][32 columns]. The sums of the columns are
// behind all slabs.
int64_t SlabSize(const IntMatmulParams& p) { return WordsOf(p) * kSlab; }

// Rows of the first matrix that are converted at a time, to tiles
// [word][kMostRows].
int64_t BandTiles(const IntMatmulParams& p) {
  const int64_t fit =
      kBandBytes / std::max<int64_t>(1, WordsOf(p) * 4 * kMostRows);
  const int64_t most = (p.m + kMostRows - 1) / kMostRows;
  return std::clamp<int64_t>(fit, 1, std::min<int64_t>(8, most));
}
int64_t BandRows(const IntMatmulParams& p) { return BandTiles(p) * kMostRows; }
int64_t BandsOf(const IntMatmulParams& p) {
  return (p.m + BandRows(p) - 1) / BandRows(p);
}

// A tile: words of rows, a slab of weights, and the result, whose rows are
// `step` elements apart. The sums of a row begin at its least element times the
// sums of the columns.
struct Tile {
  const uint32_t* x;
  int64_t words;
  const int32_t* least;
  const uint32_t* weights;
  const int32_t* column_sums;
  int32_t* y;
  int64_t step;
};

// The sum of the products of the parts of two words.
template <bool kBytes>
uint32_t Product(uint32_t x, uint32_t w) {
  int32_t sum = 0;
  uint32_t wide = 0;
  if constexpr (kBytes) {
    for (int i = 0; i < 32; i += 8) {
      sum += static_cast<int32_t>(x >> i & 0xff) *
             static_cast<int8_t>(w >> i & 0xff);
    }
    wide = static_cast<uint32_t>(sum);
  } else {
    for (int i = 0; i < 32; i += 16) {
      wide += static_cast<uint32_t>(static_cast<int16_t>(x >> i & 0xffff) *
                                    static_cast<int16_t>(w >> i & 0xffff));
    }
  }
  return wide;
}

template <int kRows, bool kBytes>
void PlainTile(const Tile& tile) {
  for (int t = 0; t < kRows; ++t) {
    uint32_t sums[kSlab];
    for (int64_t o = 0; o < kSlab; ++o) {
      sums[o] = static_cast<uint32_t>(tile.least[t]) *
                static_cast<uint32_t>(tile.column_sums[o]);
    }
    const uint32_t* w = tile.weights;
    for (int64_t i = 0; i < tile.words; ++i, w += kSlab) {
      const uint32_t x = tile.x[i * kMostRows + t];
      for (int64_t o = 0; o < kSlab; ++o) sums[o] += Product<kBytes>(x, w[o]);
    }
    std::memcpy(tile.y + t * tile.step, sums, sizeof(sums));
  }
}

#ifdef __x86_64__

template <int kRows, bool kBytes>
[[gnu::target("avx512f,avx512vnni")]] void VnniTile(const Tile& tile) {
  __m512i acc[kRows][2];
  const __m512i sums0 = _mm512_loadu_si512(tile.column_sums);
  const __m512i sums1 = _mm512_loadu_si512(tile.column_sums + 16);
  for (int t = 0; t < kRows; ++t) {
    const __m512i least = _mm512_set1_epi32(tile.least[t]);
    acc[t][0] = _mm512_mullo_epi32(least, sums0);
    acc[t][1] = _mm512_mullo_epi32(least, sums1);
  }
  const uint32_t* x = tile.x;
  const uint32_t* w = tile.weights;
  for (int64_t i = 0; i < tile.words; ++i, x += kMostRows, w += kSlab) {
    const __m512i w0 = _mm512_loadu_si512(w);
    const __m512i w1 = _mm512_loadu_si512(w + 16);
#pragma GCC unroll 12
    for (int t = 0; t < kRows; ++t) {
      const __m512i data = _mm512_set1_epi32(static_cast<int32_t>(x[t]));
      if constexpr (kBytes) {
        acc[t][0] = _mm512_dpbusd_epi32(acc[t][0], data, w0);
        acc[t][1] = _mm512_dpbusd_epi32(acc[t][1], data, w1);
      } else {
        acc[t][0] = _mm512_dpwssd_epi32(acc[t][0], data, w0);
        acc[t][1] = _mm512_dpwssd_epi32(acc[t][1], data, w1);
      }
    }
  }
  for (int t = 0; t < kRows; ++t) {
    _mm512_storeu_si512(tile.y + t * tile.step, acc[t][0]);
    _mm512_storeu_si512(tile.y + t * tile.step + 16, acc[t][1]);
  }
}

// Eight columns. Products of bytes as pairs of 16 bits: those at even places,
// then those at odd ones.
template <int kRows, bool kBytes>
[[gnu::target("avx2")]] void Avx2Part(const Tile& tile) {
  __m256i acc[kRows];
  const __m256i sums =
      _mm256_loadu_si256(reinterpret_cast<const __m256i*>(tile.column_sums));
  for (int t = 0; t < kRows; ++t) {
    acc[t] = _mm256_mullo_epi32(_mm256_set1_epi32(tile.least[t]), sums);
  }
  const __m256i low = _mm256_set1_epi16(0xff);
  const uint32_t* x = tile.x;
  const uint32_t* w = tile.weights;
  for (int64_t i = 0; i < tile.words; ++i, x += kMostRows, w += kSlab) {
    const __m256i weights =
        _mm256_loadu_si256(reinterpret_cast<const __m256i*>(w));
    const __m256i even = _mm256_srai_epi16(_mm256_slli_epi16(weights, 8), 8);
    const __m256i odd = _mm256_srai_epi16(weights, 8);
#pragma GCC unroll 6
    for (int t = 0; t < kRows; ++t) {
      const __m256i data = _mm256_set1_epi32(static_cast<int32_t>(x[t]));
      if constexpr (kBytes) {
        acc[t] = _mm256_add_epi32(
            acc[t], _mm256_madd_epi16(_mm256_and_si256(data, low), even));
        acc[t] = _mm256_add_epi32(
            acc[t], _mm256_madd_epi16(_mm256_srli_epi16(data, 8), odd));
      } else {
        acc[t] = _mm256_add_epi32(acc[t], _mm256_madd_epi16(data, weights));
      }
    }
  }
  for (int t = 0; t < kRows; ++t) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(tile.y + t * tile.step),
                        acc[t]);
  }
}

template <int kRows, bool kBytes>
void Avx2Tile(const Tile& tile) {
  for (int64_t o = 0; o < kSlab; o += 8) {
    constexpr int kFirst = kRows < 6 ? kRows : 6;
    Tile part = tile;
    part.weights += o;
    part.column_sums += o;
    part.y += o;
    Avx2Part<kFirst, kBytes>(part);
    if constexpr (kRows > kFirst) {
      part.x += kFirst;
      part.least += kFirst;
      part.y += kFirst * tile.step;
      Avx2Part<kRows - kFirst, kBytes>(part);
    }
  }
}

#endif  // __x86_64__

template <int kRows, bool kBytes>
void TileOf(Int8Isa isa, const Tile& tile) {
#ifdef __x86_64__
  if (isa == Int8Isa::kVnni) return VnniTile<kRows, kBytes>(tile);
  if (isa == Int8Isa::kAvx2) return Avx2Tile<kRows, kBytes>(tile);
#endif
  PlainTile<kRows, kBytes>(tile);
}

using TileFunction = void (*)(Int8Isa isa, const Tile& tile);
template <bool kBytes>
constexpr TileFunction kTiles[] = {
    TileOf<1, kBytes>,  TileOf<2, kBytes>,  TileOf<3, kBytes>,
    TileOf<4, kBytes>,  TileOf<5, kBytes>,  TileOf<6, kBytes>,
    TileOf<7, kBytes>,  TileOf<8, kBytes>,  TileOf<9, kBytes>,
    TileOf<10, kBytes>, TileOf<11, kBytes>, TileOf<12, kBytes>};

// Converts a row to parts of words; returns whether all elements fit. `parts`
// has whole words.
template <typename Part, typename T>
[[gnu::always_inline]] inline bool ConvertLoop(const T* from, int64_t k,
                                               int64_t words, int32_t& least,
                                               Part* parts) {
  const int64_t most = words * static_cast<int64_t>(4 / sizeof(Part));
  std::fill(parts + k, parts + most, Part{0});
  if constexpr (sizeof(Part) == 1) {
    int32_t low = from[0];
    int32_t high = low;
    for (int64_t i = 0; i < k; ++i) {
      const int32_t v = from[i];
      low = v < low ? v : low;
      high = v > high ? v : high;
    }
    least = low;
    for (int64_t i = 0; i < k; ++i) {
      parts[i] = static_cast<Part>(static_cast<uint32_t>(from[i]) -
                                   static_cast<uint32_t>(low));
    }
    return int64_t{high} - low <= 255;
  } else {
    least = 0;
    int32_t beyond = 0;
    for (int64_t i = 0; i < k; ++i) {
      parts[i] = static_cast<Part>(from[i]);
      beyond |= int32_t{from[i]} ^ int32_t { parts[i] };
    }
    return beyond == 0;
  }
}

template <typename Part, typename T>
bool ConvertPlain(const T* from, int64_t k, int64_t words, int32_t& least,
                  Part* parts) {
  return ConvertLoop(from, k, words, least, parts);
}

#ifdef __x86_64__
template <typename Part, typename T>
[[gnu::target("avx2")]] bool ConvertAvx2(const T* from, int64_t k,
                                         int64_t words, int32_t& least,
                                         Part* parts) {
  return ConvertLoop(from, k, words, least, parts);
}
#endif  // __x86_64__

template <typename Part>
bool ConvertRow(const IntMatmulParams& p, Int8Isa isa, const void* x,
                int64_t row, int64_t words, int32_t& least, Part* parts) {
  const auto convert = [&](const auto* rows) {
#ifdef __x86_64__
    if (isa != Int8Isa::kPlain) {
      return ConvertAvx2(rows + row * p.k, p.k, words, least, parts);
    }
#endif
    return ConvertPlain(rows + row * p.k, p.k, words, least, parts);
  };
  switch (p.type) {
    case IntMatmulParams::Type::kUint8:
      return convert(static_cast<const uint8_t*>(x));
    case IntMatmulParams::Type::kInt8:
      return convert(static_cast<const int8_t*>(x));
    case IntMatmulParams::Type::kInt32:
      break;
  }
  return convert(static_cast<const int32_t*>(x));
}

// A row whose elements do not fit.
void WideRow(const IntMatmulParams& p, const int32_t* x,
             const uint32_t* weights, uint32_t* sums) {
  std::fill_n(sums, kSlab, 0u);
  const int64_t width = WidthOf(p);
  for (int64_t i = 0; i < p.k; ++i) {
    const uint32_t* const w = weights + i / width * kSlab;
    const int bits = static_cast<int>(32 / width);
    // To the upper end, and down again with the sign.
    const int left = 32 - bits - static_cast<int>(i % width) * bits;
    for (int64_t o = 0; o < kSlab; ++o) {
      const int32_t weight = static_cast<int32_t>(w[o] << left) >> (32 - bits);
      sums[o] += static_cast<uint32_t>(x[i]) * static_cast<uint32_t>(weight);
    }
  }
}

// The workspace has tiles, the least element of each row, and a row.
size_t RoundUp(size_t bytes) { return (bytes + 63) / 64 * 64; }

size_t TileBytes(const IntMatmulParams& p) {
  return RoundUp(static_cast<size_t>(BandRows(p) * WordsOf(p)) * 4);
}
size_t LeastBytes(const IntMatmulParams& p) {
  return RoundUp(static_cast<size_t>(BandRows(p)) * 4);
}

}  // namespace

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
  return TileBytes(params) + LeastBytes(params) +
         RoundUp(static_cast<size_t>(WordsOf(params)) * 4);
}

void IntMatmul(const IntMatmulParams& params, Int8Isa isa, const void* x,
               const void* packed, int32_t* y, void* workspace, int64_t begin,
               int64_t end) {
  const IntMatmulParams& p = params;
  const int64_t slabs = SlabsOf(p);
  const int64_t words = WordsOf(p);
  auto* const tiles = static_cast<uint32_t*>(workspace);
  int32_t* const least =
      static_cast<int32_t*>(workspace) + TileBytes(p) / sizeof(int32_t);
  auto* const parts =
      static_cast<char*>(workspace) + TileBytes(p) + LeastBytes(p);
  const auto* const weights = static_cast<const uint32_t*>(packed);
  const auto* const sums =
      static_cast<const int32_t*>(packed) + slabs * SlabSize(p);
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
        fits &= p.has_byte_weights
                    ? ConvertRow(p, isa, x, row0 + r, words, least[r],
                                 reinterpret_cast<uint8_t*>(parts))
                    : ConvertRow(p, isa, x, row0 + r, words, least[r],
                                 reinterpret_cast<int16_t*>(parts));
        uint32_t* const to =
            tiles + r / kMostRows * kMostRows * words + r % kMostRows;
        for (int64_t i = 0; i < words; ++i) {
          std::memcpy(to + i * kMostRows, parts + i * 4, 4);
        }
      }
    }
    const uint32_t* const slab_weights = weights + slab * SlabSize(p);
    const int64_t columns = std::min(kSlab, p.n - slab * kSlab);
    int32_t* const to = y + row0 * p.n + slab * kSlab;
    alignas(64) int32_t results[kMostRows * kSlab];
    for (int64_t first = 0; first < rows; first += kMostRows) {
      const int64_t count = std::min<int64_t>(kMostRows, rows - first);
      const bool is_direct = fits && columns == kSlab;
      if (fits) {
        const Tile tile = {
            tiles + first * words,  words,
            least + first,          slab_weights,
            sums + slab * kSlab,    is_direct ? to + first * p.n : results,
            is_direct ? p.n : kSlab};
        (p.has_byte_weights ? kTiles<true> : kTiles<false>)[count - 1](isa,
                                                                       tile);
      } else {
        for (int64_t t = 0; t < count; ++t) {
          uint32_t wide[kSlab];
          WideRow(p, static_cast<const int32_t*>(x) + (row0 + first + t) * p.k,
                  slab_weights, wide);
          std::memcpy(results + t * kSlab, wide, sizeof(wide));
        }
      }
      if (is_direct) continue;
      for (int64_t t = 0; t < count; ++t) {
        std::memcpy(to + (first + t) * p.n, results + t * kSlab,
                    static_cast<size_t>(columns) * sizeof(int32_t));
      }
    }
  }
}

}  // namespace baton::kernels::blocked
