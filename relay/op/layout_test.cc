#include "baton/relay/op/layout.h"

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/base/dtype.h"
#include "baton/ir/type.h"
#include "baton/relay/op/dim_math.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton::relay {
namespace {

using ::testing::HasSubstr;

Layout Parsed(absl::string_view text) {
  absl::StatusOr<Layout> layout = Layout::Parse(text);
  EXPECT_TRUE(layout.ok()) << layout.status();
  return layout.ok() ? *layout : Layout();
}

std::string Converted(absl::string_view from, const Dims& shape,
                      absl::string_view to) {
  const absl::StatusOr<Dims> result =
      Parsed(from).ConvertShape(shape, Parsed(to));
  return result.ok() ? ShapeToString(*result)
                     : std::string(result.status().message());
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
}

TEST(LayoutTest, SplitsAndCuts) {
  EXPECT_EQ(Parsed("NCHW").Split('C', 4, 16)->ToString(), "NCHW16c");
  EXPECT_FALSE(Parsed("NCHW16c").Split('C', 4, 16).ok());
  EXPECT_FALSE(Parsed("NCHW").Split('D', 4, 16).ok());
  EXPECT_EQ(Parsed("NCHW16c").SubLayout(1, 3).ToString(), "CHW");
  EXPECT_EQ(Parsed("NCHW").SubLayout(2, 9).ToString(), "HW");
  EXPECT_EQ(Parsed("C").ExpandPrimal(Parsed("NHWC")).ToString(), "NHWC");
}

TEST(LayoutTest, ConvertsShapes) {
  EXPECT_EQ(Converted("NCHW", {1, 3, 224, 225}, "NHWC"), "(1, 224, 225, 3)");
  EXPECT_EQ(Converted("NHWC", {1, 7, 8, 32}, "NCHW16c"), "(1, 2, 7, 8, 16)");
  EXPECT_EQ(Converted("NCHW16c", {1, 2, 7, 8, 16}, "NCHW4c"),
            "(1, 8, 7, 8, 4)");
  EXPECT_EQ(Converted("OIHW", {64, 32, 3, 3}, "OIHW16i16o"),
            "(4, 2, 3, 3, 16, 16)");
  // Rounded up where the sub-axis does not divide.
  EXPECT_EQ(Converted("NCHW", {1, 3, 8, 8}, "NCHW4c"), "(1, 1, 8, 8, 4)");
  EXPECT_EQ(Converted("NCHW", {Dim::Any(), Dim::Any(), 8, 8}, "NHWC"),
            "(?, 8, 8, ?)");
}

TEST(LayoutTest, RefusesConversions) {
  EXPECT_THAT(Converted("NCHW", {1, 3, 8}, "NHWC"),
              HasSubstr("has 4 axes, but the tensor has 3"));
  EXPECT_THAT(Converted("NCHW", {1, 3, 8, 8}, "NCDHW"),
              HasSubstr("cannot be converted"));
  EXPECT_THAT(Converted("NCHW16c", {1, 3, 8, 8, 4}, "NCHW"),
              HasSubstr("asks for 16 elements on axis 4"));
}

TEST(DimMathTest, Folds) {
  const Dim n(new DimExprNode(DimExprNode::Op::kSizeVar, "n", DType::Int(32),
                              Dim(), Dim()));
  EXPECT_EQ(Dim(3) + Dim(4), Dim(7));
  EXPECT_EQ(FloorDiv(-7, 2), Dim(-4));
  EXPECT_EQ(CeilDiv(7, 2), Dim(4));
  EXPECT_TRUE((Dim::Any() * Dim(2)).is_any());
  EXPECT_TRUE(FloorDiv(7, 0).is_any());
  EXPECT_EQ(n + Dim(0), n);
  EXPECT_EQ(n * Dim(1), n);
  EXPECT_EQ(n - n, Dim(0));
  // Overflow gives an unknown number rather than a wrong one.
  EXPECT_TRUE((Dim(INT64_MAX / 4) * Dim(8)).is_any());
}

TEST(DimMathTest, QuotientCancels) {
  const Dim n(new DimExprNode(DimExprNode::Op::kSizeVar, "n", DType::Int(32),
                              Dim(), Dim()));
  const Dim n512 = n * Dim(512);
  EXPECT_TRUE(ProvablyEqual(Quotient({n, 32, 16, 16}, {1, 16}), n512));
  EXPECT_TRUE(ProvablyEqual(Quotient({16, n512}, {4, 8, 16}), n * Dim(16)));
  EXPECT_EQ(Quotient({n512, 2}, {n, 64}), Dim(16));
  EXPECT_TRUE(Quotient({6}, {0}).is_any());
}

}  // namespace
}  // namespace baton::relay
