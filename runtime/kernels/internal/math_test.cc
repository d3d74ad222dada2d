#include "baton/runtime/kernels/internal/math.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "baton/base/dtype.h"
#include "baton/runtime/kernels/internal/vectorize.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton::kernels::internal {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

std::vector<float> Specials() {
  std::vector<float> values = {0.0f,
                               kInfinity,
                               std::numeric_limits<float>::quiet_NaN(),
                               std::numeric_limits<float>::min(),
                               std::numeric_limits<float>::max(),
                               std::numeric_limits<float>::denorm_min()};
  for (const float x : {0.5f, 1.0f, 1.5f, 2.0f, 2.5f, 3.0f, 88.72284f, 89.42f,
                        103.97f, 104.0f, 0x1p12f, 0x1p22f, 0x1.8p22f, 0x1p23f,
                        0x1p24f, 0x1p31f, 0x1p63f, 1e38f}) {
    values.push_back(std::nextafter(x, 0.0f));
    values.push_back(x);
    values.push_back(std::nextafter(x, kInfinity));
  }
  const size_t n = values.size();
  for (size_t i = 0; i < n; ++i) values.push_back(-values[i]);
  return values;
}

// Special values, and others from all over the range of float.
std::vector<float> Samples() {
  std::vector<float> values = Specials();
  for (uint64_t bits = 12345; bits < uint64_t{1} << 32; bits += 29989) {
    values.push_back(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  }
  for (int i = -40000; i <= 40000; ++i) {
    values.push_back(static_cast<float>(i) * 0x1.3p-12f);
  }
  return values;
}

// How far `actual` is from `exact`, in units in the last place of a float.
double UlpsFrom(double exact, float actual) {
  if (std::isnan(exact)) return std::isnan(actual) ? 0 : 1e9;
  const float rounded = static_cast<float>(exact);
  if (rounded == actual) {
    return std::signbit(rounded) == std::signbit(actual) ? 0 : 1e9;
  }
  if (std::isinf(rounded) || std::isinf(actual) || std::isnan(actual)) {
    // The largest float beside infinity.
    const float other = std::isinf(rounded) ? actual : rounded;
    return std::abs(other) == std::numeric_limits<float>::max() &&
                   std::signbit(rounded) == std::signbit(actual)
               ? 1
               : 1e9;
  }
  int exponent;
  std::frexp(exact, &exponent);
  return std::abs(static_cast<double>(actual) - exact) /
         std::ldexp(1.0, std::max(exponent, -125) - 24);
}

// Runs `fn` over `x` with `vectors`.
template <typename Fn>
std::vector<float> Mapped(const std::vector<float>& x, Vectors vectors,
                          const Fn& fn) {
  std::vector<float> y(x.size());
  const float* from = x.data();
  float* to = y.data();
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
template <typename Fn, typename Exact, typename Serves>
void CheckFunction(const std::string& name, double max_ulps, const Fn& fn,
                   const Exact& exact, const Serves& serves) {
  std::vector<float> x;
  for (const float value : Samples()) {
    if (serves(value)) x.push_back(value);
  }
  const std::vector<float> y = Mapped(x, Vectors::k128, fn);
  double worst = 0;
  float where = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const double ulps = UlpsFrom(exact(static_cast<double>(x[i])), y[i]);
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
      const std::vector<float> part(
          x.begin() + static_cast<std::ptrdiff_t>(skipped), x.end());
      const std::vector<float> wide = Mapped(part, vectors, fn);
      // The bits of a NaN come from whichever operand the processor prefers.
      const auto same = [](float a, float b) {
        return std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b) ||
               (std::isnan(a) && std::isnan(b));
      };
      EXPECT_TRUE(std::equal(wide.begin(), wide.end(),
                             y.begin() + static_cast<std::ptrdiff_t>(skipped),
                             same))
          << name << " depends on the width of vectors";
    }
  }
}

constexpr auto kAll = [](float) { return true; };

#define BATON_CHECK_FUNCTION(Name, max_ulps, exact, serves)        \
  CheckFunction(                                                   \
      #Name, max_ulps, [](float x) BATON_LOOP { return Name(x); }, \
      [](double x) { return exact; }, serves)

TEST(MathTest, FunctionsAreNearTheExactOnes) {
  BATON_CHECK_FUNCTION(Exp, 1.0, std::exp(x), kAll);
  BATON_CHECK_FUNCTION(Log, 1.0, std::log(x), kAll);
  BATON_CHECK_FUNCTION(Log2, 0.6, std::log2(x), kAll);
  BATON_CHECK_FUNCTION(Log10, 1.0, std::log10(x), kAll);
  BATON_CHECK_FUNCTION(Sin, 1.5, std::sin(x), IsNearZero);
  BATON_CHECK_FUNCTION(Cos, 1.5, std::cos(x), IsNearZero);
  BATON_CHECK_FUNCTION(Tan, 2.5, std::tan(x), IsNearZero);
  BATON_CHECK_FUNCTION(Asin, 2.0, std::asin(x), kAll);
  BATON_CHECK_FUNCTION(Acos, 1.5, std::acos(x), kAll);
  BATON_CHECK_FUNCTION(Atan, 1.5, std::atan(x), kAll);
  BATON_CHECK_FUNCTION(Sinh, 2.0, std::sinh(x), kAll);
  BATON_CHECK_FUNCTION(Cosh, 1.5, std::cosh(x), kAll);
  BATON_CHECK_FUNCTION(Tanh, 1.5, std::tanh(x), kAll);
  BATON_CHECK_FUNCTION(Asinh, 2.0, std::asinh(x), kAll);
  BATON_CHECK_FUNCTION(Acosh, 2.0, std::acosh(x), kAll);
  BATON_CHECK_FUNCTION(Atanh, 2.0, std::atanh(x), kAll);
  BATON_CHECK_FUNCTION(Erf, 1.5, std::erf(x), kAll);
  BATON_CHECK_FUNCTION(Sigmoid, 2.5, 1 / (1 + std::exp(-x)), kAll);
}

