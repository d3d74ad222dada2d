#include "baton/tools/command_line.h"

#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/base/flags.h"
#include "baton/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton {
namespace {

using ::testing::ElementsAre;
using testing::IsOk;
using ::testing::MatchesRegex;
using testing::StatusIs;

struct Options {
  std::string name;
  std::vector<std::string> list;

  template <typename V>
  static void VisitFields(V& v) {
    v("name", &Options::name, FlagSpec{.help = "Who.", .value = "NAME"});
    v("list", &Options::list,
      FlagSpec{.help = "Which; all if none is named.",
               .value = "A,B",
               .value_optional = true});
  }
};

struct Read {
  absl::StatusOr<ParsedCommandLine> line;
  std::string out;
  Options options;
};

Read ReadArgs(const std::vector<absl::string_view>& args) {
  std::ostringstream out;
  Options options;
  absl::StatusOr<ParsedCommandLine> line =
      ReadCommandLine("tool", "Usage.\n", args, out, &options);
  return {std::move(line), out.str(), std::move(options)};
}

TEST(ReadCommandLineTest, FlagsArgumentsAndWhatIsBehind) {
  const Read read = ReadArgs({"in", "--name=x", "-", "--", "--name=y", "run"});
  ASSERT_THAT(read.line, IsOk());
  EXPECT_FALSE(read.line->is_answered);
  EXPECT_EQ(read.line->flags.size(), 1u);
  EXPECT_EQ(read.options.name, "x");
  EXPECT_THAT(read.line->arguments, ElementsAre("in", "-"));
  EXPECT_THAT(read.line->behind, ElementsAre("--name=y", "run"));
}

TEST(ReadCommandLineTest, AnswersQuestions) {
  const Read help = ReadArgs({"--name=x", "--help", "--nmae"});
  ASSERT_THAT(help.line, IsOk());
  EXPECT_TRUE(help.line->is_answered);
  EXPECT_EQ(help.out,
            "Usage.\n"
            "  --name=NAME               Who.\n"
            "  --list[=A,B]              Which; all if none is named.\n");
  const Read version = ReadArgs({"--version"});
  ASSERT_THAT(version.line, IsOk());
  EXPECT_THAT(version.out,
              MatchesRegex("tool \\(Baton [0-9.]+, commit [0-9a-z-]+\\)\n"));
}

TEST(ReadCommandLineTest, AFlagWhoseValueMayBeMissing) {
  const Read read = ReadArgs({"--list", "in"});
  ASSERT_THAT(read.line, IsOk());
  EXPECT_EQ(read.line->flags[0].first, "list");
  EXPECT_THAT(read.line->arguments, ElementsAre("in"));
}

TEST(ReadCommandLineTest, Mistakes) {
  EXPECT_THAT(ReadArgs({"--nmae=x"}).line,
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "unknown flag --nmae; did you mean \"name\"?"));
  EXPECT_THAT(
      ReadArgs({"--help=name"}).line,
      StatusIs(absl::StatusCode::kInvalidArgument, "--help: takes no value"));
  EXPECT_THAT(CheckNumArguments({"a"}, 1), IsOk());
  EXPECT_THAT(CheckNumArguments({"a", "b"}, 1),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "unexpected argument \"b\" after a"));
}

}  // namespace
}  // namespace baton
