#include "baton/runtime/kernels/blocked/int8_conv.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include "baton/runtime/kernels/blocked/conv.h"

#ifdef __x86_64__
#include <immintrin.h>
#endif

namespace baton::kernels::blocked {
namespace {

// Four channels of a position are one word.
constexpr int64_t kQuad = 4;
// A tile: positions of a row of the result, and channels.
constexpr int kMostPositions = 12;
constexpr int64_t kSlab = kByteSlab;
constexpr int64_t kBandBytes = int64_t{192} << 10;
// Bytes of a slab for so many positions, or for one row, are collected before
// they are written to planar channels.
constexpr int64_t kCollected = 512;

// How the work is cut. An item is a band of rows of an image and group, of a
// slab of the result.
struct Plan {
  Int8ConvParams p;
  int64_t quads;
  int64_t slabs;
  int64_t taps;
  int64_t rows;  // of a band of the result
  int64_t bands;
  int64_t in_rows;   // of a band of the copy
  int64_t in_width;  // of the copy, with padding
  // A map of slabs without padding is read where it is.
  bool copies;
  int64_t copy_bytes;
};

constexpr int64_t RoundUp(int64_t x, int64_t to) {
  return (x + to - 1) / to * to;
}

int64_t Reach(const Axis& axis) {
  return (axis.kernel - 1) * axis.dilation + 1;
}

Plan MakePlan(const Int8ConvParams& params) {
  Plan plan = {};
  plan.p = params;
  Int8ConvParams& p = plan.p;
  plan.taps = p.h.kernel * p.w.kernel;
  plan.quads = (p.in_channels + kQuad - 1) / kQuad;
  plan.slabs = (p.out_channels + kSlab - 1) / kSlab;
  const auto is_inside = [](const Axis& axis) {
    return axis.pad_before == 0 &&
           (axis.out - 1) * axis.stride + Reach(axis) <= axis.in;
  };
  plan.copies =
      !p.slabs_input || p.signed_data || !is_inside(p.h) || !is_inside(p.w);
  if (plan.taps == 1 && p.h.stride == 1 && p.w.stride == 1 && is_inside(p.h) &&
      is_inside(p.w) && p.h.in == p.h.out && p.w.in == p.w.out &&
      (!plan.copies || plan.quads * kQuad * p.h.in * p.w.in <= kBandBytes)) {
    // Rows are one row.
    p.w.in = p.w.out = p.h.out * p.w.out;
    p.h.in = p.h.out = 1;
  }
  plan.in_width = (p.w.out - 1) * p.w.stride + Reach(p.w);
  const int64_t reach = Reach(p.h);
  const int64_t row_bytes = plan.quads * plan.in_width * kQuad;
  const int64_t fit =
      (kBandBytes / std::max<int64_t>(1, row_bytes) - reach) / p.h.stride + 1;
  const int64_t rows =
      std::clamp<int64_t>(fit, 1, std::max<int64_t>(1, p.h.out));
  plan.bands = std::max<int64_t>(1, (p.h.out + rows - 1) / rows);
  plan.rows = (p.h.out + plan.bands - 1) / plan.bands;
  plan.in_rows = (plan.rows - 1) * p.h.stride + reach;
  const int64_t channels =
      p.slabs_input ? RoundUp(p.in_channels, kSlab) : plan.quads * kQuad;
  plan.copy_bytes =
      plan.copies ? RoundUp(channels * plan.in_rows * plan.in_width, 64) : 0;
  return plan;
}

// Packed weights of a group and slab: [quad][tap][32 channels][4].
int64_t SlabBytes(const Plan& plan) {
  return plan.quads * plan.taps * kSlab * kQuad;
}

// The data of a tile: where the first position reads, and how far positions,
// quads, eight quads, rows and columns of the kernel are apart, in bytes.
struct Source {
  const uint8_t* x;
  int64_t position;
  int64_t quad;
  int64_t eight;
  int64_t row;
  int64_t column;

