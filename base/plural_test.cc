#include "baton/base/plural.h"

#include "gtest/gtest.h"

namespace baton {
namespace {

TEST(PluralTest, InflectsTheNoun) {
  EXPECT_EQ(Plural(1, "error"), "1 error");
  EXPECT_EQ(Plural(0, "error"), "0 errors");
  EXPECT_EQ(Plural(2, "pass"), "2 passes");
  EXPECT_EQ(Plural(3, "match"), "3 matches");
  EXPECT_EQ(Plural(2, "property"), "2 properties");
  EXPECT_EQ(Plural(2, "key"), "2 keys");
  EXPECT_EQ(Plural(4, "data set"), "4 data sets");
}

}  // namespace
}  // namespace baton
