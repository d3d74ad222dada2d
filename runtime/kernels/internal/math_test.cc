#include "baton/runtime/kernels/internal/math.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "baton/base/dtype.h"
#include "baton/runtime/kernels/internal/vectorize.h"
#include "baton/testing/test_settings.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton::kernels::internal {
namespace {

// A type with more digits than T, in which the C library computes what is taken
// for exact.
template <typename T>
using Wider = std::conditional_t<sizeof(T) == 4, double, long double>;

template <typename T>
std::vector<T> Specials() {
  constexpr T kInf = std::numeric_limits<T>::infinity();
  std::vector<T> values = {T(0),
                           kInf,
                           std::numeric_limits<T>::quiet_NaN(),
                           std::numeric_limits<T>::min(),
                           std::numeric_limits<T>::max(),
                           std::numeric_limits<T>::denorm_min()};
  for (const double x :
       {0.5,      0.75,   1.0,    1.5,    2.0,       2.5,      3.0,
        88.72284, 89.42,  103.97, 104.0,  708.4,     709.78,   709.79,
        710.48,   745.1,  745.2,  0x1p12, 0x1p22,    0x1.8p22, 0x1p23,
        0x1p24,   0x1p31, 0x1p63, 1e38,   0x1p-1022, 0x1p1023, 1e300}) {
    const T rounded = static_cast<T>(x);
    values.push_back(std::nextafter(rounded, T(0)));
    values.push_back(rounded);
    values.push_back(std::nextafter(rounded, kInf));
  }
  // Near multiples of pi / 2.
  for (int i = 1; i < 400; ++i) {
    const Wider<T> angle =
        static_cast<Wider<T>>(i) * Wider<T>(1.5707963267948966192313L);
    values.push_back(static_cast<T>(angle));
    values.push_back(std::nextafter(static_cast<T>(angle), kInf));
  }
  const size_t n = values.size();
  for (size_t i = 0; i < n; ++i) values.push_back(-values[i]);
  return values;
}

// Special values, and others from all over the range of T.
template <typename T>
std::vector<T> Samples() {
  std::vector<T> values = Specials<T>();
  constexpr Bits<T> kSteps = 143000;
  constexpr Bits<T> kStep = std::numeric_limits<Bits<T>>::max() / kSteps;
  for (Bits<T> i = 0; i < kSteps; ++i) {
    values.push_back(std::bit_cast<T>(i * kStep + i * i + 12345));
  }
  for (int i = -40000; i <= 40000; ++i) {
    const T x = static_cast<T>(i);
    values.push_back(x * static_cast<T>(0x1.3456789abcdefp-12));
    values.push_back(T(1) + x * static_cast<T>(0x1.23456789abcdep-18));
  }
  if (sizeof(T) == 8) {
    // Near powers of 2 and the boundary of sin and cos.
    for (int i = -1022; i < 1024; ++i) {
      const T power = static_cast<T>(std::ldexp(1.0, i));
      values.push_back(power);
      values.push_back(std::nextafter(power, T(0)));
    }
    for (int i = 0; i < 40000; ++i) {
      values.push_back(static_cast<T>(i) * static_cast<T>(26843.5456789));
      values.push_back(static_cast<T>(i) * static_cast<T>(0.0178765432101));
    }
  }
  return values;
}

// Returns the distance of `actual` from `exact`, in units in the last place of
// a T.
template <typename T>
double UlpsFrom(Wider<T> exact, T actual) {
  if (std::isnan(exact)) return std::isnan(actual) ? 0 : 1e9;
  const T rounded = static_cast<T>(exact);
  if (rounded == actual) {
    return std::signbit(rounded) == std::signbit(actual) ? 0 : 1e9;
  }
  if (std::isinf(rounded) || std::isinf(actual) || std::isnan(actual)) {
    // The largest float beside infinity.
    const T other = std::isinf(rounded) ? actual : rounded;
    return std::abs(other) == std::numeric_limits<T>::max() &&
                   std::signbit(rounded) == std::signbit(actual)
               ? 1
               : 1e9;
  }
  int exponent;
  std::frexp(exact, &exponent);
  const Wider<T> ulp = std::ldexp(
      Wider<T>(1), std::max(exponent, std::numeric_limits<T>::min_exponent) -
                       std::numeric_limits<T>::digits);
  return static_cast<double>(std::abs(static_cast<Wider<T>>(actual) - exact) /
                             ulp);
}

// Runs `fn` over `x` with `vectors`.
template <typename T, typename Fn>
std::vector<T> Mapped(const std::vector<T>& x, Vectors vectors, const Fn& fn) {
  std::vector<T> y(x.size());
  const T* from = x.data();
  T* to = y.data();
  const size_t n = x.size();
  RunLoop(
      [=]() BATON_LOOP {
        for (size_t i = 0; i < n; ++i) to[i] = fn(from[i]);
      },
      vectors);
  return y;
}

// Compares `fn` with `exact` where `serves` says that it serves, and the
// widths of vectors with each other.
template <typename T, typename Fn, typename Exact, typename Serves>
void CheckFunction(const std::string& name, double max_ulps, const Fn& fn,
                   const Exact& exact, const Serves& serves) {
  std::vector<T> x;
  for (const T value : Samples<T>()) {
    if (serves(value)) x.push_back(value);
  }
  const std::vector<T> y = Mapped(x, Vectors::k128, fn);
  double worst = 0;
  T where = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const double ulps = UlpsFrom<T>(exact(static_cast<Wider<T>>(x[i])), y[i]);
    if (ulps > worst) {
      worst = ulps;
      where = x[i];
    }
  }
  ::testing::Test::RecordProperty(name, std::to_string(worst));
  EXPECT_LE(worst, max_ulps) << name << " of " << where;
  const Vectors widest = WidestVectors();
  for (const Vectors vectors : {Vectors::k256, Vectors::k512}) {
    if (vectors > widest) continue;
    // Also where vectors begin and end elsewhere.
    for (const size_t skipped : {0, 1, 5}) {
      const std::vector<T> part(
          x.begin() + static_cast<std::ptrdiff_t>(skipped), x.end());
      const std::vector<T> wide = Mapped(part, vectors, fn);
      // The bits of a NaN come from whichever operand the processor prefers.
      const auto same = [](T a, T b) {
        return std::bit_cast<Bits<T>>(a) == std::bit_cast<Bits<T>>(b) ||
               (std::isnan(a) && std::isnan(b));
      };
      EXPECT_TRUE(std::equal(wide.begin(), wide.end(),
                             y.begin() + static_cast<std::ptrdiff_t>(skipped),
                             same))
          << name << " depends on the width of vectors";
    }
  }
}

