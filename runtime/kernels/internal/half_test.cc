#include "baton/runtime/kernels/internal/half.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "baton/runtime/kernels/internal/math.h"
#include "baton/runtime/kernels/internal/vectorize.h"
#include "gtest/gtest.h"

namespace baton::kernels::internal {
namespace {

constexpr size_t kAll = 1u << 16;

std::vector<uint16_t> AllHalves() {
  std::vector<uint16_t> all(kAll);
  for (size_t i = 0; i < kAll; ++i) all[i] = static_cast<uint16_t>(i);
  return all;
}

bool IsNan(uint16_t half) { return (half & 0x7fffu) > 0x7c00u; }

bool Same(uint16_t a, uint16_t b) { return a == b || (IsNan(a) && IsNan(b)); }

// Runs `fn` over all of float16, and compares widths of vectors with each
// other.
template <typename Fn>
std::vector<uint16_t> Mapped(const std::string& name, const Fn& fn) {
  const std::vector<uint16_t> all = AllHalves();
  std::vector<uint16_t> result(kAll);
  MapHalves(all.data(), kAll, result.data(), fn, Vectors::k128);
  for (const Vectors vectors : {Vectors::k256, Vectors::k512}) {
    if (vectors > WidestVectors()) continue;
    // Also where vectors begin and end elsewhere.
    for (const size_t skipped : {0, 1, 5}) {
      const int64_t n = static_cast<int64_t>(kAll - skipped);
      std::vector<uint16_t> wide(kAll - skipped + 1, 0x1234);
      MapHalves(all.data() + skipped, n, wide.data(), fn, vectors);
      EXPECT_EQ(wide.back(), 0x1234) << name << " writes too much";
      wide.pop_back();
      EXPECT_TRUE(std::equal(
          wide.begin(), wide.end(),
          result.begin() + static_cast<std::ptrdiff_t>(skipped), Same))
          << name << " depends on the width of vectors";
    }
  }
  return result;
}

// Returns the distance of `actual` from `exact`, in units in the last place of
// float16.
double UlpsFrom(double exact, uint16_t actual) {
  const uint16_t rounded = ToHalf(static_cast<float>(exact));
  const double value = FromHalf(actual);
  if (std::isnan(exact) || std::isinf(value) || std::isinf(FromHalf(rounded))) {
    return Same(rounded, actual) ? 0 : 1e9;
  }
  if (std::signbit(exact) != std::signbit(value)) return 1e9;
  int exponent;
  std::frexp(exact, &exponent);
  return std::abs(value - exact) /
         std::ldexp(1.0, std::max(exponent, -13) - 11);
}

#define BATON_CHECK_FUNCTION(Name, exact)                                \
  {                                                                      \
    const std::vector<uint16_t> result =                                 \
        Mapped(#Name, [](float v) BATON_LOOP { return half::Name(v); }); \
    double worst = 0;                                                    \
    for (size_t i = 0; i < kAll; ++i) {                                  \
      const double x = FromHalf(static_cast<uint16_t>(i));               \
      worst = std::max(worst, UlpsFrom(exact, result[i]));               \
    }                                                                    \
    EXPECT_LE(worst, 0.502) << #Name;                                    \
  }

TEST(HalfTest, FunctionsAreNearTheExactOnes) {
  BATON_CHECK_FUNCTION(Exp, std::exp(x));
  BATON_CHECK_FUNCTION(Log, std::log(x));
  BATON_CHECK_FUNCTION(Log2, std::log2(x));
  BATON_CHECK_FUNCTION(Log10, std::log10(x));
  BATON_CHECK_FUNCTION(Acos, std::acos(x));
  BATON_CHECK_FUNCTION(Sinh, std::sinh(x));
  BATON_CHECK_FUNCTION(Cosh, std::cosh(x));
  BATON_CHECK_FUNCTION(Tanh, std::tanh(x));
}

TEST(HalfTest, PlainLogarithmsAreTheSame) {
  for (uint32_t i = 1; i < 0x7c00; ++i) {
    const float x = FromHalf(static_cast<uint16_t>(i));
    EXPECT_EQ(half::PlainLog(x), half::Log(x));
    EXPECT_EQ(half::PlainLog2(x), half::Log2(x));
    EXPECT_EQ(half::PlainLog10(x), half::Log10(x));
  }
}

TEST(HalfTest, FunctionsOfFloatServe) {
  const std::vector<uint16_t> sines =
      Mapped("sin", [](float v) BATON_LOOP { return Sin(v); });
  const std::vector<uint16_t> tangents =
      Mapped("tan", [](float v) BATON_LOOP { return Tan(v); });
  for (size_t i = 0; i < kAll; ++i) {
    const double x = FromHalf(static_cast<uint16_t>(i));
    EXPECT_LE(UlpsFrom(std::sin(x), sines[i]), 0.501) << x;
    EXPECT_LE(UlpsFrom(std::tan(x), tangents[i]), 0.501) << x;
  }
}

TEST(HalfTest, ConversionsChangeNothing) {
  const std::vector<uint16_t> all = AllHalves();
  const std::vector<uint16_t> same =
      Mapped("identity", [](float v) BATON_LOOP { return v; });
  EXPECT_TRUE(std::equal(all.begin(), all.end(), same.begin(), Same));
}

}  // namespace
}  // namespace baton::kernels::internal
