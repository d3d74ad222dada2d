#include "baton/triage/child.h"

#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <ctime>
#include <string>

#include "absl/status/statusor.h"
#include "baton/testing/status_matchers.h"
#include "baton/triage/interrupt.h"
#include "gtest/gtest.h"

namespace baton {
namespace {

using End = ChildResult::End;

TEST(ChildTest, ReturnsWhatTheBodyReturns) {
  const std::string text(100'000, 'x');  // more than a pipe holds
  const absl::StatusOr<ChildResult> result =
      RunInChild([&] { return text; }, {});
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->end, End::kReturned);
  EXPECT_EQ(result->output, text);
}

TEST(ChildTest, CrashesStayThere) {
  const absl::StatusOr<ChildResult> result = RunInChild(
      []() -> std::string {
        std::abort();
        return "";
      },
      {});
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->end, End::kCrashed);
  EXPECT_EQ(result->signal, SIGABRT);
}

TEST(ChildTest, LeavingIsNoReturn) {
  const absl::StatusOr<ChildResult> result = RunInChild(
      []() -> std::string {
        std::_Exit(0);
        return "";
      },
      {});
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->end, End::kCrashed);
  EXPECT_EQ(result->signal, 0);
}

TEST(ChildTest, IsStopped) {
  const absl::StatusOr<ChildResult> result = RunInChild(
      []() -> std::string {
        while (std::clock() >= 0) {
        }
        return "";
      },
      {.limits = {.seconds = 0.2}});
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->end, End::kTimedOut);
}

TEST(ChildTest, SaysHowLongItTakes) {
  absl::StatusOr<Child> child = Child::Start(
      [] {
        while (std::clock() < CLOCKS_PER_SEC / 2) {
        }
        return "";
      },
      {});
  ASSERT_TRUE(child.ok());
  EXPECT_FALSE(child->WaitFor(0.05).has_value());
  EXPECT_LT(child->Seconds(), 0.5);
  const ChildResult result = child->Wait();
  EXPECT_EQ(result.end, End::kReturned);
  EXPECT_GE(result.seconds, 0.5);
  EXPECT_LT(result.seconds, 2);
}

TEST(ChildTest, AnInterruptEndsTheWait) {
  {
    const InterruptGuard guard;
    EXPECT_EQ(InterruptGuard::Signal(), 0);
    absl::StatusOr<Child> child = Child::Start(
        [] {
          while (true) pause();
          return "";
        },
        {});
    ASSERT_TRUE(child.ok());
    EXPECT_FALSE(child->WaitFor(0.05).has_value());
    std::raise(SIGTERM);
    EXPECT_EQ(InterruptGuard::Signal(), SIGTERM);
    EXPECT_EQ(child->Wait().end, End::kInterrupted);
  }
  EXPECT_EQ(InterruptGuard::Signal(), SIGTERM);
  // It holds for as long as there is a guard.
  const InterruptGuard guard;
  EXPECT_EQ(InterruptGuard::Signal(), 0);
  EXPECT_EQ(RunInChild([] { return "x"; }, {})->end, End::kReturned);
}

TEST(ChildTest, SeveralAtOnce) {
  absl::StatusOr<Child> a = Child::Start([] { return "a"; }, {});
  absl::StatusOr<Child> b = Child::Start([] { return "b"; }, {});
  ASSERT_TRUE(a.ok());
  ASSERT_TRUE(b.ok());
  EXPECT_EQ(b->Wait().output, "b");
  EXPECT_EQ(a->Wait().output, "a");
}

}  // namespace
}  // namespace baton