constexpr auto kAll = [](auto) { return true; };
constexpr auto kNearZero = [](auto x) { return IsNearZero(x); };

#define BATON_CHECK_FUNCTION(T, Name, max_ulps, exact, serves) \
  CheckFunction<T>(                                            \
      #Name, max_ulps, [](T x) BATON_LOOP { return Name(x); }, \
      [](Wider<T> x) { return exact; }, serves)

TEST(MathTest, FunctionsAreNearTheExactOnes) {
  BATON_CHECK_FUNCTION(float, Exp, 1.0, std::exp(x), kAll);
  BATON_CHECK_FUNCTION(float, Log, 1.0, std::log(x), kAll);
  BATON_CHECK_FUNCTION(float, Log2, 0.9, std::log2(x), kAll);
  BATON_CHECK_FUNCTION(float, Log10, 1.0, std::log10(x), kAll);
  BATON_CHECK_FUNCTION(float, Sin, 1.5, std::sin(x), kNearZero);
  BATON_CHECK_FUNCTION(float, Cos, 1.5, std::cos(x), kNearZero);
  BATON_CHECK_FUNCTION(float, Tan, 2.5, std::tan(x), kNearZero);
  BATON_CHECK_FUNCTION(float, Asin, 2.0, std::asin(x), kAll);
  BATON_CHECK_FUNCTION(float, Acos, 1.5, std::acos(x), kAll);
  BATON_CHECK_FUNCTION(float, Atan, 1.5, std::atan(x), kAll);
  BATON_CHECK_FUNCTION(float, Sinh, 2.0, std::sinh(x), kAll);
  BATON_CHECK_FUNCTION(float, Cosh, 1.5, std::cosh(x), kAll);
  BATON_CHECK_FUNCTION(float, Tanh, 1.5, std::tanh(x), kAll);
  BATON_CHECK_FUNCTION(float, Asinh, 2.0, std::asinh(x), kAll);
  BATON_CHECK_FUNCTION(float, Acosh, 2.1, std::acosh(x), kAll);
  BATON_CHECK_FUNCTION(float, Atanh, 2.0, std::atanh(x), kAll);
  BATON_CHECK_FUNCTION(float, Erf, 1.5, std::erf(x), kAll);
  BATON_CHECK_FUNCTION(float, Sigmoid, 2.5, 1 / (1 + std::exp(-x)), kAll);
}

