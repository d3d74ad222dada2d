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

// log(1 + f) = f + f^2 t for f in [-1/4, 1/2]: t.
BATON_LOOP inline float LogTail(float f) {
  const float p = Polynomial(f, 0x1.55555ap-2f, -0x1.000070p-2f, 0x1.999766p-3f,
                             -0x1.55191cp-3f, 0x1.24624ap-3f, -0x1.04b534p-3f,
                             0x1.df4834p-4f, -0x1.750adep-4f, 0x1.33c9fcp-5f);
  return std::fma(p, f, -0.5f);
}

BATON_LOOP inline float LogNearOne(float f) {
  return std::fma(LogTail(f), f * f, f);
}

// x = 2^e m, m in [3/4, 3/2), of a positive, finite x: m - 1.
BATON_LOOP inline float SplitForLog(float x, float& e) {
  // A subnormal number is scaled by 2^23.
  const bool tiny = x < 0x1p-126f;
  const float scaled = tiny ? x * 0x1p23f : x;
  const uint32_t bits = std::bit_cast<uint32_t>(scaled);
  const uint32_t exponent = (bits - 0x3f400000u) & 0xff800000u;
  e = static_cast<float>(static_cast<int32_t>(exponent)) * 0x1p-23f -
      (tiny ? 23.0f : 0.0f);
  return std::bit_cast<float>(bits - exponent) - 1.0f;
}

// The logarithm of x to any base, where `log` is that of a positive, finite x.
template <typename T>
BATON_LOOP inline T LogOrSpecial(T x, T log) {
  constexpr T kInfinity = std::numeric_limits<T>::infinity();
  const T finite = x < kInfinity ? log : x;  // Also a NaN.
  const T positive = x < T(0) ? std::numeric_limits<T>::quiet_NaN() : finite;
  return x == T(0) ? -kInfinity : positive;
}

// 0.9 ULP.
BATON_LOOP inline float Log(float x) {
  float e;
  const float f = SplitForLog(x, e);
  return LogOrSpecial(x, std::fma(e, 0x1.62e43p-1f, LogNearOne(f)));
}

