#include "baton/runtime/kernels/blocked/int8_conv.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

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
constexpr int64_t kSlab = 2 * kBlock;
constexpr int64_t kBandBytes = int64_t{192} << 10;

// How the work is cut. An item is a band of rows of an image and group.
struct Plan {
  Int8ConvParams p;
  int64_t quads;
  int64_t slabs;
  int64_t taps;
  int64_t rows;  // of a band of the result
  int64_t bands;
  int64_t in_rows;   // of a band of the copy
  int64_t in_width;  // of the copy, with padding
};

constexpr int64_t RoundUp(int64_t x, int64_t to) {
  return (x + to - 1) / to * to;
}

Plan MakePlan(const Int8ConvParams& params) {
  Plan plan = {};
  plan.p = params;
  const Int8ConvParams& p = plan.p;
  plan.taps = p.h.kernel * p.w.kernel;
  plan.quads = (p.in_channels + kQuad - 1) / kQuad;
  plan.slabs = (p.out_channels + kSlab - 1) / kSlab;
  plan.in_width =
      (p.w.out - 1) * p.w.stride + (p.w.kernel - 1) * p.w.dilation + 1;
  const int64_t reach = (p.h.kernel - 1) * p.h.dilation + 1;
  const int64_t row_bytes = plan.quads * plan.in_width * kQuad;
  const int64_t fit =
      (kBandBytes / std::max<int64_t>(1, row_bytes) - reach) / p.h.stride + 1;
  const int64_t rows =
      std::clamp<int64_t>(fit, 1, std::max<int64_t>(1, p.h.out));
  plan.bands = std::max<int64_t>(1, (p.h.out + rows - 1) / rows);
  plan.rows = (p.h.out + plan.bands - 1) / plan.bands;
  plan.in_rows = (plan.rows - 1) * p.h.stride + reach;
  return plan;
}

// Packed weights of a group and slab: [quad][tap][32 channels][4].
int64_t SlabBytes(const Plan& plan) {
  return plan.quads * plan.taps * kSlab * kQuad;
}