// The largest distance of fn(x) from exact(x), in ULP of a double, over numbers
// of all sizes and the special ones.
template <typename Fn, typename Exact>
double WorstOfDouble(const Fn& fn, const Exact& exact) {
  std::vector<double> values;
  for (const float x : Specials()) values.push_back(static_cast<double>(x));
  for (const double x : {0x1p-1074, 0x1p-1022, 0x1.fffffffffffffp-1023, 709.78,
                         709.79, -708.4, -745.1, -745.2, 1e300}) {
    values.push_back(x);
  }
  for (uint64_t bits = 12345; bits < 0xffe0000000000000;
       bits += 0x7fffd1234567) {
    values.push_back(std::bit_cast<double>(bits));
  }
  for (int i = -60000; i <= 60000; ++i) {
    values.push_back(static_cast<double>(i) * 0x1.2345678p-7);
    values.push_back(static_cast<double>(i) * 0x1.2345678p-14);
    values.push_back(1.0 + static_cast<double>(i) * 0x1.2345678p-18);
  }
  double worst = 0;
  for (const double x : values) {
    const long double expected = exact(static_cast<long double>(x));
    const double rounded = static_cast<double>(expected);
    const double actual = fn(x);
    if (std::isnan(rounded) || std::isinf(rounded) || rounded == 0 ||
        std::isinf(actual) || !(actual == actual)) {
      const bool same = std::isnan(rounded)
                            ? std::isnan(actual)
                            : rounded == actual &&
                                  std::signbit(rounded) == std::signbit(actual);
      if (!same) worst = 1e9;
      continue;
    }
    int exponent;
    std::frexp(rounded, &exponent);
    const long double ulps =
        std::abs(static_cast<long double>(actual) - expected) /
        std::ldexp(1.0L, std::max(exponent, -1021) - 53);
    worst = std::max(worst, static_cast<double>(ulps));
  }
  return worst;
}

TEST(MathTest, FunctionsOfDoubleAreNearTheExactOnes) {
  const auto check = [](const std::string& name, double most, double worst) {
    ::testing::Test::RecordProperty(name, std::to_string(worst));
    EXPECT_LE(worst, most) << name;
  };
  check("Exp", 1.0,
        WorstOfDouble([](double x) { return Exp(x); },
                      [](long double x) { return std::exp(x); }));
  check("Log", 1.0,
        WorstOfDouble([](double x) { return Log(x); },
                      [](long double x) { return std::log(x); }));
  check("Tanh", 1.5,
        WorstOfDouble([](double x) { return Tanh(x); },
                      [](long double x) { return std::tanh(x); }));
  check("Sigmoid", 2.5,
        WorstOfDouble([](double x) { return Sigmoid(x); },
                      [](long double x) { return 1 / (1 + std::exp(-x)); }));
}

TEST(MathTest, RoundingIsExact) {
  BATON_CHECK_FUNCTION(Round, 0.0, std::nearbyint(x), kAll);
  BATON_CHECK_FUNCTION(Floor, 0.0, std::floor(x), kAll);
  BATON_CHECK_FUNCTION(Ceil, 0.0, std::ceil(x), kAll);
  BATON_CHECK_FUNCTION(Trunc, 0.0, std::trunc(x), kAll);
}

TEST(MathTest, PowersAreNearTheExactOnes) {
  for (const float y : {0.0f, 1.0f, -1.0f, 2.0f, 3.0f, -5.0f, 0.5f, -0.75f,
                        1.3f, 17.0f, 100.5f, 0x1p24f, -0x1p-20f}) {
    CheckFunction(
        "Power", 0.65, [y](float x) BATON_LOOP { return Power(x, y); },
        [y](double x) { return std::pow(x, static_cast<double>(y)); },
        [y](float x) { return IsOrdinaryPower(x, y); });
  }
  EXPECT_FALSE(IsOrdinaryPower(-2.0f, 0.5f));
  EXPECT_FALSE(IsOrdinaryPower(0.0f, 2.0f));
  EXPECT_FALSE(IsOrdinaryPower(2.0f, kInfinity));
  EXPECT_TRUE(IsOrdinaryPower(-2.0f, 3.0f));
}

TEST(MathTest, HalfFloatsConvertAsElsewhere) {
  for (uint32_t bits = 0; bits < 1u << 16; ++bits) {
    const uint16_t half = static_cast<uint16_t>(bits);
    const float wide = Float16::FromBits(half);
    EXPECT_EQ(std::bit_cast<uint32_t>(FromHalf(half)),
              std::bit_cast<uint32_t>(wide));
  }
  std::vector<float> samples = Samples();
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
