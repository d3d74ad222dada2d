#include "baton/base/flags.h"

#include <cstdint>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "baton/base/fields.h"
#include "baton/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

ABSL_FLAG(int, of_abseil, 0, "A flag that is not described by a field.");

namespace baton {
namespace {

using ::testing::ElementsAre;
using testing::IsOk;
using testing::StatusIs;

struct Options {
  bool fast = false;
  int level = 2;
  int64_t limit = -1;
  double ratio = 0.5;
  std::string name = "x";
  std::vector<std::string> list;
  bool no_flag = true;

  template <typename V>
  static void VisitFields(V& v) {
    v("fast", &Options::fast, FlagSpec{.help = "Quick.", .group = "A"});
    v("level", &Options::level,
      FlagSpec{.help = "How much.", .value = "N", .group = "B"});
    v("limit", &Options::limit,
      FlagSpec{.help = "How long.",
               .value = "LONG_NAME_OF_NUMBER",
               .group = "A",
               .least = -7});
    v("ratio", &Options::ratio,
      FlagSpec{.help = "How.",
               .value = "X",
               .group = "B",
               .least = 0,
               .most = 1,
               .none = -1});
    v("name", &Options::name,
      FlagSpec{.help = "Who.",
               .value = "NAME",
               .group = "B",
               .choices = {"x", "yes", "no"}});
    v("list", &Options::list,
      FlagSpec{.help = "Whom.", .value = "A,B", .group = "B"});
    v("no_flag", &Options::no_flag, "Of the program alone.");
  }
};

FlagSet Flags() {
  FlagSet flags;
  EXPECT_THAT(flags.Add(FlagsOf<Options>(), "a test"), IsOk());
  return flags;
}

absl::StatusOr<ParsedFlags> Parse(const std::vector<std::string>& texts) {
  std::vector<Argument> args;
  for (const std::string& text : texts) args.push_back({text, ""});
  return Flags().Parse(args);
}

// `NAME=VALUE` of the flags that are given, then the other arguments.
std::vector<std::string> Parsed(const std::vector<std::string>& texts) {
  const absl::StatusOr<ParsedFlags> parsed = Parse(texts);
  if (!parsed.ok()) return {std::string(parsed.status().message())};
  std::vector<std::string> result;
  for (const auto& [name, value] : parsed->values) {
    result.push_back(absl::StrCat(name, "=", value.ToString()));
  }
  result.insert(result.end(), parsed->rest.begin(), parsed->rest.end());
  return result;
}

TEST(FlagSetTest, ParsesAsAbseilDoes) {
  EXPECT_THAT(Parsed({"--fast", "in", "--level=0x10", "-limit", "-7"}),
              ElementsAre("fast=true", "level=16", "limit=-7", "in"));
  EXPECT_THAT(
      Parsed({"--nofast", "--ratio=.25", "--name=", "--list=a,b"}),
      ElementsAre("fast=false", "ratio=0.25", "name=\"\"", "list=[a,b]"));
  EXPECT_THAT(Parsed({"--fast=no", "--list=", "--name", "two words"}),
              ElementsAre("fast=false", "list=[]", "name=\"two words\""));
}

TEST(FlagSetTest, TheLastOfAFlagCounts) {
  const std::vector<std::string> args = {"--level=1", "--fast", "--level", "3"};
  EXPECT_THAT(Parsed(args), ElementsAre("level=3", "fast=true"));
  EXPECT_THAT(Parse(args)->notes,
              ElementsAre("--level=1: has no effect, since --level=3 follows"));
}

TEST(FlagSetTest, NotesAFlagThatIsTheValueOfAnother) {
  EXPECT_THAT(
      Parse({"--name", "--fast"})->notes,
      ElementsAre("--name: takes --fast as its value; --name=--fast says so"));
}

TEST(FlagSetTest, TheRestIsLeftToOthers) {
  EXPECT_THAT(
      Parsed({"-", "--of_abseil=3", "--no_flag", "-1", "--", "--fast"}),
      ElementsAre("-", "--of_abseil=3", "--no_flag", "-1", "--", "--fast"));
}

TEST(FlagSetTest, SaysAllThatIsWrong) {
  EXPECT_THAT(
      Parsed({"--level=high", "--level=", "--fast=maybe",
              "--fast=", "--nofast=true", "--nolevel",
              "--limit=99999999999999999999", "--name"}),
      ElementsAre(absl::StrJoin(
          {"--level=high: expected an integer of 64 bits",
           "--level=: expected an integer of 64 bits",
           "--fast=maybe: expected true or false", "--fast: needs a value",
           "--nofast: takes no value",
           "--nolevel: the flag has a value, and no negative form",
           "--limit=99999999999999999999: expected an integer of 64 bits",
           "--name: needs a value"},
          "\n")));
}

TEST(FlagSetTest, NotesFollowErrors) {
  EXPECT_THAT(
      Parsed({"--level=1", "--name", "--fast", "--ratio=2", "--level=3"}),
      ElementsAre(absl::StrJoin(
          {"--ratio=2: it must be from 0 to 1, or -1",
           "--name: takes --fast as its value; --name=--fast says so",
           "--level=1: has no effect, since --level=3 follows"},
          "\n")));
}

TEST(FlagSetTest, NumbersOutOfRangeAreRefused) {
  for (const char* good :
       {"--limit=-7", "--ratio=-1", "--ratio=0", "--ratio=1", "--level=-70"}) {
    EXPECT_THAT(Parse({good}), IsOk()) << good;
  }
  EXPECT_THAT(
      Parsed({"--limit=-8", "--ratio=-0.5", "--ratio=1.5", "--ratio=nan",
              "--ratio=-inf", "--ratio=inf"}),
      ElementsAre(absl::StrJoin({"--limit=-8: it must be at least -7",
                                 "--ratio=-0.5: it must be from 0 to 1, or -1",
                                 "--ratio=1.5: it must be from 0 to 1, or -1",
                                 "--ratio=nan: it must be a finite number",
                                 "--ratio=-inf: it must be a finite number",
                                 "--ratio=inf: it must be a finite number"},
                                "\n")));
}

TEST(FlagSetTest, HelpIsByHeadings) {
  EXPECT_EQ(Flags().Help("A"),
            "  --fast                    Quick.\n"
            "  --limit=LONG_NAME_OF_NUMBER  How long. Default: -1.\n");
  EXPECT_EQ(Flags().Help("B"),
            "  --level=N                 How much. Default: 2.\n"
            "  --ratio=X                 How. Default: 0.5.\n"
            "  --name=NAME               Who. Default: x.\n"
            "  --list=A,B                Whom.\n");
}

TEST(FlagSetTest, ADefaultThatEndsInAFullStopIsInQuotes) {
  EXPECT_EQ(FlagHelp("output_dir", "FOLDER", "Where.", "."),
            "  --output_dir=FOLDER       Where. Default: '.'.\n");
}

TEST(FlagSetTest, ANameIsTakenOnce) {
  FlagSet flags = Flags();
  EXPECT_THAT(flags.Add(FlagsOf<Options>(), "another"),
              StatusIs(absl::StatusCode::kAlreadyExists,
                       "there are two flags --fast, of a test and another"));
  static const std::vector<Flag> kClash = {{.name = "of_abseil"}};
  EXPECT_THAT(FlagSet().Add(kClash, "a test"),
              StatusIs(absl::StatusCode::kAlreadyExists, "flags_test.cc"));
}

TEST(AssignFlagsTest, SetsTheFieldsThatAreGiven) {
  const absl::StatusOr<ParsedFlags> parsed =
      Parse({"--fast", "--list=a", "--level=5"});
  ASSERT_THAT(parsed, IsOk());
  AttrMap values = parsed->values;
  values.emplace_back("of_another", 1);
  Options options;
  EXPECT_THAT(AssignFlags(values, &options), IsOk());
  EXPECT_TRUE(options.fast);
  EXPECT_EQ(options.level, 5);
  EXPECT_THAT(options.list, ElementsAre("a"));
  EXPECT_EQ(options.limit, -1);
}

TEST(CheckChoicesTest, NamesTheCandidates) {
  Options options;
  EXPECT_THAT(CheckFlagValues(FlagsOf<Options>(), &options), IsOk());
  options.name = "yess";
  EXPECT_THAT(CheckFlagValues(FlagsOf<Options>(), &options),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "--name=yess: unknown value; did you mean \"yes\"? "
                       "(expected one of x, yes, no)"));
}

TEST(CheckChoicesTest, NamesTheBounds) {
  Options options;
  options.ratio = -2;
  EXPECT_THAT(CheckFlagValues(FlagsOf<Options>(), &options),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "it must be from 0 to 1, or -1"));
}

TEST(FlagSpecTest, FieldsWithFlagsAreFields) {
  EXPECT_EQ(FieldsOf<Options>().fields().size(), 7u);
  EXPECT_EQ(FlagsOf<Options>().size(), 6u);
}

}  // namespace
}  // namespace baton