  const uint8_t* QuadAt(int64_t q) const {
    return x + q / 8 * eight + q % 8 * quad;
  }
};

// Sums of a tile, [position][32 channels].
using TileSums = int32_t[kMostPositions * kSlab];

template <int kPositions>
void PlainTile(const Plan& plan, const Source& source, const int8_t* weights,
               int32_t* sums) {
  std::fill_n(sums, kPositions * kSlab, 0);
  for (int64_t q = 0; q < plan.quads; ++q) {
    for (int64_t i = 0; i < plan.p.h.kernel; ++i) {
      for (int64_t j = 0; j < plan.p.w.kernel; ++j) {
        const uint8_t* const x =
            source.QuadAt(q) + i * source.row + j * source.column;
        for (int64_t t = 0; t < kPositions; ++t) {
          for (int64_t o = 0; o < kSlab; ++o) {
            int32_t sum = 0;
            for (int64_t k = 0; k < kQuad; ++k) {
              sum += int32_t{x[t * source.position + k]} *
                     int32_t{weights[o * kQuad + k]};
            }
            int32_t& to = sums[t * kSlab + o];
            to = static_cast<int32_t>(static_cast<uint32_t>(to) +
                                      static_cast<uint32_t>(sum));
          }
        }
        weights += kSlab * kQuad;
      }
    }
  }
}

#ifdef __x86_64__

template <int kPositions>
[[gnu::target("avx512f,avx512vnni")]] void VnniTile(const Plan& plan,
                                                    const Source& source,
                                                    const int8_t* weights,
                                                    int32_t* sums) {
  __m512i acc[kPositions][2];
  for (int t = 0; t < kPositions; ++t) {
    acc[t][0] = acc[t][1] = _mm512_setzero_si512();
  }
  for (int64_t q = 0; q < plan.quads; ++q) {
    for (int64_t i = 0; i < plan.p.h.kernel; ++i) {
      const uint8_t* x = source.QuadAt(q) + i * source.row;
      for (int64_t j = 0; j < plan.p.w.kernel; ++j) {
        const __m512i w0 = _mm512_loadu_si512(weights);
        const __m512i w1 = _mm512_loadu_si512(weights + 64);
#pragma GCC unroll 12
        for (int t = 0; t < kPositions; ++t) {
          int32_t word;
          std::memcpy(&word, x + t * source.position, sizeof(word));
          const __m512i data = _mm512_set1_epi32(word);
          acc[t][0] = _mm512_dpbusd_epi32(acc[t][0], data, w0);
          acc[t][1] = _mm512_dpbusd_epi32(acc[t][1], data, w1);
        }
        x += source.column;
        weights += kSlab * kQuad;
      }
    }
  }
  for (int t = 0; t < kPositions; ++t) {
    _mm512_storeu_si512(sums + t * kSlab, acc[t][0]);
    _mm512_storeu_si512(sums + t * kSlab + kBlock, acc[t][1]);
  }
}

// Eight channels of four positions. Products of bytes as pairs of 16 bits: those
// at even places, then those at odd ones.
template <int kPositions>
[[gnu::target("avx2")]] void Avx2Part(const Plan& plan, const Source& source,
                                      const int8_t* weights, int32_t* sums) {
  __m256i acc[kPositions];
  for (__m256i& sum : acc) sum = _mm256_setzero_si256();
  const __m256i low = _mm256_set1_epi16(0xff);
  for (int64_t q = 0; q < plan.quads; ++q) {
    for (int64_t i = 0; i < plan.p.h.kernel; ++i) {
      const uint8_t* x = source.QuadAt(q) + i * source.row;
      for (int64_t j = 0; j < plan.p.w.kernel; ++j) {
        const __m256i w =
            _mm256_loadu_si256(reinterpret_cast<const __m256i*>(weights));
        const __m256i even = _mm256_srai_epi16(_mm256_slli_epi16(w, 8), 8);
        const __m256i odd = _mm256_srai_epi16(w, 8);
#pragma GCC unroll 4
        for (int t = 0; t < kPositions; ++t) {
          int32_t word;
          std::memcpy(&word, x + t * source.position, sizeof(word));
          const __m256i data = _mm256_set1_epi32(word);
          acc[t] = _mm256_add_epi32(
              acc[t], _mm256_madd_epi16(_mm256_and_si256(data, low), even));
          acc[t] = _mm256_add_epi32(
              acc[t], _mm256_madd_epi16(_mm256_srli_epi16(data, 8), odd));
        }
        x += source.column;
        weights += kSlab * kQuad;
      }
    }
  }
  for (int t = 0; t < kPositions; ++t) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(sums + t * kSlab), acc[t]);
  }
}

