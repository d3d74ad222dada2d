// Runs baton-reduce with passes that are wrong on purpose, and runs the tests
// that it writes.

#include <csignal>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "baton/base/tensor.h"
#include "baton/runtime/io/npy.h"
#include "baton/testing/golden.h"
#include "baton/testing/run_binary.h"
#include "baton/testing/test_settings.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::ReadFileOrFail;
using testing::RunResult;

std::string TempFile(const std::string& name) {
  return absl::StrCat(testing::TempDir(), "/", name);
}

std::string File(const std::string& name, const std::string& content) {
  std::ofstream(TempFile(name), std::ios::binary) << content;
  return TempFile(name);
}

std::string Program() {
  return File("program.relay",
              "def @main(%x: Tensor[(2, 8), float32]) {\n"
              "  tanh(nn.relu(add(%x, add(1f, -1.25f))))\n"
              "}\n");
}

struct Reduced {
  RunResult run;
  std::string test;  // what was written; empty if nothing
};

Reduced Reduce(const std::string& args, bool runs_test = true) {
  const std::string path = TempFile("reduced.relay");
  std::filesystem::remove(path);
  Reduced result;
  result.run = testing::RunBinary(
      "tools/faulty-reduce",
      absl::StrCat(args, " --tool=faulty-opt --output=", path));
  if (!std::filesystem::exists(path)) return result;
  result.test = ReadFileOrFail(path);
  if (!runs_test) return result;
  const RunResult test = testing::RunBinary(
      "tools/baton-ir-test",
      absl::StrCat(path, " --programs=tools/faulty-opt,tools/baton-check"));
  EXPECT_EQ(test.exit_code, 0) << test.err << result.test;
  return result;
}

TEST(ReduceTest, WrongValues) {
  const Reduced r =
      Reduce(Program() +
             " --passes=InferType,FoldConstant,DropRelu,FuseOps --differs");
  EXPECT_EQ(r.run.exit_code, 0) << r.run.err;
  EXPECT_THAT(r.run.err, HasSubstr("guilty: #5 DropRelu\n"));
  EXPECT_THAT(r.run.err, HasSubstr("reduced to 1 call, 1 pass"));
  EXPECT_EQ(r.test,
            "// DropRelu: an error.\n"
            "// RUN: not faulty-opt %s --passes=InferType,DropRelu "
            "--check_values --emit=none 2>&1 \\\n"
            "// RUN:   | baton-check %s\n"
            "// CHECK: in pass {{.*}}#{{[0-9]+}} DropRelu\n"
            "// CHECK: pass DropRelu changed what\n"
            "\n"
            "#[version = \"0.0.5\"]\n"
            "def @main(%x: Tensor[(2, 3), float32]) -> Tensor[(2, 3), float32] "
            "{\n"
            "  nn.relu(%x)\n"
            "}\n");
}

TEST(ReduceTest, GivenInputsBecomeConstants) {
  // Only NaN differs from itself.
  const std::string program = File("compare.relay",
                                   "def @main(%x: Tensor[(4), float32]) {\n"
                                   "  let %y = tanh(%x);\n"
                                   "  not_equal(%y, %y)\n"
                                   "}\n") +
                              " --passes=FoldSelfComparison --differs";
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const absl::StatusOr<std::string> inputs =
      WriteNpz({{"x", *Tensor::FromValues<float>({4}, {1, nan, 2, 3})}});
  const Reduced r =
      Reduce(program + " --inputs=" + File("inputs.npz", *inputs));
  EXPECT_EQ(r.run.exit_code, 0) << r.run.err;
  EXPECT_THAT(r.run.err, HasSubstr("reduced to 1 call, 1 pass"));
  EXPECT_THAT(r.test, HasSubstr("not_equal("));
  EXPECT_THAT(r.test, Not(HasSubstr("--inputs")));
  EXPECT_THAT(Reduce(program).run.err, HasSubstr("nothing is wrong with"));
}

