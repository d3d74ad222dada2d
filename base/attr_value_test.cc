#include "baton/base/attr_value.h"

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "baton/base/dtype.h"
#include "gtest/gtest.h"

namespace baton {

// Types whose traits are specialized below.
namespace attr_value_test {

// A handle of another package: counted, compared by what it points to.
struct Color {
  std::shared_ptr<const std::string>* name;

  explicit Color(std::string text)
      : name(new std::shared_ptr<const std::string>(
            std::make_shared<const std::string>(std::move(text)))) {}
  Color(const Color& other)
      : name(new std::shared_ptr<const std::string>(*other.name)) {}
  Color(Color&& other) noexcept : name(std::exchange(other.name, nullptr)) {}
  Color& operator=(const Color&) = delete;
  ~Color() { delete name; }
  friend bool operator==(const Color& a, const Color& b) {
    return **a.name == **b.name;
  }
};

// Another type of the same size.
struct Level {
  int64_t number;
  friend bool operator==(const Level&, const Level&) = default;
};

}  // namespace attr_value_test

template <>
struct ForeignTraits<attr_value_test::Color> {
  static constexpr char kName[] = "color";
  static uint64_t Hash(const attr_value_test::Color& color) {
    return (*color.name)->size();
  }
  static std::string ToString(const attr_value_test::Color& color) {
    return **color.name;
  }
};
template <>
struct AttrTraits<attr_value_test::Color> {
  static AttrValue ToValue(const attr_value_test::Color& color) {
    return ForeignValue(color);
  }
};
template <>
struct ForeignTraits<attr_value_test::Level> {
  static constexpr char kName[] = "level";
  static uint64_t Hash(const attr_value_test::Level& level) { return 3; }
  static std::string ToString(const attr_value_test::Level& level) {
    return "level";
  }
};

namespace {

using attr_value_test::Color;
using attr_value_test::Level;

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
}

TEST(AttrValueTest, ForeignValues) {
  const AttrValue red = Color("red");
  ASSERT_NE(red.As<Color>(), nullptr);
  EXPECT_EQ(**red.As<Color>()->name, "red");
  EXPECT_EQ(red.As<Level>(), nullptr);
  EXPECT_EQ(red.As<std::string>(), nullptr);
  EXPECT_EQ(AttrValue("red").As<Color>(), nullptr);
  EXPECT_STREQ(red.As<ForeignValue>()->type_name(), "color");
  EXPECT_EQ(red.ToString(), "\"red\"");
  EXPECT_EQ(AttrValue(AttrList{red, 1}).ToString(), "[\"red\",1]");

  EXPECT_EQ(red, AttrValue(Color("red")));
  EXPECT_EQ(red.Hash(), AttrValue(Color("red")).Hash());
  EXPECT_NE(red, AttrValue(Color("tan")));
  EXPECT_NE(red, AttrValue("red"));
  EXPECT_NE(red, AttrValue(ForeignValue(Level{3})));
  EXPECT_NE(red.Hash(), AttrValue(Color("green")).Hash());
}

// Under the address sanitizer: nothing is lost, nothing is destroyed twice.
TEST(AttrValueTest, ForeignValuesAreCopiedAndMoved) {
  AttrValue a = Color("red");
  const std::shared_ptr<const std::string> text = *a.As<Color>()->name;
  EXPECT_EQ(text.use_count(), 2);
  AttrValue b = a;
  EXPECT_EQ(text.use_count(), 3);
  AttrValue c = std::move(b);
  EXPECT_EQ(text.use_count(), 3);
  EXPECT_EQ(a, c);
  c = ForeignValue(Level{1});
  EXPECT_EQ(text.use_count(), 2);
  EXPECT_EQ(c.As<Level>()->number, 1);
  c = a;
  EXPECT_EQ(text.use_count(), 3);
  c = AttrValue(1);
  a = std::move(c);
  EXPECT_EQ(text.use_count(), 1);
  EXPECT_EQ(a, AttrValue(1));
}

// An attribute list of a node holds many values.
static_assert(sizeof(AttrValue) == sizeof(std::string) + sizeof(void*));

}  // namespace
}  // namespace baton
