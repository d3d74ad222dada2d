#include "baton/runtime/kernels/blocked/byte_slabs.h"

#include <cstdint>

#include "baton/runtime/kernels/blocked/blocked_conv.h"
#include "baton/runtime/kernels/blocked/int8_conv.h"
#include "baton/runtime/kernels/blocked/int8_isa.h"
#include "baton/runtime/kernels/blocked/internal/byte_moves.inc"
#include "baton/runtime/kernels/blocked/internal/int8_vectors.inc"

// A text of compiled libraries, too (kernel_texts.h): no other includes.
namespace baton::kernels::blocked {

using integers::Bytes;
using integers::Floats16;
using integers::Floats8;
using integers::Ints16;
using integers::Ints8;
using integers::Least;
using integers::Load;
using integers::LoadBytes;
using integers::Store;
using integers::Words16;
using integers::Words8;

namespace {

constexpr int64_t kSumBytes = int64_t{16} << 10;  // of an item
constexpr int64_t kHalfSlab = 16;

int64_t SlabsOf(const ByteMap& map) {
  return (map.channels + kByteSlab - 1) / kByteSlab;
}

// The place of a slab in both forms, and its channels.
struct SlabPlace {
  int64_t planar;
  int64_t slab;
  int64_t channels;
};
SlabPlace PlaceOf(const ByteMap& map, int64_t item) {
  const int64_t slabs = SlabsOf(map);
  const int64_t image = item / slabs;
  const int64_t first = item % slabs * kByteSlab;
  return {(image * map.channels + first) * map.plane,
          item * kByteSlab * map.plane, Least(kByteSlab, map.channels - first)};
}

}  // namespace

int64_t SlabItems(const ByteMap& map) { return map.batch * SlabsOf(map); }

void ToSlabs(const ByteMap& map, const void* planar, void* slabs, int64_t begin,
             int64_t end) {
  for (int64_t item = begin; item < end; ++item) {
    const SlabPlace place = PlaceOf(map, item);
    integers::GatherBytes(static_cast<const uint8_t*>(planar) + place.planar,
                          map.plane, place.channels, map.plane, 0,
                          static_cast<uint8_t*>(slabs) + place.slab);
  }
}

void FromSlabs(const ByteMap& map, const void* slabs, void* planar,
               int64_t begin, int64_t end) {
  for (int64_t item = begin; item < end; ++item) {
    const SlabPlace place = PlaceOf(map, item);
    integers::SpreadBytes(static_cast<const uint8_t*>(slabs) + place.slab,
                          map.plane, place.channels, map.plane,
                          static_cast<uint8_t*>(planar) + place.planar);
  }
}

namespace {

// Copies `count` bytes of each position of a slab.
template <int64_t kCount>
void CopyPositions(const uint8_t* from, int64_t plane, int64_t count,
                   uint8_t* to) {
  for (int64_t i = 0; i < plane; ++i, from += kByteSlab, to += kByteSlab) {
    if constexpr (kCount > 0) {
      __builtin_memcpy(to, from, kCount);
    } else {
      for (int64_t c = 0; c < count; ++c) to[c] = from[c];
    }
  }
}

}  // namespace

void JoinSlabs(const SlabJoinParams& params, const void* const* parts,
               void* slabs, int64_t begin, int64_t end) {
  const int64_t slab_bytes = params.plane * kByteSlab;
  int64_t first = 0;  // the first channel of the part, in the result
  for (int64_t p = 0; p < params.num_parts; ++p) {
    const int64_t channels = params.part_channels[p];
    const auto* const from = static_cast<const uint8_t*>(parts[p]);
    const int64_t last = Least(first + channels, end * kByteSlab);
    // Runs of channels within a slab of the part and a slab of the result.
    for (int64_t c = first < begin * kByteSlab ? begin * kByteSlab : first;
         c < last;) {
      const int64_t own = c - first;
      const int64_t count = Least(last - c, Least(kByteSlab - c % kByteSlab,
                                                  kByteSlab - own % kByteSlab));
      const auto copy = count == kByteSlab       ? CopyPositions<kByteSlab>
                        : count == kByteSlab / 2 ? CopyPositions<kByteSlab / 2>
                        : count == kByteSlab / 4 ? CopyPositions<kByteSlab / 4>
                                                 : CopyPositions<0>;
      copy(from + own / kByteSlab * slab_bytes + own % kByteSlab, params.plane,
           count,
           static_cast<uint8_t*>(slabs) + c / kByteSlab * slab_bytes +
               c % kByteSlab);
      c += count;
    }
    first += channels;
  }
  if (end * kByteSlab <= params.channels) return;
  const int64_t rest = params.channels % kByteSlab;
  uint8_t* to = static_cast<uint8_t*>(slabs) + (end - 1) * slab_bytes;
  for (int64_t i = 0; i < params.plane; ++i, to += kByteSlab) {
    for (int64_t c = rest; c < kByteSlab; ++c) to[c] = 0;
  }
}

int64_t SlabPoolItems(const SlabPoolParams& params) { return params.slabs; }

void SlabMaxPool(const SlabPoolParams& params, const void* x, void* y,
                 int64_t begin, int64_t end) {
  const Axis& h = params.h;
  const Axis& w = params.w;
  // Signed bytes are moved by 128, and back.
  const uint8_t flip = params.is_signed ? 0x80 : 0;
  for (int64_t item = begin; item < end; ++item) {
    const auto* from =
        static_cast<const uint8_t*>(x) + item * h.in * w.in * kByteSlab;
    auto* to = static_cast<uint8_t*>(y) + item * h.out * w.out * kByteSlab;
    for (int64_t row = 0; row < h.out; ++row) {
      for (int64_t column = 0; column < w.out; ++column, to += kByteSlab) {
        Bytes most[2] = {};
        for (int64_t i = 0; i < h.kernel; ++i) {
          const int64_t r = row * h.stride - h.pad_before + i * h.dilation;
          if (r < 0 || r >= h.in) continue;
          for (int64_t j = 0; j < w.kernel; ++j) {
            const int64_t c = column * w.stride - w.pad_before + j * w.dilation;
            if (c < 0 || c >= w.in) continue;
            for (int64_t part = 0; part < 2; ++part) {
              Bytes bytes;
              Load(from + (r * w.in + c) * kByteSlab + part * kHalfSlab, bytes);
              bytes ^= flip;
              most[part] = most[part] > bytes ? most[part] : bytes;
            }
          }
        }
        Store(to, most[0] ^ flip);
        Store(to + kHalfSlab, most[1] ^ flip);
      }
    }
  }
}

// --- Sums --------------------------------------------------------------------

namespace {

// One byte, as the operators compute it.
uint8_t SumOf(const ByteSumParams& p, uint8_t x, uint8_t y) {
  const auto real = [](const ByteSumParams::Operand& from, uint8_t byte) {
    const int32_t value =
        from.is_signed ? static_cast<int8_t>(byte) : int32_t{byte};
    return static_cast<float>(value - from.zero) * from.scale;
  };
  float v = real(p.x, x) + real(p.y, y);
  v = v < p.least ? p.least : v;
  v = v > p.most ? p.most : v;
  v = __builtin_nearbyintf(v / p.divisor) + p.shift;
  v = v < p.low ? p.low : v;
  v = v > p.high ? p.high : v;
  return static_cast<uint8_t>(static_cast<int32_t>(v));
}

void SumPlain(const ByteSumParams& p, const uint8_t* x, const uint8_t* y,
              int64_t n, uint8_t* to) {
  for (int64_t i = 0; i < n; ++i) to[i] = SumOf(p, x[i], y[i]);
}

// A quotient by `divisor` that is rounded lies between the number times `less`
// and times `more`.
struct DivisionBounds {
  explicit DivisionBounds(float divisor) {
    constexpr float kFourUnits = 0x1p-21f;
    const float scale = 1.0f / divisor;
    less = scale - scale * kFourUnits;
    more = scale + scale * kFourUnits;
  }