template <int kPositions>
void Avx2Tile(const Plan& plan, const Source& source, const int8_t* weights,
              int32_t* sums) {
  for (int64_t o = 0; o < kSlab; o += 8) {
    for (int t = 0; t < kPositions; t += 4) {
      Source part = source;
      part.x += t * source.position;
      constexpr int kRest = kPositions % 4;
      int32_t* const to = sums + t * kSlab + o;
      if (t + 4 <= kPositions) {
        Avx2Part<4>(plan, part, weights + o * kQuad, to);
      } else {
        Avx2Part<kRest == 0 ? 4 : kRest>(plan, part, weights + o * kQuad, to);
      }
    }
  }
}

#endif  // __x86_64__

template <int kPositions>
void TileOf(Int8Isa isa, const Plan& plan, const Source& source,
            const int8_t* weights, int32_t* sums) {
#ifdef __x86_64__
  if (isa == Int8Isa::kVnni) {
    return VnniTile<kPositions>(plan, source, weights, sums);
  }
  if (isa == Int8Isa::kAvx2) {
    return Avx2Tile<kPositions>(plan, source, weights, sums);
  }
#endif
  PlainTile<kPositions>(plan, source, weights, sums);
}

using TileFunction = void (*)(Int8Isa isa, const Plan& plan,
                              const Source& source, const int8_t* weights,
                              int32_t* sums);
constexpr TileFunction kTiles[] = {
    TileOf<1>, TileOf<2>, TileOf<3>, TileOf<4>,  TileOf<5>,  TileOf<6>,
    TileOf<7>, TileOf<8>, TileOf<9>, TileOf<10>, TileOf<11>, TileOf<12>};

// Interleaves n bytes of up to four channels; others are 0.
void Interleave(const uint8_t* from, int64_t plane, int64_t channels, int64_t n,
                uint8_t flip, uint8_t* to) {
  int64_t c = 0;
#ifdef __x86_64__
  const __m128i flips = _mm_set1_epi8(static_cast<char>(flip));
  while (n >= 16 && c < n) {
    // The last ones again, if there are fewer.
    c = std::min(c, n - 16);
    __m128i x[kQuad];
    for (int64_t k = 0; k < kQuad; ++k) {
      x[k] = k < channels
                 ? _mm_xor_si128(
                       flips, _mm_loadu_si128(reinterpret_cast<const __m128i*>(
                                  from + k * plane + c)))
                 : _mm_setzero_si128();
    }
    const __m128i low01 = _mm_unpacklo_epi8(x[0], x[1]);
    const __m128i high01 = _mm_unpackhi_epi8(x[0], x[1]);
    const __m128i low23 = _mm_unpacklo_epi8(x[2], x[3]);
    const __m128i high23 = _mm_unpackhi_epi8(x[2], x[3]);
    const __m128i words[kQuad] = {
        _mm_unpacklo_epi16(low01, low23), _mm_unpackhi_epi16(low01, low23),
        _mm_unpacklo_epi16(high01, high23), _mm_unpackhi_epi16(high01, high23)};
    for (int64_t k = 0; k < kQuad; ++k) {
      _mm_storeu_si128(reinterpret_cast<__m128i*>(to + c * kQuad + k * 16),
                       words[k]);
    }
    c += 16;
  }
#endif
  for (; c < n; ++c) {
    for (int64_t k = 0; k < kQuad; ++k) {
      to[c * kQuad + k] = k < channels
                              ? static_cast<uint8_t>(from[k * plane + c] ^ flip)
                              : uint8_t{0};
    }
  }
}