TEST(MathTest, FunctionsOfDoubleAreNearTheExactOnes) {
  BATON_CHECK_FUNCTION(double, Exp, 1.0, std::exp(x), kAll);
  BATON_CHECK_FUNCTION(double, Log, 1.0, std::log(x), kAll);
  BATON_CHECK_FUNCTION(double, Log2, 1.0, std::log2(x), kAll);
  BATON_CHECK_FUNCTION(double, Log10, 1.0, std::log10(x), kAll);
  BATON_CHECK_FUNCTION(double, Sin, 1.7, std::sin(x), kNearZero);
  BATON_CHECK_FUNCTION(double, Cos, 1.7, std::cos(x), kNearZero);
  BATON_CHECK_FUNCTION(double, Tan, 2.5, std::tan(x), kNearZero);
  BATON_CHECK_FUNCTION(double, Asin, 2.0, std::asin(x), kAll);
  BATON_CHECK_FUNCTION(double, Acos, 1.5, std::acos(x), kAll);
  BATON_CHECK_FUNCTION(double, Atan, 1.7, std::atan(x), kAll);
  BATON_CHECK_FUNCTION(double, Sinh, 2.0, std::sinh(x), kAll);
  BATON_CHECK_FUNCTION(double, Cosh, 1.5, std::cosh(x), kAll);
  BATON_CHECK_FUNCTION(double, Tanh, 1.5, std::tanh(x), kAll);
  BATON_CHECK_FUNCTION(double, Asinh, 2.0, std::asinh(x), kAll);
  BATON_CHECK_FUNCTION(double, Acosh, 2.0, std::acosh(x), kAll);
  BATON_CHECK_FUNCTION(double, Atanh, 2.0, std::atanh(x), kAll);
  BATON_CHECK_FUNCTION(double, Sigmoid, 2.5, 1 / (1 + std::exp(-x)), kAll);
}

template <typename T>
void CheckPlainFunctions() {
  const auto same = [](const char* name, T x, T plain, T other) {
    EXPECT_EQ(std::bit_cast<Bits<T>>(plain), std::bit_cast<Bits<T>>(other))
        << name << " of " << x;
  };
  for (const T x : Samples<T>()) {
    if (IsPlainExp(x)) same("exp", x, PlainExp(x), Exp(x));
    if (!(x > 0)) same("exp, not positive", x, ExpOfNonPositive(x), Exp(x));
    EXPECT_EQ(IsNormalPositive(x), std::isnormal(x) && x > T(0));
    if (!IsNormalPositive(x)) continue;
    same("log", x, NormalLog(x, T(0)), Log(x));
    same("log2", x, NormalLog2(x, T(0)), Log2(x));
    same("log10", x, NormalLog10(x, T(0)), Log10(x));
  }
}

TEST(MathTest, PlainFunctionsComputeTheSame) {
  CheckPlainFunctions<float>();
  CheckPlainFunctions<double>();
}

