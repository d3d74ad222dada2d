#include "baton/base/target.h"

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(TargetTest, PartsOfTheText) {
  const absl::StatusOr<Target> target = Target::Parse(
      "llvm  -O3 -num-cores=4 -mattr=+avx2,-fma,+fma -mcpu=skylake "
      "-vector-width=256");
  ASSERT_TRUE(target.ok()) << target.status();
  EXPECT_EQ(target->kind, "llvm");
  EXPECT_EQ(target->cpu, "skylake");
  EXPECT_THAT(target->features, ElementsAre("+avx2", "-fma", "+fma"));
  EXPECT_EQ(target->vector_bits, 256);
  EXPECT_EQ(target->threads, 4);
  EXPECT_THAT(target->options, ElementsAre("-O3"));
  EXPECT_EQ(target->ToString(),
            "llvm -mcpu=skylake -mattr=+avx2,-fma,+fma -vector-width=256 "
            "-num-cores=4 -O3");
  EXPECT_EQ(*Target::Parse(target->ToString()), *target);
}

TEST(TargetTest, TheLastMentionOfAFeatureCounts) {
  const Target target = *Target::Parse("llvm -mattr=+avx2,-fma,+fma,-avx2");
  EXPECT_TRUE(target.HasFeature("fma"));
  EXPECT_FALSE(target.HasFeature("avx2"));
  EXPECT_FALSE(target.HasFeature("avx512f"));
}

TEST(TargetTest, TheEmptyTextIsNoTarget) {
  EXPECT_EQ(*Target::Parse(" "), Target());
  EXPECT_TRUE(Target::Parse("")->empty());
  EXPECT_EQ(Target().ToString(), "");
}

TEST(TargetTest, ErrorsQuoteTheText) {
  const auto error = [](absl::string_view text) {
    return std::string(Target::Parse(text).status().message());
  };
  EXPECT_THAT(error("-mcpu=skylake llvm"), HasSubstr("expected a kind"));
  EXPECT_THAT(error("llvm cuda"), HasSubstr("expected an option"));
  EXPECT_THAT(error("llvm -mattr=avx2"), HasSubstr("found `avx2`"));
  EXPECT_THAT(error("llvm -num-cores=0"), HasSubstr("`-num-cores=0`"));
  EXPECT_THAT(error("llvm -vector-width=wide"), HasSubstr("positive number"));
}

}  // namespace
}  // namespace baton
