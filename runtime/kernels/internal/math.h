// Branch-free functions of one number, for the loops of internal/vectorize.h:
// no calls that remain after inlining, no undefined behaviour, the same bytes
// for every width of vectors.

#ifndef BATON_RUNTIME_KERNELS_INTERNAL_MATH_H_
#define BATON_RUNTIME_KERNELS_INTERNAL_MATH_H_

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "baton/runtime/kernels/internal/vectorize.h"

namespace baton::kernels::internal {

// Numbers of at least this magnitude have no fraction.
template <typename T>
constexpr T kWhole = T(1) / std::numeric_limits<T>::epsilon();

// The unsigned integer type with the bits of T.
template <typename T>
using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;

// Rounds to the nearest whole number, ties to even. A zero has the sign of `x`.
// Here and below, T is float or double.
template <typename T>
BATON_LOOP inline T Round(T x) {
  // The sum has no bits for a fraction.
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

// The remainder of x / y. Exact if `in_domain`: if the quotient has bits for a
// fraction and y is finite.
template <typename T>
BATON_LOOP inline T Remainder(T x, T y, bool& in_domain) {
  const T a = std::abs(x);
  const T b = std::abs(y);
  const T quotient = a / b;
  const int small = (quotient < T(0.5) * kWhole<T> ? 1 : 0) &
                    (b < std::numeric_limits<T>::infinity() ? 1 : 0);
  in_domain = small != 0;
  // The nearest whole number. What it leaves is less than b, and a multiple of
  // the last places of a and b, or of one of them: a T represents it.
  const T whole = (quotient + kWhole<T>)-kWhole<T>;
  const T rest = std::fma(-whole, b, a);
  return std::copysign(rest < T(0) ? rest + b : rest, x);
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
// 2^-25 of the result. The comment of each function states the largest error
// that math_test finds, in units in the last place (ULP).

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

// x 2^k for 1/2 <= x <= 2, -250 <= k <= 250. Multiplies by two powers of 2, so
// that neither overflows and only the second multiplication rounds. 0 for k =
// -254.
BATON_LOOP inline float Scaled(float x, uint32_t k) {
  const uint32_t half = ((k + 256u) >> 1) - 128u;
  return x * PowerOfTwo(half) * PowerOfTwo(k - half);
}

BATON_LOOP inline double ReducedExp(double x, uint64_t& k) {
  constexpr double kMagic = 0x1.8p52;
  const double shifted = std::fma(x, 0x1.71547652b82fep+0, kMagic);
  const double n = shifted - kMagic;
  k = std::bit_cast<uint64_t>(shifted) - std::bit_cast<uint64_t>(kMagic);
  const double r = std::fma(n, -0x1.abc9e3b39803fp-56,
                            std::fma(n, -0x1.62e42fefa39efp-1, x));
  const double p = Polynomial(
      r, 0x1.0000000000000p-1, 0x1.5555555555557p-3, 0x1.5555555555556p-5,
      0x1.11111111100bep-7, 0x1.6c16c16c162c3p-10, 0x1.a01a01abf85abp-13,
      0x1.a01a01a6e1e2ap-16, 0x1.71de01fdbf9cap-19, 0x1.27e4db46cddd1p-22,
      0x1.af4e554377204p-26, 0x1.1f7340dbc337ep-29);
  return 1.0 + std::fma(p, r * r, r);
}

// 2^k, -1022 <= k <= 1023.
BATON_LOOP inline double PowerOfTwo(uint64_t k) {
  return std::bit_cast<double>((k + 1023u) << 52);
}

// x 2^k for 1/2 <= x <= 2, -2000 <= k <= 2000. 0 for k = -2046.
BATON_LOOP inline double Scaled(double x, uint64_t k) {
  const uint64_t half = ((k + 4096u) >> 1) - 2048u;
  return x * PowerOfTwo(half) * PowerOfTwo(k - half);
}

// 1 ULP.
template <typename T>
BATON_LOOP inline T Exp(T x) {
  // Outside of these bounds results are 0 or infinite. NaN is kept.
  constexpr T kLowest = sizeof(T) == 4 ? T(-105) : T(-750);
  constexpr T kHighest = sizeof(T) == 4 ? T(90) : T(750);
  // k = -254 or -2046 for this argument: the powers of 2 of Scaled() are then 0,
  // and products of 0 take less time than those that are too small for a number.
  constexpr T kZero = sizeof(T) == 4 ? T(-176) : T(-1418.2);
  const T above = x < kLowest ? kZero : x;
  const T bounded = above > kHighest ? kHighest : above;
  Bits<T> k;
  const T e = ReducedExp(bounded, k);
  return Scaled(e, k);
}

// Exp(x) for x <= 0 or NaN, in fewer steps.
template <typename T>
BATON_LOOP inline T ExpOfNonPositive(T x) {
  constexpr bool kIsFloat = sizeof(T) == 4;
  constexpr T kLowest = kIsFloat ? T(-105) : T(-750);
  // The first power of 2 below is 0 for the k of this argument.
  constexpr T kZero = kIsFloat ? T(-132.4) : T(-1064);
  constexpr Bits<T> kRaised = kIsFloat ? 64 : 512;
  constexpr T kLowered = kIsFloat ? T(0x1p-64) : T(0x1p-512);
  const T bounded = x < kLowest ? kZero : x;
  Bits<T> k;
  const T e = ReducedExp(bounded, k);
  // Only the second multiplication rounds.
  return e * PowerOfTwo(k + kRaised) * kLowered;
}

// True for arguments of Exp with finite and normal results.
template <typename T>
BATON_LOOP inline bool IsPlainExp(T x) {
  return std::abs(x) < (sizeof(T) == 4 ? T(87) : T(708));
}
template <typename T>
BATON_LOOP inline T PlainExp(T x) {
  Bits<T> k;
  const T e = ReducedExp(x, k);
  return e * PowerOfTwo(k);
}

// e^x / 2, x >= 0.
BATON_LOOP inline float HalfExp(float x) {
  const float bounded = x > 90.0f ? 90.0f : x;
  uint32_t k;
  const float e = ReducedExp(bounded, k);
  return e * PowerOfTwo(k - 3u) * 4.0f;
}
BATON_LOOP inline double HalfExp(double x) {
  const double bounded = x > 720.0 ? 720.0 : x;
  uint64_t k;
  const double e = ReducedExp(bounded, k);
  return Scaled(e, k - 1u);
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

// x = 2^e m, m in [3/4, 3/2), for a positive, normal, finite x. Returns m - 1.
BATON_LOOP inline float SplitForLog(float x, float& e) {
  const uint32_t bits = std::bit_cast<uint32_t>(x);
  const uint32_t exponent = (bits - 0x3f400000u) & 0xff800000u;
  e = static_cast<float>(static_cast<int32_t>(exponent)) * 0x1p-23f;
  return std::bit_cast<float>(bits - exponent) - 1.0f;
}

// Logarithms of x 2^-shift, for a positive, normal, finite x. 0.9 ULP.
BATON_LOOP inline float NormalLog(float x, float shift) {
  float e;
  const float f = SplitForLog(x, e);
  return std::fma(e - shift, 0x1.62e43p-1f, LogNearOne(f));
}

BATON_LOOP inline float NormalLog10(float x, float shift) {
  float e;
  const float f = SplitForLog(x, e);
  e -= shift;
  // e times the first part of log10(2) is exact.
  const float tail =
      std::fma(f, -0x1.5b235ep-27f, LogTail(f) * (f * f) * 0x1.bcb7b2p-2f);
  const float log =
      std::fma(f, 0x1.bcb7b2p-2f, std::fma(e, 0x1.3509f8p-18f, tail));
  return std::fma(e, 0x1.344p-2f, log);
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

// x = 2^e m, m in [0.70710, 1.41421), where `bits` are the bits of a positive,
// normal, finite x. Returns m - 1. The number e is biased, so that it is
// positive.
constexpr uint64_t kLogLow = 0x3fe6a09e00000000u;
constexpr uint64_t kLogBias = uint64_t{2048} << 52;
BATON_LOOP inline double SplitBits(uint64_t bits, uint64_t& e) {
  e = (bits - kLogLow + kLogBias) >> 52;
  return std::bit_cast<double>(bits + kLogBias - (e << 52)) - 1.0;
}

BATON_LOOP inline double SplitForLog(double x, double& e) {
  uint64_t biased;
  const double f = SplitBits(std::bit_cast<uint64_t>(x), biased);
  // Puts e into the last bits of 2^52.
  e = std::bit_cast<double>(biased | 0x4330000000000000u) - (0x1p52 + 2048.0);
  return f;
}

// f - log(1 + f) = f^2 / 2 - s (f^2 / 2 + z p) for s = f / (2 + f), z = s^2, as
// log(1 + f) = log((1 + s) / (1 - s)).
BATON_LOOP inline double LogRest(double f) {
  const double s = f / (2.0 + f);
  const double z = s * s;
  const double p = Polynomial(z, 0x1.5555555555558p-1, 0x1.9999999995273p-2,
                              0x1.2492492dfd86cp-2, 0x1.c71c62d5e53e0p-3,
                              0x1.7462b91b8df65p-3, 0x1.39fdcceb4bb45p-3,
                              0x1.2b5f68a50d903p-3);
  const double square = 0.5 * f * f;
  return square - s * std::fma(p, z, square);
}

// e log(2) + log(1 + f). e times the first part of log(2) is exact.
BATON_LOOP inline double LogSum(double f, double e) {
  const double tail = std::fma(e, 0x1.a39ef35793c76p-33, -LogRest(f));
  return std::fma(e, 0x1.62e42feep-1, f + tail);
}

BATON_LOOP inline double NormalLog(double x, double shift) {
  double e;
  const double f = SplitForLog(x, e);
  return LogSum(f, e - shift);
}

BATON_LOOP inline double NormalLog2(double x, double shift) {
  double e;
  const double f = SplitForLog(x, e);
  const double tail =
      std::fma(f, 0x1.777d0ffda0d24p-56, -0x1.71547652b82fep+0 * LogRest(f));
  return (e - shift) + std::fma(f, 0x1.71547652b82fep+0, tail);
}

BATON_LOOP inline double NormalLog10(double x, double shift) {
  double e;
  const double f = SplitForLog(x, e);
  e -= shift;
  // e times the first part of log10(2) is exact.
  const double tail =
      std::fma(f, 0x1.95355baaafad3p-57, -0x1.bcb7b1526e50ep-2 * LogRest(f));
  const double log = std::fma(f, 0x1.bcb7b1526e50ep-2,
                              std::fma(e, 0x1.3fde623e2566bp-43, tail));
  return std::fma(e, 0x1.34413509f7p-2, log);
}

// log(1 + u), u >= 0 or NaN, as for float.
BATON_LOOP inline double LogOnePlus(double u) {
  uint64_t biased;
  SplitBits(std::bit_cast<uint64_t>(u + 1.0), biased);
  // 4 / 2^e, which is a normal number where 1 / 2^e is not.
  const double scale =
      std::bit_cast<double>((uint64_t{1025 + 2048} - biased) << 52);
  const double f = std::fma(0.25 * u, scale, std::fma(0.25, scale, -1.0));
  const double e =
      std::bit_cast<double>(biased | 0x4330000000000000u) - (0x1p52 + 2048.0);
  const double log = LogSum(f, e);
  return u < std::numeric_limits<double>::infinity() ? log : u;
}

// The range of arguments of Sin, Cos and Tan. Beyond it the remainder of a
// division by pi / 2 needs more digits.
BATON_LOOP inline bool IsNearZero(float x) { return std::abs(x) < 0x1.8p16f; }
BATON_LOOP inline bool IsNearZero(double x) { return std::abs(x) < 0x1p30; }

// x less the nearest multiple of pi / 2; the lowest two bits of `quadrant`
// identify the multiple.
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

// x - n pi. The first product is exact in the difference.
BATON_LOOP inline double LessMultipleOfPi(double x, double n) {
  const double r = std::fma(n, -0x1.1a62633145c07p-53,
                            std::fma(n, -0x1.921fb54442d18p+1, x));
  return std::fma(n, 0x1.f1976b7ed8fbcp-109, r);
}

// sin(r) for |r| <= pi / 2, negated if the last bit of `quadrant` is 1.
BATON_LOOP inline double SignedSin(double r, uint64_t quadrant) {
  const double z = r * r;
  const double p = Polynomial(z, -0x1.5555555555555p-3, 0x1.11111111110c1p-7,
                              -0x1.a01a01a0148bap-13, 0x1.71de3a5287b42p-19,
                              -0x1.ae6454cb4e44bp-26, 0x1.6123cb26b1031p-33,
                              -0x1.ae431cfa763aap-41, 0x1.882991f7f8bcfp-49);
  const double sin = std::fma(p, z * r, r);
  return std::bit_cast<double>(std::bit_cast<uint64_t>(sin) ^ (quadrant << 63));
}

// 1.7 ULP; Cos as well.
BATON_LOOP inline double Sin(double x) {
  constexpr double kMagic = 0x1.8p52;
  const double shifted = std::fma(x, 0x1.45f306dc9c883p-2, kMagic);
  const double r = LessMultipleOfPi(x, shifted - kMagic);
  const double sin = SignedSin(r, std::bit_cast<uint64_t>(shifted));
  return x == 0.0 ? x : sin;
}

// cos(r + (n + 1/2) pi) is sin(r), negative if n is even.
BATON_LOOP inline double Cos(double x) {
  constexpr double kMagic = 0x1.8p52 + 1.0;
  const double shifted = std::fma(x, 0x1.45f306dc9c883p-2, -0.5) + kMagic;
  const double r = LessMultipleOfPi(x, (shifted - kMagic) + 0.5);
  return SignedSin(r, std::bit_cast<uint64_t>(shifted));
}

BATON_LOOP inline double ReduceAngle(double x, uint64_t& quadrant) {
  constexpr double kMagic = 0x1.8p52;
  const double shifted = std::fma(x, 0x1.45f306dc9c883p-1, kMagic);
  quadrant = std::bit_cast<uint64_t>(shifted);
  return LessMultipleOfPi(x, 0.5 * (shifted - kMagic));
}

// tan(r) for |r| <= pi / 4, where z = r^2.
BATON_LOOP inline float TanNearZero(float r, float z) {
  const float t = Polynomial(z, 0x1.555560p-2f, 0x1.110d9ap-3f, 0x1.badad8p-5f,
                             0x1.5cb318p-6f, 0x1.631be4p-7f, 0x1.642a98p-14f,
                             0x1.1f07cap-8f);
  return std::fma(t, z * r, r);
}
BATON_LOOP inline double TanNearZero(double r, double z) {
  const double t = Polynomial(
      z, 0x1.555555555555dp-2, 0x1.1111111110674p-3, 0x1.ba1ba1bab68b5p-5,
      0x1.664f485f023efp-6, 0x1.226e3a44ba1efp-7, 0x1.d6d2f1a69c19p-9,
      0x1.7db1004ea29fep-10, 0x1.34c1b48e7b858p-11, 0x1.fede1830f646ep-13,
      0x1.601777e49a768p-14, 0x1.16fd0a8abc948p-14, -0x1.9f08404f79f93p-16,
      0x1.91b121c324ab9p-15, -0x1.90fda5ac72557p-16, 0x1.4601bd0f389d5p-17);
  return std::fma(t, z * r, r);
}

// 2.4 ULP.
template <typename T>
BATON_LOOP inline T Tan(T x) {
  Bits<T> quadrant;
  const T r = ReduceAngle(x, quadrant);
  const T tan = TanNearZero(r, r * r);
  const T inverse = T(-1) / tan;
  const T value = (quadrant & 1u) != 0 ? inverse : tan;
  return x == T(0) ? x : value;
}

// asin(r) for r in [0, 1/2], where z = r^2.
BATON_LOOP inline float AsinNearZero(float r, float z) {
  const float p = Polynomial(z, 0x1.5555c8p-3f, 0x1.330204p-4f, 0x1.747bb8p-5f,
                             0x1.8c3e50p-6f, 0x1.595c60p-5f);
  return std::fma(p, z * r, r);
}

BATON_LOOP inline double AsinNearZero(double r, double z) {
  const double p = Polynomial(
      z, 0x1.5555555555577p-3, 0x1.333333332e101p-4, 0x1.6db6db7214303p-5,
      0x1.f1c71a9463ca1p-6, 0x1.6e8bdeedea6b1p-6, 0x1.1c49ef8299341p-6,
      0x1.ca1f9ff0c10cap-7, 0x1.7584feca8c63p-7, 0x1.613f5dbb8bb44p-7,
      0x1.e5cdc4363327bp-9, 0x1.63a7d0d55c0ep-6, -0x1.580cb0b5d7957p-6,
      0x1.0b4b40ce40252p-5);
  return std::fma(p, z * r, r);
}

// x if `sign` is positive, otherwise -x.
template <typename T>
BATON_LOOP inline T Signed(T x, T sign) {
  return std::bit_cast<T>(
      std::bit_cast<Bits<T>>(x) ^
      (std::bit_cast<Bits<T>>(sign) & std::bit_cast<Bits<T>>(T(-0.0))));
}

// The product of these is pi / 2 with many more digits than either has.
template <typename T>
constexpr T kHalfPiA = T(0x1.ddc7441e56ed7p-1);
template <>
inline constexpr float kHalfPiA<float> = 0x1.ddcb02p-1f;
template <typename T>
constexpr T kHalfPiB = T(0x1.aeed35ec6ca11p+0);
template <>
inline constexpr float kHalfPiB<float> = 0x1.aee9d6p+0f;

// 1.8 ULP.
template <typename T>
BATON_LOOP inline T Asin(T x) {
  const T a = std::abs(x);
  const bool large = a > T(0.5);
  const T z = large ? T(0.5) * (T(1) - a) : a * a;
  const T root = std::sqrt(z);
  const T r = AsinNearZero(large ? root : a, z);
  const T other = std::fma(kHalfPiA<T>, kHalfPiB<T>, T(-2) * r);
  return std::copysign(large ? other : r, x);
}

template <typename T>
BATON_LOOP inline T Acos(T x) {
  const T a = std::abs(x);
  const bool large = a > T(0.5);
  const T z = large ? T(0.5) * (T(1) - a) : a * a;
  const T root = std::sqrt(z);
  const T r = AsinNearZero(large ? root : a, z);
  // pi/2 - asin(x), 2 r, or pi - 2 r.
  const T beyond = x < T(0) ? T(2) * kHalfPiA<T> : T(0);
  return std::fma(large ? beyond : kHalfPiA<T>, kHalfPiB<T>,
                  Signed(large ? T(2) * r : -r, x));
}

// atan(r) for r in [0, 1], where z = r^2.
BATON_LOOP inline float AtanNearZero(float r, float z) {
  const float p =
      Polynomial(z, -0x1.55553ep-2f, 0x1.9991eap-3f, -0x1.2420fap-3f,
                 0x1.c092dep-4f, -0x1.5820f8p-4f, 0x1.da8a34p-5f,
                 -0x1.fe581cp-6f, 0x1.652948p-7f, -0x1.d5581ap-10f);
  return std::fma(p, z * r, r);
}
BATON_LOOP inline double AtanNearZero(double r, double z) {
  const double p = Polynomial(
      z, -0x1.555555555544cp-2, 0x1.99999999840d2p-3, -0x1.2492491fa1753p-3,
      0x1.c71c709dfec38p-4, -0x1.745d022f90d5ep-4, 0x1.3b12b2db722b6p-4,
      -0x1.11089caa998c9p-4, 0x1.e17813e0a96b9p-5, -0x1.ad32ae2d8827bp-5,
      0x1.7ee3d46e4d315p-5, -0x1.4f44d95af9eefp-5, 0x1.171562bd04e29p-5,
      -0x1.a725751c7ff45p-6, 0x1.162b1073d33cp-6, -0x1.2cf5b2c19967fp-7,
      0x1.f9691e0d8e79ap-9, -0x1.312795f00bb52p-10, 0x1.d3b65579588bfp-13,
      -0x1.53e1e6767df7ap-16);
  return std::fma(p, z * r, r);
}

// 1.7 ULP.
template <typename T>
BATON_LOOP inline T Atan(T x) {
  const T a = std::abs(x);
  const T inverse = T(1) / a;
  const bool large = a > T(1);
  const T r = large ? inverse : a;
  const T atan = AtanNearZero(r, r * r);
  const T other = std::fma(kHalfPiA<T>, kHalfPiB<T>, -atan);
  return std::copysign(large ? other : atan, x);
}

// sinh(a) for a in [0, 1], where z = a^2.
BATON_LOOP inline float SinhNearZero(float a, float z) {
  const float p = Polynomial(z, 0x1.555556p-3f, 0x1.1110e0p-7f, 0x1.a022bcp-13f,
                             0x1.756c1ep-19f);
  return std::fma(p, z * a, a);
}
BATON_LOOP inline double SinhNearZero(double a, double z) {
  const double p = Polynomial(z, 0x1.5555555555556p-3, 0x1.11111111110a6p-7,
                              0x1.a01a01a02899dp-13, 0x1.71de3a465b1e1p-19,
                              0x1.ae64671b19125p-26, 0x1.611a561d7ed35p-33,
                              0x1.b4c75ab4bf852p-41);
  return std::fma(p, z * a, a);
}

// 1.6 ULP; Cosh as well.
template <typename T>
BATON_LOOP inline T Sinh(T x) {
  const T a = std::abs(x);
  const T small = SinhNearZero(a, x * x);
  const T half = HalfExp(a);
  const T large = half - T(0.25) / half;
  return std::copysign(a < T(1) ? small : large, x);
}

template <typename T>
BATON_LOOP inline T Cosh(T x) {
  const T half = HalfExp(std::abs(x));
  return half + T(0.25) / half;
}

// 1.5 ULP.
BATON_LOOP inline float Tanh(float x) {
  const float a = std::abs(x);
  const float z = x * x;
  const float p = Polynomial(z, -0x1.55553ep-2f, 0x1.1109bep-3f,
                             -0x1.b89abap-5f, 0x1.54c3c2p-6f, -0x1.828776p-8f);
  const float small = std::fma(p, z * a, a);
  // The result is 1 from 9.02 on.
  const float bounded = a > 10.0f ? 10.0f : a;
  uint32_t k;
  const float e = ReducedExp(2.0f * bounded, k) * PowerOfTwo(k);
  const float large = 1.0f - 2.0f / (e + 1.0f);
  return std::copysign(a < 0.6f ? small : large, x);
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
  // The result is 1 from 19.07 on.
  const double bounded = a > 20.0 ? 20.0 : a;
  uint64_t k;
  const double e = ReducedExp(2.0 * bounded, k) * PowerOfTwo(k);
  const double large = 1.0 - 2.0 / (e + 1.0);
  return std::copysign(a < 0.6 ? small : large, x);
}

// From this magnitude on, x^2 and x^2 + 1 have the same root.
template <typename T>
constexpr T kLarge = std::is_same_v<T, float> ? T(0x1p13) : T(0x1p28);

template <typename T>
constexpr T kLogTwo = T(0x1.62e42fefa39efp-1);

// 2.1 ULP; the other inverses of hyperbolic functions as well.
template <typename T>
BATON_LOOP inline T Asinh(T x) {
  const T a = std::abs(x);
  const bool large = a > kLarge<T>;
  const T b = large ? T(1) : a;
  // asinh(b) = log(1 + b + b^2 / (1 + sqrt(1 + b^2))).
  const T z = b * b;
  const T root = std::sqrt(z + T(1));
  const T u = b + z / (T(1) + root);
  const T log = LogOnePlus(large ? a - T(1) : u);
  return std::copysign(large ? log + kLogTwo<T> : log, x);
}

template <typename T>
BATON_LOOP inline T Acosh(T x) {
  const bool large = x > kLarge<T>;
  const T t = x - T(1);
  const T b = large ? T(1) : t;
  const T u = b + std::sqrt(std::fma(b, b, T(2) * b));
  const T log = LogOnePlus(large ? t : u);
  const T value = large ? log + kLogTwo<T> : log;
  return x < T(1) ? std::numeric_limits<T>::quiet_NaN() : value;
}

template <typename T>
BATON_LOOP inline T Atanh(T x) {
  const T a = std::abs(x);
  const T log = LogOnePlus(T(2) * a / (T(1) - a));
  const T value = a > T(1) ? std::numeric_limits<T>::quiet_NaN() : T(0.5) * log;
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
  // erf(b) = 1 - e^-q(b); the result is 1 from 3.92 on.
  const float b = a > 3.92f ? 3.92f : a;
  const float q = Polynomial(b, -0x1.8b44e2p-13f, 0x1.212c2ep+0f,
                             0x1.4434ecp-1f, 0x1.bc18eep-4f, -0x1.9d0beep-6f,
                             0x1.1398a2p-8f, -0x1.cee78ap-12f, 0x1.6bfdd2p-16f);
  const float large = 1.0f - Exp(-q);
  return std::copysign(a < 1.0f ? small : large, x);
}

// Calls the C library.
inline double Erf(double x) { return std::erf(x); }

// The logistic function.
template <typename T>
BATON_LOOP inline T Sigmoid(T x) {
  // The argument of Exp is not positive: the result cannot overflow.
  const T e = Exp(-std::abs(x));
  return (x >= T(0) ? T(1) : e) / (T(1) + e);
}

// True for ordinary arguments of Power; others are special cases.
template <typename T>
BATON_LOOP inline bool IsOrdinaryPower(T x, T y) {
  const T a = std::abs(x);
  constexpr T kInfinity = std::numeric_limits<T>::infinity();
  // Integers without short circuits have no branches, so they can be
  // vectorized.
  const int finite = (a > T(0) ? 1 : 0) & (a < kInfinity ? 1 : 0) &
                     (std::abs(y) < kInfinity ? 1 : 0);
  const int real = (x > T(0) ? 1 : 0) | (Round(y) == y ? 1 : 0);
  return (finite & real) != 0;
}

// base + f p as an unevaluated sum, where base and p have low parts: the result
// and `low`, which is small beside it.
template <typename T>
BATON_LOOP inline T SumWithLow(T base, T base_low, T f, T p, T p_low, T& low) {
  const T product = f * p;
  const T product_low = std::fma(f, p_low, std::fma(f, p, -product));
  const T sum = base + product;
  low = ((base - sum) + product) + (product_low + base_low);
  return sum;
}

// (x + x_low) y as an unevaluated sum of the result and `low`.
template <typename T>
BATON_LOOP inline T ProductWithLow(T x, T x_low, T y, T& low) {
  const T product = x * y;
  low = std::fma(x_low, y, std::fma(x, y, -product));
  return product;
}

// Splits a positive, normal, finite x such that log2(x 2^-shift) = base +
// base_low + log2(1 + f), |f| <= 0.2. Returns f. base_low is small beside base.
BATON_LOOP inline float SplitForLog2(float x, float shift, float& base,
                                     float& base_low) {
  // x = 2^e m, m in [0.8, 1.6).
  const uint32_t bits = std::bit_cast<uint32_t>(x);
  const uint32_t exponent = (bits - 0x3f4ccccdu) & 0xff800000u;
  const float m = std::bit_cast<float>(bits - exponent);
  const float e =
      static_cast<float>(static_cast<int32_t>(exponent)) * 0x1p-23f - shift;
  // m = 1 + f or 4/3 (1 + f); f is exact. The sum of e and the first part of
  // log2(4/3) is exact.
  const bool low_half = m < 8.0f / 7.0f;
  base = e + (low_half ? 0.0f : 0x1.a8fp-2f);
  base_low = low_half ? 0.0f : 0x1.f2e302p-15f;
  return std::fma(m, low_half ? 1.0f : 0.75f, -1.0f);
}

// log2(x 2^-shift) for a positive, normal, finite x. 0.9 ULP.
BATON_LOOP inline float NormalLog2(float x, float shift) {
  float base, base_low;
  const float f = SplitForLog2(x, shift, base, base_low);
  // A sum of even and odd powers: two chains finish sooner than one.
  const float ff = f * f;
  const float even = Polynomial(ff, 0x1.ec709cp-2f, 0x1.27789ap-2f,
                                0x1.a50a24p-3f, 0x1.659aecp-3f);
  const float uneven =
      Polynomial(ff, -0x1.71551cp-2f, -0x1.ebc87cp-3f, -0x1.8abddap-3f);
  const float p2 = std::fma(uneven, f, even);
  // log2(1 + f) = (c + low) f + (-c / 2) f^2 + p2 f^3.
  constexpr float kC = 0x1.715476p+0f;
  const float p1 = std::fma(f, p2, -0.5f * kC);
  const float tail = std::fma(f, 0x1.4ae0cp-26f, std::fma(ff, p1, base_low));
  return base + std::fma(f, kC, tail);
}

// As NormalLog2, more accurate, as an unevaluated sum of the result and `low`,
// which is smaller by 22 binary digits. The error is below 2^-30 of the sum.
BATON_LOOP inline float Log2Of(float x, float shift, float& low) {
  float base, base_low;
  const float f = SplitForLog2(x, shift, base, base_low);
  // log2(1 + f) / f. Two coefficients and the sums with them have twice the
  // digits.
  const float ff = f * f;
  const float even = Polynomial(ff, 0x1.ec709cp-2f, 0x1.27786cp-2f,
                                0x1.a521e6p-3f, 0x1.64226ap-3f);
  const float uneven = Polynomial(ff, -0x1.715474p-2f, -0x1.ec7452p-3f,
                                  -0x1.705a42p-3f, -0x1.4228e4p-3f);
  const float p2 = std::fma(uneven, f, even);
  constexpr float kC1 = -0x1.715476p-1f;
  constexpr float kC0 = 0x1.715476p+0f;
  const float p1 = std::fma(f, p2, kC1);
  const float low1 = std::fma(f, p2, kC1 - p1) - 0x1.4ae0cp-27f;
  const float p0 = std::fma(f, p1, kC0);
  const float low0 =
      std::fma(f, p1, kC0 - p0) + std::fma(f, low1, 0x1.4ae0cp-26f);
  return SumWithLow(base, base_low, f, p0, low0, low);
}

// 2^(x + rest) = 2^r 2^k, |x| < 1000: 2^r, and k as a number whose bits wrap.
BATON_LOOP inline float ReducedPower(float x, float rest, uint32_t& k) {
  constexpr float kMagic = 0x1.8p23f;
  const float shifted = x + kMagic;
  k = std::bit_cast<uint32_t>(shifted) - std::bit_cast<uint32_t>(kMagic);
  const float r = (x - (shifted - kMagic)) + rest;
  const float rr = r * r;
  const float even =
      Polynomial(rr, 0x1.62e43p-1f, 0x1.c6af7ap-5f, 0x1.5f0976p-10f);
  const float uneven =
      Polynomial(rr, 0x1.ebfbdcp-3f, 0x1.3b2ddap-7f, 0x1.4172a6p-13f);
  const float q = std::fma(uneven, r, even);
  return std::fma(q, r, 1.0f);
}

// log2(m 2^e) for m in [8/9, 16/9), as an unevaluated sum. The error is below
// 2^-63 of it.
BATON_LOOP inline double Log2OfParts(double m, double e, double& low) {
  // m = (1 + f) / c with |f| <= 1/9; f is exact.
  const auto choose = [m](double c0, double c1, double c2, double c3)
                          BATON_LOOP {
                            const double low_half = m < 16.0 / 15.0 ? c0 : c1;
                            const double high_half = m < 16.0 / 11.0 ? c2 : c3;
                            return m < 16.0 / 13.0 ? low_half : high_half;
                          };
  const double f = std::fma(m, choose(1.0, 0.875, 0.75, 0.625), -1.0);
  // -log2(c) in two parts: the sum of e and the first is exact.
  const double base =
      e + choose(0.0, 0x1.8a8980abf8p-3, 0x1.a8ff97181p-2, 0x1.5b2c3da196p-1);
  const double base_low = choose(0.0, 0x1.e9933354dbf17p-42,
                                 0x1.4bc302ffa76fbp-43, 0x1.23a80db6a0480p-41);
  // log2(1 + f) / f. Three coefficients and the sums with them have twice the
  // digits.
  const double ff = f * f;
  const double even = Polynomial(
      ff, -0x1.71547652b8231p-2, -0x1.ec709dc3f7dbfp-3, -0x1.715475cef55cdp-3,
      -0x1.27772ab29890fp-3, -0x1.ec1cc78aa021cp-4, -0x1.b7a070d33f5b6p-4);
  const double uneven = Polynomial(
      ff, 0x1.2776c50ef991cp-2, 0x1.a61762a881bbap-3, 0x1.484b12e6d0289p-3,
      0x1.0c9b1a853a694p-3, 0x1.c627752ea4d99p-4, 0x1.9cb6e372919a6p-4);
  const double p3 = std::fma(uneven, f, even);
  constexpr double kC2 = 0x1.ec709dc3a03fep-2;
  constexpr double kC1 = -0x1.71547652b82fep-1;
  constexpr double kC0 = 0x1.71547652b82fep+0;
  const double p2 = std::fma(f, p3, kC2);
  const double low2 = std::fma(f, p3, kC2 - p2) - 0x1.e9c49dae9c7cp-59;
  const double p1 = std::fma(f, p2, kC1);
  const double low1 =
      std::fma(f, p2, kC1 - p1) + std::fma(f, low2, -0x1.015d3c7f5c7a2p-56);
  const double p0 = std::fma(f, p1, kC0);
  const double low0 =
      std::fma(f, p1, kC0 - p0) + std::fma(f, low1, 0x1.776f2b456e125p-56);
  return SumWithLow(base, base_low, f, p0, low0, low);
}

// As for float; `low` is smaller by 53 binary digits.
BATON_LOOP inline double Log2Of(double x, double shift, double& low) {
  // x = 2^e m, m in [8/9, 16/9). e is biased, in the last bits of 2^52.
  const uint64_t bits = std::bit_cast<uint64_t>(x);
  constexpr uint64_t kLow = 0x3fec71c71c71c71cu;
  constexpr uint64_t kBias = uint64_t{2048} << 52;
  const uint64_t biased = (bits - kLow + kBias) >> 52;
  const double m = std::bit_cast<double>(bits + kBias - (biased << 52));
  const double e = std::bit_cast<double>(biased | 0x4330000000000000u) -
                   (0x1p52 + 2048.0 + shift);
  return Log2OfParts(m, e, low);
}

// As for float, |x| < 2000.
BATON_LOOP inline double ReducedPower(double x, double rest, uint64_t& k) {
  constexpr double kMagic = 0x1.8p52;
  const double shifted = x + kMagic;
  k = std::bit_cast<uint64_t>(shifted) - std::bit_cast<uint64_t>(kMagic);
  const double r = (x - (shifted - kMagic)) + rest;
  const double q = Polynomial(
      r, 0x1.62e42fefa39efp-1, 0x1.ebfbdff82c58fp-3, 0x1.c6b08d704a0d1p-5,
      0x1.3b2ab6fba4e82p-7, 0x1.5d87fe78a22b1p-10, 0x1.430912f868d2ap-13,
      0x1.ffcbfc75ed63cp-17, 0x1.62c0224db0855p-20, 0x1.b524db3f49135p-24,
      0x1.e4cee812fc81p-28, 0x1.ea043fd1d879dp-32, 0x1.c4dad90ae61ffp-36);
  return std::fma(q, r, 1.0);
}

// (x 2^-shift)^y for a positive, normal, finite x and a finite y.
template <typename T>
BATON_LOOP inline T PowerOf(T x, T shift, T y) {
  T low, rest;
  const T log = Log2Of(x, shift, low);
  const T product = ProductWithLow(log, low, y, rest);
  // Beyond this bound results are 0 or infinite.
  constexpr T kHighest = sizeof(T) == 4 ? T(200) : T(1200);
  const T above = product < -kHighest ? -kHighest : product;
  const T bounded = above > kHighest ? kHighest : above;
  Bits<T> k;
  const T e = ReducedPower(bounded, bounded == product ? rest : T(0), k);
  return Scaled(e, k);
}

// True if x is positive, normal and finite.
template <typename T>
BATON_LOOP inline bool IsNormalPositive(T x) {
  // The numbers from the smallest normal one to infinity have successive bits.
  constexpr auto kFirst = std::bit_cast<Bits<T>>(std::numeric_limits<T>::min());
  constexpr auto kEnd =
      std::bit_cast<Bits<T>>(std::numeric_limits<T>::infinity());
  return std::bit_cast<Bits<T>>(x) - kFirst < kEnd - kFirst;
}

// Computes Power. `in_domain` is true for a positive, normal, finite x whose
// power is finite and normal, and not near the largest or the smallest such
// number. Squares are not in it.
template <typename T>
BATON_LOOP inline T PlainPower(T x, T y, bool& in_domain) {
  T low, rest;
  const T log = Log2Of(x, T(0), low);
  const T product = ProductWithLow(log, low, y, rest);
  constexpr T kHighest = sizeof(T) == 4 ? T(124) : T(1020);
  in_domain = ((IsNormalPositive(x) ? 1 : 0) & (y != T(2) ? 1 : 0) &
               (std::abs(product) < kHighest ? 1 : 0)) != 0;
  Bits<T> k;
  const T e = ReducedPower(product, rest, k);
  // k is added to the exponent.
  return std::bit_cast<T>(std::bit_cast<Bits<T>>(e) +
                          (k << (std::numeric_limits<T>::digits - 1)));
}

// fn(y, shift) for the normal number y = x 2^shift, where x is positive.
template <typename T, typename Fn>
BATON_LOOP inline T OfNormal(T x, const Fn& fn) {
  constexpr int kDigits = std::numeric_limits<T>::digits;
  const bool tiny = x < std::numeric_limits<T>::min();
  return fn(tiny ? x * T(uint64_t{1} << kDigits) : x, tiny ? T(kDigits) : T(0));
}

// For float 1.1 ULP, and 1.5 from |y| = 50 on; for double 1 ULP. Squares are
// products.
template <typename T>
BATON_LOOP inline T Power(T x, T y) {
  const T value = OfNormal(std::abs(x), [y](T normal, T shift) BATON_LOOP {
    return PowerOf(normal, shift, y);
  });
  // Negative if x is negative and y is odd.
  const T half = T(0.5) * y;
  const bool odd = Round(half) != half;
  const T negative = x < T(0) ? -value : value;
  const T power = odd ? negative : value;
  return y == T(2) ? x * x : power;
}

// log(x) of any x. normal_log(y, shift) is log(y 2^-shift) for a positive,
// normal, finite y.
template <typename T, typename Fn>
BATON_LOOP inline T LogOfAny(T x, const Fn& normal_log) {
  constexpr T kInfinity = std::numeric_limits<T>::infinity();
  const T log = OfNormal(x, normal_log);
  const T finite = x < kInfinity ? log : x;  // Also a NaN.
  const T positive = x < T(0) ? std::numeric_limits<T>::quiet_NaN() : finite;
  return x == T(0) ? -kInfinity : positive;
}

// 0.9 ULP.
template <typename T>
BATON_LOOP inline T Log(T x) {
  return LogOfAny(
      x, [](T normal, T shift) BATON_LOOP { return NormalLog(normal, shift); });
}
template <typename T>
BATON_LOOP inline T Log2(T x) {
  return LogOfAny(x, [](T normal, T shift)
                         BATON_LOOP { return NormalLog2(normal, shift); });
}
template <typename T>
BATON_LOOP inline T Log10(T x) {
  return LogOfAny(x, [](T normal, T shift)
                         BATON_LOOP { return NormalLog10(normal, shift); });
}

// --- Of many numbers -------------------------------------------------------

// Partial results, so that an addition does not wait for the preceding one.
constexpr int64_t kPartial = 16;

// The largest of n numbers; NaN if one is NaN; minus infinity if n is 0.
template <typename T>
BATON_LOOP inline T LargestOf(const T* x, int64_t n) {
  // Fewer lanes become no vectors.
  constexpr int64_t kLanes = 2 * kPartial;
  if (n <= 0) return -std::numeric_limits<T>::infinity();
  T padded[kPartial];
  if (n < kPartial) {
    for (int64_t j = 0; j < kPartial; ++j) padded[j] = x[j < n ? j : n - 1];
    x = padded;
    n = kPartial;
  }
  // Elements may be among the lanes again.
  const int64_t second = n < kLanes ? n - kPartial : kPartial;
  T lanes[kLanes];
  int is_nan = 0;
  for (int64_t j = 0; j < kPartial; ++j) {
    lanes[j] = x[j];
    lanes[kPartial + j] = x[second + j];
  }
  for (const T lane : lanes) is_nan |= lane != lane ? 1 : 0;
  for (int64_t i = kLanes; i < n; i += kLanes) {
    const T* const from = x + (i <= n - kLanes ? i : n - kLanes);
    for (int64_t j = 0; j < kLanes; ++j) {
      const T v = from[j];
      lanes[j] = v > lanes[j] ? v : lanes[j];
      is_nan |= v != v ? 1 : 0;
    }
  }
  for (int64_t half = kLanes / 2; half > 0; half /= 2) {
    for (int64_t j = 0; j < half; ++j) {
      lanes[j] = lanes[j + half] > lanes[j] ? lanes[j + half] : lanes[j];
    }
  }
  return is_nan != 0 ? std::numeric_limits<T>::quiet_NaN() : lanes[0];
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

// Convert the bits of float16 and bfloat16 as Float16 and BFloat16 do.
BATON_LOOP inline float FromHalf(uint16_t half) {
  const uint32_t sign = uint32_t{half & 0x8000u} << 16;
  const uint32_t magnitude = uint32_t{half & 0x7fffu} << 13;
  // The multiplication corrects the exponent, also for subnormal numbers.
  // Infinities and NaNs get the largest exponent.
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
