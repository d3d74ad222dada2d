#include "baton/tools/run_lines.h"

#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/base/source.h"
#include "baton/testing/golden.h"
#include "baton/testing/run_binary.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::ReadFileOrFail;
using testing::RunBinary;
using testing::RunfilePath;
using testing::RunResult;

// The lines of `text` as `LINE: COMMAND`, or what is wrong.
std::string Parsed(absl::string_view text) {
  const absl::StatusOr<std::vector<RunLine>> lines =
      ParseRunLines(std::make_shared<const Source>("f", std::string(text)));
  if (!lines.ok()) return std::string(lines.status().message());
  std::string result;
  for (const RunLine& line : *lines) {
    absl::StrAppend(&result, line.line, ": ", line.command, "\n");
  }
  return result;
}

TEST(ParseRunLinesTest, FindsCommands) {
  EXPECT_EQ(Parsed("// RUN: a b\nno\n# RUN:  c | d \n"), "1: a b\n3: c | d\n");
  EXPECT_EQ(Parsed("XRUN: a\nRUN: b\nPRE-RUN: c\n"), "2: b\n");
}

TEST(ParseRunLinesTest, ABackslashJoins) {
  EXPECT_EQ(Parsed("// RUN: a \\\ntext\n// RUN:   | b\\\n// RUN: c\nRUN: d\n"),
            "1: a  | b c\n5: d\n");
}

TEST(ParseRunLinesTest, Mistakes) {
  EXPECT_EQ(Parsed("no\n"), "f: error: there is no RUN line");
  EXPECT_EQ(Parsed("// RUN: a \\\n"),
            "f:1:4: error: there is no RUN line that continues this one\n"
            "// RUN: a \\\n   ^~~~~~~~");
  EXPECT_THAT(Parsed("RUN:\n"), HasSubstr("f:1:1: error: RUN: has no command"));
}

TEST(ExpandRunLineTest, ReplacesWhatItKnows) {
  EXPECT_EQ(ExpandRunLine("%s %S %t.a %% %%s %d", "x/y.relay", "/tmp/z"),
            "x/y.relay x /tmp/z.a % %s %d");
  EXPECT_EQ(ExpandRunLine("%S", "y.relay", ""), ".");
}

void WriteTextFile(const std::string& path, absl::string_view text) {
  std::ofstream out(path, std::ios::binary);
  out << text;
  ASSERT_TRUE(out.good()) << path;
}

// Runs a file of that content; `%s` is its path.
RunResult RunText(absl::string_view text, absl::string_view programs = "") {
  const std::string path = testing::TempDir() + "/test.relay";
  WriteTextFile(path, text);
  return RunBinary("tools/baton-ir-test",
                   absl::StrCat("'", path, "' --programs=", programs));
}

TEST(RunLinesTest, RunsAllInOrder) {
  const RunResult result =
      RunText("RUN: echo one\nRUN: X=two\nRUN: echo $X '3'\n");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, "one\ntwo 3\n");
  EXPECT_EQ(result.err, "");
}

TEST(RunLinesTest, StopsAtTheFirstFailure) {
  const RunResult result =
      RunText("RUN: true\nRUN: exit_with 3\nRUN: echo x\n");
  EXPECT_EQ(result.exit_code, 127);
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(result.err,
              HasSubstr("test.relay:2: error: this RUN line failed with exit "
                        "code 127:\n  exit_with 3\n"));
}

TEST(RunLinesTest, AnyPartOfAPipeCanFail) {
  EXPECT_EQ(RunText("RUN: false | cat\n").exit_code, 1);
  EXPECT_EQ(RunText("RUN: (exit 7) | cat\n").exit_code, 7);
  EXPECT_EQ(RunText("RUN: echo a | grep -q b\n").exit_code, 1);
  EXPECT_EQ(RunText("RUN: echo a | grep -q a\n").exit_code, 0);
}

TEST(RunLinesTest, BadSyntaxIsTheLinesFailure) {
  const RunResult result = RunText("RUN: true\nRUN: echo 'a\n");
  EXPECT_NE(result.exit_code, 0);
  EXPECT_THAT(result.err, HasSubstr("test.relay:2: error: this RUN line"));
}

TEST(RunLinesTest, NotWantsAnError) {
  EXPECT_EQ(RunText("RUN: not false\n").exit_code, 0);
  const RunResult succeeded = RunText("RUN: not true\n");
  EXPECT_EQ(succeeded.exit_code, 1);
  EXPECT_THAT(succeeded.err, HasSubstr("not: true succeeded\n"));
  // Neither is a crash, nor a program that is not there.
  EXPECT_EQ(RunText("RUN: not bash -c 'kill -SEGV $$'\n").exit_code, 139);
  EXPECT_EQ(RunText("RUN: not no_such_program\n").exit_code, 127);
  EXPECT_EQ(RunText("RUN: not not true\n").exit_code, 0);
}

TEST(RunLinesTest, HasATemporaryPath) {
  EXPECT_EQ(RunText("RUN: echo a >%t\nRUN: echo b >%t.2\n"
                    "RUN: cat %t %t.2 | grep -c . | grep -q 2\n")
                .exit_code,
            0);
}

