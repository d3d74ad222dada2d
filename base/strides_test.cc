#include "baton/base/strides.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(StridesTest, TheLastAxisRunsFastest) {
  EXPECT_THAT(RowMajorStrides({}), IsEmpty());
  EXPECT_THAT(RowMajorStrides({7}), ElementsAre(1));
  EXPECT_THAT(RowMajorStrides({2, 1, 3, 4}), ElementsAre(12, 12, 4, 1));
}

TEST(StridesTest, AnExtentOfZeroCountsAsOne) {
  EXPECT_THAT(RowMajorStrides({2, 0, 3}), ElementsAre(3, 3, 1));
}

}  // namespace
}  // namespace baton
