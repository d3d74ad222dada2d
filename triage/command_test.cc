#include "baton/triage/command.h"

#include <csignal>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "baton/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton {
namespace {

using End = CommandResult::End;
using testing::StatusIs;

CommandResult Shell(const std::string& text, double seconds = 0) {
  const absl::StatusOr<CommandResult> result =
      RunCommand({"/bin/sh", "-c", text}, seconds);
  EXPECT_TRUE(result.ok()) << result.status();
  return result.value_or(CommandResult());
}

TEST(CommandTest, ExitCodesAndOutput) {
  const CommandResult result = Shell("echo out; echo err >&2; cat; exit 3");
  EXPECT_EQ(result.end, End::kExited);
  EXPECT_EQ(result.code, 3);
  EXPECT_EQ(result.output, "out\nerr\n");
}

TEST(CommandTest, OfMuchOutputTheEndIsKept) {
  const CommandResult result = Shell("seq 100000; echo end");
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(result.output.size(), 4096u);
  EXPECT_THAT(result.output, ::testing::EndsWith("100000\nend\n"));
}

TEST(CommandTest, Crashes) {
  const CommandResult result = Shell("kill -SEGV $$");
  EXPECT_EQ(result.end, End::kKilled);
  EXPECT_EQ(result.code, SIGSEGV);
}

TEST(CommandTest, TimeOutsKillAllOfIt) {
  const CommandResult result = Shell("sleep 100 & sleep 100; echo late", 0.1);
  EXPECT_EQ(result.end, End::kTimedOut);
  EXPECT_EQ(result.output, "");
}

TEST(CommandTest, InterruptsKillAllOfIt) {
  const CommandResult result = Shell("kill -TERM $PPID; sleep 100");
  EXPECT_EQ(result.end, End::kInterrupted);
  EXPECT_EQ(result.code, SIGTERM);
}

TEST(CommandTest, NoSuchProgram) {
  EXPECT_THAT(RunCommand({"no-such-program-at-all"}, 0),
              StatusIs(absl::StatusCode::kNotFound,
                       "cannot run no-such-program-at-all"));
  EXPECT_THAT(RunCommand({}, 0),
              StatusIs(absl::StatusCode::kInvalidArgument, "no command"));
}

}  // namespace
}  // namespace baton
