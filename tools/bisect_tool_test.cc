// Runs baton-bisect on commands that are shell scripts.

#include <stdlib.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "baton/testing/full_disk.h"
#include "baton/testing/golden.h"
#include "baton/testing/run_binary.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using testing::RunResult;

std::string Path(const std::string& name) {
  return absl::StrCat(testing::TempDir(), "/", name);
}

RunResult Bisect(const std::string& args) {
  return testing::RunBinary("tools/baton-bisect", args);
}

int Lines(const std::string& file) {
  std::ifstream in(file);
  int lines = 0;
  for (std::string line; std::getline(in, line);) ++lines;
  return lines;
}

// A history in which SwapSubtract is wrong.
std::string Record(const std::string& name, const std::string& passes) {
  const std::string program = Path(name + ".relay");
  std::ofstream(program) << "#[version = \"0.0.5\"]\n"
                            "def @main(%x: Tensor[(2), float32]) {\n"
                            "  %0 = add(%x, add(1f, 2f));\n"
                            "  nn.relu(subtract(%0, %x))\n"
                            "}\n";
  const std::string history = Path(name + ".history");
  const RunResult r = testing::RunBinary(
      "tools/faulty-opt", absl::StrCat(program, " --emit=none --record=",
                                       history, " --passes=", passes));
  EXPECT_EQ(r.exit_code, 0) << r.err;
  return history;
}

TEST(BisectToolTest, FindsTheStateThatACommandRefuses) {
  const std::string history =
      Record("states", "InferType,FoldConstant,SwapSubtract,FuseOps");
  // A shell's command, a program with arguments, text and binary files.
  for (const std::string command :
       {"'! grep -q \"subtract(%[a-z]\" {}'",
        "sh -c '! grep -q \"subtract(%[a-z]\" \"$1\"' - {}"}) {
    const RunResult r = Bisect(absl::StrCat(history, " -- ", command));
    EXPECT_EQ(r.exit_code, 0) << r.err;
    EXPECT_THAT(r.out, HasSubstr("SwapSubtract is guilty: after #"));
    EXPECT_THAT(r.out, HasSubstr(" FoldConstant it is good, after #"));
    EXPECT_THAT(r.out,
                HasSubstr(absl::StrCat("baton-history ", history, " diff ")));
  }
  const RunResult binary = Bisect(absl::StrCat(
      history,
      " --emit=binary -- 'case {} in *.baton) ;; *) exit 125;; esac; "
      "! grep -aq Primitive {}'"));
  EXPECT_EQ(binary.exit_code, 0) << binary.err;
  EXPECT_THAT(binary.out, HasSubstr("FuseOps is guilty"));
}

TEST(BisectToolTest, FindsAStateOfLoops) {
  const std::string history = Path("loops.history");
  const RunResult recorded = testing::RunBinary(
      "tools/faulty-opt",
      "tools/testdata/dense_softmax.tir --emit=none "
      "--passes=tir.LowerInitBlock,tir.ConvertBlocksToOpaque,tir.DropGuard,"
      "tir.LowerOpaqueBlock,tir.Simplify --record=" +
          history);
  EXPECT_EQ(recorded.exit_code, 0) << recorded.err;
  // The files are named as those of loops are.
  const RunResult r = Bisect(
      history +
      " -- 'case {} in *.tir) ;; *) exit 125;; esac; grep -q \"if v_k0 == 0:\" "
      "{} || grep -q T.init {} || grep -q \"if k0 == 0:\" {}'");
  EXPECT_EQ(r.exit_code, 0) << r.err;
  EXPECT_THAT(r.out, HasSubstr("tir.DropGuard is guilty: after #"));
  EXPECT_THAT(r.out, HasSubstr(" tir.ConvertBlocksToOpaque it is good, after"));
  // By values: the compiler says whether a state computes what the program did.
  const std::string compiler = testing::RunfilePath("tools/faulty-opt");
  const RunResult limit = Bisect(absl::StrCat(
      "--limits=5 -- '", compiler, " ",
      testing::RunfilePath("tools/testdata/dense_softmax.tir"),
      " --passes=tir.LowerInitBlock,tir.ConvertBlocksToOpaque,tir.DropGuard,"
      "tir.LowerOpaqueBlock,tir.Simplify --bisect_limit={} --check_values "
      "--emit=none'"));
  EXPECT_EQ(limit.exit_code, 0) << limit.err;
  EXPECT_THAT(limit.out, HasSubstr("tir.DropGuard is guilty: limit 2 it is "
                                   "good, limit 3 bad"));
  const RunResult binary = Bisect(absl::StrCat(
      history,
      " --emit=binary -- 'case {} in *.baton) ;; *) exit 125;; esac; "
      "grep -aq BlockRealize {}'"));
  EXPECT_EQ(binary.exit_code, 0) << binary.err;
  EXPECT_THAT(binary.out, HasSubstr("tir.LowerOpaqueBlock is guilty"));
}