// Copies a band of a group of an image, with padding, [quad][row][column][4],
// or [slab][row][column][32] of a map of slabs. Signed bytes are moved by 128,
// which packed weights take back.
void CopyBand(const Plan& plan, const uint8_t* image, int64_t first_row,
              uint8_t* to) {
  const Int8ConvParams& p = plan.p;
  const uint8_t flip = p.signed_data ? 0x80 : 0;
  const int padding = p.padding ^ flip;
  const int64_t plane = p.h.in * p.w.in;
  const int64_t width = p.slabs_input ? kSlab : kQuad;
  const int64_t parts = (p.in_channels + width - 1) / width;
  for (int64_t part = 0; part < parts; ++part) {
    const int64_t channels = std::min(width, p.in_channels - part * width);
    for (int64_t r = 0; r < plan.in_rows; ++r) {
      const int64_t row = first_row + r;
      uint8_t* const line =
          to + (part * plan.in_rows + r) * plan.in_width * width;
      if (row < 0 || row >= p.h.in) {
        std::memset(line, padding, static_cast<size_t>(plan.in_width * width));
        continue;
      }
      const int64_t begin = std::min(p.w.pad_before, plan.in_width);
      const int64_t end = std::min(plan.in_width, p.w.pad_before + p.w.in);
      std::memset(line, padding, static_cast<size_t>(begin * width));
      std::memset(line + end * width, padding,
                  static_cast<size_t>((plan.in_width - end) * width));
      // The first column that is in the map.
      const int64_t from_column = begin - p.w.pad_before;
      const int64_t count = end - begin;
      if (p.slabs_input) {
        const uint8_t* const from =
            image + (part * plane + row * p.w.in + from_column) * kSlab;
        uint8_t* const out = line + begin * kSlab;
        if (flip == 0) {
          std::memcpy(out, from, static_cast<size_t>(count * kSlab));
        } else {
          for (int64_t i = 0; i < count * kSlab; ++i) {
            out[i] = static_cast<uint8_t>(from[i] ^ flip);
          }
        }
        continue;
      }
      const uint8_t* const from =
          image + part * kQuad * plane + row * p.w.in + from_column;
      Interleave(from, plane, channels, count, flip, line + begin * kQuad);
    }
  }
}

// --- Results -----------------------------------------------------------------

typedef uint32_t Words __attribute__((vector_size(64)));
typedef int32_t Ints __attribute__((vector_size(64)));
typedef float Floats __attribute__((vector_size(64)));
typedef uint8_t Bytes __attribute__((vector_size(16)));

// The bits of `from` as another type.
template <typename V>
[[gnu::always_inline]] inline void Load(const void* from, V& v) {
  std::memcpy(&v, from, sizeof(v));
}

// As internal::Round.
[[gnu::always_inline]] inline void RoundAll(Floats& x) {
  constexpr float kWhole = 0x1p23f;
  Ints bits;
  Load(&x, bits);
  const Ints sign = bits & std::numeric_limits<int32_t>::min();
  const Ints magic_bits = sign | 0x4b000000;  // kWhole
  Floats magic, rounded, magnitude;
  Load(&magic_bits, magic);
  const Floats sum = (x + magic) - magic;
  Ints rounded_bits;
  Load(&sum, rounded_bits);
  rounded_bits = (rounded_bits & 0x7fffffff) | sign;
  Load(&rounded_bits, rounded);
  const Ints magnitude_bits = bits & 0x7fffffff;
  Load(&magnitude_bits, magnitude);
  x = magnitude < kWhole ? rounded : x;
}