// Reduces loops to `reduced.tir`.
Reduced ReduceLoops(const std::string& args) {
  const std::string path = TempFile("reduced.tir");
  std::filesystem::remove(path);
  Reduced result;
  result.run =
      testing::RunBinary("tools/faulty-reduce",
                         absl::StrCat("tools/testdata/dense_softmax.tir ", args,
                                      " --tool=faulty-opt --output=", path));
  if (!std::filesystem::exists(path)) return result;
  result.test = ReadFileOrFail(path);
  const RunResult test = testing::RunBinary(
      "tools/baton-ir-test",
      absl::StrCat(path, " --programs=tools/faulty-opt,tools/baton-check"));
  EXPECT_EQ(test.exit_code, 0) << test.err << result.test;
  return result;
}

TEST(ReduceTest, LoopsWithWrongValues) {
  const std::string args =
      "--passes=tir.Simplify,tir.DropRemainder,tir.LowerInitBlock --differs";
  const Reduced r = ReduceLoops(args);
  EXPECT_EQ(r.run.exit_code, 0) << r.run.err;
  EXPECT_THAT(r.run.err, HasSubstr("guilty: #3 tir.DropRemainder\n"));
  EXPECT_THAT(r.run.err, ContainsRegex("reduced to [1-4] statements?, 1 pass"));
  EXPECT_THAT(r.test, HasSubstr("--passes=tir.DropRemainder --check_values"));
  EXPECT_THAT(r.test, HasSubstr("// CHECK: pass tir.DropRemainder changed"));
  EXPECT_THAT(r.test, HasSubstr("@T.prim_func"));
  EXPECT_EQ(ReduceLoops(args + " --jobs=4").test, r.test);
}

TEST(ReduceTest, LoopsWithoutDefinitions) {
  const Reduced r = ReduceLoops(
      "--passes=tir.DropUnitLoop,tir.Simplify "
      "--verify_with=tir.VerifyScopes --fails");
  EXPECT_EQ(r.run.exit_code, 0) << r.run.err;
  EXPECT_THAT(r.test, HasSubstr("after pass tir.DropUnitLoop"));
  EXPECT_THAT(r.run.err, HasSubstr("1 pass"));
}

TEST(ReduceTest, LoopsThatCrash) {
  const Reduced r = ReduceLoops(
      "--passes=tir.LowerInitBlock,tir.CrashOnSelect,tir.Simplify --crashes");
  EXPECT_EQ(r.run.exit_code, 0) << r.run.err;
  EXPECT_THAT(r.run.err, HasSubstr("tir.CrashOnSelect\n"));
  EXPECT_THAT(r.test, HasSubstr("T.Select("));
  EXPECT_THAT(r.test, HasSubstr("; test $? -ge 128\n"));
  EXPECT_THAT(r.test, Not(HasSubstr("LowerInitBlock")));
}

// The command sees a file whose name ends as those of loops do.
TEST(ReduceTest, CommandsOnLoops) {
  const Reduced r = ReduceLoops(
      "--passes=tir.LowerInitBlock,tir.Simplify "
      "--test='case %s in *.tir) ;; *) exit 1;; esac; grep -q T.exp %s && "
      "echo %p | grep -q Simplify'");
  EXPECT_EQ(r.run.exit_code, 0) << r.run.err;
  EXPECT_THAT(r.run.err, ContainsRegex("reduced to [12] statements?, 1 pass"));
  EXPECT_THAT(r.test, HasSubstr("// RUN: grep -v '^//' %s >%t.tir\n"));
  EXPECT_THAT(r.test, HasSubstr("T.exp("));
}

TEST(ReduceTest, SameForAnyNumberOfJobs) {
  const std::string args =
      "tools/testdata/lstm.relay --passes=FoldConstant,NextField --differs";
  const Reduced one = Reduce(args + " --jobs=1");
  const Reduced four = Reduce(args + " --jobs=4");
  EXPECT_EQ(one.run.exit_code, 0) << one.run.err;
  EXPECT_THAT(one.test, HasSubstr("split("));
  EXPECT_EQ(one.test, four.test);
}