// The data of a tile: where the first position reads, and how far positions,
// quads, rows and columns of the kernel are apart, in bytes.
struct Source {
  const uint8_t* x;
  int64_t position;
  int64_t quad;
  int64_t row;
  int64_t column;
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
            source.x + q * source.quad + i * source.row + j * source.column;
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
      const uint8_t* x = source.x + q * source.quad + i * source.row;
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
      const uint8_t* x = source.x + q * source.quad + i * source.row;
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

// Copies a band of a group of an image, with padding, [quad][row][column][4].
// Signed bytes are moved by 128, which packed weights take back.
void CopyBand(const Plan& plan, const uint8_t* image, int64_t first_row,
              uint8_t* to) {
  const Int8ConvParams& p = plan.p;
  const uint8_t flip = p.signed_data ? 0x80 : 0;
  const int64_t plane = p.h.in * p.w.in;
  for (int64_t q = 0; q < plan.quads; ++q) {
    const int64_t channels = std::min(kQuad, p.in_channels - q * kQuad);
    for (int64_t r = 0; r < plan.in_rows; ++r) {
      const int64_t row = first_row + r;
      uint8_t* const line = to + (q * plan.in_rows + r) * plan.in_width * kQuad;
      if (row < 0 || row >= p.h.in) {
        std::memset(line, flip, static_cast<size_t>(plan.in_width * kQuad));
        continue;
      }
      const int64_t begin = std::min(p.w.pad_before, plan.in_width);
      const int64_t end = std::min(plan.in_width, p.w.pad_before + p.w.in);
      std::memset(line, flip, static_cast<size_t>(begin * kQuad));
      std::memset(line + end * kQuad, flip,
                  static_cast<size_t>((plan.in_width - end) * kQuad));
      const uint8_t* const from =
          image + q * kQuad * plane + row * p.w.in - p.w.pad_before;
      if (channels == kQuad) {
        for (int64_t c = begin; c < end; ++c) {
          for (int64_t k = 0; k < kQuad; ++k) {
            line[c * kQuad + k] =
                static_cast<uint8_t>(from[k * plane + c] ^ flip);
          }
        }
        continue;
      }
      for (int64_t c = begin; c < end; ++c) {
        for (int64_t k = 0; k < kQuad; ++k) {
          line[c * kQuad + k] =
              k < channels ? static_cast<uint8_t>(from[k * plane + c] ^ flip)
                           : uint8_t{0};
        }
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
  return params.batch * params.groups * MakePlan(params).bands;
}

size_t Int8ConvWorkspaceSize(const Int8ConvParams& params) {
  const Plan plan = MakePlan(params);
  return static_cast<size_t>(
      RoundUp(plan.quads * plan.in_rows * plan.in_width * kQuad, 64));
}

void Int8Conv(const Int8ConvParams& params, Int8Isa isa, const void* x,
              const void* packed, const int32_t* bias, int32_t* y,
              void* workspace, int64_t begin, int64_t end) {
  const Plan plan = MakePlan(params);
  const Int8ConvParams& p = plan.p;
  const auto* weights = static_cast<const int8_t*>(packed);
  const auto* added = reinterpret_cast<const int32_t*>(
      weights + p.groups * plan.slabs * SlabBytes(plan));
  auto* const copy = static_cast<uint8_t*>(workspace);
  const int64_t plane = p.h.out * p.w.out;
  // Tiles of nearly the same size.
  const int64_t tiles = (p.w.out + kMostPositions - 1) / kMostPositions;
  alignas(64) TileSums sums;
  for (int64_t item = begin; item < end; ++item) {
    const int64_t band = item % plan.bands;
    const int64_t image_group = item / plan.bands;
    const int64_t g = image_group % p.groups;
    const int64_t row0 = band * plan.rows;
    const int64_t row1 = std::min(row0 + plan.rows, p.h.out);
    CopyBand(plan,
             static_cast<const uint8_t*>(x) +
                 image_group * p.in_channels * p.h.in * p.w.in,
             row0 * p.h.stride - p.h.pad_before, copy);
    for (int64_t s = 0; s < plan.slabs; ++s) {
      const int64_t number = g * plan.slabs + s;
      const int64_t first = s * kSlab;
      const int64_t outs = std::min(kSlab, p.out_channels - first);
      int32_t* const slab = y + (image_group * p.out_channels + first) * plane;
      uint32_t constant[kSlab];
      for (int64_t o = 0; o < outs; ++o) {
        constant[o] = static_cast<uint32_t>(added[number * kSlab + o]);
        if (bias != nullptr) {
          constant[o] +=
              static_cast<uint32_t>(bias[g * p.out_channels + first + o]);
        }
      }
      for (int64_t row = row0; row < row1; ++row) {
        for (int64_t tile = 0; tile < tiles; ++tile) {
          const int64_t column = p.w.out * tile / tiles;
          const int64_t positions = p.w.out * (tile + 1) / tiles - column;
          const Source source = {
              copy + ((row - row0) * p.h.stride * plan.in_width +
                      column * p.w.stride) *
                         kQuad,
              p.w.stride * kQuad, plan.in_rows * plan.in_width * kQuad,
              p.h.dilation * plan.in_width * kQuad, p.w.dilation * kQuad};
          kTiles[positions - 1](isa, plan, source,
                                weights + number * SlabBytes(plan), sums);
          for (int64_t o = 0; o < outs; ++o) {
            int32_t* const to = slab + o * plane + row * p.w.out + column;
            for (int64_t t = 0; t < positions; ++t) {
              to[t] = static_cast<int32_t>(
                  static_cast<uint32_t>(sums[t * kSlab + o]) + constant[o]);
            }
          }
        }
      }
    }
  }
}

}  // namespace baton::kernels::blocked