// 0.9 ULP.
BATON_LOOP inline float Log10(float x) {
  float e;
  const float f = SplitForLog(x, e);
  // Of log10(2), e times the first part is exact.
  const float tail =
      std::fma(f, -0x1.5b235ep-27f, LogTail(f) * (f * f) * 0x1.bcb7b2p-2f);
  const float log =
      std::fma(f, 0x1.bcb7b2p-2f, std::fma(e, 0x1.3509f8p-18f, tail));
  return LogOrSpecial(x, std::fma(e, 0x1.344p-2f, log));
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

// x = 2^e m, m in [0.70710, 1.41421), of a positive, normal, finite x: m - 1.
BATON_LOOP inline float SplitForPower(float x, float& e) {
  const uint32_t bits = std::bit_cast<uint32_t>(x);
  const uint32_t exponent = (bits - 0x3f3504f0u) & 0xff800000u;
  e = static_cast<float>(static_cast<int32_t>(exponent)) * 0x1p-23f;
  return std::bit_cast<float>(bits - exponent) - 1.0f;
}

// log2(2^e (1 + f)) in double: e and the sum take more digits than float has.
BATON_LOOP inline double Log2Of(float fraction, float e) {
  const double f = static_cast<double>(fraction);
  // log2(1 + f) / f, as a sum of even and odd powers: two chains are sooner
  // ready than one.
  const double ff = f * f;
  const double even = Polynomial(ff, 0x1.71547652a44c3p+0, 0x1.ec709ea6af830p-2,
                                 0x1.277658bc65bd5p-2, 0x1.a63df2a9c24a4p-3,
                                 0x1.45303cb9e911bp-3, 0x1.28dc2a1f8b21fp-3,
                                 0x1.356867a00919dp-4);
  const double uneven = Polynomial(
      ff, -0x1.715476572cf5bp-1, -0x1.71546f4839e38p-2, -0x1.ec7352d40ba84p-3,
      -0x1.7131f0b00899dp-3, -0x1.25de252967a36p-3, -0x1.21b06dcf18491p-3);
  const double p = std::fma(uneven, f, even);
  return std::fma(p, f, static_cast<double>(e));
}

// (2^e (1 + f))^y.
BATON_LOOP inline float PowerOf(float fraction, float e, float y) {
  const double product = static_cast<double>(y) * Log2Of(fraction, e);
  const double above = product < -200.0 ? -200.0 : product;
  const double bounded = above > 200.0 ? 200.0 : above;
  // 2^bounded = 2^n 2^r.
  constexpr double kMagic = 0x1.8p52;
  const double shifted = bounded + kMagic;
  const double r = bounded - (shifted - kMagic);
  const double q = Polynomial(r, 0x1.0000000000000p+0, 0x1.62e430d034702p-1,
                              0x1.ebfbe045f4d3cp-3, 0x1.c6aecc669b6ddp-5,
                              0x1.3b2a1b7152befp-7, 0x1.5f48c04f62e50p-10,
                              0x1.443fffc90db59p-13);
  return static_cast<float>(std::bit_cast<double>(
      std::bit_cast<uint64_t>(q) + (std::bit_cast<uint64_t>(shifted) << 52)));
}

// Whether PlainPower serves.
BATON_LOOP inline bool IsPlainPower(float x, float y) {
  const uint32_t bits = std::bit_cast<uint32_t>(x);
  const int normal = bits - 0x00800000u < 0x7f000000u ? 1 : 0;
  return (normal &
          (std::abs(y) < std::numeric_limits<float>::infinity() ? 1 : 0)) != 0;
}

// The same as Power, of a positive, normal, finite x and a finite y.
BATON_LOOP inline float PlainPower(float x, float y) {
  float e;
  const float f = SplitForPower(x, e);
  return PowerOf(f, e, y);
}

// 0.6 ULP.
BATON_LOOP inline float Power(float x, float y) {
  const float a = std::abs(x);
  // A subnormal number is scaled by 2^23.
  const bool tiny = a < 0x1p-126f;
  float e;
  const float f = SplitForPower(tiny ? a * 0x1p23f : a, e);
  const float value = PowerOf(f, e - (tiny ? 23.0f : 0.0f), y);
  // Negative if x is and y is odd.
  const float half = 0.5f * y;
  const bool odd = Round(half) != half;
  const float negative = x < 0.0f ? -value : value;
  return odd ? negative : value;
}

// 0.6 ULP.
BATON_LOOP inline float Log2(float x) {
  // A subnormal number is scaled by 2^23.
  const bool tiny = x < 0x1p-126f;
  float e;
  const float f = SplitForPower(tiny ? x * 0x1p23f : x, e);
  return LogOrSpecial(x,
                      static_cast<float>(Log2Of(f, e - (tiny ? 23.0f : 0.0f))));
}

// Of double. 0.9 ULP.
BATON_LOOP inline double Exp(double x) {
  // Beyond these all is 0 or infinite. A NaN passes.
  const double above = x < -750.0 ? -750.0 : x;
  const double bounded = above > 750.0 ? 750.0 : above;
  constexpr double kMagic = 0x1.8p52;
  const double shifted = std::fma(bounded, 0x1.71547652b82fep+0, kMagic);
  const double n = shifted - kMagic;
  const double r = std::fma(n, -0x1.abc9e3b39803fp-56,
                            std::fma(n, -0x1.62e42fefa39efp-1, bounded));
  const double p = Polynomial(
      r, 0x1.0000000000000p-1, 0x1.5555555555557p-3, 0x1.5555555555556p-5,
      0x1.11111111100bep-7, 0x1.6c16c16c162c3p-10, 0x1.a01a01abf85abp-13,
      0x1.a01a01a6e1e2ap-16, 0x1.71de01fdbf9cap-19, 0x1.27e4db46cddd1p-22,
      0x1.af4e554377204p-26, 0x1.1f7340dbc337ep-29);
  const double e = 1.0 + std::fma(p, r * r, r);
  // By two powers of 2, as of float.
  const uint64_t k =
      std::bit_cast<uint64_t>(shifted) - std::bit_cast<uint64_t>(kMagic);
  const uint64_t half = ((k + 4096u) >> 1) - 2048u;
  const auto power = [](uint64_t i) BATON_LOOP {
    return std::bit_cast<double>((i + 1023u) << 52);
  };
  return e * power(half) * power(k - half);
}

// 0.9 ULP.
BATON_LOOP inline double Log(double x) {
  // A subnormal number is scaled by 2^54.
  const bool tiny = x < 0x1p-1022;
  const double scaled = tiny ? x * 0x1p54 : x;
  // 2^e m, m in [0.70710, 1.41421).
  const uint64_t bits = std::bit_cast<uint64_t>(scaled);
  constexpr uint64_t kLow = 0x3fe6a09e00000000u;
  // Biased by 2048, so that it is positive.
  constexpr uint64_t kBias = uint64_t{2048} << 52;
  const uint64_t biased = (bits - kLow + kBias) >> 52;
  const double m = std::bit_cast<double>(bits + kBias - (biased << 52));
  // In the last bits of 2^52.
  const double e = std::bit_cast<double>(biased | 0x4330000000000000u) -
                   (0x1p52 + 2048.0) - (tiny ? 54.0 : 0.0);
  // log(1 + f) = log((1 + s) / (1 - s)) = f - f^2 / 2 + s (f^2 / 2 + z p).
  const double f = m - 1.0;
  const double s = f / (2.0 + f);
  const double z = s * s;
  const double p = Polynomial(z, 0x1.5555555555558p-1, 0x1.9999999995273p-2,
                              0x1.2492492dfd86cp-2, 0x1.c71c62d5e53e0p-3,
                              0x1.7462b91b8df65p-3, 0x1.39fdcceb4bb45p-3,
                              0x1.2b5f68a50d903p-3);
  const double square = 0.5 * f * f;
  // ln 2 in two parts: e times the first is exact.
  const double tail =
      std::fma(e, 0x1.a39ef35793c76p-33, s * std::fma(p, z, square));
  const double log = std::fma(e, 0x1.62e42feep-1, f - (square - tail));
  return LogOrSpecial(x, log);
}

// 1.5 ULP.
BATON_LOOP inline double Tanh(double x) {
  const double a = std::abs(x);
  const double z = x * x;
  const double p = Polynomial(
      z, -0x1.5555555555555p-2, 0x1.11111111110e3p-3, -0x1.ba1ba1ba15aebp-5,
      0x1.664f4880554fbp-6, -0x1.226e34dbd0684p-7, 0x1.d6d3b04c2af56p-9,
      -0x1.7da0cde84c945p-10, 0x1.35354b03d7e73p-11, -0x1.f304ef3209573p-13,
      0x1.876bb46cd1ca2p-14, -0x1.0d234b1490b87p-15, 0x1.d13bdfa704373p-18);
  const double small = std::fma(p, z * a, a);
  const double large = 1.0 - 2.0 / (Exp(2.0 * a) + 1.0);
  return std::copysign(a < 0.6 ? small : large, x);
}

BATON_LOOP inline double Sigmoid(double x) {
  const double e = Exp(-std::abs(x));
  return (x >= 0.0 ? 1.0 : e) / (1.0 + e);
}

// What the C library computes.
inline double Log2(double x) { return std::log2(x); }
inline double Log10(double x) { return std::log10(x); }
inline double Sin(double x) { return std::sin(x); }
inline double Cos(double x) { return std::cos(x); }
inline double Tan(double x) { return std::tan(x); }
inline double Asin(double x) { return std::asin(x); }
inline double Acos(double x) { return std::acos(x); }
inline double Atan(double x) { return std::atan(x); }
inline double Sinh(double x) { return std::sinh(x); }
inline double Cosh(double x) { return std::cosh(x); }
inline double Asinh(double x) { return std::asinh(x); }
inline double Acosh(double x) { return std::acosh(x); }
inline double Atanh(double x) { return std::atanh(x); }
inline double Erf(double x) { return std::erf(x); }

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
  const uint32_t magnitude = uint32_t{half & 0x7fffu} << 13;
  // The multiplication corrects the exponent, of subnormal numbers too.
  // Infinities and NaNs get the largest.
  const uint32_t finite =
      std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) * 0x1p112f);
  const uint32_t other = magnitude >= 0x0f800000u ? 0x7f800000u : 0u;
  return std::bit_cast<float>(sign | finite | other);
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