TEST(ReduceTest, Errors) {
  const Reduced r = Reduce(
      Program() + " --passes=FoldConstant,LoseVariable --verify_each --fails");
  EXPECT_EQ(r.run.exit_code, 0) << r.run.err;
  EXPECT_THAT(r.test, HasSubstr("CHECK: pass LoseVariable broke the module"));
  EXPECT_THAT(r.run.err, HasSubstr("reduced to 0 calls, 1 pass"));
}

TEST(ReduceTest, PassesThatAreInsertedRunToo) {
  const Reduced r = Reduce(Program() +
                           " --passes=ManifestLifetimes,LoseVariable "
                           "--insert_required --verify_each --fails");
  EXPECT_EQ(r.run.exit_code, 0) << r.run.err;
  // After ToANormalForm, which ManifestLifetimes needs.
  EXPECT_THAT(r.run.err, HasSubstr("guilty: #5 LoseVariable\n"));
}

TEST(ReduceTest, ErrorsByMessage) {
  const std::string args =
      Program() + " --passes=InferType,FailIfTyped --fails=";
  EXPECT_THAT(Reduce(args + "'has .ypes'").run.err, HasSubstr("1 pass"));
  EXPECT_THAT(Reduce(args + "other").run.err, HasSubstr("does not match"));
  EXPECT_THAT(Reduce(args + "'('").run.err, HasSubstr("missing )"));
}

TEST(ReduceTest, Crashes) {
  const Reduced r = Reduce(
      "--workload='resnet{image_shape=[3,32,32]}' "
      "--passes=SimplifyInference,CrashOnReluOfAdd,FuseOps --crashes");
  EXPECT_EQ(r.run.exit_code, 0) << r.run.err;
  EXPECT_THAT(r.run.err, HasSubstr("CrashOnReluOfAdd\n"));
  EXPECT_THAT(r.run.err, HasSubstr("reduced to 2 calls, 1 pass"));
  EXPECT_THAT(r.test, HasSubstr("; test $? -ge 128\n"));
  EXPECT_THAT(r.test, Not(HasSubstr("SimplifyInference")));
}

// To run what is written takes ten seconds: the short form of tests does not.
// Each test of a program that hangs takes --test_seconds: the program is small,
// but in the long form of tests.
TEST(ReduceTest, EndlessLoops) {
  const std::string program =
      testing::IsLongTest()
          ? "tools/testdata/transformer.relay"
          : File("dense.relay",
                 "def @main(%x: Tensor[(1, 1), float32],\n"
                 "          %w: Tensor[(1, 1), float32],\n"
                 "          %b: Tensor[(1), float32]) {\n"
                 "  tanh(nn.bias_add(nn.dense(%x, %w, units=1), %b))\n"
                 "}\n");
  const Reduced r = Reduce(
      program +
          " --passes=InferType,HangOnBiasOfDense --crashes --test_seconds=0.2",
      testing::IsLongTest());
  EXPECT_EQ(r.run.exit_code, 0) << r.run.err;
  EXPECT_THAT(r.run.err, HasSubstr("reduced to 2 calls, 1 pass"));
  EXPECT_THAT(r.test, HasSubstr("// HangOnBiasOfDense: a time-out."));
}

TEST(ReduceTest, Commands) {
  const Reduced r = Reduce(Program() +
                           " --passes=FoldConstant,FuseOps "
                           "--test='grep -q tanh %s && test %% = %% &&\n"
                           "  echo %p | grep -q Fuse'");
  EXPECT_EQ(r.run.exit_code, 0) << r.run.err;
  EXPECT_THAT(r.run.err, HasSubstr("reduced to 1 call, 1 pass"));
  EXPECT_EQ(r.test,
            "// What the command shows; files and programs that it needs are "
            "data of the test.\n"
            "// RUN: grep -v '^//' %s >%t.relay\n"
            "// RUN: sh -c $'grep -q tanh %t.relay && test %% = %% &&\\n  "
            "echo FuseOps | grep -q Fuse'\n"
            "\n"
            "#[version = \"0.0.5\"]\n"
            "def @main(%x: Tensor[(1, 1), float32]) -> Tensor[(1, 1), float32] "
            "{\n"
            "  tanh(%x)\n"
            "}\n");
}

