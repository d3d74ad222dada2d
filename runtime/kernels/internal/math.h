// Functions of one number that loops of internal/vectorize.h are made of: no
// branches, no calls that stay, no undefined behaviour, the same bytes
// whatever the width of vectors.

#ifndef BATON_RUNTIME_KERNELS_INTERNAL_MATH_H_
#define BATON_RUNTIME_KERNELS_INTERNAL_MATH_H_

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "baton/runtime/kernels/internal/vectorize.h"

namespace baton::kernels::internal {

// From here on a number has no fraction.
template <typename T>
constexpr T kWhole = T(1) / std::numeric_limits<T>::epsilon();

// Rounded to the nearest whole number, ties to even. A zero has the sign of
// `x`. T is float or double here and below.
template <typename T>
BATON_LOOP inline T Round(T x) {
  // The sum has no room for a fraction.
  const T magic = std::copysign(kWhole<T>, x);
  const T rounded = std::copysign((x + magic) - magic, x);
  return std::abs(x) < kWhole<T> ? rounded : x;
}

template <typename T>
BATON_LOOP inline T Floor(T x) {
  const T rounded = Round(x);
  return std::copysign(rounded - (rounded > x ? T(1) : T(0)), x);
}

template <typename T>
BATON_LOOP inline T Ceil(T x) {
  const T rounded = Round(x);
  return std::copysign(rounded + (rounded < x ? T(1) : T(0)), x);
}

template <typename T>
BATON_LOOP inline T Trunc(T x) {
  return std::copysign(Floor(std::abs(x)), x);
}

// c0 + c1 x + c2 x^2 + ...
template <typename T>
BATON_LOOP inline T Polynomial(T, T c0) {
  return c0;
}
template <typename T, typename... C>
BATON_LOOP inline T Polynomial(T x, T c0, C... c) {
  return std::fma(Polynomial(x, c...), x, c0);
}

// The polynomials below were fitted by the exchange of weights (Lawson), with
// each coefficient rounded before the next are fitted. Their errors are below
// 2^-25 of the result; what is said of each function is the largest error that
// math_test finds, in units in the last place (ULP).

// e^x = e^r 2^k: e^r for |r| <= ln 2 / 2, and k as a number whose bits wrap.
BATON_LOOP inline float ReducedExp(float x, uint32_t& k) {
  // n = x / ln 2, rounded by the addition.
  constexpr float kMagic = 0x1.8p23f;
  const float shifted = std::fma(x, 0x1.715476p+0f, kMagic);
  const float n = shifted - kMagic;
  k = std::bit_cast<uint32_t>(shifted) - std::bit_cast<uint32_t>(kMagic);
  const float r = std::fma(n, -0x1.7f7d1cp-20f, std::fma(n, -0x1.62e4p-1f, x));
  const float p = Polynomial(r, 0x1.fffffcp-2f, 0x1.555486p-3f, 0x1.5558c4p-5f,
                             0x1.124334p-7f, 0x1.6a4a9cp-10f);
  return 1.0f + std::fma(p, r * r, r);
}

// 2^k, -126 <= k <= 127.
BATON_LOOP inline float PowerOfTwo(uint32_t k) {
  return std::bit_cast<float>((k + 127u) << 23);
}

// 1 ULP.
BATON_LOOP inline float Exp(float x) {
  // Beyond these all is 0 or infinite. A NaN passes.
  const float above = x < -105.0f ? -105.0f : x;
  const float bounded = above > 90.0f ? 90.0f : above;
  uint32_t k;
  const float e = ReducedExp(bounded, k);
  // By two powers of 2, so that neither overflows and only the second
  // multiplication rounds.
  const uint32_t half = ((k + 256u) >> 1) - 128u;
  return e * PowerOfTwo(half) * PowerOfTwo(k - half);
}

// e^x / 2, x >= 0.
BATON_LOOP inline float HalfExp(float x) {
  const float bounded = x > 90.0f ? 90.0f : x;
  uint32_t k;
  const float e = ReducedExp(bounded, k);
  return e * PowerOfTwo(k - 3u) * 4.0f;
}

// log(1 + f) for f in [-1/4, 1/2].
BATON_LOOP inline float LogNearOne(float f) {
  const float p = Polynomial(f, 0x1.55555ap-2f, -0x1.000070p-2f, 0x1.999766p-3f,
                             -0x1.55191cp-3f, 0x1.24624ap-3f, -0x1.04b534p-3f,
                             0x1.df4834p-4f, -0x1.750adep-4f, 0x1.33c9fcp-5f);
  return std::fma(std::fma(p, f, -0.5f), f * f, f);
}

// 0.9 ULP.
BATON_LOOP inline float Log(float x) {
  // A subnormal number is scaled by 2^23.
  const bool tiny = x < 0x1p-126f;
  const float scaled = tiny ? x * 0x1p23f : x;
  // x = 2^e m, m in [3/4, 3/2).
  const uint32_t bits = std::bit_cast<uint32_t>(scaled);
  const uint32_t exponent = (bits - 0x3f400000u) & 0xff800000u;
  const float m = std::bit_cast<float>(bits - exponent);
  const float e =
      static_cast<float>(static_cast<int32_t>(exponent)) * 0x1p-23f -
      (tiny ? 23.0f : 0.0f);
  const float log = std::fma(e, 0x1.62e43p-1f, LogNearOne(m - 1.0f));
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  const float finite = x < kInfinity ? log : x;  // Also a NaN.
  const float positive = x < 0.0f ? kNan : finite;
  return x == 0.0f ? -kInfinity : positive;
}

// log(1 + u), u >= 0 or NaN. 1 ULP.
BATON_LOOP inline float LogOnePlus(float u) {
  // 1 + u = 2^e (1 + f), f = u / 2^e + (1 / 2^e - 1).
  const uint32_t exponent =
      (std::bit_cast<uint32_t>(u + 1.0f) - 0x3f400000u) & 0xff800000u;
  // 4 / 2^e, which is a normal number where 1 / 2^e is not.
  const float scale = std::bit_cast<float>(0x40800000u - exponent);
  const float f = std::fma(0.25f * u, scale, std::fma(0.25f, scale, -1.0f));
  const float e = static_cast<float>(static_cast<int32_t>(exponent)) * 0x1p-23f;
  const float log = std::fma(e, 0x1.62e43p-1f, LogNearOne(f));
  return u < std::numeric_limits<float>::infinity() ? log : u;
}

// Sin, Cos and Tan are for these arguments, beyond which the remainder of a
// division by pi / 2 takes more digits.
BATON_LOOP inline bool IsNearZero(float x) { return std::abs(x) < 0x1.8p16f; }

// x less the nearest multiple of pi / 2; the lowest two bits of `quadrant` say
// which.
BATON_LOOP inline float ReduceAngle(float x, uint32_t& quadrant) {
  constexpr float kMagic = 0x1.8p23f;
  const float shifted = std::fma(x, 0x1.45f306p-1f, kMagic);
  const float n = shifted - kMagic;
  quadrant = std::bit_cast<uint32_t>(shifted);
  const float r =
      std::fma(n, -0x1.5110b4p-22f, std::fma(n, -0x1.921fb0p+0f, x));
  return std::fma(n, -0x1.84698ap-48f, r);
}

BATON_LOOP inline float SinOrCos(float x, uint32_t shift) {
  uint32_t quadrant;
  const float r = ReduceAngle(x, quadrant);
  quadrant += shift;
  const float z = r * r;
  const float s = Polynomial(z, -0x1.555556p-3f, 0x1.111174p-7f,
                             -0x1.a05968p-13f, 0x1.7c367ap-19f);
  const float sin = std::fma(s, z * r, r);
  const float c =
      Polynomial(z, -0.5f, 0x1.55554ap-5f, -0x1.6c0c28p-10f, 0x1.99e816p-16f);
  const float cos = std::fma(c, z, 1.0f);
  const float value = (quadrant & 1u) != 0 ? cos : sin;
  return std::bit_cast<float>(std::bit_cast<uint32_t>(value) ^
                              ((quadrant & 2u) << 30));
}

// 1.5 ULP.
BATON_LOOP inline float Sin(float x) {
  const float sin = SinOrCos(x, 0);
  return x == 0.0f ? x : sin;
}
BATON_LOOP inline float Cos(float x) { return SinOrCos(x, 1); }

// 2.3 ULP.
BATON_LOOP inline float Tan(float x) {
  uint32_t quadrant;
  const float r = ReduceAngle(x, quadrant);
  const float z = r * r;
  const float t = Polynomial(z, 0x1.555560p-2f, 0x1.110d9ap-3f, 0x1.badad8p-5f,
                             0x1.5cb318p-6f, 0x1.631be4p-7f, 0x1.642a98p-14f,
                             0x1.1f07cap-8f);
  const float tan = std::fma(t, z * r, r);
  const float inverse = -1.0f / tan;
  const float value = (quadrant & 1u) != 0 ? inverse : tan;
  return x == 0.0f ? x : value;
}

// asin(r) for r in [0, 1/2], where z = r^2.
BATON_LOOP inline float AsinNearZero(float r, float z) {
  const float p = Polynomial(z, 0x1.5555c8p-3f, 0x1.330204p-4f, 0x1.747bb8p-5f,
                             0x1.8c3e50p-6f, 0x1.595c60p-5f);
  return std::fma(p, z * r, r);
}

// x if `sign` is positive, else -x.
BATON_LOOP inline float Signed(float x, float sign) {
  return std::bit_cast<float>(std::bit_cast<uint32_t>(x) ^
                              (std::bit_cast<uint32_t>(sign) & 0x80000000u));
}

// pi / 2 is the product of these to twice their digits.
constexpr float kHalfPiA = 0x1.ddcb02p-1f;
constexpr float kHalfPiB = 0x1.aee9d6p+0f;

// 1.8 ULP.
BATON_LOOP inline float Asin(float x) {
  const float a = std::abs(x);
  const bool large = a > 0.5f;
  const float z = large ? 0.5f * (1.0f - a) : a * a;
  const float root = std::sqrt(z);
  const float r = AsinNearZero(large ? root : a, z);
  const float other = std::fma(kHalfPiA, kHalfPiB, -2.0f * r);
  return std::copysign(large ? other : r, x);
}

BATON_LOOP inline float Acos(float x) {
  const float a = std::abs(x);
  const bool large = a > 0.5f;
  const float z = large ? 0.5f * (1.0f - a) : a * a;
  const float root = std::sqrt(z);
  const float r = AsinNearZero(large ? root : a, z);
  // pi/2 - asin(x), 2 r, or pi - 2 r.
  const float beyond = x < 0.0f ? 2.0f * kHalfPiA : 0.0f;
  return std::fma(large ? beyond : kHalfPiA, kHalfPiB,
                  Signed(large ? 2.0f * r : -r, x));
}

// 1.5 ULP.
BATON_LOOP inline float Atan(float x) {
  const float a = std::abs(x);
  const float inverse = 1.0f / a;
  const bool large = a > 1.0f;
  const float r = large ? inverse : a;
  const float z = r * r;
  const float p =
      Polynomial(z, -0x1.55553ep-2f, 0x1.9991eap-3f, -0x1.2420fap-3f,
                 0x1.c092dep-4f, -0x1.5820f8p-4f, 0x1.da8a34p-5f,
                 -0x1.fe581cp-6f, 0x1.652948p-7f, -0x1.d5581ap-10f);
  const float atan = std::fma(p, z * r, r);
  const float other = std::fma(kHalfPiA, kHalfPiB, -atan);
  return std::copysign(large ? other : atan, x);
}

// 1.6 ULP, as Cosh.
BATON_LOOP inline float Sinh(float x) {
  const float a = std::abs(x);
  const float z = x * x;
  const float p = Polynomial(z, 0x1.555556p-3f, 0x1.1110e0p-7f, 0x1.a022bcp-13f,
                             0x1.756c1ep-19f);
  const float small = std::fma(p, z * a, a);
  const float half = HalfExp(a);
  const float large = half - 0.25f / half;
  return std::copysign(a < 1.0f ? small : large, x);
}

BATON_LOOP inline float Cosh(float x) {
  const float half = HalfExp(std::abs(x));
  return half + 0.25f / half;
}

// 1.5 ULP.
BATON_LOOP inline float Tanh(float x) {
  const float a = std::abs(x);
  const float z = x * x;
  const float p = Polynomial(z, -0x1.55553ep-2f, 0x1.1109bep-3f,
                             -0x1.b89abap-5f, 0x1.54c3c2p-6f, -0x1.828776p-8f);
  const float small = std::fma(p, z * a, a);
  // 1 from 9.02 on.
  const float bounded = a > 10.0f ? 10.0f : a;
  uint32_t k;
  const float e = ReducedExp(2.0f * bounded, k) * PowerOfTwo(k);
  const float large = 1.0f - 2.0f / (e + 1.0f);
  return std::copysign(a < 0.6f ? small : large, x);
}

// From here on x^2 and x^2 + 1 have the same root.
constexpr float kLarge = 0x1p13f;

// 2 ULP, as the other inverses of hyperbolic functions.
BATON_LOOP inline float Asinh(float x) {
  const float a = std::abs(x);
  const bool large = a > kLarge;
  const float b = large ? 1.0f : a;
  // asinh(b) = log(1 + b + b^2 / (1 + sqrt(1 + b^2))).
  const float z = b * b;
  const float root = std::sqrt(z + 1.0f);
  const float u = b + z / (1.0f + root);
  const float log = LogOnePlus(large ? a - 1.0f : u);
  return std::copysign(large ? log + 0x1.62e43p-1f : log, x);
}

BATON_LOOP inline float Acosh(float x) {
  const bool large = x > kLarge;
  const float t = x - 1.0f;
  const float b = large ? 1.0f : t;
  const float u = b + std::sqrt(std::fma(b, b, 2.0f * b));
  const float log = LogOnePlus(large ? t : u);
  const float value = large ? log + 0x1.62e43p-1f : log;
  return x < 1.0f ? std::numeric_limits<float>::quiet_NaN() : value;
}

BATON_LOOP inline float Atanh(float x) {
  const float a = std::abs(x);
  const float log = LogOnePlus(2.0f * a / (1.0f - a));
  const float value =
      a > 1.0f ? std::numeric_limits<float>::quiet_NaN() : 0.5f * log;
  return std::copysign(value, x);
}

// 1.5 ULP.
BATON_LOOP inline float Erf(float x) {
  const float a = std::abs(x);
  const float z = x * x;
  const float p = Polynomial(z, 0x1.06eba8p-3f, -0x1.81273ep-2f, 0x1.ce2ce6p-4f,
                             -0x1.b7f71ap-6f, 0x1.53f226p-8f, -0x1.a35186p-11f,
                             0x1.4772c0p-14f);
  const float small = std::fma(p, a, a);
  // erf(b) = 1 - e^-q(b); 1 from 3.92 on.
  const float b = a > 3.92f ? 3.92f : a;
  const float q = Polynomial(b, -0x1.8b44e2p-13f, 0x1.212c2ep+0f,
                             0x1.4434ecp-1f, 0x1.bc18eep-4f, -0x1.9d0beep-6f,
                             0x1.1398a2p-8f, -0x1.cee78ap-12f, 0x1.6bfdd2p-16f);
  const float large = 1.0f - Exp(-q);
  return std::copysign(a < 1.0f ? small : large, x);
}

// The logistic function.
BATON_LOOP inline float Sigmoid(float x) {
  // e^ of a negative value only: it cannot overflow.
  const float e = Exp(-std::abs(x));
  return (x >= 0.0f ? 1.0f : e) / (1.0f + e);
}

// Power is for these arguments; others are special cases.
BATON_LOOP inline bool IsOrdinaryPower(float x, float y) {
  const float a = std::abs(x);
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  // Integers, and all questions asked: without branches it becomes vectors.
  const int finite = (a > 0.0f ? 1 : 0) & (a < kInfinity ? 1 : 0) &
                     (std::abs(y) < kInfinity ? 1 : 0);
  const int real = (x > 0.0f ? 1 : 0) | (Round(y) == y ? 1 : 0);
  return (finite & real) != 0;
}

// In double: the logarithm takes more digits than float has. 0.6 ULP.
BATON_LOOP inline float Power(float x, float y) {
  // |x| = 2^e m, m in [0.70710, 1.41421).
  const uint64_t bits =
      std::bit_cast<uint64_t>(static_cast<double>(std::abs(x)));
  constexpr uint64_t kLow = 0x3fe6a09e00000000u;
  // Biased by 2048, so that it is positive.
  constexpr uint64_t kBias = uint64_t{2048} << 52;
  const uint64_t biased = (bits - kLow + kBias) >> 52;
  const double m = std::bit_cast<double>(bits + kBias - (biased << 52));
  // In the last bits of 2^52.
  const double e =
      std::bit_cast<double>(biased | 0x4330000000000000u) - (0x1p52 + 2048.0);
  const double f = m - 1.0;
  // log2(1 + f) / f, as a sum of even and odd powers: two chains are sooner
  // ready than one.
  const double ff = f * f;
  const double even = Polynomial(ff, 0x1.71547652b58dfp+0, 0x1.ec709de34c941p-2,
                                 0x1.2776b6c5b4d56p-2, 0x1.a61b8044ba5f9p-3,
                                 0x1.481f7bd51ed93p-3, 0x1.0acfba7e722e0p-3,
                                 0x1.0f5c2853a412bp-3);
  const double uneven = Polynomial(
      ff, -0x1.71547651b737ap-1, -0x1.71547887ed726p-2, -0x1.ec6f2e1fcf41bp-3,
      -0x1.7188d17213b4bp-3, -0x1.23d64214810f3p-3, -0x1.13ba488e3f57ap-3,
      -0x1.1d9465ce83465p-4);
  const double p = std::fma(uneven, f, even);
  const double product = static_cast<double>(y) * std::fma(p, f, e);
  const double above = product < -200.0 ? -200.0 : product;
  const double bounded = above > 200.0 ? 200.0 : above;
  // 2^bounded = 2^n 2^r.
  constexpr double kMagic = 0x1.8p52;
  const double shifted = bounded + kMagic;
  const double r = bounded - (shifted - kMagic);
  const double q = Polynomial(r, 0x1.ffffffffabbe0p-1, 0x1.62e42ff1165a1p-1,
                              0x1.ebfbe0a4bd2fbp-3, 0x1.c6b08aaeca13fp-5,
                              0x1.3b29dc41b8d2cp-7, 0x1.5d8a70ee4c4c5p-10,
                              0x1.446a1f43603c7p-13, 0x1.fe170e6d41510p-17);
  const double power = std::bit_cast<double>(
      std::bit_cast<uint64_t>(q) + (std::bit_cast<uint64_t>(shifted) << 52));
  // Negative if x is and y is odd.
  const float half = 0.5f * y;
  const bool odd = Round(half) != half;
  const float value = static_cast<float>(power);
  const float negative = x < 0.0f ? -value : value;
  return odd ? negative : value;
}

// Of double, what the C library computes.
inline double Exp(double x) { return std::exp(x); }
inline double Log(double x) { return std::log(x); }
inline double Sin(double x) { return std::sin(x); }
inline double Cos(double x) { return std::cos(x); }
inline double Tan(double x) { return std::tan(x); }
inline double Asin(double x) { return std::asin(x); }
inline double Acos(double x) { return std::acos(x); }
inline double Atan(double x) { return std::atan(x); }
inline double Sinh(double x) { return std::sinh(x); }
inline double Cosh(double x) { return std::cosh(x); }
inline double Tanh(double x) { return std::tanh(x); }
inline double Asinh(double x) { return std::asinh(x); }
inline double Acosh(double x) { return std::acosh(x); }
inline double Atanh(double x) { return std::atanh(x); }
inline double Erf(double x) { return std::erf(x); }
inline double Sigmoid(double x) {
  const double e = std::exp(-std::abs(x));
  return (x >= 0 ? 1 : e) / (1 + e);
}

// --- Of many numbers -------------------------------------------------------

// Partial results, so that a sum does not wait for the one before.
constexpr int64_t kPartial = 16;

// The largest of n numbers; NaN if one is, minus infinity if there is none.
template <typename T>
BATON_LOOP inline T LargestOf(const T* x, int64_t n) {
  T lanes[kPartial];
  for (T& lane : lanes) lane = -std::numeric_limits<T>::infinity();
  const auto add = [](T v, T& best) BATON_LOOP {
    const T larger = v > best ? v : best;
    best = v != v ? v : larger;
  };
  int64_t i = 0;
  for (; i + kPartial <= n; i += kPartial) {
    for (int64_t j = 0; j < kPartial; ++j) add(x[i + j], lanes[j]);
  }
  for (; i < n; ++i) add(x[i], lanes[0]);
  for (int64_t half = kPartial / 2; half > 0; half /= 2) {
    for (int64_t j = 0; j < half; ++j) add(lanes[j + half], lanes[j]);
  }
  return lanes[0];
}

// The sum of term(i) for i < n, in an order that depends on n alone.
template <typename Term>
BATON_LOOP inline auto SumOf(int64_t n, const Term& term) {
  using T = decltype(term(n));
  T lanes[kPartial] = {};
  int64_t i = 0;
  for (; i + kPartial <= n; i += kPartial) {
    for (int64_t j = 0; j < kPartial; ++j) lanes[j] += term(i + j);
  }
  for (; i < n; ++i) lanes[0] += term(i);
  for (int64_t half = kPartial / 2; half > 0; half /= 2) {
    for (int64_t j = 0; j < half; ++j) lanes[j] += lanes[j + half];
  }
  return lanes[0];
}

// --- Half floats -----------------------------------------------------------

// float16 and bfloat16, given as bits, as Float16 and BFloat16 convert them.
BATON_LOOP inline float FromHalf(uint16_t half) {
  const uint32_t sign = uint32_t{half & 0x8000u} << 16;
  const uint32_t exponent = half & 0x7c00u;
  const uint32_t magnitude = uint32_t{half & 0x7fffu} << 13;
  // Infinities and NaNs keep the largest exponent.
  const uint32_t bias = exponent == 0x7c00u ? 224u << 23 : 112u << 23;
  const uint32_t subnormal = std::bit_cast<uint32_t>(
      static_cast<float>(static_cast<int32_t>(half & 0x3ffu)) * 0x1p-24f);
  return std::bit_cast<float>(sign |
                              (exponent == 0 ? subnormal : magnitude + bias));
}

BATON_LOOP inline uint16_t ToHalf(float x) {
  const uint32_t wide = std::bit_cast<uint32_t>(x);
  const uint32_t sign = (wide >> 16) & 0x8000u;
  const uint32_t magnitude = wide & 0x7fffffffu;
  const uint32_t nan = 0x7e00u | ((magnitude >> 13) & 0x3ffu);
  // Adding 0.5 aligns the last place of a subnormal float16 with the last
  // place of the sum, so the addition itself rounds.
  const float aligned = std::bit_cast<float>(magnitude) + 0.5f;
  const uint32_t subnormal = std::bit_cast<uint32_t>(aligned) - 0x3f000000u;
  const uint32_t odd = (magnitude >> 13) & 1u;
  const uint32_t normal = (magnitude - 0x38000000u + 0xfffu + odd) >> 13;
  const uint32_t finite = magnitude < 0x38800000u ? subnormal : normal;
  const uint32_t bounded = magnitude >= 0x477ff000u ? 0x7c00u : finite;
  return static_cast<uint16_t>(sign |
                               (magnitude > 0x7f800000u ? nan : bounded));
}

BATON_LOOP inline float FromBFloat(uint16_t x) {
  return std::bit_cast<float>(uint32_t{x} << 16);
}

BATON_LOOP inline uint16_t ToBFloat(float x) {
  const uint32_t wide = std::bit_cast<uint32_t>(x);
  const uint32_t rounded = (wide + 0x7fffu + ((wide >> 16) & 1u)) >> 16;
  const uint32_t nan = (wide >> 16) | 0x40u;
  return static_cast<uint16_t>((wide & 0x7fffffffu) > 0x7f800000u ? nan
                                                                  : rounded);
}

}  // namespace baton::kernels::internal

#endif  // BATON_RUNTIME_KERNELS_INTERNAL_MATH_H_