TEST(MathTest, WhatIsExactStaysExact) {
  EXPECT_EQ(Cos(0.0), 1.0);
  EXPECT_EQ(Exp(0.0), 1.0);
  EXPECT_EQ(Cosh(0.0), 1.0);
  double power = 1.0;
  for (int i = 0; i < 23; ++i) {
    EXPECT_EQ(Log10(power), i);
    power *= 10.0;  // Exact up to 10^22.
  }
  float float_power = 1.0f;
  for (int i = 0; i < 11; ++i) {
    EXPECT_EQ(Log10(float_power), static_cast<float>(i));
    float_power *= 10.0f;  // Exact up to 10^10.
  }
  for (int i = -1074; i < 1024; ++i) EXPECT_EQ(Log2(std::ldexp(1.0, i)), i);
  for (int i = -149; i < 128; ++i) {
    EXPECT_EQ(Log2(std::ldexp(1.0f, i)), static_cast<float>(i));
  }
  for (int i = 0; i < 1000; ++i) {
    EXPECT_LE(std::abs(Sin(1.5707963267948966 * i)), 1.0);
    EXPECT_LE(std::abs(Cos(1.5707963267948966 * i)), 1.0);
  }
}

TEST(MathTest, RoundingIsExact) {
  BATON_CHECK_FUNCTION(float, Round, 0.0, std::nearbyint(x), kAll);
  BATON_CHECK_FUNCTION(float, Floor, 0.0, std::floor(x), kAll);
  BATON_CHECK_FUNCTION(float, Ceil, 0.0, std::ceil(x), kAll);
  BATON_CHECK_FUNCTION(float, Trunc, 0.0, std::trunc(x), kAll);
}

template <typename T>
void CheckRemainders() {
  const std::vector<T> samples = Samples<T>();
  std::vector<T> specials = Specials<T>();
  specials.resize(100);
  int count = 0;
  const auto check = [&count](T x, T y) {
    bool in_domain;
    const T remainder = Remainder(x, y, in_domain);
    if (!in_domain) return;
    ++count;
    const T exact = std::fmod(x, y);
    EXPECT_EQ(std::bit_cast<Bits<T>>(remainder), std::bit_cast<Bits<T>>(exact))
        << x << " " << y;
  };
  for (size_t i = 0; i < samples.size(); ++i) {
    const T x = samples[i];
    // Dividends near multiples of the divisor.
    for (const T y : {x / T(3), x / T(7.25), std::nextafter(x, T(0)),
                      x / T(1000003), T(0.3), T(-17), specials[i % 100]}) {
      check(x, y);
      check(y, x);
      check(T(5) * y, y);
      check(std::nextafter(T(5) * y, T(0)), y);
    }
  }
  EXPECT_GT(count, 1000000);
  bool in_domain = true;
  for (const T y : {T(0), std::numeric_limits<T>::infinity(),
                    std::numeric_limits<T>::quiet_NaN(), T(1e-30)}) {
    Remainder(std::numeric_limits<T>::max(), y, in_domain);
    EXPECT_FALSE(in_domain) << y;
  }
}

TEST(MathTest, RemaindersAreExact) {
  CheckRemainders<float>();
  CheckRemainders<double>();
}