// Writes bytes [position][32] of a tile.
[[gnu::always_inline]] inline void RequantizeLoop(
    const int32_t* sums, const uint32_t* constant, const Int8Requantization& r,
    int64_t channel, int64_t positions, uint8_t* to) {
  for (int64_t half = 0; half < kSlab; half += 16) {
    Words added;
    Load(constant + half, added);
    Floats factor = {}, divisor = {}, shift = {};
    if (r.factor != nullptr) Load(r.factor + channel + half, factor);
    if (r.divisor != nullptr) Load(r.divisor + channel + half, divisor);
    if (r.shift != nullptr) Load(r.shift + channel + half, shift);
    const Floats low = Floats{} + r.low;
    const Floats high = Floats{} + r.high;
    for (int64_t t = 0; t < positions; ++t) {
      Words sum;
      Load(sums + t * kSlab + half, sum);
      sum += added;
      Ints whole;
      Load(&sum, whole);
      Floats v = __builtin_convertvector(whole, Floats);
      if (r.factor != nullptr) v = v * factor;
      if (r.divisor != nullptr) v = v / divisor;
      if (r.round) RoundAll(v);
      if (r.shift != nullptr) v = v + shift;
      v = v < low ? low : v;
      v = v > high ? high : v;
      v = v == v ? v : Floats{};
      whole = __builtin_convertvector(v, Ints);
      const Bytes bytes = __builtin_convertvector(whole, Bytes);
      std::memcpy(to + t * kSlab + half, &bytes, sizeof(bytes));
    }
  }
}

void RequantizePlain(const int32_t* sums, const uint32_t* constant,
                     const Int8Requantization& r, int64_t channel,
                     int64_t positions, uint8_t* to) {
  RequantizeLoop(sums, constant, r, channel, positions, to);
}

#ifdef __x86_64__

[[gnu::target("avx2")]] void RequantizeAvx2(const int32_t* sums,
                                            const uint32_t* constant,
                                            const Int8Requantization& r,
                                            int64_t channel, int64_t positions,
                                            uint8_t* to) {
  RequantizeLoop(sums, constant, r, channel, positions, to);
}

[[gnu::target("avx512f")]] void RequantizeAvx512(
    const int32_t* sums, const uint32_t* constant, const Int8Requantization& r,
    int64_t channel, int64_t positions, uint8_t* to) {
  RequantizeLoop(sums, constant, r, channel, positions, to);
}

#endif  // __x86_64__

void Requantize(Int8Isa isa, const int32_t* sums, const uint32_t* constant,
                const Int8Requantization& r, int64_t channel, int64_t positions,
                uint8_t* to) {
#ifdef __x86_64__
  if (isa == Int8Isa::kVnni) {
    return RequantizeAvx512(sums, constant, r, channel, positions, to);
  }
  if (isa == Int8Isa::kAvx2) {
    return RequantizeAvx2(sums, constant, r, channel, positions, to);
  }
#endif
  RequantizePlain(sums, constant, r, channel, positions, to);
}

