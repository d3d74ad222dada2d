#include "baton/base/layout.h"

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton {
namespace {

using ::testing::HasSubstr;

Layout Parsed(absl::string_view text) {
  absl::StatusOr<Layout> layout = Layout::Parse(text);
  EXPECT_TRUE(layout.ok()) << layout.status();
  return layout.ok() ? *layout : Layout();
}

TEST(LayoutTest, KnowsItsAxes) {
  const Layout layout = Parsed("OIHW16i8o2i");
  EXPECT_EQ(layout.ToString(), "OIHW16i8o2i");
  EXPECT_EQ(layout.ndim(), 7);
  EXPECT_EQ(layout.ndim_primal(), 4);
  EXPECT_EQ(layout.IndexOf('H'), 2);
  EXPECT_EQ(layout.IndexOf('i'), 4);
  EXPECT_EQ(layout.IndexOf('W' + 1), -1);
  EXPECT_TRUE(layout.Contains('o'));
  EXPECT_FALSE(layout.Contains('h'));
  // All sub-axes of an axis together, asked by either case.
  EXPECT_EQ(layout.FactorOf('I'), 32);
  EXPECT_EQ(layout.FactorOf('o'), 8);
  EXPECT_EQ(layout.FactorOf('H'), -1);
  EXPECT_EQ(layout.Primal().ToString(), "OIHW");
}

TEST(LayoutTest, EmptyIsUndefined) {
  EXPECT_FALSE(Parsed("").defined());
  EXPECT_FALSE(Parsed("__undef__").defined());
  EXPECT_FALSE(Layout().ConvertibleTo(Parsed("NCHW")));
}

TEST(LayoutTest, RefusesWhatIsNoLayout) {
  const auto error = [](absl::string_view text) {
    const absl::StatusOr<Layout> layout = Layout::Parse(text);
    return layout.ok() ? std::string("accepted")
                       : std::string(layout.status().message());
  };
  EXPECT_THAT(error("NC?W"), HasSubstr("'?'"));
  EXPECT_THAT(error("NCHWc"), HasSubstr("the sub-axis c has no size"));
  EXPECT_THAT(error("N16CHW"), HasSubstr("size 16 before the primal axis C"));
  EXPECT_THAT(error("NHW16c"), HasSubstr("the axis C is missing"));
  EXPECT_THAT(error("NCCW"), HasSubstr("the axis C is given twice"));
  EXPECT_THAT(error("NCHW16"), HasSubstr("size 16 at the end"));
  EXPECT_THAT(error("NCHW99999999999999999999c"), HasSubstr("out of range"));
  EXPECT_THAT(error("NCHW1000000c1000000c1000000c"),
              HasSubstr("the size of axis C is out of range"));
}

TEST(LayoutTest, SplitsAndCuts) {
  EXPECT_EQ(Parsed("NCHW").Split('C', 4, 16)->ToString(), "NCHW16c");
  EXPECT_FALSE(Parsed("NCHW16c").Split('C', 4, 16).ok());
  EXPECT_FALSE(Parsed("NCHW").Split('D', 4, 16).ok());
  EXPECT_EQ(Parsed("NCHW16c").SubLayout(1, 3).ToString(), "CHW");
  EXPECT_EQ(Parsed("NCHW").SubLayout(2, 9).ToString(), "HW");
  EXPECT_EQ(Parsed("C").ExpandPrimal(Parsed("NHWC")).ToString(), "NHWC");
}

TEST(LayoutTest, ComesFromAxes) {
  EXPECT_EQ(Layout::FromAxes({{'N', 0}, {'C', 0}, {'c', 16}}), Parsed("NC16c"));
  EXPECT_FALSE(Layout::FromAxes({}).defined());
  EXPECT_FALSE(Layout::FromAxes({{'N', 0}, {'N', 0}}).defined());
  EXPECT_FALSE(Layout::FromAxes({{'N', 0}, {'c', 16}}).defined());
}

}  // namespace
}  // namespace baton
