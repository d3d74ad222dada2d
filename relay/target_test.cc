#include "baton/relay/target.h"

#include <thread>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton::relay {
namespace {

using ::testing::ElementsAre;

TEST(TargetTest, KindAndOptions) {
  const Target target("llvm  -mcpu=skylake -opt-level=3");
  EXPECT_EQ(target.kind(), "llvm");
  EXPECT_THAT(target.options(), ElementsAre("-mcpu=skylake", "-opt-level=3"));
  EXPECT_EQ(target.ToString(), "llvm -mcpu=skylake -opt-level=3");
  EXPECT_EQ(Target("").kind(), "");
}

TEST(TargetTest, ScopesNestAndBelongToTheirThread) {
  EXPECT_FALSE(Target::Current().has_value());
  {
    Target::Scope outer(Target("llvm"));
    {
      Target::Scope inner(Target("cuda"));
      EXPECT_EQ(Target::Current()->kind(), "cuda");
      std::thread([] { EXPECT_FALSE(Target::Current().has_value()); }).join();
    }
    EXPECT_EQ(Target::Current(), Target("llvm"));
  }
  EXPECT_FALSE(Target::Current().has_value());
}

}  // namespace
}  // namespace baton::relay
