// Vector loops over float16, and functions accurate enough for float16.

#ifndef BATON_RUNTIME_KERNELS_INTERNAL_HALF_H_
#define BATON_RUNTIME_KERNELS_INTERNAL_HALF_H_

#ifdef __x86_64__
#include <cpuid.h>
#include <immintrin.h>
#endif

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "baton/runtime/kernels/internal/math.h"
#include "baton/runtime/kernels/internal/vectorize.h"

namespace baton::kernels::internal {

// --- Loops -----------------------------------------------------------------

#if BATON_HAS_WIDE_LOOPS

// True if the processor has instructions that convert float16 as FromHalf and
// ToHalf do; the bits of a NaN may differ.
inline bool HasF16C() {
  static const bool has = [] {
    unsigned int a, b, c, d;
    return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
  }();
  return has && WidestVectors() != Vectors::k128;
}

// kWidth numbers, as FromHalf and ToHalf do. The bits of a NaN may differ.
struct FromHalf256 {
  static constexpr int64_t kWidth = 8;
  [[gnu::target("avx,f16c")]] static void Run(const uint16_t* from, float* to) {
    _mm256_storeu_ps(to, _mm256_cvtph_ps(_mm_loadu_si128(
                             reinterpret_cast<const __m128i*>(from))));
  }
};
struct ToHalf256 {
  static constexpr int64_t kWidth = 8;
  [[gnu::target("avx,f16c")]] static void Run(const float* from, uint16_t* to) {
    _mm_storeu_si128(
        reinterpret_cast<__m128i*>(to),
        _mm256_cvtps_ph(_mm256_loadu_ps(from), _MM_FROUND_TO_NEAREST_INT));
  }
};
struct FromHalf512 {
  static constexpr int64_t kWidth = 16;
  [[gnu::target("avx512f")]] static void Run(const uint16_t* from, float* to) {
    _mm512_storeu_ps(to, _mm512_cvtph_ps(_mm256_loadu_si256(
                             reinterpret_cast<const __m256i*>(from))));
  }
};
struct ToHalf512 {
  static constexpr int64_t kWidth = 16;
  [[gnu::target("avx512f")]] static void Run(const float* from, uint16_t* to) {
    _mm256_storeu_si256(
        reinterpret_cast<__m256i*>(to),
        _mm512_cvtps_ph(_mm512_loadu_ps(from), _MM_FROUND_TO_NEAREST_INT));
  }
};

// The elements of one step: several vectors, which do not depend on each other.
// The last elements are padded with zeros, so that all elements are computed by
// the same code and give the same bytes.
constexpr int64_t kHalves = 64;

// The loop of MapHalves.
template <typename From, typename To, typename Fn>
BATON_LOOP inline void MapHalvesWith(const uint16_t* from, int64_t n,
                                     uint16_t* to, const Fn& fn) {
  uint16_t last[kHalves] = {};
  for (int64_t i = 0; i < n; i += kHalves) {
    const bool whole = n - i >= kHalves;
    if (!whole) std::copy(from + i, from + n, last);
    const uint16_t* in = whole ? from + i : last;
    uint16_t* out = whole ? to + i : last;
    float v[kHalves];
    for (int64_t j = 0; j < kHalves; j += From::kWidth)
      From::Run(in + j, v + j);
    for (int64_t j = 0; j < kHalves; ++j) v[j] = fn(v[j]);
    for (int64_t j = 0; j < kHalves; j += To::kWidth) To::Run(v + j, out + j);
    if (!whole) std::copy(last, last + (n - i), to + i);
  }
}

template <typename Fn>
[[gnu::target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c"),
  gnu::noinline]] void
MapHalves512(const uint16_t* from, int64_t n, uint16_t* to, Fn fn) {
  MapHalvesWith<FromHalf512, ToHalf512>(from, n, to, fn);
}

template <typename Fn>
[[gnu::target("avx2,fma,f16c"), gnu::noinline]] void MapHalves256(
    const uint16_t* from, int64_t n, uint16_t* to, Fn fn) {
  MapHalvesWith<FromHalf256, ToHalf256>(from, n, to, fn);
}

#endif  // BATON_HAS_WIDE_LOOPS

// Writes fn(from[i]), of float16 as float32, to to[i] for all i < n. As RunLoop
// does, with `vectors`, but wide ones only on processors that convert float16.
template <Vectors kWidest = Vectors::k512, typename Fn>
void MapHalves(const uint16_t* from, int64_t n, uint16_t* to, const Fn& fn,
               Vectors vectors = WidestVectors()) {
#if BATON_HAS_WIDE_LOOPS
  if (vectors != Vectors::k128 && HasF16C()) {
    if constexpr (kWidest == Vectors::k512) {
      if (vectors == Vectors::k512) return MapHalves512(from, n, to, fn);
    }
    if constexpr (kWidest != Vectors::k128) {
      return MapHalves256(from, n, to, fn);
    }
  }
#endif
  MapRun<Vectors::k128>(from, n, to, [fn](uint16_t v) BATON_LOOP {
    return ToHalf(fn(FromHalf(v)));
  });
}

// --- Functions -------------------------------------------------------------
//
// Functions of numbers that float16 can represent, with results that become
// float16: within 0.51 units in its last place. They take fewer steps than
// those of float32: polynomials with errors below 2^-17 of the result, fitted
// as those of internal/math.h are, and no special cases for numbers that
// float16 cannot represent.

namespace half {

// e^x = e^r 2^k, |x| <= 80: e^r for |r| <= ln 2 / 2.
BATON_LOOP inline float ReducedExp(float x, uint32_t& k) {
  constexpr float kMagic = 0x1.8p23f;
  const float shifted = std::fma(x, 0x1.715476p+0f, kMagic);
  k = std::bit_cast<uint32_t>(shifted);
  const float r = std::fma(shifted - kMagic, -0x1.62e43p-1f, x);
  return Polynomial(r, 1.0f, 1.0f, 0x1.fffde8p-2f, 0x1.5557c6p-3f,
                    0x1.57333ap-5f, 0x1.105f4ap-7f);
}

// Clamps x to a range outside of which results are 0 or infinite. Keeps NaN.
BATON_LOOP inline float Bounded(float x, float low, float high) {
  const float above = x < low ? low : x;
  return above > high ? high : above;
}

BATON_LOOP inline float Exp(float x) {
  uint32_t k;
  const float e = ReducedExp(Bounded(x, -20.0f, 15.0f), k);
  return std::bit_cast<float>(std::bit_cast<uint32_t>(e) + (k << 23));
}

// The logarithm of a positive, finite x. `of_two` is the logarithm of 2; the
// logarithm of 1 + f is f times the polynomial with coefficients `c`.
template <typename... C>
BATON_LOOP inline float PlainLog(float x, float of_two, C... c) {
  const uint32_t bits = std::bit_cast<uint32_t>(x);
  const uint32_t exponent = (bits - 0x3f400000u) & 0xff800000u;
  const float f = std::bit_cast<float>(bits - exponent) - 1.0f;
  const float e = static_cast<float>(static_cast<int32_t>(exponent));
  return std::fma(Polynomial(f, c...), f, e * (of_two * 0x1p-23f));
}

BATON_LOOP inline float PlainLog(float x) {
  return PlainLog(x, 0x1.62e43p-1f, 0x1.00000ep+0f, -0x1.fffc74p-2f,
                  0x1.55247ap-2f, -0x1.00a2dcp-2f, 0x1.a75fdcp-3f,
                  -0x1.582a96p-3f, 0x1.53a658p-4f);
}
BATON_LOOP inline float PlainLog2(float x) {
  return PlainLog(x, 1.0f, 0x1.71548cp+0f, -0x1.7151e4p-1f, 0x1.ec290ep-2f,
                  -0x1.723f0cp-2f, 0x1.31716cp-2f, -0x1.f0a5a2p-3f,
                  0x1.e9fc0cp-4f);
}
BATON_LOOP inline float PlainLog10(float x) {
  return PlainLog(x, 0x1.344136p-2f, 0x1.bcb7ccp-2f, -0x1.bcb4b2p-3f,
                  0x1.284f64p-3f, -0x1.bdcc82p-4f, 0x1.6fc3d4p-4f,
                  -0x1.2b2886p-4f, 0x1.277b46p-5f);
}

// log(x) of any x. `plain` is the logarithm if x is positive and finite.
BATON_LOOP inline float LogOfAny(float x, float plain) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const float finite = x < kInfinity ? plain : x;  // Also a NaN.
  const float positive =
      x < 0.0f ? std::numeric_limits<float>::quiet_NaN() : finite;
  return x == 0.0f ? -kInfinity : positive;
}

BATON_LOOP inline float Log(float x) { return LogOfAny(x, PlainLog(x)); }
BATON_LOOP inline float Log2(float x) { return LogOfAny(x, PlainLog2(x)); }
BATON_LOOP inline float Log10(float x) { return LogOfAny(x, PlainLog10(x)); }

BATON_LOOP inline float Acos(float x) {
  const float a = std::abs(x);
  // acos(a) / sqrt(1 - a).
  const float p = Polynomial(a, 0x1.921fa2p+0f, -0x1.b75104p-3f, 0x1.67db7cp-4f,
                             -0x1.6fd10ap-5f, 0x1.3be55cp-6f, -0x1.1a71c8p-8f);
  const float acos = p * std::sqrt(1.0f - a);
  return x < 0.0f ? 0x1.921fb6p+1f - acos : acos;
}

// Calls fn(e^n + e^-n, e^n - e^-n, cosh(r), sinh(r)), where x = n + r, |r| <=
// ln 2 / 2 and e^n is a power of 2; the first two arguments are halved.
template <typename Fn>
BATON_LOOP inline float OfHyperbolic(float x, const Fn& fn) {
  const float bounded = Bounded(x, -15.0f, 15.0f);
  constexpr float kMagic = 0x1.8p23f;
  const float shifted = std::fma(bounded, 0x1.715476p+0f, kMagic);
  const float r = std::fma(shifted - kMagic, -0x1.62e43p-1f, bounded);
  const uint32_t k = std::bit_cast<uint32_t>(shifted) << 23;
  const float power = std::bit_cast<float>(0x3f000000u + k);
  const float inverse = std::bit_cast<float>(0x3f000000u - k);
  const float z = r * r;
  const float cosh = Polynomial(z, 1.0f, 0x1.fffdcp-2f, 0x1.573c42p-5f);
  const float sinh = r * Polynomial(z, 1.0f, 0x1.5554bp-3f, 0x1.1227bcp-7f);
  return fn(power + inverse, power - inverse, cosh, sinh);
}

BATON_LOOP inline float Sinh(float x) {
  const float sinh = OfHyperbolic(
      x, [](float sum, float difference, float cosh, float sinh)
             BATON_LOOP { return std::fma(sum, sinh, difference * cosh); });
  return std::copysign(sinh, x);
}

BATON_LOOP inline float Cosh(float x) {
  return OfHyperbolic(
      x, [](float sum, float difference, float cosh, float sinh)
             BATON_LOOP { return std::fma(sum, cosh, difference * sinh); });
}

BATON_LOOP inline float Tanh(float x) {
  const float a = std::abs(x);
  const float z = x * x;
  const float p = Polynomial(z, 1.0f, -0x1.555368p-2f, 0x1.10a72p-3f,
                             -0x1.abb8fcp-5f, 0x1.ff9d04p-7f);
  uint32_t k;
  const float reduced = ReducedExp(Bounded(2.0f * a, 0.0f, 20.0f), k);
  const float e =
      std::bit_cast<float>(std::bit_cast<uint32_t>(reduced) + (k << 23));
  const float large = 1.0f - 2.0f / (e + 1.0f);
  return std::copysign(a < 0.6f ? p * a : large, x);
}

}  // namespace half

}  // namespace baton::kernels::internal

#endif  // BATON_RUNTIME_KERNELS_INTERNAL_HALF_H_