// Writes n positions [position][32] to `outs` channels, `plane` bytes apart.
void SpreadBytes(const uint8_t* from, int64_t n, int64_t outs, int64_t plane,
                 uint8_t* to) {
  int64_t t = 0;
#ifdef __x86_64__
  for (; t + 16 <= n; t += 16) {
    for (int64_t o = 0; o < outs; o += 16) {
      __m128i a[16], b[16];
      for (int i = 0; i < 16; ++i) {
        a[i] = _mm_loadu_si128(
            reinterpret_cast<const __m128i*>(from + (t + i) * kSlab + o));
      }
      // Each round moves a bit of the number of a byte from its row to its
      // column.
      const auto round = [](const __m128i* x, __m128i* y) {
#pragma GCC unroll 8
        for (int i = 0; i < 8; ++i) {
          y[2 * i] = _mm_unpacklo_epi8(x[i], x[i + 8]);
          y[2 * i + 1] = _mm_unpackhi_epi8(x[i], x[i + 8]);
        }
      };
      round(a, b);
      round(b, a);
      round(a, b);
      round(b, a);
      const int64_t count = std::min<int64_t>(16, outs - o);
      for (int64_t i = 0; i < count; ++i) {
        _mm_storeu_si128(reinterpret_cast<__m128i*>(to + (o + i) * plane + t),
                         a[i]);
      }
    }
  }
#endif
  for (; t < n; ++t) {
    for (int64_t o = 0; o < outs; ++o) to[o * plane + t] = from[t * kSlab + o];
  }
}

// Writes sums plus `constant` to `outs` channels, `plane` words apart.
void SpreadSums(const int32_t* sums, const uint32_t* constant, int64_t n,
                int64_t outs, int64_t plane, int32_t* to) {
  int64_t t = 0;
#ifdef __x86_64__
  for (; t + 4 <= n; t += 4) {
    for (int64_t o = 0; o + 4 <= outs; o += 4) {
      const __m128i added =
          _mm_loadu_si128(reinterpret_cast<const __m128i*>(constant + o));
      __m128i x[4];
      for (int i = 0; i < 4; ++i) {
        x[i] = _mm_add_epi32(added,
                             _mm_loadu_si128(reinterpret_cast<const __m128i*>(
                                 sums + (t + i) * kSlab + o)));
      }
      const __m128i a = _mm_unpacklo_epi32(x[0], x[1]);
      const __m128i b = _mm_unpackhi_epi32(x[0], x[1]);
      const __m128i c = _mm_unpacklo_epi32(x[2], x[3]);
      const __m128i d = _mm_unpackhi_epi32(x[2], x[3]);
      const __m128i y[4] = {_mm_unpacklo_epi64(a, c), _mm_unpackhi_epi64(a, c),
                            _mm_unpacklo_epi64(b, d), _mm_unpackhi_epi64(b, d)};
      for (int i = 0; i < 4; ++i) {
        _mm_storeu_si128(reinterpret_cast<__m128i*>(to + (o + i) * plane + t),
                         y[i]);
      }
    }
    for (int64_t o = outs / 4 * 4; o < outs; ++o) {
      for (int64_t i = t; i < t + 4; ++i) {
        to[o * plane + i] = static_cast<int32_t>(
            static_cast<uint32_t>(sums[i * kSlab + o]) + constant[o]);
      }
    }
  }
#endif
  for (; t < n; ++t) {
    for (int64_t o = 0; o < outs; ++o) {
      to[o * plane + t] = static_cast<int32_t>(
          static_cast<uint32_t>(sums[t * kSlab + o]) + constant[o]);
    }
  }
}

// A result of sums, or of bytes.
struct Result {
  int32_t* sums = nullptr;
  uint8_t* bytes = nullptr;
  const Int8Requantization* requantization = nullptr;
};