TEST(BisectToolTest, EqualStatesAreAskedAboutOnce) {
  // Each pass but the first makes equal modules of new nodes, or none.
  const std::string history =
      Record("equal", "InferType,ToANormalForm,ToGraphNormalForm,InferType");
  const std::string log = Path("equal.log");
  std::filesystem::remove(log);
  const RunResult r = Bisect(absl::StrCat(history, " --bad=3 -- 'echo {} >>",
                                          log, "; ! grep -q let {}'"));
  EXPECT_EQ(r.exit_code, 0) << r.err;
  EXPECT_THAT(r.out, HasSubstr("ToANormalForm is guilty"));
  EXPECT_EQ(Bisect(absl::StrCat(history, " --good=x -- 'true {}'")).exit_code,
            1);
  EXPECT_THAT(Bisect(absl::StrCat(history, " --good=77 -- 'true {}'")).err,
              HasSubstr("there is no execution 77"));
}

TEST(BisectToolTest, FindsALimitOfACompiler) {
  const std::string program = Path("limits.relay");
  std::ofstream(program) << "#[version = \"0.0.5\"]\n"
                            "def @main(%x: Tensor[(2), float32]) {\n"
                            "  nn.relu(subtract(%x, 1f))\n"
                            "}\n";
  const std::string compiler = testing::RunfilePath("tools/faulty-opt");
  const RunResult r = Bisect(absl::StrCat(
      "--limits=4 -- '", compiler, " ", program,
      " --passes=FoldConstant,SwapSubtract,FuseOps,DefuseOps "
      "--bisect_limit={} >",
      program, ".out && ! grep -q \"subtract(1f\" ", program, ".out'"));
  EXPECT_EQ(r.exit_code, 0) << r.err;
  EXPECT_THAT(r.out, HasSubstr("SwapSubtract is guilty: limit 1 it is good, "
                               "limit 2 bad (6 runs)"));
}

TEST(BisectToolTest, LogarithmicallyManyRuns) {
  const std::string log = Path("runs.log");
  std::filesystem::remove(log);
  const RunResult r =
      Bisect("--limits=1000 -- 'echo {} >>" + log + "; test {} -lt 617'");
  EXPECT_EQ(r.exit_code, 0) << r.err;
  EXPECT_THAT(r.out, HasSubstr("limit 616 it is good, limit 617 bad"));
  EXPECT_LE(Lines(log), 10 + 4);
  EXPECT_EQ(r.out, Bisect("--limits=1000 -- 'test {} -lt 617'").out);
}

TEST(BisectToolTest, AlwaysGoodAndAlwaysBad) {
  EXPECT_THAT(Bisect("--limits=9 -- 'true {}'").err,
              HasSubstr("it is good at the end still, limit 9"));
  const RunResult bad = Bisect("--limits=9 -- 'false {}'");
  EXPECT_EQ(bad.exit_code, 1);
  EXPECT_THAT(bad.err, HasSubstr("it is bad at the start already, limit 0"));
}