  float less;
  float more;
};

#ifdef BATON_AVX2
BATON_AVX2 [[gnu::always_inline]] inline void ReadFloatsAvx2(
    const ByteSumParams::Operand& operand, const uint8_t* from,
    Floats8& values) {
  Words8 words;
  LoadBytes(from, operand.is_signed, words);
  const Ints8 whole = reinterpret_cast<Ints8>(words) - operand.zero;
  values = __builtin_convertvector(whole, Floats8) * operand.scale;
}

// Without divisions, as RequantizeTame().
BATON_AVX2 inline void SumAvx2(const ByteSumParams& p, const uint8_t* x,
                               const uint8_t* y, int64_t n, uint8_t* to) {
  const DivisionBounds bounds(p.divisor);
  const Floats8 less = Floats8{} + bounds.less;
  const Floats8 more = Floats8{} + bounds.more;
  const Floats8 least = Floats8{} + p.least;
  const Floats8 most = Floats8{} + p.most;
  const int32_t shift = static_cast<int32_t>(p.shift);
  const Ints8 low = Ints8{} + (static_cast<int32_t>(p.low) - shift);
  const Ints8 high = Ints8{} + (static_cast<int32_t>(p.high) - shift);
  constexpr int64_t kStep = 32;
  int64_t i = 0;
  for (; i + kStep <= n; i += kStep) {
    Words8 whole[4], doubts = {};
#pragma GCC unroll 4
    for (int k = 0; k < 4; ++k) {
      Floats8 v, other;
      ReadFloatsAvx2(p.x, x + i + k * 8, v);
      ReadFloatsAvx2(p.y, y + i + k * 8, other);
      v = v + other;
      v = v < least ? least : v;
      v = v > most ? most : v;
      Words8 words;
      integers::RoundToInts(v * less, words);
      Ints8 rounded = reinterpret_cast<Ints8>(words);
      integers::RoundToInts(v * more, words);
      Ints8 bound = reinterpret_cast<Ints8>(words);
      rounded = rounded < low ? low : rounded;
      rounded = rounded > high ? high : rounded;
      bound = bound < low ? low : bound;
      bound = bound > high ? high : bound;
      doubts |= reinterpret_cast<Words8>(rounded ^ bound);
      whole[k] = reinterpret_cast<Words8>(rounded + shift);
    }
    if (integers::IsZero(doubts)) {
      integers::StoreLowBytes(whole, to + i);
    } else {
      SumPlain(p, x + i, y + i, kStep, to + i);
    }
  }
  SumPlain(p, x + i, y + i, n - i, to + i);
}
#endif  // BATON_AVX2

#ifdef BATON_AVX512
BATON_AVX512 [[gnu::always_inline]] inline void ReadFloatsAvx512(
    const ByteSumParams::Operand& operand, const uint8_t* from,
    Floats16& values) {
  Words16 words;
  LoadBytes(from, operand.is_signed, words);
  Ints16 whole;
  Load(&words, whole);
  whole -= operand.zero;
  values = __builtin_convertvector(whole, Floats16) * operand.scale;
}

// As SumAvx2().
BATON_AVX512 inline void SumAvx512(const ByteSumParams& p, const uint8_t* x,
                                   const uint8_t* y, int64_t n, uint8_t* to) {
  const DivisionBounds bounds(p.divisor);
  const Floats16 less = Floats16{} + bounds.less;
  const Floats16 more = Floats16{} + bounds.more;
  const Floats16 least = Floats16{} + p.least;
  const Floats16 most = Floats16{} + p.most;
  const int32_t shift = static_cast<int32_t>(p.shift);
  const Ints16 low = Ints16{} + (static_cast<int32_t>(p.low) - shift);
  const Ints16 high = Ints16{} + (static_cast<int32_t>(p.high) - shift);
  int64_t i = 0;
  for (; i + 4 * kHalfSlab <= n; i += 4 * kHalfSlab) {
    Ints16 doubts = {};
#pragma GCC unroll 4
    for (int64_t k = i; k < i + 4 * kHalfSlab; k += kHalfSlab) {
      Floats16 v, other;
      ReadFloatsAvx512(p.x, x + k, v);
      ReadFloatsAvx512(p.y, y + k, other);
      v = v + other;
      v = v < least ? least : v;
      v = v > most ? most : v;
      Ints16 whole, bound;
      integers::RoundToInts(v * less, whole);
      integers::RoundToInts(v * more, bound);
      whole = whole < low ? low : whole;
      whole = whole > high ? high : whole;
      bound = bound < low ? low : bound;
      bound = bound > high ? high : bound;
      doubts |= whole ^ bound;
      whole += shift;
      const Bytes bytes = __builtin_convertvector(whole, Bytes);
      Store(to + k, bytes);
    }
    if (!integers::IsZero(doubts)) {
      SumPlain(p, x + i, y + i, 4 * kHalfSlab, to + i);
    }
  }
  SumPlain(p, x + i, y + i, n - i, to + i);
}
#endif  // BATON_AVX512

}  // namespace

bool IsByteSum(const ByteSumParams& params) {
  using integers::IsModerate;
  using integers::IsSmallWhole;
  const ByteSumParams::Operand operands[] = {params.x, params.y};
  for (const ByteSumParams::Operand& operand : operands) {
    if (!IsModerate(operand.scale) || operand.zero < -255 ||
        operand.zero > 255) {
      return false;
    }
  }
  const float most = 512 * params.x.scale + 512 * params.y.scale;
  return IsModerate(params.divisor) && most / params.divisor <= 0x1p29f &&
         params.least <= params.most && IsSmallWhole(params.shift) &&
         IsSmallWhole(params.low) && IsSmallWhole(params.high) &&
         params.low <= params.high && params.least < 0x1p29f * params.divisor &&
         params.most > -0x1p29f * params.divisor;
}

int64_t ByteSumItems(const ByteSumParams& params) {
  return (params.size + kSumBytes - 1) / kSumBytes;
}

void SumOfBytes(const ByteSumParams& params, [[maybe_unused]] Int8Isa isa,
                const void* x, const void* y, void* to, int64_t begin,
                int64_t end) {
  const int64_t first = begin * kSumBytes;
  const int64_t count = Least(params.size, end * kSumBytes) - first;
  if (count <= 0) return;
  const auto* a = static_cast<const uint8_t*>(x) + first;
  const auto* b = static_cast<const uint8_t*>(y) + first;
  auto* result = static_cast<uint8_t*>(to) + first;
#ifdef BATON_AVX512
  if (isa >= Int8Isa::kVnni) return SumAvx512(params, a, b, count, result);
#endif
#ifdef BATON_AVX2
  if (isa == Int8Isa::kAvx2) return SumAvx2(params, a, b, count, result);
#endif
  SumPlain(params, a, b, count, result);
}

}  // namespace baton::kernels::blocked