void Compute(const Plan& plan, Int8Isa isa, const uint8_t* x,
             const void* packed, const int32_t* bias, const Result& y,
             void* workspace, int64_t begin, int64_t end) {
  const Int8ConvParams& p = plan.p;
  const auto* weights = static_cast<const int8_t*>(packed);
  const auto* added = reinterpret_cast<const int32_t*>(
      weights + p.groups * plan.slabs * SlabBytes(plan));
  auto* const copy = static_cast<uint8_t*>(workspace);
  uint8_t* const collected = copy + plan.copy_bytes;
  const int64_t plane = p.h.out * p.w.out;
  const int64_t collected_rows =
      std::max<int64_t>(1, kCollected / std::max<int64_t>(1, p.w.out));
  const int64_t in_plane = p.h.in * p.w.in;
  const int64_t image_bytes =
      in_plane *
      (p.slabs_input ? RoundUp(p.in_channels, kSlab) : p.in_channels);
  // Tiles of nearly the same size.
  const int64_t tiles = (p.w.out + kMostPositions - 1) / kMostPositions;
  const int64_t width = plan.copies ? plan.in_width : p.w.in;
  const int64_t height = plan.copies ? plan.in_rows : p.h.in;
  const int64_t channels = p.slabs_input ? kSlab : kQuad;
  Source source = {};
  source.position = p.w.stride * channels;
  source.row = p.h.dilation * width * channels;
  source.column = p.w.dilation * channels;
  source.quad = p.slabs_input ? kQuad : height * width * kQuad;
  source.eight = p.slabs_input ? height * width * kSlab : 8 * source.quad;
  const bool slabs_output = p.slabs_output && y.sums == nullptr;
  alignas(64) TileSums sums;
  int64_t copied = -1;
  for (int64_t item = begin; item < end; ++item) {
    const int64_t s = item % plan.slabs;
    const int64_t image_band = item / plan.slabs;
    const int64_t band = image_band % plan.bands;
    const int64_t image_group = image_band / plan.bands;
    const int64_t g = image_group % p.groups;
    const int64_t row0 = band * plan.rows;
    const int64_t row1 = std::min(row0 + plan.rows, p.h.out);
    const uint8_t* const image = x + image_group * image_bytes;
    const uint8_t* base = copy;
    if (!plan.copies) {
      base = image + row0 * p.h.stride * width * kSlab;
    } else if (copied != image_band) {
      CopyBand(plan, image, row0 * p.h.stride - p.h.pad_before, copy);
      copied = image_band;
    }
    const int64_t number = g * plan.slabs + s;
    const int64_t first = s * kSlab;
    const int64_t outs = std::min(kSlab, p.out_channels - first);
    const int64_t channel = g * p.out_channels + first;
    // Where the slab is in the result, in elements of planar channels or of
    // slabs.
    const int64_t slab = slabs_output
                             ? (image_group * plan.slabs + s) * plane * kSlab
                             : (image_group * p.out_channels + first) * plane;
    alignas(64) uint32_t constant[kSlab] = {};
    for (int64_t o = 0; o < outs; ++o) {
      constant[o] = static_cast<uint32_t>(added[number * kSlab + o]);
      if (bias != nullptr) {
        constant[o] += static_cast<uint32_t>(bias[channel + o]);
      }
    }
    for (int64_t chunk = row0; chunk < row1; chunk += collected_rows) {
      const int64_t chunk_end = std::min(row1, chunk + collected_rows);
      for (int64_t row = chunk; row < chunk_end; ++row) {
        for (int64_t tile = 0; tile < tiles; ++tile) {
          const int64_t column = p.w.out * tile / tiles;
          const int64_t positions = p.w.out * (tile + 1) / tiles - column;
          source.x =
              base + ((row - row0) * p.h.stride * width + column * p.w.stride) *
                         channels;
          kTiles[positions - 1](isa, plan, source,
                                weights + number * SlabBytes(plan), sums);
          if (y.sums != nullptr) {
            SpreadSums(sums, constant, positions, outs, plane,
                       y.sums + slab + row * p.w.out + column);
            continue;
          }
          uint8_t* const to =
              slabs_output
                  ? y.bytes + slab + (row * p.w.out + column) * kSlab
                  : collected + ((row - chunk) * p.w.out + column) * kSlab;
          Requantize(isa, sums, constant, *y.requantization, channel, positions,
                     to);
        }
      }
      if (y.sums == nullptr && !slabs_output) {
        SpreadBytes(collected, (chunk_end - chunk) * p.w.out, outs, plane,
                    y.bytes + slab + chunk * p.w.out);
      }
    }
  }
}

}  // namespace

