#include "baton/relay/op/layout_shape.h"

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/base/layout.h"
#include "baton/ir/type.h"
#include "baton/relay/op/dim_math.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton::relay {
namespace {

using ::testing::HasSubstr;

std::string Converted(absl::string_view from, const Dims& shape,
                      absl::string_view to) {
  const absl::StatusOr<Dims> result =
      ConvertShape(shape, *Layout::Parse(from), *Layout::Parse(to));
  return result.ok() ? ShapeToString(*result)
                     : std::string(result.status().message());
}

TEST(LayoutShapeTest, ConvertsShapes) {
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

TEST(LayoutShapeTest, RefusesConversions) {
  EXPECT_THAT(Converted("NCHW", {1, 3, 8}, "NHWC"),
              HasSubstr("has 4 axes, but the tensor has 3"));
  EXPECT_THAT(Converted("NCHW", {1, 3, 8, 8}, "NCDHW"),
              HasSubstr("cannot be converted"));
  EXPECT_THAT(Converted("NCHW16c", {1, 3, 8, 8, 4}, "NCHW"),
              HasSubstr("requires 16 elements on axis 4"));
}

}  // namespace
}  // namespace baton::relay
