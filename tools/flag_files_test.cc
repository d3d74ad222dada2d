#include "baton/tools/flag_files.h"

#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton {
namespace {

using testing::StatusIs;

std::string File(const std::string& name, const std::string& content) {
  std::string path = absl::StrCat(::testing::TempDir(), "/", name);
  std::ofstream(path) << content;
  return path;
}

// A line for each argument.
std::string Expand(const std::vector<absl::string_view>& args) {
  const absl::StatusOr<std::vector<Argument>> expanded = ExpandFlagFiles(args);
  if (!expanded.ok()) return expanded.status().ToString();
  std::string lines;
  for (const Argument& arg : *expanded) {
    absl::StrAppend(&lines, arg.where, arg.text, "\n");
  }
  return lines;
}

TEST(FlagFilesTest, StandForWhatTheyHold) {
  const std::string a = File("a.flags", "# one\n\n  --x=1 2 \r\n-y");
  EXPECT_EQ(Expand({"in", absl::StrCat("--flagfile=", a), "--z"}),
            absl::StrCat("in\n", a, ":3: --x=1 2\n", a, ":4: -y\n--z\n"));
  EXPECT_EQ(Expand({"-flagfile", a, "--z"}),
            absl::StrCat(a, ":3: --x=1 2\n", a, ":4: -y\n--z\n"));
  const std::string b =
      File("b.flags", absl::StrCat("--flagfile=", a, ",", a, "\n--b\n"));
  EXPECT_EQ(Expand({absl::StrCat("-flagfile=", b)}),
            absl::StrCat(a, ":3: --x=1 2\n", a, ":4: -y\n", a, ":3: --x=1 2\n",
                         a, ":4: -y\n", b, ":2: --b\n"));
}

TEST(FlagFilesTest, OtherArgumentsStay) {
  EXPECT_EQ(Expand({"a", "-", "--x", "flagfile=y", "--flagfiles=z"}),
            "a\n-\n--x\nflagfile=y\n--flagfiles=z\n");
  EXPECT_EQ(Expand({"--", "--flagfile=x"}), "--\n--flagfile=x\n");
  EXPECT_EQ(Expand({"--flagfile"}), "--flagfile\n");
  EXPECT_EQ(Expand({}), "");
}

TEST(FlagFilesTest, ReadTheEnvironment) {
  setenv("FLAGS_x", "1 2", /*overwrite=*/1);
  unsetenv("FLAGS_y");
  EXPECT_EQ(Expand({"--fromenv=x", "-tryfromenv=y,x"}), "--x=1 2\n--x=1 2\n");
  EXPECT_THAT(ExpandFlagFiles({"--fromenv=x,y"}).status(),
              StatusIs(absl::StatusCode::kNotFound,
                       "FLAGS_y not found in environment"));
}

TEST(FlagFilesTest, Errors) {
  const auto error = [](const std::string& file) {
    return ExpandFlagFiles({absl::StrCat("--flagfile=", file)}).status();
  };
  File("good.flags", "--x\n");
  const std::string word = File("word.flags", "--x\n\nword\n");
  EXPECT_THAT(error(word), StatusIs(absl::StatusCode::kInvalidArgument,
                                    absl::StrCat("--flagfile: ", word,
                                                 ":3: expected a flag, found "
                                                 "`word`")));
  EXPECT_THAT(error(File("dashes.flags", "--\n")),
              StatusIs(absl::StatusCode::kInvalidArgument, "found `--`"));
  const std::string loop = absl::StrCat(::testing::TempDir(), "/loop.flags");
  File("loop.flags", absl::StrCat("--flagfile=", loop));
  EXPECT_THAT(error(loop), StatusIs(absl::StatusCode::kInvalidArgument,
                                    absl::StrCat(loop, " includes ", loop)));
  // Each file includes the next one twice.
  std::string next = File("leaf.flags", "--x\n");
  for (int i = 0; i < 26; ++i) {
    next = File(absl::StrCat("twice", i, ".flags"),
                absl::StrCat("--flagfile=", next, ",", next, "\n"));
  }
  EXPECT_THAT(error(next), StatusIs(absl::StatusCode::kResourceExhausted,
                                    "more than 1000 files of flags"));
  EXPECT_THAT(error(::testing::TempDir() + "/godo.flags"),
              StatusIs(absl::StatusCode::kNotFound, "good.flags\""));
}

}  // namespace
}  // namespace baton