TEST(BisectToolTest, CodesOfExit) {
  const RunResult skipped = Bisect(
      "--limits=9 -- 'test {} -ge 4 && test {} -lt 6 && exit 125; "
      "test {} -lt 5'");
  EXPECT_EQ(skipped.exit_code, 2) << skipped.err;
  EXPECT_THAT(skipped.out,
              HasSubstr("guilty is one of execution 4 of those that limits "
                        "count, execution 5 of those that limits count, "
                        "execution 6"));
  const RunResult aborted = Bisect("--limits=9 -- 'echo reason; exit 200 {}'");
  EXPECT_EQ(aborted.exit_code, 1);
  EXPECT_THAT(aborted.err, HasSubstr("the command ended with 200\nreason\n"));
  EXPECT_THAT(Bisect("--limits=9 -- no-such-command {}").err,
              HasSubstr("cannot run no-such-command"));
}

TEST(BisectToolTest, Crashes) {
  const std::string command = "-- 'test {} -lt 6 || kill -SEGV $$; exit 0'";
  const RunResult aborted = Bisect("--limits=9 " + command);
  EXPECT_EQ(aborted.exit_code, 1);
  EXPECT_THAT(aborted.err, HasSubstr("--crash=bad takes that for an answer"));
  EXPECT_THAT(Bisect("--limits=9 --crash=bad " + command).out,
              HasSubstr("limit 5 it is good, limit 6 bad"));
  // As a shell says it of what it runs.
  EXPECT_THAT(
      Bisect("--limits=9 --crash=bad -- 'test {} -lt 6 || exit 139'").out,
      HasSubstr("limit 5 it is good, limit 6 bad"));
}

TEST(BisectToolTest, TimeOutsAreBad) {
  const RunResult r =
      Bisect("--limits=3 --timeout=0.5 -- 'test {} -lt 2 || sleep 100'");
  EXPECT_EQ(r.exit_code, 0) << r.err;
  EXPECT_THAT(r.out, HasSubstr("limit 1 it is good, limit 2 bad"));
  EXPECT_THAT(r.err, HasSubstr("limit 2: bad, its time was up"));
}

TEST(BisectToolTest, FlakyAnswersAreReported) {
  // Limit 4 is good each other time.
  const std::string flip = Path("flip");
  const std::string command = absl::StrCat(
      " -- 'test {} -lt 4 && exit 0; test {} -gt 4 && exit 1; if test -e ",
      flip, "; then rm ", flip, "; exit 1; else touch ", flip, "; exit 0; fi'");
  std::filesystem::remove(flip);
  const RunResult once = Bisect("--limits=8" + command);
  EXPECT_EQ(once.exit_code, 2) << once.err;
  EXPECT_THAT(once.out, HasSubstr("limit 4 answers both ways: good 1 times, "
                                  "bad 1 times"));
  std::filesystem::remove(flip);
  const RunResult twice = Bisect("--limits=8 --repeat=2" + command);
  EXPECT_EQ(twice.exit_code, 2) << twice.err;
  EXPECT_THAT(twice.out, HasSubstr("limit 3 it is good, limit 4 bad"));
}

TEST(BisectToolTest, FlakyEndsAreReported) {
  // Limit 0 is bad each other time.
  const std::string flip = Path("flip_at_the_start");
  std::filesystem::remove(flip);
  const RunResult r = Bisect(absl::StrCat(
      "--limits=8 -- 'test {} -gt 0 && exit 1; if test -e ", flip, "; then rm ",
      flip, "; exit 0; else touch ", flip, "; exit 1; fi'"));
  EXPECT_EQ(r.exit_code, 2) << r.err;
  EXPECT_THAT(r.err, HasSubstr("baton-bisect: limit 0 answers both ways: good "
                               "1 times, bad 1 times"));
}

