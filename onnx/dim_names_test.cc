#include "baton/onnx/dim_names.h"

#include <cstdint>
#include <optional>
#include <string>

#include "baton/base/hash_table.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton::onnx {
namespace {

using ::testing::Optional;

const FlatHashMap<std::string, int64_t>& Sizes() {
  static const auto* const sizes = new FlatHashMap<std::string, int64_t>{
      {"past", 7}, {"s0", 5}, {"batch-size", 3}, {"huge", INT64_MAX}};
  return *sizes;
}

TEST(DimNamesTest, Formulas) {
  EXPECT_THAT(SizeOfDim("past", Sizes()), Optional(7));
  EXPECT_THAT(SizeOfDim("batch-size", Sizes()), Optional(3));
  EXPECT_THAT(SizeOfDim("past + 1", Sizes()), Optional(8));
  EXPECT_THAT(SizeOfDim("past+s0", Sizes()), Optional(12));
  EXPECT_THAT(SizeOfDim("2*(past - s0)", Sizes()), Optional(4));
  EXPECT_THAT(SizeOfDim("(s0 - 1)//2 + 1", Sizes()), Optional(3));
  EXPECT_THAT(SizeOfDim("(s0 - past - 1)//2 + 2", Sizes()), Optional(0));
}

TEST(DimNamesTest, NoFormulas) {
  for (const char* name :
       {"", " ", "other", "past + other", "past +", "past 1", "s0 - past",
        "past/2", "past // 0", "huge + 1", "huge*huge", "(past", "past)", "1x",
        "past + 99999999999999999999"}) {
    EXPECT_EQ(SizeOfDim(name, Sizes()), std::nullopt) << name;
  }
  EXPECT_EQ(SizeOfDim(std::string(100000, '('), Sizes()), std::nullopt);
  EXPECT_EQ(SizeOfDim("past", {}), std::nullopt);
}

TEST(DimNamesTest, MentionsWholeNames) {
  EXPECT_TRUE(MentionsDim("past + 1", "past"));
  EXPECT_TRUE(MentionsDim("1+s0", "s0"));
  EXPECT_FALSE(MentionsDim("past_length + 1", "past"));
  EXPECT_FALSE(MentionsDim("xs0", "s0"));
}

}  // namespace
}  // namespace baton::onnx
