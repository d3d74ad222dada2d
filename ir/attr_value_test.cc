#include "baton/ir/attr_value.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "baton/base/dtype.h"
#include "baton/ir/type.h"
#include "gtest/gtest.h"

namespace baton {
namespace {

template <typename T>
T Read(const AttrValue& value) {
  T result{};
  EXPECT_TRUE(AttrTraits<T>::FromValue(value, &result).ok());
  return result;
}

template <typename T>
std::string Refusal(const AttrValue& value) {
  T result{};
  return std::string(AttrTraits<T>::FromValue(value, &result).message());
}

TEST(AttrValueTest, Text) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  EXPECT_EQ(AttrValue().ToString(), "none");
  EXPECT_EQ(AttrValue(true).ToString(), "true");
  EXPECT_EQ(AttrValue(-3).ToString(), "-3");
  EXPECT_EQ(AttrValue(2.0).ToString(), "2.0");
  EXPECT_EQ(AttrValue(1e-5).ToString(), "1e-05");
  EXPECT_EQ(AttrValue(-kInf).ToString(), "-inf");
  EXPECT_EQ(AttrValue("nn.conv2d").ToString(), "nn.conv2d");
  EXPECT_EQ(AttrValue("two words").ToString(), "\"two words\"");
  EXPECT_EQ(AttrValue("").ToString(), "\"\"");
  EXPECT_EQ(AttrValue("true").ToString(), "\"true\"");
  EXPECT_EQ(AttrValue("4D").ToString(), "\"4D\"");
  EXPECT_EQ(AttrValue("a\"\\\n\x01").ToString(), "\"a\\\"\\\\\\n\\x01\"");
  EXPECT_EQ(AttrValue(DType::Float(32)).ToString(), "float32");
  EXPECT_EQ(AttrValue(DType()).ToString(), "none");
  EXPECT_EQ(AttrValue(Dim(7)).ToString(), "7");
  EXPECT_EQ(AttrValue(Dim::Any()).ToString(), "\"?\"");
  EXPECT_EQ(
      AttrValue(AttrMap{{"nn.conv2d", AttrList{"NHWC", "HWIO"}}, {"a b", {}}})
          .ToString(),
      "{nn.conv2d:[NHWC,HWIO],\"a b\":none}");
}

TEST(AttrValueTest, EqualityAndHash) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(AttrValue(nan), AttrValue(nan));
  EXPECT_EQ(AttrValue(0.0), AttrValue(-0.0));
  EXPECT_EQ(AttrValue(0.0).Hash(), AttrValue(-0.0).Hash());
  EXPECT_EQ(AttrValue(nan).Hash(), AttrValue(-nan).Hash());
  EXPECT_NE(AttrValue(1), AttrValue(1.0));
  EXPECT_NE(AttrValue(1), AttrValue(true));
  EXPECT_NE(AttrValue("a").Hash(), AttrValue("b").Hash());
  EXPECT_EQ(AttrValue(AttrList{1, "x"}), AttrValue(AttrList{1, "x"}));
  EXPECT_NE(AttrValue(AttrList{1, "x"}), AttrValue(AttrList{"x", 1}));
}

TEST(AttrValueTest, Conversions) {
  EXPECT_TRUE(Read<bool>(1));
  EXPECT_EQ(Read<double>(2), 2.0);
  EXPECT_EQ(Read<double>("inf"), std::numeric_limits<double>::infinity());
  EXPECT_EQ(Read<DType>("int8"), DType::Int(8));
  EXPECT_TRUE(Read<DType>({}).is_void());
  EXPECT_EQ(Read<Dim>(5), Dim(5));
  EXPECT_EQ(Read<Dim>("?"), Dim::Any());
  EXPECT_EQ(Read<std::optional<int>>({}), std::nullopt);
  EXPECT_EQ(Read<std::optional<int>>(3), 3);
  EXPECT_EQ(Read<std::vector<int64_t>>(AttrList{1, 2}),
            (std::vector<int64_t>{1, 2}));
  // A lone value stands for a list of one.
  EXPECT_EQ(Read<std::vector<std::string>>("a"),
            (std::vector<std::string>{"a"}));
}

TEST(AttrValueTest, Refusals) {
  EXPECT_EQ(Refusal<int64_t>("x"), "expected an integer, found x");
  EXPECT_EQ(Refusal<int>(int64_t{1} << 40),
            "expected an integer of 32 bits, found 1099511627776");
  EXPECT_EQ(Refusal<bool>(2), "expected true or false, found 2");
  EXPECT_EQ(Refusal<std::string>(true), "expected a string, found true");
  EXPECT_EQ(Refusal<DType>("float33x"), "unknown data type \"float33x\"");
  EXPECT_EQ(Refusal<std::vector<int>>(AttrList{1, 0.5}),
            "expected an integer of 32 bits, found 0.5");
  // Long values are cut.
  EXPECT_LT(Refusal<int64_t>(std::string(1000, 'x')).size(), 120u);
}

TEST(AttrValueTest, TypeNames) {
  EXPECT_EQ(AttrTraits<std::vector<int64_t>>::Name(), "[int]");
  EXPECT_EQ(AttrTraits<std::optional<std::string>>::Name(), "string?");
  EXPECT_EQ(AttrTraits<Dims>::Name(), "[dim]");
}

}  // namespace
}  // namespace baton