TEST(RunLinesTest, ProgramsHaveTheirNames) {
  EXPECT_EQ(RunText("RUN: echo hello | baton-check %s\nCHECK: hello\n",
                    RunfilePath("tools/baton-check"))
                .exit_code,
            0);
  const RunResult failed =
      RunText("RUN: echo hallo | baton-check %s\nCHECK: hello\n",
              RunfilePath("tools/baton-check"));
  EXPECT_EQ(failed.exit_code, 1);
  EXPECT_THAT(failed.err,
              AllOf(HasSubstr("test.relay:2:1: error: CHECK: not found"),
                    HasSubstr("<stdin>:1:1: note: looked for from here"),
                    HasSubstr("test.relay:1: error: this RUN line failed")));
  const RunResult missing = RunText("RUN: true\n", "no/such");
  EXPECT_EQ(missing.exit_code, 2);
  EXPECT_EQ(missing.err, "there is no program no/such\n");
}

TEST(RunLinesTest, RunsSeveralFiles) {
  const std::string folder = testing::TempDir();
  WriteTextFile(folder + "/a.relay", "RUN: echo one\n");
  WriteTextFile(folder + "/b.relay", "RUN: exit_with 3\nRUN: echo two\n");
  WriteTextFile(folder + "/c.relay", "RUN: echo three >%t && cat %t\n");
  const auto run = [&folder](absl::string_view files) {
    std::string args;
    for (const char file : files) {
      absl::StrAppend(&args, " '", folder, "/", std::string(1, file),
                      ".relay'");
    }
    return RunBinary("tools/baton-ir-test", args);
  };
  EXPECT_EQ(run("ac").exit_code, 0);
  const RunResult result = run("abcd");
  EXPECT_EQ(result.exit_code, 127);
  EXPECT_EQ(result.out, "one\nthree\n");
  EXPECT_THAT(result.err, HasSubstr("b.relay:1: error: this RUN line failed"));
  EXPECT_THAT(result.err,
              HasSubstr(absl::StrCat("there is no file ", folder,
                                     "/d.relay\nFAILED ", folder,
                                     "/b.relay\nFAILED ", folder,
                                     "/d.relay\n")));
}

TEST(RunLinesTest, BadUsage) {
  RunResult result = RunBinary("tools/baton-ir-test");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("usage: baton-ir-test FILE"));
  result = RunBinary("tools/baton-ir-test", "no/such.relay");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.err, "there is no file no/such.relay\n");
}

// --- baton-check's command line

RunResult CheckFile(absl::string_view checks, absl::string_view input,
                    absl::string_view flags = "") {
  const std::string path = testing::TempDir() + "/checks.txt";
  const std::string input_path = testing::TempDir() + "/input.txt";
  WriteTextFile(path, checks);
  WriteTextFile(input_path, input);
  return RunBinary(
      "tools/baton-check",
      absl::StrCat("'", path, "' --input_file='", input_path, "' ", flags));
}

TEST(CheckMainTest, ExitCodes) {
  EXPECT_EQ(CheckFile("CHECK: a\n", "a\n").exit_code, 0);
  const RunResult mismatch = CheckFile("CHECK: a\n", "b\n");
  EXPECT_EQ(mismatch.exit_code, 1);
  EXPECT_THAT(mismatch.err,
              HasSubstr("baton-check: the input does not match the lines\n"));
  const RunResult bad = CheckFile("CHECK: {{\n", "b\n");
  EXPECT_EQ(bad.exit_code, 2);
  EXPECT_THAT(bad.err, AllOf(HasSubstr("checks.txt:1:8: error: {{ without }}"),
                             HasSubstr("baton-check: cannot check\n")));
  EXPECT_EQ(RunBinary("tools/baton-check").exit_code, 2);
  EXPECT_EQ(RunBinary("tools/baton-check", "no/such").exit_code, 2);
}

TEST(CheckMainTest, Flags) {
  EXPECT_EQ(CheckFile("A: a\nB: b\n", "a\nb\n", "--check_prefix=A,B").exit_code,
            0);
  EXPECT_EQ(
      CheckFile("CHECK: [[X]] [[Y]]\n", "a b\n", "--define=X=a,Y=b").exit_code,
      0);
  EXPECT_EQ(CheckFile("CHECK: a\n", "a\n", "--define=X").exit_code, 2);
  EXPECT_EQ(
      CheckFile("CHECK: a\n", "a\nb\n", "--implicit_check_not=b").exit_code, 1);
  EXPECT_EQ(CheckFile("CHECK-NOT: a\n", "", "--allow_empty").exit_code, 0);
  EXPECT_EQ(
      CheckFile("CHECK: a  b\n", "a b\n", "--strict_whitespace").exit_code, 1);
  EXPECT_EQ(CheckFile("CHECK: a\n", "ab\n", "--match_full_lines").exit_code, 1);
}

}  // namespace
}  // namespace baton
