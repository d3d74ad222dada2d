#include "baton/transform/pass_error.h"

#include <optional>

#include "absl/status/status.h"
#include "absl/strings/cord.h"
#include "gtest/gtest.h"

namespace baton {
namespace {

TEST(PassErrorTest, MessageEndsWithTheOriginalOne) {
  const absl::Status status = WithPassError(
      absl::InvalidArgumentError("ignored"),
      {.frames = {{"sequential", 1, ""}, {"FoldConstant", 4, "main"}},
       .culprit = "instrument X, RunAfterPass",
       .also = {"instrument Y:\nboom"},
       .message = "add: cannot broadcast\n  second line"});
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(),
            "in pass #1 sequential > #4 FoldConstant, function @main: "
            "instrument X, RunAfterPass:\n"
            "then also failed: instrument Y: boom\n"
            "add: cannot broadcast\n  second line");
  EXPECT_EQ(OriginalMessage(status), "add: cannot broadcast\n  second line");
}

TEST(PassErrorTest, ReadsBackWhatWasWritten) {
  absl::Status original = absl::NotFoundError("lost");
  original.SetPayload("other", absl::Cord("kept"));
  const PassError error{.frames = {{"a:b", 12, "f:1"}, {"", 0, ""}},
                        .culprit = "3:x",
                        .also = {"", "12:34"},
                        .message = "l:o\nst"};
  const absl::Status status = WithPassError(original, error);
  const std::optional<PassError> read = GetPassError(status);
  ASSERT_TRUE(read.has_value());
  ASSERT_EQ(read->frames.size(), 2);
  EXPECT_EQ(read->frames[0].pass, "a:b");
  EXPECT_EQ(read->frames[0].number, 12);
  EXPECT_EQ(read->frames[0].function, "f:1");
  EXPECT_EQ(read->culprit, error.culprit);
  EXPECT_EQ(read->also, error.also);
  EXPECT_EQ(read->message, error.message);
  EXPECT_EQ(status.GetPayload("other"), absl::Cord("kept"));
}

TEST(PassErrorTest, OtherErrorsHaveNone) {
  EXPECT_FALSE(GetPassError(absl::InternalError("x")).has_value());
  EXPECT_EQ(OriginalMessage(absl::InternalError("x")), "x");
}

}  // namespace
}  // namespace baton