TEST(BisectToolTest, GoesOnAfterAnInterrupt) {
  const std::string progress = Path("progress");
  const std::string log = Path("progress.log");
  const std::string stop = Path("stop");
  std::filesystem::remove(progress);
  std::filesystem::remove(log);
  const std::string args =
      absl::StrCat("--limits=100 --progress=", progress, " -- 'echo {} >>", log,
                   "; test {} = 25 && test -e ", stop,
                   " && kill -INT $PPID && sleep 9; "
                   "test {} -lt 30'");
  std::ofstream(stop) << "";
  const RunResult stopped = Bisect(args);
  EXPECT_EQ(stopped.exit_code, 128 + SIGINT) << stopped.err;
  EXPECT_THAT(stopped.err,
              HasSubstr("interrupted; the answers are in " + progress));
  EXPECT_EQ(Lines(log), 4);  // 0, 100, 50, 25
  std::filesystem::remove(stop);
  const RunResult done = Bisect(args);
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr("limit 29 it is good, limit 30 bad"));
  EXPECT_LE(Lines(log), 1 + 7 + 4);
  EXPECT_THAT(done.err, Not(HasSubstr("limit 50: ")));
  // Answers to another question are not used.
  EXPECT_THAT(Bisect(absl::StrCat("--limits=100 --progress=", progress,
                                  " -- 'test {} -lt 40'"))
                  .err,
              HasSubstr("is of another search"));
}

// Folders that are there for baton-bisect.
int NumFolders() {
  int folders = 0;
  for (const auto& entry : std::filesystem::directory_iterator(Path("tmp"))) {
    const std::string name = entry.path().filename().string();
    folders += name.rfind("baton-bisect-", 0) == 0 ? 1 : 0;
  }
  return folders;
}

TEST(BisectToolTest, FoldersOfKilledSearchesGo) {
  const std::string history = Record("killed", "InferType,FoldConstant");
  std::filesystem::create_directories(Path("tmp"));
  setenv("TMPDIR", Path("tmp").c_str(), 1);
  const RunResult terminated =
      Bisect(history + " -- 'kill -TERM $PPID && sleep 9; test -e {}'");
  EXPECT_EQ(terminated.exit_code, 128 + SIGTERM);
  EXPECT_EQ(NumFolders(), 0);
  Bisect(history + " -- 'kill -KILL $PPID && sleep 9; test -e {}'");
  EXPECT_EQ(NumFolders(), 1);
  // The folder of a search that still runs is left alone; that of the killed
  // one is not.
  const RunResult outer = Bisect(
      absl::StrCat(history, " -- '", testing::RunfilePath("tools/baton-bisect"),
                   " ", std::filesystem::absolute(history).string(),
                   " -- \"test -e {}\" >/dev/null 2>&1; test -e {}'"));
  EXPECT_EQ(outer.exit_code, 1) << outer.err;  // all states are good
  EXPECT_THAT(outer.err, Not(HasSubstr("cannot")));
  EXPECT_EQ(NumFolders(), 0);
  unsetenv("TMPDIR");
}

TEST(BisectToolTest, FullDisk) {
  const std::string history = Record("full", "InferType,FoldConstant");
  const testing::FullDisk disk(100);
  const RunResult r = Bisect(history + " -- 'test -e {}'");
  EXPECT_EQ(r.exit_code, 1);
  EXPECT_THAT(r.err, HasSubstr("cannot write"));
}

TEST(BisectToolTest, MistakesAreErrors) {
  EXPECT_THAT(Bisect("").err, HasSubstr("give a history or --limits"));
  EXPECT_THAT(Bisect("--limits=3").err, HasSubstr("give a command after --"));
  EXPECT_THAT(Bisect("--limits=3 -- true").err, HasSubstr("there is no {}"));
  EXPECT_THAT(Bisect("--limits=3 --crash=good -- true {}").err,
              HasSubstr("crash"));
  EXPECT_THAT(Bisect("--limits=3 --repeat=0 -- true {}").err,
              HasSubstr("at least 1"));
  EXPECT_THAT(Bisect("--limits=3 true -- false {}").err,
              HasSubstr("give a history or --limits"));
  EXPECT_EQ(Bisect("/no/such/file -- 'true {}'").exit_code, 1);
  EXPECT_THAT(Bisect("--help").out, HasSubstr("baton-bisect HISTORY"));
}

}  // namespace
}  // namespace baton
