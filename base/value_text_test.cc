#include "baton/base/value_text.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "baton/base/attr_value.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton {
namespace {

using ::testing::HasSubstr;

AttrValue Parse(const std::string& text) {
  const absl::StatusOr<AttrValue> value = ParseAttrValue(text);
  EXPECT_TRUE(value.ok()) << text << ": " << value.status();
  return value.value_or(AttrValue());
}

std::string Error(const std::string& text) {
  return std::string(ParseAttrValue(text).status().message());
}

TEST(ParseAttrValueTest, Scalars) {
  EXPECT_EQ(Parse("true"), AttrValue(true));
  EXPECT_EQ(Parse("false"), AttrValue(false));
  EXPECT_EQ(Parse("none"), AttrValue());
  EXPECT_EQ(Parse("18"), AttrValue(18));
  EXPECT_EQ(Parse("-7"), AttrValue(-7));
  EXPECT_EQ(Parse("-9223372036854775808"),
            AttrValue(std::numeric_limits<int64_t>::min()));
  EXPECT_EQ(Parse("0.5"), AttrValue(0.5));
  EXPECT_EQ(Parse("-1e-05"), AttrValue(-1e-5));
  EXPECT_EQ(Parse("1."), AttrValue(1.0));
  EXPECT_EQ(Parse(".5"), AttrValue(0.5));
  EXPECT_EQ(Parse("inf"), AttrValue(std::numeric_limits<double>::infinity()));
  EXPECT_EQ(Parse("-inf"), AttrValue(-std::numeric_limits<double>::infinity()));
  EXPECT_TRUE(std::isnan(*Parse("nan").As<double>()));
}

TEST(ParseAttrValueTest, Words) {
  for (const char* word : {"NHWC", "nn.conv2d", "float32", "NCHW4c", "a-b", "-",
                           "1d", "0x10", "infinity", "-infinity", "True", "%x",
                           "@main", "a/b", "*", "\xc3\xa9"}) {
    EXPECT_EQ(Parse(word), AttrValue(word)) << word;
  }
}

TEST(ParseAttrValueTest, Quotes) {
  EXPECT_EQ(Parse("\"two words\""), AttrValue("two words"));
  EXPECT_EQ(Parse("\"18\""), AttrValue("18"));
  EXPECT_EQ(Parse("\"\""), AttrValue(""));
  EXPECT_EQ(Parse(R"("a\"b\\c\n\t\r\x41\xfF")"),
            AttrValue("a\"b\\c\n\t\rA\xff"));
}

TEST(ParseAttrValueTest, ListsAndMaps) {
  EXPECT_EQ(Parse("[]"), AttrValue(AttrList{}));
  EXPECT_EQ(Parse(" [ 3 , 224,224 ] "), AttrValue(AttrList{3, 224, 224}));
  EXPECT_EQ(Parse("{}"), AttrValue(AttrMap{}));
  EXPECT_EQ(Parse("{nn.conv2d:[NHWC,HWIO], \"b c\"={x=1}}"),
            AttrValue(AttrMap{{"nn.conv2d", AttrList{"NHWC", "HWIO"}},
                              {"b c", AttrMap{{"x", 1}}}}));
}

TEST(ParseAttrValueTest, PrintsBack) {
  const std::vector<AttrValue> values = {
      AttrValue(),
      true,
      -5,
      0.1,
      1.0,
      1e300,
      std::numeric_limits<double>::infinity(),
      std::numeric_limits<double>::quiet_NaN(),
      "word",
      "two words",
      "inf",
      "true",
      "1",
      "",
      "\"\\\n\x01\xff",
      AttrList{},
      AttrList{1, "a", AttrList{2.5}},
      AttrMap{{"k", AttrMap{{"two words", AttrList{true}}}}, {"1", 1}}};
  for (const AttrValue& value : values) {
    EXPECT_EQ(Parse(value.ToString()), value) << value.ToString();
  }
}

TEST(ParseAttrValueTest, ErrorsShowThePlace) {
  EXPECT_EQ(Error(""), "value:1:1: error: expected a value\n\n^");
  EXPECT_EQ(Error("[1,]"), "value:1:4: error: expected a value\n[1,]\n   ^");
  EXPECT_EQ(Error("[1 2]"),
            "value:1:4: error: expected \",\" or \"]\"\n[1 2]\n   ^");
  EXPECT_THAT(Error("{a}"), HasSubstr("expected \":\" or \"=\""));
  EXPECT_THAT(Error("{a=1"), HasSubstr("expected \",\" or \"}\""));
  EXPECT_THAT(Error("{a=1,a=2}"), HasSubstr("a is given twice"));
  EXPECT_THAT(Error("1 2"), HasSubstr("expected the end"));
  EXPECT_THAT(Error("\"open"), HasSubstr("the quote is not closed"));
  EXPECT_THAT(Error("\"a\\"), HasSubstr("unknown escape"));
  EXPECT_THAT(Error("\"\\q\""), HasSubstr("unknown escape"));
  EXPECT_THAT(Error("\"\\x4\""), HasSubstr("two hexadecimal digits"));
  EXPECT_THAT(Error("99999999999999999999"),
              HasSubstr("does not fit in 64 bits"));
  EXPECT_THAT(Error("a\\b"), HasSubstr("expected the end"));
}

TEST(ParseAttrValueTest, HostileDepth) {
  const std::string deep(1000000, '[');
  EXPECT_THAT(Error(deep), HasSubstr("nested more than 100 brackets deep"));
  std::string maps;
  for (int i = 0; i < 100000; ++i) maps += "{a=";
  EXPECT_THAT(Error(maps), HasSubstr("nested more than 100"));
  const std::string fine = std::string(100, '[') + std::string(100, ']');
  EXPECT_TRUE(ParseAttrValue(fine).ok());
}

TEST(ParseAttrValueTest, ManyKeys) {
  std::string text = "{";
  for (int i = 0; i < 50000; ++i) absl::StrAppend(&text, "k", i, "=1,");
  text += "last=1}";
  EXPECT_EQ(Parse(text).As<AttrMap>()->size(), 50001);
}

TEST(ParseKeyValuesTest, ReadsPairs) {
  EXPECT_EQ(ParseKeyValues("").value(), AttrMap{});
  EXPECT_EQ(ParseKeyValues("relay.FuseOps.max_depth=8,mode=\"a b\"").value(),
            (AttrMap{{"relay.FuseOps.max_depth", 8}, {"mode", "a b"}}));
  EXPECT_EQ(ParseKeyValues("a", "--config").status().message(),
            "--config:1:2: error: expected \"=\"\na\n ^");
  EXPECT_FALSE(ParseKeyValues("a=1,").ok());
  EXPECT_FALSE(ParseKeyValues("a=1 b=2").ok());
}

TEST(ParseNameAndOptionsTest, ReadsWorkloads) {
  const absl::StatusOr<NameAndOptions> spec = ParseNameAndOptions(
      "resnet{num_layers=18,image_shape=[3,224,224]}", "--workload");
  ASSERT_TRUE(spec.ok()) << spec.status();
  EXPECT_EQ(spec->name, "resnet");
  EXPECT_EQ(spec->options, (AttrMap{{"num_layers", 18},
                                    {"image_shape", AttrList{3, 224, 224}}}));
  EXPECT_EQ(ParseNameAndOptions("mlp")->name, "mlp");
  EXPECT_FALSE(ParseNameAndOptions("").ok());
  EXPECT_FALSE(ParseNameAndOptions("a,b").ok());
  EXPECT_FALSE(ParseNameAndOptions("a{x:1}").ok());
  EXPECT_FALSE(ParseNameAndOptions("a{x=1").ok());
}

TEST(OptionsToStringTest, ReadsBack) {
  EXPECT_EQ(OptionsToString({}), "");
  const AttrMap options = {{"a", 1}, {"b c", AttrList{"x y"}}};
  const std::string text = OptionsToString(options);
  EXPECT_EQ(text, "{a=1,\"b c\"=[\"x y\"]}");
  EXPECT_EQ(ParseNameAndOptions("n" + text)->options, options);
}

}  // namespace
}  // namespace baton
