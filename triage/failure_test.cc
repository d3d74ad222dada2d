#include "baton/triage/failure.h"

#include <ctime>
#include <string>

#include "absl/status/statusor.h"
#include "baton/ir/module.h"
#include "baton/testing/toy_passes.h"
#include "baton/transform/module_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/sequential.h"
#include "baton/triage/child.h"
#include "gtest/gtest.h"

namespace baton {
namespace {

Pass Loop() {
  return CreateModulePass(
      [](const IRModule& module,
         const PassContext&) -> absl::StatusOr<IRModule> {
        while (std::clock() >= 0) {
        }
        return module;
      },
      {.name = "Loop"});
}

TEST(MessageKeyTest, ForgetsNamesAndNumbers) {
  EXPECT_EQ(MessageKey("add: cannot broadcast (3) with (4)"),
            MessageKey("add: cannot broadcast (1, 2) with (7)"));
  EXPECT_EQ(MessageKey("pass P changed what @main computes: 3 of 4 elements"),
            "pass P changed what computes:");
  EXPECT_NE(MessageKey("unknown operator"), MessageKey("unknown function"));
}

TEST(FailureTest, TextKeepsAll) {
  const Failure failure = {.kind = Failure::Kind::kTimeOut,
                           .number = 7,
                           .pass = "P",
                           .message = std::string("a\0b", 3),
                           .key = "k"};
  const Failure read = ReadFailure(WriteFailure(failure));
  EXPECT_TRUE(SameFailure(failure, read));
  EXPECT_EQ(read.number, 7);
  EXPECT_EQ(read.message, failure.message);
}

TEST(FailureTest, NamesThePassThatFailed) {
  const absl::StatusOr<Failure> failure = RunPipelineInChild(
      toy::Module(),
      Sequential({toy::AToB(), toy::Fails("bad 3"), toy::BToA()}), {}, {});
  ASSERT_TRUE(failure.ok());
  EXPECT_EQ(failure->kind, Failure::Kind::kError);
  EXPECT_EQ(failure->pass, "Fails");
  const absl::StatusOr<Failure> again = RunPipelineInChild(
      toy::Module(), Sequential({toy::Fails("bad 14")}), {}, {});
  ASSERT_TRUE(again.ok());
  EXPECT_TRUE(SameFailure(*failure, *again));
  EXPECT_NE(failure->number, again->number);
}

TEST(TestLimitsTest, FollowFromTheTimeOfTheRun) {
  const ChildLimits limits = {.seconds = 600, .memory_bytes = 1};
  const auto seconds = [&](Failure::Kind kind, double took) {
    return TestLimits({.kind = kind, .seconds = took}, limits).seconds;
  };
  EXPECT_EQ(seconds(Failure::Kind::kCrash, 0), 2);
  EXPECT_EQ(seconds(Failure::Kind::kError, 3), 30);
  EXPECT_EQ(seconds(Failure::Kind::kError, 300), 600);
  EXPECT_EQ(seconds(Failure::Kind::kTimeOut, 0.01), 0.5);
  EXPECT_EQ(seconds(Failure::Kind::kTimeOut, 2), 6);
  EXPECT_EQ(TestLimits({}, limits).memory_bytes, 1);
}

TEST(FailureTest, TheTimeOfAnEndlessLoopIsThatBefore) {
  const absl::StatusOr<Failure> failure = RunPipelineInChild(
      toy::Module(), Sequential({toy::AToB(), Loop()}), {}, {.seconds = 0.3});
  ASSERT_TRUE(failure.ok());
  EXPECT_EQ(failure->kind, Failure::Kind::kTimeOut);
  EXPECT_EQ(failure->pass, "Loop");
  EXPECT_GT(failure->seconds, 0);
  EXPECT_LT(failure->seconds, 0.2);
}

TEST(FailureTest, NoneIsNone) {
  const absl::StatusOr<Failure> failure = RunPipelineInChild(
      toy::Module(), Sequential({toy::AToB(), toy::BToA()}), {}, {});
  ASSERT_TRUE(failure.ok());
  EXPECT_FALSE(failure->failed());
}

}  // namespace
}  // namespace baton