bool IsSupported(Int8Isa isa) {
#ifdef __x86_64__
  switch (isa) {
    case Int8Isa::kPlain:
      return true;
    case Int8Isa::kAvx2:
      return __builtin_cpu_supports("avx2");
    case Int8Isa::kVnni:
      return __builtin_cpu_supports("avx512f") &&
             __builtin_cpu_supports("avx512vnni");
  }
  return false;
#else
  return isa == Int8Isa::kPlain;
#endif
}

Int8Isa BestInt8Isa() {
  if (IsSupported(Int8Isa::kVnni)) return Int8Isa::kVnni;
  return IsSupported(Int8Isa::kAvx2) ? Int8Isa::kAvx2 : Int8Isa::kPlain;
}

int64_t PackedInt8ConvSize(const Int8ConvParams& params) {
  const Plan plan = MakePlan(params);
  return params.groups * plan.slabs *
         (SlabBytes(plan) + kSlab * int64_t{sizeof(int32_t)});
}

void PackInt8ConvWeights(const Int8ConvParams& params, const int8_t* weights,
                         void* packed) {
  const Plan plan = MakePlan(params);
  auto* to = static_cast<int8_t*>(packed);
  auto* added = reinterpret_cast<int32_t*>(to + params.groups * plan.slabs *
                                                    SlabBytes(plan));
  std::memset(packed, 0, static_cast<size_t>(PackedInt8ConvSize(params)));
  for (int64_t g = 0; g < params.groups; ++g) {
    for (int64_t s = 0; s < plan.slabs; ++s) {
      for (int64_t o = s * kSlab;
           o < std::min(params.out_channels, (s + 1) * kSlab); ++o) {
        const int8_t* from = weights + (g * params.out_channels + o) *
                                           params.in_channels * plan.taps;
        uint32_t sum = 0;
        for (int64_t c = 0; c < params.in_channels; ++c) {
          for (int64_t t = 0; t < plan.taps; ++t) {
            to[((c / kQuad * plan.taps + t) * kSlab + o % kSlab) * kQuad +
               c % kQuad] = *from;
            sum += static_cast<uint32_t>(int32_t{*from++});
          }
        }
        if (params.signed_data) {
          added[o % kSlab] = static_cast<int32_t>(0u - sum * 128u);
        }
      }
      to += SlabBytes(plan);
      added += kSlab;
    }
  }
}

int64_t Int8ConvItems(const Int8ConvParams& params) {
  if (params.h.out * params.w.out * params.out_channels == 0) return 0;
  const Plan plan = MakePlan(params);
  return params.batch * params.groups * plan.bands * plan.slabs;
}

size_t Int8ConvWorkspaceSize(const Int8ConvParams& params) {
  const Plan plan = MakePlan(params);
  const int64_t collected =
      params.slabs_output ? 0 : std::max(kCollected, plan.p.w.out) * kSlab;
  return static_cast<size_t>(plan.copy_bytes + collected);
}

void Int8Conv(const Int8ConvParams& params, Int8Isa isa, const void* x,
              const void* packed, const int32_t* bias, int32_t* y,
              void* workspace, int64_t begin, int64_t end) {
  Result result;
  result.sums = y;
  Compute(MakePlan(params), isa, static_cast<const uint8_t*>(x), packed, bias,
          result, workspace, begin, end);
}

void Int8ConvToBytes(const Int8ConvParams& params, Int8Isa isa, const void* x,
                     const void* packed, const int32_t* bias,
                     const Int8Requantization& requantization, void* y,
                     void* workspace, int64_t begin, int64_t end) {
  Result result;
  result.bytes = static_cast<uint8_t*>(y);
  result.requantization = &requantization;
  Compute(MakePlan(params), isa, static_cast<const uint8_t*>(x), packed, bias,
          result, workspace, begin, end);
}

}  // namespace baton::kernels::blocked
