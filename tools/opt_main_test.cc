// Runs the baton-opt binary.

#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "baton/testing/golden.h"
#include "baton/testing/run_binary.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "re2/re2.h"

namespace baton {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::MatchesGolden;
using ::testing::Not;
using testing::RunResult;

RunResult BatonOpt(const std::string& args) {
  return testing::RunBinary("tools/baton-opt", args);
}

constexpr char kTutorial[] =
    "--workload=resnet --bind_params --opt_level=3 "
    "--passes='FoldConstant,"
    "ConvertLayout{desired_layouts={nn.conv2d:[NHWC,HWIO]}},FoldConstant' ";

TEST(BatonOptTest, PrintsTheWorkload) {
  const RunResult r =
      BatonOpt("--workload='resnet{num_layers=18}' --emit=text-no-meta");
  EXPECT_EQ(r.exit_code, 0);
  EXPECT_TRUE(MatchesGolden(r.out, "resnet18.relay"));
  EXPECT_THAT(r.err, IsEmpty());
}

TEST(BatonOptTest, TutorialSequenceWithOpDiff) {
  const RunResult r =
      BatonOpt(absl::StrCat(kTutorial, "--emit=text-no-meta --op_diff"));
  EXPECT_EQ(r.exit_code, 0) << r.err;
  EXPECT_TRUE(
      MatchesGolden(r.out, "resnet18_passes/TutorialSequence.bound.relay"));
  EXPECT_EQ(r.err,
            "1 CanonicalizeOps add +1, nn.bias_add -1\n"
            "1 ConvertLayout expand_dims +1, layout_transform +23\n"
            "1 FoldConstant expand_dims -1, layout_transform -21\n"
            "0 sequential add +1, layout_transform +2, nn.bias_add -1\n");
}

TEST(BatonOptTest, WritesAFile) {
  const std::string path = testing::TempDir() + "/out.relay";
  const RunResult r = BatonOpt(
      absl::StrCat("--workload=resnet --emit=text-no-meta --output=", path));
  EXPECT_EQ(r.exit_code, 0) << r.err;
  EXPECT_THAT(r.out, IsEmpty());
  EXPECT_TRUE(MatchesGolden(testing::ReadFileOrFail(path), "resnet18.relay"));
}

TEST(BatonOptTest, AnErrorLeavesTheOutputFileAlone) {
  const std::string path = testing::TempDir() + "/kept.relay";
  std::ofstream(path) << "what was there";
  const RunResult r = BatonOpt(absl::StrCat(
      "--workload=resnet --passes='ConvertLayout{desired_layouts={nn.conv2d:["
      "NHQC,HWIO]}}' --opt_level=3 --output=",
      path));
  EXPECT_EQ(r.exit_code, 1);
  EXPECT_EQ(testing::ReadFileOrFail(path), "what was there");
}

TEST(BatonOptTest, TimingTree) {
  // Level 2: only FoldConstant of the three is enabled.
  RunResult r = BatonOpt(
      "--workload=resnet --emit=none --timing=text "
      "--passes=InferType,FoldScaleAxis");
  EXPECT_EQ(r.exit_code, 0) << r.err;
  RE2::GlobalReplace(&r.err, R"(\d+us \[\d+us\] \([\d.]+%; [\d.]+%\))", "T");
  EXPECT_EQ(r.err,
            "sequential: T\n"
            "\tInferType: T\n"
            "\tFoldScaleAxis: T\n"
            "\t\tFoldConstant: T\n"
            "\t\t\tInferType: T\n");
  r = BatonOpt(
      "--workload=resnet --emit=none --timing=text --opt_level=3 "
      "--passes=FoldScaleAxis");
  RE2::GlobalReplace(&r.err, R"(\d+us \[\d+us\] \([\d.]+%; [\d.]+%\))", "T");
  EXPECT_EQ(r.err,
            "sequential: T\n"
            "\tFoldScaleAxis: T\n"
            "\t\tInferType: T\n"
            "\t\tBackwardFoldScaleAxis: T\n"
            "\t\t\tInferType: T\n"
            "\t\tInferType: T\n"
            "\t\tForwardFoldScaleAxis: T\n"
            "\t\t\tInferType: T\n"
            "\t\tFoldConstant: T\n"
            "\t\t\tInferType: T\n");
}

TEST(BatonOptTest, TimingAsJson) {
  const RunResult r = BatonOpt(
      "--workload=resnet --emit=none --timing=json --passes=FoldConstant");
  EXPECT_EQ(r.exit_code, 0) << r.err;
  EXPECT_TRUE(RE2::FullMatch(
      r.err,
      R"(\{"version":1,"passes":\[\{"name":"sequential","number":1,"depth":0,)"
      R"("total_us":[\d.]+,"self_us":[\d.]+,"changed":false,"children":)"
      R"(\[\{"name":"FoldConstant","number":2,"depth":1,.*\]\}\]\}\s*)"))
      << r.err;
}

TEST(BatonOptTest, LevelsAndNames) {
  const auto diff = [](const std::string& args) {
    return BatonOpt(
               "--workload=resnet --emit=none --op_diff "
               "--passes=InferType,CanonicalizeOps " +
               args)
        .err;
  };
  // A pass that is named runs whatever its level, unless the level is given.
  EXPECT_THAT(diff(""), HasSubstr("CanonicalizeOps add +1"));
  EXPECT_EQ(diff("--opt_level=2"),
            "not run: CanonicalizeOps (level 3, --opt_level=2)\n"
            "--op_diff: no pass changed the number of calls of an operator\n");
  EXPECT_THAT(diff("--opt_level=3"), HasSubstr("CanonicalizeOps"));
  EXPECT_THAT(diff("--required_pass=CanonicalizeOps"),
              HasSubstr("CanonicalizeOps"));
  EXPECT_EQ(diff("--opt_level=3 --disabled_pass=CanonicalizeOps"),
            "not run: CanonicalizeOps (--disabled_pass)\n"
            "--op_diff: no pass changed the number of calls of an operator\n");
  // The later flag counts. A pipeline asks for the level that it is made for.
  EXPECT_THAT(diff("--passes=O3"), HasSubstr("BackwardFoldScaleAxis"));
  EXPECT_THAT(diff("--passes=O3 --opt_level=2"),
              Not(HasSubstr("BackwardFoldScaleAxis")));
}

TEST(BatonOptTest, ConfigReachesPasses) {
  const auto functions = [](const std::string& args) {
    return std::vector<absl::string_view>(
               absl::StrSplit(BatonOpt("--workload=resnet --emit=text-no-meta "
                                       "--passes=SimplifyInference,FuseOps " +
                                       args)
                                  .out,
                              "Primitive=1"))
        .size();
  };
  EXPECT_LT(functions(""), functions("--config=relay.FuseOps.max_depth=2"));
  // Settings that only the reference reads are accepted.
  EXPECT_EQ(functions(""), functions("--config=relay.collage.tvm_max_depth=8,"
                                     "tir.disable_assert=true,"
                                     "tir.UnrollLoop={auto_max_step=1}"));
}

TEST(BatonOptTest, FlagFile) {
  const std::string path = testing::TempDir() + "/tutorial.flags";
  std::ofstream(path) << "--workload=resnet{num_layers=18}\n"
                         "--emit=text-no-meta\n"
                         "--output="
                      << testing::TempDir() << "/not_here.relay\n";
  const RunResult r =
      BatonOpt(absl::StrCat("--flagfile=", path, " --output=-"));
  EXPECT_EQ(r.exit_code, 0) << r.err;
  EXPECT_TRUE(MatchesGolden(r.out, "resnet18.relay"));
}

TEST(BatonOptTest, WrongFlagInAFlagFile) {
  const std::string path = testing::TempDir() + "/wrong.flags";
  std::ofstream(path) << "--workload=resnet\n--opt_levle=3\n";
  EXPECT_EQ(BatonOpt("--flagfile=" + path).err,
            absl::StrCat("baton-opt: ", path,
                         ":2: unknown flag --opt_levle; did you mean "
                         "\"opt_level\"?\n"));
}

TEST(BatonOptTest, MetadataIsLeftOutIfAskedFor) {
  const std::string path = testing::TempDir() + "/constant.relay";
  EXPECT_EQ(BatonOpt("--workload=mlp --bind_params --output=" + path).exit_code,
            0);
  EXPECT_THAT(testing::ReadFileOrFail(path), HasSubstr("\n#[metadata]\n"));
  const RunResult r = BatonOpt(path + " --emit=text-no-meta");
  EXPECT_THAT(r.out, AllOf(HasSubstr("meta[relay.Constant][0]"),
                           Not(HasSubstr("#[metadata]"))));
}

TEST(BatonOptTest, Lists) {
  RunResult r = BatonOpt("--list_pipelines");
  EXPECT_EQ(r.exit_code, 0);
  EXPECT_THAT(r.out, HasSubstr("\nO3           level 3  What"));
  EXPECT_THAT(r.out, HasSubstr("\n  FoldScaleAxis                      Moves"));
  r = BatonOpt("--list_passes");
  EXPECT_EQ(r.exit_code, 0);
  for (const char* name : {"InferType", "FoldConstant", "BackwardFoldScaleAxis",
                           "ForwardFoldScaleAxis", "FoldScaleAxis",
                           "CanonicalizeOps", "ConvertLayout"}) {
    EXPECT_THAT(r.out, HasSubstr(name));
  }
  EXPECT_THAT(r.out, HasSubstr("does not keep the law `effects`: A graph"));
  r = BatonOpt("--list_ops");
  EXPECT_EQ(r.exit_code, 0);
  for (absl::string_view line : absl::StrSplit(r.out, '\n')) {
    if (absl::StartsWith(line, "nn.conv2d ")) {
      EXPECT_THAT(std::string(line), Not(HasSubstr("no kernel")));
    }
  }
  r = BatonOpt("--list_workloads");
  EXPECT_EQ(r.exit_code, 0);
  EXPECT_THAT(r.out, AllOf(HasSubstr("resnet"), HasSubstr("num_layers=18")));
}

// A file of the test's own.
std::string WriteRules(const std::string& name, const std::string& text) {
  std::string path = absl::StrCat(testing::TempDir(), "/", name);
  std::ofstream(path) << text;
  return path;
}

TEST(BatonOptTest, ReadsRulesFromFiles) {
  const std::string one =
      WriteRules("one.rules",
                 "rule @cancel \"\" { match { negative(negative(%x)) } replace "
                 "{ %x } }\n");
  const std::string two =
      WriteRules("two.rules",
                 "rule @relu_twice \"\" {\n  match { nn.relu(nn.relu(%x)) }\n"
                 "  replace { nn.relu(%x) }\n}\n");
  RunResult r = BatonOpt(absl::StrCat("--list_rules --rules=", one, ",", two));
  EXPECT_EQ(r.exit_code, 0) << r.err;
  EXPECT_THAT(r.out, HasSubstr("// bit-exact\nrule @cancel {\n  match {\n"
                               "    negative(negative(%x))\n"));
  EXPECT_THAT(r.out, HasSubstr("rule @relu_twice {"));
  r = BatonOpt(absl::StrCat("--check_rules --rules=", one, ",", two));
  EXPECT_EQ(r.exit_code, 0) << r.err;
  EXPECT_THAT(r.out, HasSubstr("@cancel: keeps the laws, on "));

  // A mistake has its place, before anything runs.
  const std::string wrong = WriteRules(
      "wrong.rules", "\nrule @r { match { nn.rely(%x) } replace { %x } }\n");
  r = BatonOpt(absl::StrCat("--workload=resnet --rules=", wrong));
  EXPECT_EQ(r.exit_code, 1);
  EXPECT_EQ(r.out, "");
  EXPECT_THAT(r.err, HasSubstr("wrong.rules:2:19: error: "));
  EXPECT_THAT(r.err, HasSubstr("did you mean \"nn.relu\" or"));
  // Two files with a rule of one name.
  const std::string again = WriteRules(
      "again.rules",
      "rule @cancel \"\" { match { abs(abs(%x)) } replace { abs(%x) } }\n");
  r = BatonOpt(absl::StrCat("--list_rules --rules=", one, ",", again));
  EXPECT_EQ(r.exit_code, 1);
  EXPECT_THAT(r.err, HasSubstr("there are two rules called @cancel"));
}

TEST(BatonOptTest, SaysWhichLawARuleBreaks) {
  const std::string path = WriteRules(
      "broken.rules",
      "rule @lossy \"\" { match { %x * 0f } replace { zeros_like(%x) } }\n");
  const RunResult r = BatonOpt(absl::StrCat("--check_rules --rules=", path));
  EXPECT_EQ(r.exit_code, 1);
  EXPECT_THAT(r.out, HasSubstr("@lossy: breaks a law, on "));
  EXPECT_THAT(r.out, HasSubstr("def @main("));
  EXPECT_THAT(r.err, HasSubstr("1 of 1 rule breaks a law"));
}

TEST(BatonOptTest, HelpFitsOneScreen) {
  const RunResult r = BatonOpt("--help");
  EXPECT_EQ(r.exit_code, 0);
  for (const char* flag :
       {"--workload",      "--bind_params",    "--split_input_file",
        "--passes",        "--opt_level",      "--disabled_pass",
        "--required_pass", "--config",         "--threads",
        "--bisect_limit",  "--output",         "--emit",
        "--timing",        "--op_diff",        "--report",
        "--print_before",  "--print_after",    "--print_changed",
        "--dump_dir",      "--verify_each",    "--check_values",
        "--seed",          "--reproducer",     "--list_passes",
        "--list_ops",      "--list_workloads", "--help",
        "--version"}) {
    EXPECT_THAT(r.out, HasSubstr(absl::StrCat("\n  ", flag)));
  }
  const std::vector<std::string> lines = absl::StrSplit(r.out, '\n');
  EXPECT_LE(lines.size(), 92u);
  for (const std::string& line : lines) EXPECT_LE(line.size(), 100u) << line;
}

struct BadUsage {
  const char* args;
  const char* message;
};

class BadUsageTest : public ::testing::TestWithParam<BadUsage> {};

TEST_P(BadUsageTest, NamesTheCulpritAndTheCandidates) {
  const RunResult r = BatonOpt(GetParam().args);
  EXPECT_EQ(r.exit_code, 1);
  EXPECT_THAT(r.err, HasSubstr(GetParam().message));
  EXPECT_THAT(r.out, IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(
    Cases, BadUsageTest,
    ::testing::Values(
        BadUsage{"", "--workload"},
        BadUsage{"--workload=resnest", "did you mean \"resnet\""},
        BadUsage{"--workload='resnet{layers=18}'", "num_layers"},
        BadUsage{"--workload='resnet{num_layers=19}'", "18, 34, 50"},
        BadUsage{"--workload='resnet{batch_size=-1}'", "batch_size"},
        BadUsage{"--workload='resnet{image_shape=[3,0,224]}'", "image_shape"},
        BadUsage{"--workload='resnet{num_layer=18}'",
                 "did you mean \"num_layers\"?"},
        BadUsage{"--workload=resnet --passes=FoldConstants",
                 "did you mean \"FoldConstant\"?"},
        BadUsage{"--workload=resnet --passes='FoldConstant{fold=1}'",
                 "fold_qnn"},
        BadUsage{"--workload=resnet --passes='FoldConstant{fold_qqn=1}'",
                 "did you mean \"fold_qnn\"?"},
        BadUsage{"--workload=resnet --passes='FoldConstant{fold_qnn=2.5}'",
                 "fold_qnn"},
        BadUsage{"--workload=resnet --passes='FoldConstant,'", "--passes:1:"},
        BadUsage{"--workload=resnet --passes=FoldConstant "
                 "--config=relay.nope=1",
                 "relay.nope"},
        BadUsage{"--workload=resnet --config=relay.FuseOps.max_dept=1",
                 "did you mean \"relay.FuseOps.max_depth\"?"},
        BadUsage{"--workload=resnet --disabled_pass=FoldConstnat",
                 "did you mean \"FoldConstant\"?"},
        BadUsage{"--workload=resnet --required_pass=Nope", "Nope"},
        BadUsage{"--workload=resnet --emit=json", "text-no-meta"},
        BadUsage{"--workload=resnet --emit=txt", "did you mean \"text\"?"},
        BadUsage{"--workload=resnet --timing=yes", "json"},
        BadUsage{"--workload=resnet --print_changed=dif",
                 "did you mean \"diff\"?"},
        BadUsage{"--workload=resnet --opt_levle=3",
                 "did you mean \"opt_level\"?"},
        BadUsage{"--workload=resnet --nocheck_value",
                 "did you mean \"check_values\"?"},
        BadUsage{"--workload=resnet --op_diff=maybe", "op_diff"},
        BadUsage{"--workload=resnet --rules=/nowhere/x.rules",
                 "/nowhere/x.rules"},
        BadUsage{"--list_rules --rules=/nowhere/x.rules", "/nowhere/x.rules"},
        BadUsage{"--check_rules=maybe", "check_rules"},
        BadUsage{"--flagfile=/nowhere/x.flags", "/nowhere/x.flags"},
        BadUsage{"--workload=resnet --opt_level=high", "opt_level"},
        BadUsage{"--workload=resnet stray", "stray"},
        BadUsage{"--workload=resnet --output=/nowhere/out.relay",
                 "/nowhere/out.relay"},
        BadUsage{"--workload=resnet --opt_level=3 "
                 "--passes='ConvertLayout{desired_layouts={nn.conv3:[NHWC]}}'",
                 "nn.conv3"}));

}  // namespace
}  // namespace baton
