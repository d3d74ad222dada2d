// Runs a compiler with wrong passes: tests the checks, and reproducers.

#include <filesystem>
#include <fstream>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "baton/base/tensor.h"
#include "baton/runtime/io/npy.h"
#include "baton/testing/golden.h"
#include "baton/testing/run_binary.h"
#include "baton/testing/test_settings.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "re2/re2.h"

namespace baton {
namespace {

using ::testing::AnyOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::ReadFileOrFail;
using testing::RunResult;
using ::testing::StartsWith;

std::string File(const std::string& name, const std::string& content) {
  const std::string path = absl::StrCat(testing::TempDir(), "/", name);
  std::ofstream(path, std::ios::binary) << content;
  return path;
}

RunResult GuiltyOpt(const std::string& args) {
  return testing::RunBinary("tools/guilty-opt", args);
}

std::string Program() {
  return File("program.relay",
              "def @main(%x: Tensor[(2, 8), float32]) {\n"
              "  tanh(nn.relu(add(%x, add(1f, -1.25f))))\n"
              "}\n");
}

TEST(VerifyEachTest, NamesTheGuiltyPass) {
  const std::string args =
      Program() + " --passes=InferType,LoseVariable,FoldConstant";
  const RunResult r = GuiltyOpt(args + " --verify_each");
  EXPECT_EQ(r.exit_code, 1);
  EXPECT_THAT(r.out, IsEmpty());
  EXPECT_THAT(r.err,
              StartsWith("guilty-opt: in pass #1 sequential > #3 LoseVariable: "
                         "--verify_each:\n"
                         "pass LoseVariable broke the module:\n"));
  // Otherwise a later pass meets it.
  EXPECT_THAT(GuiltyOpt(args).err, Not(HasSubstr("broke the module")));
}

TEST(CheckValuesTest, NamesTheGuiltyPass) {
  const std::string args =
      Program() + " --passes=FoldConstant,FuseOps,DefuseOps,DropRelu --op_diff";
  const RunResult r = GuiltyOpt(args + " --check_values");
  EXPECT_EQ(r.exit_code, 1);
  EXPECT_THAT(r.out, IsEmpty());
  EXPECT_THAT(r.err, HasSubstr("DropRelu: --check_values:"
                               "\npass DropRelu changed what @main computes:"));
  EXPECT_EQ(GuiltyOpt(args).exit_code, 0);
  EXPECT_EQ(r.err, GuiltyOpt(args + " --check_values --seed=0").err);
  EXPECT_NE(r.err, GuiltyOpt(args + " --check_values --seed=1").err);
}

// If passes are measured, they are checked in a second run.
TEST(CheckValuesTest, TheGuiltyPassIsTheSameBesideTiming) {
  for (const char* passes : {"FoldConstant,DropRelu,FuseOps",
                             // A failure later in the run that is measured.
                             "InferType,DropRelu,LoseVariable --verify_each",
                             // A mistake in values behind another one.
                             "InferType,LoseVariable,DropRelu --verify_each"}) {
    const std::string args =
        absl::StrCat(Program(), " --check_values --passes=", passes);
    const RunResult r = GuiltyOpt(args);
    EXPECT_EQ(r.exit_code, 1);
    EXPECT_THAT(r.err,
                AnyOf(HasSubstr("pass DropRelu changed what @main computes"),
                      HasSubstr("pass LoseVariable broke the module")));
    for (const std::string& record :
         {std::string(), absl::StrCat(" --record=", File("history", ""))}) {
      const RunResult timed = GuiltyOpt(args + " --timing=text" + record);
      EXPECT_EQ(timed.exit_code, 1);
      EXPECT_THAT(timed.out, IsEmpty());
      EXPECT_THAT(timed.err, StartsWith("sequential: "));
      EXPECT_THAT(timed.err, HasSubstr("\ninstrument --check_values: "));
      EXPECT_THAT(timed.err, EndsWith(r.err));
    }
  }
  // The effect of a pass that never ran does not matter.
  EXPECT_EQ(
      GuiltyOpt(Program() + " --check_values --timing=text --bisect_limit=1 "
                            "--emit=none --passes=FoldConstant,DropRelu")
          .exit_code,
      0);
}

TEST(CheckValuesTest, ToleranceIsThatOfThePass) {
  const RunResult r = GuiltyOpt(
      Program() + " --passes=SlightlyOff,DropRelu --check_values --emit=none");
  EXPECT_EQ(r.exit_code, 1);
  EXPECT_THAT(r.err,
              HasSubstr("pass SlightlyOff changed what @main computes: 6 of "
                        "16 elements of result, float32[2, 8], are off"));
  EXPECT_THAT(r.err, HasSubstr("(allowed: 1e-05 of the largest element, "));
}

TEST(CheckValuesTest, GivenInputsAndExpectedResults) {
  const std::string program =
      File("third.relay",
           "def @main(%x: Tensor[(2), float32]) { divide(%x, 3f) }\n");
  const auto npz = [](const std::string& name, float a, float b) {
    return File(name + ".npz",
                *WriteNpz({{name, *Tensor::FromValues<float>({2}, {a, b})}}));
  };
  const std::string args =
      program +
      " --passes=DivToMul --opt_level=4 --check_values --emit=none "
      "--inputs=" +
      npz("x", 5, 7);
  const RunResult good =
      GuiltyOpt(args + " --expect=" + npz("output_0", 1.666667f, 2.333333f));
  EXPECT_EQ(good.exit_code, 0) << good.err;
  EXPECT_EQ(good.err, "--check_values: compared 1 result\n");
  const RunResult error_log = GuiltyOpt(args + " --max_error=1e-6");
  EXPECT_EQ(error_log.exit_code, 0) << error_log.err;
  EXPECT_THAT(error_log.err, HasSubstr("DivToMul adds an error of "));
  const RunResult bad =
      GuiltyOpt(args + " --expect=" + npz("output_0", 1.666667f, 3));
  EXPECT_EQ(bad.exit_code, 1);
  EXPECT_THAT(bad.err, StartsWith("guilty-opt: --expect: "));
  EXPECT_THAT(bad.err, HasSubstr("before any pass changed it, @main does not "
                                 "compute what is expected: 1 of 2 elements"));
  const RunResult over = GuiltyOpt(args + " --max_error=1e-9");
  EXPECT_EQ(over.exit_code, 1);
  EXPECT_THAT(over.err, HasSubstr("the error of @main is over the budget: "));
  EXPECT_THAT(
      GuiltyOpt(program + " --passes=DivToMul --opt_level=4 --check_values "
                          "--expect=x.npz")
          .err,
      HasSubstr("--expect: needs --inputs"));
  EXPECT_THAT(GuiltyOpt(program + " --passes=DivToMul --inputs=x.npz "
                                  "--expect=x.npz")
                  .err,
              HasSubstr("--expect: needs --check_values"));
  for (const char* flag : {"--special_values", "--max_error=0.1"}) {
    EXPECT_THAT(
        GuiltyOpt(absl::StrCat(program, " --passes=DivToMul ", flag)).err,
        HasSubstr(": needs --check_values"));
  }
  EXPECT_THAT(
      GuiltyOpt(program + " --passes=DivToMul --opt_level=4 --check_values "
                          "--inputs=/no/such/file")
          .err,
      HasSubstr("/no/such/file"));
}

TEST(CalibrationTest, RecordsOnTheFilesOfADataset) {
  const std::string program =
      File("conv2d.relay",
           "def @main(%image: Tensor[(1, 1, 1, 2), float32]) {\n"
           "  nn.conv2d(%image, reshape(3f, newshape=[1, 1, 1, 1]), "
           "padding=[0, 0, 0, 0])\n"
           "}\n");
  const auto npz = [](const std::string& file, float a, float b) {
    return File(file, *WriteNpz({{"image", *Tensor::FromValues<float>(
                                               {1, 1, 1, 2}, {a, b})}}));
  };
  const auto calibrated = [&](const std::string& options) {
    return GuiltyOpt(absl::StrCat(
        program, " --passes='FoldConstant,QuantizeAnnotate{skip_conv_layers=[]",
        "},QuantizeCalibrate{", options, "}'"));
  };
  const std::string one = npz("one.npz", 1, -2);
  const RunResult small = calibrated("mode=max,dataset=[" + one + "]");
  EXPECT_EQ(small.exit_code, 0) << small.err;
  EXPECT_THAT(small.out, HasSubstr("simulated_quantize(%image, 0.015625f"));
  // The largest of both, whether they are named or their folder is.
  const std::string folder = testing::TempDir() + "/dataset";
  std::filesystem::create_directories(folder);
  const std::string other = npz("dataset/other.npz", 4, 0);
  npz("dataset/one.npz", 1, -2);
  for (const std::string& dataset : {one + "," + other, folder}) {
    const RunResult r = calibrated("mode=max,dataset=[" + dataset + "]");
    EXPECT_EQ(r.exit_code, 0) << r.err;
    EXPECT_THAT(r.out, HasSubstr("simulated_quantize(%image, 0.03125f"));
  }
  EXPECT_THAT(calibrated("mode=max,dataset=[/no/such/file]").err,
              HasSubstr("dataset: there is no file /no/such/file"));
  EXPECT_THAT(calibrated("dataset=[" + one + "]").err,
              HasSubstr("dataset: nothing is recorded with mode=global_scale"));
}

TEST(LeaveOutTest, ByNumberByNameAndFromOneOn) {
  const std::string args =
      Program() + " --passes=FoldConstant,DropRelu --op_diff --emit=none ";
  EXPECT_EQ(GuiltyOpt(args + "--skip_execution=4").err,
            "1 FoldConstant add -1\n0 sequential add -1\n");
  EXPECT_EQ(GuiltyOpt(args + "--disabled_pass=DropRelu#1").err,
            "1 FoldConstant add -1\n0 sequential add -1\n");
  EXPECT_EQ(GuiltyOpt(args + "--disabled_pass=DropRelu#2").err,
            GuiltyOpt(args).err +
                "--disabled_pass=DropRelu#2: this run has 1 execution of "
                "DropRelu\n");
  EXPECT_EQ(GuiltyOpt(args + "--stop_after=2").err,
            "1 FoldConstant add -1\n0 sequential add -1\n");
  EXPECT_THAT(GuiltyOpt(args + "--skip_execution=x").err,
              HasSubstr("--skip_execution: expected numbers from 1, found "
                        "`x`"));
  EXPECT_THAT(GuiltyOpt(args + "--disabled_pass=DropRelu#x").err,
              HasSubstr("--disabled_pass: DropRelu#x: expected a number"));
  EXPECT_THAT(GuiltyOpt(args + "--disabled_pass=DropRelo#1").err,
              HasSubstr("DropRelu"));
}

TEST(VerifyRoundtripTest, GoodPassesOverANetwork) {
  const RunResult r = GuiltyOpt(
      "--workload='resnet{image_shape=[3,32,32]}' --verify_roundtrip "
      "--passes=SimplifyInference,FoldConstant,FuseOps --emit=none");
  EXPECT_EQ(r.exit_code, 0) << r.err;
  EXPECT_EQ(r.err, "--verify_roundtrip: checked 4 modules\n");
}

// A ResNet, which has 18 layers and many weights in the long form of tests only.
std::string SmallResNet() {
  return testing::IsLongTest()
             ? "resnet{num_layers=18,image_shape=[3,32,32]}"
             : "resnet{num_layers=20,image_shape=[3,16,16],num_classes=10}";
}

TEST(CheckValuesTest, GoodPassesOverANetwork) {
  for (const char* bind : {"", "--bind_params "}) {
    const RunResult r = testing::RunBinary(
        "tools/baton-opt",
        absl::StrCat("--workload='", SmallResNet(), "' ", bind,
                     "--check_values --verify_each --opt_level=3 --emit=none "
                     "--passes='SimplifyInference,FoldScaleAxis,ConvertLayout{"
                     "desired_layouts={nn.conv2d:[NHWC,HWIO]}},FoldConstant,"
                     "EliminateCommonSubexpr,FuseOps,DefuseOps'"));
    EXPECT_EQ(r.exit_code, 0) << r.err;
    EXPECT_TRUE(RE2::FullMatch(r.err,
                               "--verify_each: checked \\d+ functions\n"
                               "--check_values: compared \\d+ results\n"))
        << r.err;
  }
}

// The standard error of a run, and of its reproducer.
struct Reproduced {
  RunResult first;
  std::string text;  // of the reproducer
  RunResult second;
};

Reproduced Reproduce(const std::string& args, const std::string& again = "") {
  const std::string path = testing::TempDir() + "/reproducer.relay";
  std::filesystem::remove(path);
  Reproduced result;
  result.first = GuiltyOpt(absl::StrCat(args, " --reproducer=", path));
  if (!std::filesystem::exists(path)) return result;
  result.text = ReadFileOrFail(path);
  result.second = GuiltyOpt(absl::StrCat(path, " ", again));
  const std::string note = absl::StrCat("reproducer: ", path, "\n");
  EXPECT_TRUE(absl::EndsWith(result.first.err, note)) << result.first.err;
  result.first.err.resize(result.first.err.size() - note.size());
  return result;
}

TEST(ReproducerTest, FailsAgain) {
  const Reproduced r =
      Reproduce(Program() +
                " --passes='InferType,FoldConstant{fold_qnn=false},DropRelu' "
                "--opt_level=3 --disabled_pass=FuseOps,DefuseOps "
                "--required_pass=FoldConstant --config=threads=2 --verify_each "
                "--check_values --seed=3");
  EXPECT_EQ(r.first.exit_code, 1);
  EXPECT_THAT(r.first.err, HasSubstr("pass DropRelu changed"));
  EXPECT_EQ(r.second.exit_code, 1);
  EXPECT_EQ(r.first.err, r.second.err);
  EXPECT_THAT(r.text,
              StartsWith("// baton-opt reproducer\n"
                         "// passes: InferType,FoldConstant{fold_qnn=false},"
                         "DropRelu\n"
                         "// opt_level: 3\n"
                         "// disabled_pass: [FuseOps,DefuseOps]\n"
                         "// required_pass: [FoldConstant]\n"
                         "// config: threads=2\n"
                         "// check_values: true\n"
                         "// seed: 3\n"
                         "// verify_each: true\n"
                         "//\n"
                         "// in pass #1 sequential > #5 DropRelu: "
                         "--check_values:\n"
                         "// pass DropRelu changed"));
  EXPECT_THAT(r.text, HasSubstr("\n#[version = \"0.0.5\"]\ndef @main("));
}

TEST(ReproducerTest, Binary) {
  const std::string path = testing::TempDir() + "/reproducer.baton";
  const RunResult first =
      GuiltyOpt(absl::StrCat(Program(),
                             " --passes=InferType,DropRelu --check_values "
                             "--seed=3 --reproducer=",
                             path));
  EXPECT_EQ(first.exit_code, 1);
  const RunResult second = GuiltyOpt(path);
  EXPECT_EQ(second.exit_code, 1);
  EXPECT_THAT(second.err, HasSubstr("pass DropRelu changed"));
  EXPECT_EQ(absl::StrCat(second.err, "reproducer: ", path, "\n"), first.err);
}

TEST(ReproducerTest, KeepsTypes) {
  const Reproduced typed = Reproduce(
      "--workload='resnet{image_shape=[3,32,32]}' --bind_params "
      "--passes=InferType,FailIfTyped");
  EXPECT_THAT(typed.first.err, HasSubstr("the module has types"));
  EXPECT_EQ(typed.first.err, typed.second.err);
  // A workload has types before any pass runs.
  const Reproduced workload = Reproduce(
      "--workload='resnet{image_shape=[3,32,32]}' --passes=FailIfTyped");
  EXPECT_THAT(workload.text, HasSubstr("// typed_input: true\n"));
  EXPECT_EQ(workload.first.err, workload.second.err);
}

TEST(ReproducerTest, WeightsThatDoNotMatterAreInputs) {
  // Most of the time goes into the weights.
  for (const std::string& network :
       {std::string("mlp"),
        testing::IsLongTest()
            ? std::string("resnet{num_layers=50,image_shape=[3,32,32]}")
            : SmallResNet()}) {
    const Reproduced r = Reproduce(absl::StrCat(
        "--workload='", network,
        "' --bind_params --passes=SimplifyInference,DropRelu --check_values"));
    EXPECT_THAT(r.first.err, HasSubstr("pass DropRelu changed what @main"));
    EXPECT_THAT(r.second.err, HasSubstr("pass DropRelu changed what @main"));
    EXPECT_EQ(r.second.exit_code, 1);
    // With the weights of ResNet-50 it would be 136 MB. Of as long a program as
    // that of 50 layers, it has only some nodes.
    EXPECT_LT(r.text.size(), testing::LongOrShort(10'000, 12'000));
    if (network == "mlp") {
      EXPECT_THAT(r.text, HasSubstr("%weight"));
    }
  }
}

TEST(ReproducerTest, HoldsInputsAndWhatIsExpected) {
  const auto npz = [](const std::string& name) {
    return File(name + ".npz",
                *WriteNpz({{name, *Tensor::FromValues<float>({2}, {3, 6})}}));
  };
  const std::string x = npz("x");
  const std::string expected = npz("output_0");
  const std::string program =
      File("identity.relay",
           "def @main(%x: Tensor[(2), float32]) { nn.relu(negative(%x)) }\n");
  const std::string args =
      absl::StrCat(program, " --passes=DropRelu --check_values --inputs=", x);
  const Reproduced r = Reproduce(args);
  EXPECT_THAT(r.first.err, HasSubstr("result[1] is -6 and was 0"));
  EXPECT_EQ(r.first.err, r.second.err);
  EXPECT_THAT(r.text, HasSubstr("// inputs: reproducer.relay.inputs.npz\n"));
  const Reproduced wrong = Reproduce(args + " --expect=" + expected);
  EXPECT_THAT(wrong.first.err, HasSubstr("does not compute what is expected"));
  std::filesystem::remove(x);
  std::filesystem::remove(expected);
  EXPECT_EQ(GuiltyOpt(testing::TempDir() + "/reproducer.relay").err,
            wrong.first.err);
}

TEST(ReproducerTest, FlagsReplaceWhatItSays) {
  const std::string args = Program() + " --passes=DropRelu --check_values";
  EXPECT_EQ(Reproduce(args).second.exit_code, 1);
  EXPECT_EQ(Reproduce(args, "--nocheck_values").second.exit_code, 0);
  EXPECT_EQ(Reproduce(args, "--passes=").second.exit_code, 0);
  // With that check, what says how it is done is gone.
  EXPECT_EQ(
      Reproduce(args + " --max_error=0.5", "--nocheck_values").second.exit_code,
      0);
  EXPECT_THAT(Reproduce(args, "--nocheck_values --max_error=0.5").second.err,
              HasSubstr("--max_error: needs --check_values"));
  EXPECT_THAT(Reproduce(args, "--passes=SlightlyOff").second.err,
              HasSubstr("pass SlightlyOff changed"));
}

TEST(ReproducerTest, FlagFilesAreFlags) {
  const std::string failing =
      File("failing.flags",
           "# As on the command line, without quotes.\n"
           "--passes=InferType,FoldConstant{fold_qnn=false},DropRelu\n"
           "--opt_level=3\n"
           "--check_values\n");
  const Reproduced same =
      Reproduce(Program() + " --flagfile=" + failing, "--flagfile=" + failing);
  EXPECT_THAT(same.first.err, HasSubstr("> #5 DropRelu"));
  EXPECT_EQ(same.first.err, same.second.err);
  EXPECT_THAT(same.text, HasSubstr("// opt_level: 3\n"));
  EXPECT_THAT(same.text, Not(HasSubstr("flagfile")));
  // Flags replace what it says, those that say the default among them.
  const auto again = [&](const std::string& flags) {
    return Reproduce(Program() + " --flagfile=" + failing,
                     "--flagfile=" + File("again.flags", flags))
        .second;
  };
  EXPECT_EQ(again("--emit=none\n").err, same.first.err);
  EXPECT_EQ(again("--nocheck_values\n").exit_code, 0);
  const auto runs_level_3 = [&](const std::string& flags) {
    return absl::StrContains(
        again("--passes=CanonicalizeOps\n--timing=text\n" + flags).err,
        "CanonicalizeOps: ");
  };
  EXPECT_TRUE(runs_level_3(""));
  EXPECT_FALSE(runs_level_3("--opt_level=2\n"));
  EXPECT_EQ(again("--passes=\n").exit_code, 0);
}

TEST(ReproducerTest, OfTheFirstModuleThatFails) {
  const std::string path = File("three.relay",
                                "tanh(1f)\n"
                                "// -----\n"
                                "nn.relu(-1f)\n"
                                "// -----\n"
                                "nn.relu(-2f)\n");
  const Reproduced r =
      Reproduce(path + " --split_input_file --passes=DropRelu --check_values");
  EXPECT_THAT(r.first.err, HasSubstr(absl::StrCat(
                               "guilty-opt: the module at ", path,
                               ":3: in pass #1 sequential > #2 DropRelu")));
  EXPECT_THAT(r.first.err, HasSubstr(absl::StrCat("the module at ", path,
                                                  ":5: in pass #1")));
  EXPECT_THAT(r.text, HasSubstr("nn.relu(-1f)"));
  EXPECT_THAT(r.text, Not(HasSubstr("// -----")));
  EXPECT_THAT(r.second.err, HasSubstr("result[] is -1 and was 0"));
}

TEST(ReproducerTest, NoneWithoutAFailureOfPasses) {
  const std::string path = testing::TempDir() + "/none.relay";
  EXPECT_EQ(GuiltyOpt(absl::StrCat(Program(), " --passes=DropRelu ",
                                   "--emit=none --reproducer=", path))
                .exit_code,
            0);
  EXPECT_EQ(GuiltyOpt(absl::StrCat(File("bad.relay", "tanh(%x)"),
                                   " --passes=DropRelu --reproducer=", path))
                .exit_code,
            1);
  EXPECT_FALSE(std::filesystem::exists(path));
  const RunResult r = GuiltyOpt(
      Program() +
      " --passes=DropRelu --check_values --reproducer=/nowhere/repro");
  EXPECT_THAT(r.err, HasSubstr("pass DropRelu changed"));
  EXPECT_THAT(r.err, HasSubstr("cannot write /nowhere/repro"));
}

TEST(ReproducerTest, AHeadThatIsWrong) {
  const auto error = [](const std::string& head) {
    return GuiltyOpt(
               File("head.relay", absl::StrCat("// baton-opt reproducer\n",
                                               head, "\ntanh(1f)\n")))
        .err;
  };
  EXPECT_THAT(error("// opt_levle: 3"),
              HasSubstr("head.relay: unknown name \"opt_levle\"; did you mean "
                        "\"opt_level\"?"));
  EXPECT_THAT(error("// opt_level: high"), HasSubstr("opt_level"));
  EXPECT_THAT(error("// disabled_pass: ["), HasSubstr("head.relay:2"));
  EXPECT_THAT(error("// passes"), HasSubstr("head.relay:2: expected `NAME"));
  EXPECT_THAT(error("// passes: DropReul"), HasSubstr("\"DropRelu\""));
}

TEST(LeaveOutTest, NumbersAreThoseOfTheWholeRun) {
  const std::string args =
      Program() + " --passes=FoldConstant,DropRelu,FoldConstant --emit=none ";
  // #3 runs inside of #2, #5 inside of #4.
  EXPECT_EQ(GuiltyOpt(args + "--skip_execution=2,4 --print_executions=2,4,6 "
                             "--print_op=add")
                .err.substr(0, 26),
            "// IR after #6 FoldConstan");
  EXPECT_EQ(GuiltyOpt(args + "--skip_execution=2,6 --op_diff").err,
            "1 DropRelu nn.relu -1\n0 sequential nn.relu -1\n");
}

TEST(LeaveOutTest, ACrashIsLeftOut) {
  EXPECT_EQ(GuiltyOpt(Program() + " --passes=FoldConstant,Crash,FoldConstant "
                                  "--emit=none --skip_execution=4,6")
                .exit_code,
            0);
}

TEST(VerifyResultTest, WhatIsWrittenIsAProgram) {
  const std::string path = testing::TempDir() + "/broken_result.relay";
  const std::string args = absl::StrCat(
      Program(), " --passes=InferType,LoseVariable --output=", path);
  const RunResult r = GuiltyOpt(args);
  EXPECT_EQ(r.exit_code, 1);
  EXPECT_THAT(r.err, HasSubstr("the passes broke the module (--verify_each"));
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_EQ(GuiltyOpt(args + " --noverify_result").exit_code, 0);
  EXPECT_TRUE(std::filesystem::exists(path));
}

TEST(CheckValuesTest, NoPassIsBlamedForAWrongExpectation) {
  const std::string program =
      File("third.relay",
           "def @main(%x: Tensor[(2), float32]) { divide(%x, 3f) }\n");
  const auto npz = [](const std::string& name, float a, float b) {
    return File(name + ".npz",
                *WriteNpz({{name, *Tensor::FromValues<float>({2}, {a, b})}}));
  };
  // No pass changes the program.
  const RunResult r = GuiltyOpt(absl::StrCat(
      program,
      " --passes=FuseOps --stop_after=0 --check_values --emit=none "
      "--inputs=",
      npz("x", 3, 6), " --expect=", npz("output_0", 1, 3)));
  EXPECT_EQ(r.exit_code, 1);
  EXPECT_THAT(r.err, StartsWith("guilty-opt: --expect: before any pass"));
}

TEST(CrashTest, NamesThePassAndTheCommands) {
  const std::string args =
      Program() + " --passes=FoldConstant,Crash --emit=none";
  const RunResult r = GuiltyOpt(args);
  EXPECT_NE(r.exit_code, 0);
  EXPECT_THAT(r.err, HasSubstr(") in pass #1 sequential > #4 Crash\n"));
  EXPECT_THAT(r.err, HasSubstr(absl::StrCat(args, " --reproducer=")));
  EXPECT_THAT(r.err, HasSubstr(absl::StrCat(args, " --triage=")));
  const std::string path = testing::TempDir() + "/crash.relay";
  std::filesystem::remove(path);
  const RunResult kept = GuiltyOpt(absl::StrCat(args, " --reproducer=", path));
  EXPECT_EQ(kept.exit_code, 1);
  EXPECT_THAT(kept.err, EndsWith(absl::StrCat("reproducer: ", path, "\n")));
  EXPECT_THAT(GuiltyOpt(path).err, HasSubstr("> #4 Crash\n"));
}

TEST(CrashTest, BatonRunNamesThePassAndTheCommandsOfBatonOpt) {
  const std::string program = Program();
  const RunResult r = testing::RunBinary(
      "tools/guilty-run",
      absl::StrCat(program, " --passes=FoldConstant,Crash --random_inputs"));
  EXPECT_NE(r.exit_code, 0);
  const std::string command =
      absl::StrCat("baton-opt ", program, " --passes=FoldConstant,Crash");
  EXPECT_THAT(r.err, HasSubstr(") in pass #1 sequential > #4 Crash\n"));
  EXPECT_THAT(r.err, HasSubstr(absl::StrCat(command, " --reproducer=")));
  EXPECT_THAT(r.err, HasSubstr(absl::StrCat(command, " --triage=")));
}

}  // namespace
}  // namespace baton