// Sends SIGINT to baton-reduce in the test number `n` of the program, which
// shows what is looked for if it has a tanh.
std::string InterruptingCommand(const std::string& log, int n) {
  return absl::StrCat(
      " --jobs=1 --test='echo >>", log, "; if test $(wc -l <", log, ") = ", n,
      "; then kill -INT $(grep PPid: /proc/$PPID/status | tr -dc 0-9); "
      "sleep 9; fi; grep -q tanh %s'");
}

TEST(ReduceTest, WhatIsInterruptedLeavesTheBestSoFar) {
  const std::string log = File("interrupt.log", "");
  const Reduced r = Reduce(Program() + " --passes=FoldConstant,FuseOps" +
                           InterruptingCommand(log, 6));
  EXPECT_EQ(r.run.exit_code, 128 + SIGINT) << r.run.err;
  EXPECT_THAT(r.run.err, HasSubstr("the best so far is in "));
  EXPECT_THAT(r.run.err, HasSubstr("baton-reduce: interrupted; "));
  EXPECT_THAT(r.run.err, HasSubstr("reduced.relay has the best so far: "));
  EXPECT_THAT(r.test, HasSubstr("tanh("));
}

TEST(ReduceTest, WhatIsInterruptedAtOnceLeavesNothing) {
  const std::string log = File("interrupt_at_once.log", "");
  const Reduced r = Reduce(Program() + " --passes=FoldConstant" +
                           InterruptingCommand(log, 1));
  EXPECT_EQ(r.run.exit_code, 128 + SIGINT) << r.run.err;
  EXPECT_THAT(r.run.err, HasSubstr("interrupted; nothing had been seen to "
                                   "fail, and nothing is written"));
  EXPECT_EQ(r.test, "");
}

// All that was given is there before it is known which pass is guilty.
TEST(ReduceTest, TheWholeIsWrittenFirst) {
  const Reduced r =
      Reduce(Program() + " --passes=FoldConstant,DropRelu --differs");
  const size_t best = r.run.err.find("the best so far is in ");
  EXPECT_LT(best, r.run.err.find("guilty: #4 DropRelu")) << r.run.err;
}

TEST(ReduceTest, FlakyCommandsAreNoticed) {
  const std::string state = File("state", "0\n");
  const RunResult r = testing::RunBinary(
      "tools/faulty-reduce",
      absl::StrCat(Program(),
                   " --passes=FoldConstant --jobs=1 --test='n=$(cat ", state,
                   "); echo $((1 - n)) >", state, "; test $n = 0 -a -f %s'"));
  EXPECT_EQ(r.exit_code, 0) << r.err;
  EXPECT_THAT(r.err, HasSubstr("flaky"));
}

TEST(ReduceTest, Mistakes) {
  EXPECT_THAT(Reduce(Program() + " --passes=FoldConstant --fails").run.err,
              HasSubstr("nothing is wrong"));
  EXPECT_THAT(
      Reduce(Program() + " --passes=FoldConstant --fails --crashes").run.err,
      HasSubstr("give one of them"));
  EXPECT_THAT(
      Reduce(Program() + " --passes=LoseVariable,FuseOps --crashes").run.err,
      HasSubstr("is an error"));
  EXPECT_THAT(
      Reduce(Program() + " --passes=FoldConstant --test='grep %%s x'").run.err,
      HasSubstr("--test: there is no %s, the program, in \"grep %%s x\""));
  EXPECT_THAT(Reduce(Program() + " --pases=FuseOps").run.err,
              HasSubstr("unknown flag --pases; did you mean \"passes\""));
}

}  // namespace
}  // namespace baton