// max_ulps holds for exponents below 50, max_ulps_beyond for all.
template <typename T>
void CheckPowers(double max_ulps, double max_ulps_beyond) {
  int plain_powers = 0;
  // One of each kind: even and odd, with a fraction, of either sign, small and
  // large ones.
  std::vector<double> exponents = {0,  -1,     2,        -5,    0.5,  -0.75,
                                   17, 500.25, -700.125, -3e11, 1e300};
  if (testing::IsLongTest()) {
    exponents.insert(exponents.end(),
                     {1, 3, -49, 43.7, 340, 1.3, 100.5, 0x1p24, 1e5, 0x1p53,
                      1e30, 0x1p-20, -0x1p-60, 1e-300});
  }
  for (const double exponent : exponents) {
    const T y = static_cast<T>(exponent);
    if (std::isinf(y)) continue;
    CheckFunction<T>(
        "Power", std::abs(y) < T(50) ? max_ulps : max_ulps_beyond,
        [y](T x) BATON_LOOP { return Power(x, y); },
        [y](Wider<T> x) { return std::pow(x, static_cast<Wider<T>>(y)); },
        [y](T x) { return IsOrdinaryPower(x, y); });
    for (const T x : Specials<T>()) {
      bool in_domain;
      const T plain = PlainPower(x, y, in_domain), power = Power(x, y);
      if (!in_domain) continue;
      ++plain_powers;
      EXPECT_EQ(std::bit_cast<Bits<T>>(plain), std::bit_cast<Bits<T>>(power))
          << x << " " << y;
    }
  }
  constexpr T kInf = std::numeric_limits<T>::infinity();
  EXPECT_FALSE(IsOrdinaryPower(T(-2), T(0.5)));
  EXPECT_FALSE(IsOrdinaryPower(T(0), T(2)));
  EXPECT_FALSE(IsOrdinaryPower(T(2), kInf));
  EXPECT_TRUE(IsOrdinaryPower(T(-2), T(3)));
  EXPECT_GT(plain_powers, 100);
  const auto is_plain = [](T x, T y) {
    bool in_domain;
    PlainPower(x, y, in_domain);
    return in_domain;
  };
  EXPECT_TRUE(is_plain(std::numeric_limits<T>::min(), T(0.75)));
  EXPECT_TRUE(is_plain(std::numeric_limits<T>::max(), T(-0.75)));
  EXPECT_TRUE(is_plain(T(3), T(-4)));
  EXPECT_FALSE(is_plain(std::numeric_limits<T>::min(), T(1)));
  EXPECT_FALSE(is_plain(std::numeric_limits<T>::max(), T(1)));
  EXPECT_FALSE(is_plain(T(2), kInf));
  EXPECT_FALSE(is_plain(T(1), kInf));
  EXPECT_FALSE(is_plain(T(1), std::numeric_limits<T>::quiet_NaN()));
  for (const T x : {T(0), T(-1), kInf, std::numeric_limits<T>::quiet_NaN(),
                    std::numeric_limits<T>::denorm_min()}) {
    EXPECT_FALSE(is_plain(x, T(3)));
  }
}

TEST(MathTest, PowersAreNearTheExactOnes) {
  CheckPowers<float>(1.1, 1.5);
  CheckPowers<double>(1.0, 1.0);
}

TEST(MathTest, PowersThatAreIntegersAreExact) {
  for (int base = 2; base <= 100; ++base) {
    double power = 1.0;
    for (int i = 0; power <= 0x1p53; ++i) {
      EXPECT_EQ(Power(static_cast<double>(base), static_cast<double>(i)),
                power);
      power *= base;
    }
  }
}

TEST(MathTest, HalfFloatsConvertAsElsewhere) {
  for (uint32_t bits = 0; bits < 1u << 16; ++bits) {
    const uint16_t half = static_cast<uint16_t>(bits);
    const float wide = Float16::FromBits(half);
    EXPECT_EQ(std::bit_cast<uint32_t>(FromHalf(half)),
              std::bit_cast<uint32_t>(wide));
  }
  std::vector<float> samples = Samples<float>();
  for (int i = 0; i < 200000; ++i) {
    samples.push_back(static_cast<float>(i) * 0x1.0001p-26f);
  }
  for (const float x : samples) {
    EXPECT_EQ(ToHalf(x), Float16(x).bits) << x;
    EXPECT_EQ(ToBFloat(x), BFloat16(x).bits) << x;
    EXPECT_EQ(std::bit_cast<uint32_t>(FromBFloat(BFloat16(x).bits)),
              std::bit_cast<uint32_t>(static_cast<float>(BFloat16(x))));
  }
}

}  // namespace
}  // namespace baton::kernels::internal
