#include "baton/base/dtype.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "baton/base/number_range.h"
#include "gtest/gtest.h"

namespace baton {
namespace {

TEST(DTypeTest, TextRoundTrips) {
  for (const char* text :
       {"float16", "float32", "float64", "bfloat16", "int4", "int8", "int64",
        "uint1", "uint8", "bool", "float32x4", "handle", "void", "float8"}) {
    const absl::StatusOr<DType> dtype = DType::Parse(text);
    ASSERT_TRUE(dtype.ok()) << text;
    const std::string expected = std::string(text) == "uint1" ? "bool" : text;
    EXPECT_EQ(dtype->ToString(), expected);
  }
  EXPECT_EQ(DType::Parse("int")->bits(), 32);
  EXPECT_TRUE(DType::Parse("")->is_void());
}

TEST(DTypeTest, BadTextIsRefused) {
  for (const char* text : {"flaot32", "float-1", "float0", "int8x", "int8x0",
                           "float99999", "float32 ", "int8x70000"}) {
    EXPECT_FALSE(DType::Parse(text).ok()) << text;
  }
}

TEST(DTypeTest, OnlySomeWidthsAreStorable) {
  EXPECT_TRUE(DType::Bool().IsStorable());
  EXPECT_TRUE(DType::BFloat(16).IsStorable());
  EXPECT_FALSE(DType::Int(4).IsStorable());
  EXPECT_FALSE(DType::Float(8).IsStorable());
  EXPECT_FALSE(DType(DType::Code::kFloat, 32, 4).IsStorable());
  EXPECT_FALSE(DType().IsStorable());
}

// Every float16 survives the way to float32 and back.
TEST(Float16Test, AllValuesRoundTrip) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const Float16 value = Float16::FromBits(static_cast<uint16_t>(bits));
    const float wide = value;
    const Float16 again(wide);
    if (std::isnan(wide)) {
      EXPECT_TRUE(std::isnan(static_cast<float>(again)));
    } else {
      ASSERT_EQ(again.bits, bits);
    }
  }
}

TEST(Float16Test, RoundsToNearestEven) {
  EXPECT_EQ(Float16(65504.0f).bits, 0x7bff);
  EXPECT_EQ(Float16(65519.9f).bits, 0x7bff);
  EXPECT_EQ(Float16(65520.0f).bits, 0x7c00);
  EXPECT_EQ(Float16(1.0f + 1.0f / 2048).bits, 0x3c00);  // tie, to even
  EXPECT_EQ(Float16(1.0f + 3.0f / 2048).bits, 0x3c02);  // tie, to even
  EXPECT_EQ(Float16(std::ldexp(1.0f, -25)).bits, 0);    // tie, to zero
  EXPECT_EQ(Float16(std::ldexp(1.1f, -25)).bits, 1);
  EXPECT_EQ(Float16(-0.0f).bits, 0x8000);
  EXPECT_EQ(Float16(std::numeric_limits<float>::infinity()).bits, 0x7c00);
}

TEST(BFloat16Test, RoundsToNearestEven) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const float wide = BFloat16::FromBits(static_cast<uint16_t>(bits));
    if (!std::isnan(wide)) {
      ASSERT_EQ(BFloat16(wide).bits, bits);
    } else {
      EXPECT_TRUE(std::isnan(static_cast<float>(BFloat16(wide))));
    }
  }
  EXPECT_EQ(BFloat16(1.00390625f).bits, 0x3f80);  // 1 + 2^-8: tie, to even
  EXPECT_EQ(BFloat16(1.01171875f).bits, 0x3f82);  // 1 + 3*2^-8: tie, to even
}

TEST(DTypeTest, HalvesAndBytes) {
  EXPECT_TRUE(DType::Float(16).is_half());
  EXPECT_TRUE(DType::BFloat(16).is_half());
  EXPECT_FALSE(DType::Float(32).is_half());
  EXPECT_FALSE(DType::Int(16).is_half());
  EXPECT_TRUE(DType::Int(8).is_byte());
  EXPECT_TRUE(DType::UInt(8).is_byte());
  EXPECT_FALSE(DType::Bool().is_byte());
  EXPECT_FALSE(DType(DType::Code::kInt, 8, 4).is_byte());
}

TEST(FiniteRangeTest, TypesWithoutOneHaveTheLeastFloat) {
  EXPECT_EQ(FiniteRange(DType::Float(8)), std::nullopt);
  EXPECT_EQ(LowestFinite(DType::Float(8)), LowestFinite(DType::Float(32)));
  EXPECT_EQ(LowestFinite(DType::Int(8)), -128);
}

TEST(FiniteRangeTest, EndsAreNumbersOfTheType) {
  const auto is = [](DType dtype, double low, double high) {
    const std::optional<NumberRange> range = FiniteRange(dtype);
    return range.has_value() && range->low == low && range->high == high;
  };
  EXPECT_TRUE(is(DType::Int(8), -128, 127));
  EXPECT_TRUE(is(DType::UInt(4), 0, 15));
  EXPECT_TRUE(is(DType::Bool(), 0, 1));
  EXPECT_TRUE(is(DType::Int(64), -0x1p63, 0x1p63));
  EXPECT_TRUE(is(DType::UInt(64), 0, 0x1p64));
  EXPECT_TRUE(is(DType::Float(16), -65504, 65504));
  EXPECT_TRUE(is(DType(DType::Code::kFloat, 16, 4), -65504, 65504));
  EXPECT_TRUE(is(DType::BFloat(16), -0x1.fep127, 0x1.fep127));
  EXPECT_TRUE(is(DType::Float(32), std::numeric_limits<float>::lowest(),
                 std::numeric_limits<float>::max()));
  EXPECT_TRUE(is(DType::Float(64), std::numeric_limits<double>::lowest(),
                 std::numeric_limits<double>::max()));
  EXPECT_FALSE(FiniteRange(DType::Float(80)).has_value());
  EXPECT_FALSE(FiniteRange(DType()).has_value());
}

}  // namespace
}  // namespace baton
