// Runs the baton-opt binary: tests its reports about passes.

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "baton/testing/golden.h"
#include "baton/testing/run_binary.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton {
namespace {

using ::testing::AnyOf;
using ::testing::ContainsRegex;
using ::testing::ElementsAre;
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

// Two functions; constants are folded in one of them.
constexpr char kProgram[] =
    "def @main(%x: Tensor[(2), float32]) {\n"
    "  %0 = add(1f, 2f);\n"
    "  multiply(%x, %0)\n"
    "}\n"
    "def @other(%x: Tensor[(2), float32]) {\n"
    "  nn.relu(%x)\n"
    "}\n";

RunResult BatonOpt(const std::string& args) {
  return testing::RunBinary(
      "tools/baton-opt",
      absl::StrCat(File("report.relay", kProgram), " --emit=none ", args));
}

TEST(PrintTest, BeforeAndAfter) {
  const RunResult r = BatonOpt(
      "--passes=InferType,FoldConstant --print_after='Fold.*|sequential'");
  EXPECT_EQ(r.exit_code, 0) << r.err;
  constexpr char kFolded[] =
      "def @main(%x: Tensor[(2), float32] /* ty=Tensor[(2), float32] */) -> "
      "Tensor[(2), float32] {\n"
      "  multiply(%x, 3f /* ty=float32 */) /* ty=Tensor[(2), float32] */\n"
      "}\n"
      "\n"
      "def @other(%x1: Tensor[(2), float32] /* ty=Tensor[(2), float32] */) -> "
      "Tensor[(2), float32] {\n"
      "  nn.relu(%x1) /* ty=Tensor[(2), float32] */\n"
      "}\n"
      "\n";
  EXPECT_EQ(r.err,
            absl::StrCat("// IR after #3 FoldConstant, in #1 sequential\n",
                         kFolded, "// IR after #1 sequential\n", kFolded));
  EXPECT_THAT(BatonOpt("--print_before='(' ").err,
              HasSubstr("regular expression ("));
}

TEST(PrintTest, Diff) {
  const RunResult r =
      BatonOpt("--passes=InferType,FoldConstant --print_changed=diff");
  EXPECT_EQ(r.exit_code, 0) << r.err;
  EXPECT_EQ(
      r.err,
      "// IR changed by #2 InferType, in #1 sequential\n"
      "--- @main\n"
      "+++ @main\n"
      "@@ -1,4 +1,4 @@\n"
      "-def @main(%x: Tensor[(2), float32]) {\n"
      "-  %0 = add(1f, 2f);\n"
      "-  multiply(%x, %0)\n"
      "+def @main(%x: Tensor[(2), float32] /* ty=Tensor[(2), float32] */) -> "
      "Tensor[(2), float32] {\n"
      "+  %0 = add(1f /* ty=float32 */, 2f /* ty=float32 */) /* ty=float32 "
      "*/;\n"
      "+  multiply(%x, %0) /* ty=Tensor[(2), float32] */\n"
      " }\n"
      "--- @other\n"
      "+++ @other\n"
      "@@ -1,3 +1,3 @@\n"
      "-def @other(%x: Tensor[(2), float32]) {\n"
      "-  nn.relu(%x)\n"
      "+def @other(%x: Tensor[(2), float32] /* ty=Tensor[(2), float32] */) -> "
      "Tensor[(2), float32] {\n"
      "+  nn.relu(%x) /* ty=Tensor[(2), float32] */\n"
      " }\n"
      "\n"
      "// IR changed by #3 FoldConstant, in #1 sequential\n"
      "--- @main\n"
      "+++ @main\n"
      "@@ -1,4 +1,3 @@\n"
      " def @main(%x: Tensor[(2), float32] /* ty=Tensor[(2), float32] */) -> "
      "Tensor[(2), float32] {\n"
      "-  %0 = add(1f /* ty=float32 */, 2f /* ty=float32 */) /* ty=float32 "
      "*/;\n"
      "-  multiply(%x, %0) /* ty=Tensor[(2), float32] */\n"
      "+  multiply(%x, 3f /* ty=float32 */) /* ty=Tensor[(2), float32] */\n"
      " }\n"
      "\n");
}

TEST(PrintTest, Structural) {
  const RunResult r =
      BatonOpt("--passes=InferType,FoldConstant --print_changed=structural");
  EXPECT_EQ(r.exit_code, 0) << r.err;
  EXPECT_EQ(r.err,
            "// IR changed by #2 InferType, in #1 sequential\n"
            "+ 7 types\n"
            "\n"
            "// IR changed by #3 FoldConstant, in #1 sequential\n"
            "- @main %0 = add(1, 2); 3 takes its place\n"
            "\n");
}

TEST(PrintTest, Full) {
  const RunResult r = BatonOpt("--passes=FoldConstant --print_changed=full");
  EXPECT_EQ(r.exit_code, 0) << r.err;
  EXPECT_THAT(r.err, HasSubstr("// IR after #2 FoldConstant, in #1 sequential\n"
                               "def @main("));
}

TEST(RemarksTest, TextFileAndStatistics) {
  const RunResult r =
      BatonOpt("--passes=FoldConstant --remarks=all --statistics");
  EXPECT_EQ(r.exit_code, 0) << r.err;
  EXPECT_EQ(r.err,
            "passed #2 FoldConstant @main %0 = add: computed (bytes 4)\n"
            "       4 FoldConstant.bytes  Bytes of the constants that "
            "replaced calls.\n"
            "       1 FoldConstant.folded  Calls replaced by constants.\n");
  const std::string file = testing::TempDir() + "/remarks.json";
  const RunResult json =
      BatonOpt("--passes=FoldConstant --remarks_file=" + file);
  EXPECT_EQ(json.exit_code, 0) << json.err;
  EXPECT_THAT(json.err, IsEmpty());
  const std::string text = ReadFileOrFail(file);
  EXPECT_THAT(text, HasSubstr("{\"kind\":\"passed\",\"execution\":2,\"pass\":"
                              "\"FoldConstant\",\"function\":\"main\","
                              "\"node\":\"%0 = add\","));
  EXPECT_THAT(text, EndsWith(",\"reason\":\"computed\",\"args\":{\"bytes\":"
                             "\"4\"}}\n"));
  EXPECT_THAT(BatonOpt("--remarks=mised").err,
              HasSubstr("did you mean \"missed\"?"));
}

TEST(DumpTest, OneFileForEachExecution) {
  const std::string folder = testing::TempDir() + "/dump";
  std::filesystem::remove_all(folder);
  const RunResult r = BatonOpt(
      absl::StrCat("--passes=InferType,FoldConstant --dump_dir=", folder));
  EXPECT_EQ(r.exit_code, 0) << r.err;
  EXPECT_THAT(r.err, IsEmpty());
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  EXPECT_THAT(names,
              ElementsAre("0000.input.relay", "0001.sequential.changed.relay",
                          "0002.InferType.changed.relay",
                          "0003.FoldConstant.changed.relay",
                          "0004.InferType.changed.relay"));
  // The dump is input again.
  EXPECT_EQ(testing::RunBinary("tools/baton-opt",
                               folder + "/0003.FoldConstant.changed.relay "
                                        "--passes=InferType")
                .out,
            ReadFileOrFail(folder + "/0001.sequential.changed.relay"));
}

TEST(DumpTest, AFolderForEachModule) {
  const std::string folder = testing::TempDir() + "/dump_split";
  std::filesystem::remove_all(folder);
  const RunResult r = testing::RunBinary(
      "tools/baton-opt",
      absl::StrCat(File("two.relay", "tanh(1f)\n// -----\nexp(1f)\n"),
                   " --split_input_file --emit=none --dump_dir=", folder,
                   " --passes=InferType"));
  EXPECT_EQ(r.exit_code, 0) << r.err;
  EXPECT_THAT(ReadFileOrFail(folder + "/1/0002.InferType.changed.relay"),
              HasSubstr("tanh(1f"));
  EXPECT_THAT(ReadFileOrFail(folder + "/2/0002.InferType.changed.relay"),
              HasSubstr("exp(1f"));
}

TEST(ReportTest, IsJsonOfTimesAndOperators) {
  const std::string path = testing::TempDir() + "/report.json";
  const RunResult r = BatonOpt(
      absl::StrCat("--passes=FoldConstant --emit=none --report=", path));
  EXPECT_EQ(r.exit_code, 0) << r.err;
  EXPECT_EQ(r.err, "");
  const std::string report = ReadFileOrFail(path);
  EXPECT_THAT(report, HasSubstr("{\"version\":1,\"passes\":[{\"name\":"
                                "\"sequential\",\"number\":1,\"depth\":0,"));
  EXPECT_THAT(
      report,
      EndsWith(
          "],\"op_diff\":[{\"pass\":\"FoldConstant\",\"number\":2,\"depth\":1,"
          "\"changes\":{\"add\":-1}},{\"pass\":\"sequential\",\"number\":1,"
          "\"depth\":0,\"changes\":{\"add\":-1}}]}\n"));
}

TEST(ReportTest, IsThereIfAPassFails) {
  const std::string path = testing::TempDir() + "/failed.json";
  const RunResult r = BatonOpt(
      absl::StrCat("--passes='FoldConstant,FixedPoint{limit=1}(ToANormalForm)' "
                   "--emit=none --timing=json --op_diff --report=",
                   path));
  EXPECT_EQ(r.exit_code, 1) << r.err;
  EXPECT_THAT(r.err, HasSubstr("1 FoldConstant add -1\n"));
  EXPECT_THAT(r.err, HasSubstr("{\"version\":1,\"passes\":[{\"name\":"));
  const std::string report = ReadFileOrFail(path);
  EXPECT_THAT(report, HasSubstr("\"name\":\"FoldConstant\""));
  EXPECT_THAT(report, HasSubstr("\"op_diff\":[{\"pass\":\"FoldConstant\""));
}

// The passes run once to be measured, and once to be checked.
TEST(TimingTest, ValuesAreCheckedApartFromThePasses) {
  const RunResult r = BatonOpt(
      "--passes=FoldConstant,PrintIR{header=here} --check_values "
      "--timing=text");
  EXPECT_EQ(r.exit_code, 0) << r.err;
  EXPECT_THAT(r.err, ContainsRegex("\ninstrument --check_values: "
                                   "[0-9]+us \\(1 call\\)\n"));
  EXPECT_EQ(r.err.find("PrintIR(here)"), r.err.rfind("PrintIR(here)"));
  const RunResult recorded = BatonOpt(absl::StrCat(
      "--passes=FoldConstant --check_values --timing=text "
      "--record=",
      testing::TempDir(), "/checked.history --triage=", testing::TempDir(),
      "/checked"));
  EXPECT_EQ(recorded.exit_code, 0) << recorded.err;
  EXPECT_THAT(recorded.err, HasSubstr("us (1 call)\n"));
  const RunResult trace =
      BatonOpt("--passes=FoldConstant --check_values --timing=trace");
  EXPECT_THAT(trace.err, HasSubstr("\"--check_values apart\""));
  EXPECT_THAT(trace.err, Not(HasSubstr("\"--check_values RunAfterPass\"")));
}

TEST(MeasureTest, MemoryAndFunctions) {
  const RunResult sums = BatonOpt(
      "--passes=FoldConstant --timing=sums --measure=memory,functions");
  EXPECT_EQ(sums.exit_code, 0) << sums.err;
  EXPECT_THAT(sums.err, HasSubstr("garbage  tensor bytes  peak MB  pass\n"));
  EXPECT_THAT(sums.err, HasSubstr("  @main\n"));
  EXPECT_THAT(sums.err, HasSubstr("  thread 0\n"));
  // The constant that took the place of the call.
  const RunResult json =
      BatonOpt("--passes=FoldConstant --timing=json --measure=memory");
  EXPECT_THAT(json.err, HasSubstr("\"memory\":{\"nodes\":"));
  EXPECT_THAT(json.err, HasSubstr("\"tensor_bytes\":4,"));
  const RunResult text =
      BatonOpt("--passes=FoldConstant --timing=text --measure=functions");
  EXPECT_THAT(text.err, HasSubstr("\t\t@other: "));
}

TEST(MeasureTest, InstructionsOrThatThereAreNone) {
  const RunResult r =
      BatonOpt("--passes=FoldConstant --timing=text --measure=instructions");
  EXPECT_EQ(r.exit_code, 0) << r.err;
  EXPECT_THAT(r.err, AnyOf(HasSubstr(" instructions\n"),
                           HasSubstr("Warning: perf_event_open")));
}

TEST(MeasureTest, Mistakes) {
  EXPECT_THAT(BatonOpt("--timing=text --measure=memroy").err,
              HasSubstr("did you mean \"memory\""));
  EXPECT_THAT(BatonOpt("--measure=memory").err,
              HasSubstr("--measure: needs --timing or --report"));
}

TEST(TraceTest, OfARunThatFails) {
  const std::string path = testing::TempDir() + "/run.trace";
  const std::string passes =
      "--passes='FoldConstant,FixedPoint{limit=1}(ToANormalForm)' "
      "--timing=trace ";
  const RunResult r =
      BatonOpt(passes + "--verify_each --measure=memory --report=" + path);
  EXPECT_EQ(r.exit_code, 1) << r.err;
  EXPECT_THAT(r.err, Not(HasSubstr("traceEvents")));
  const std::string trace = ReadFileOrFail(path);
  EXPECT_THAT(trace, StartsWith("{\"displayTimeUnit\":\"ns\","));
  for (const char* part :
       {R"("name":"FoldConstant","cat":"pass")",
        R"("name":"@other","cat":"function")",
        R"("name":"--verify_each RunAfterPass","cat":"instrument")",
        R"("ph":"C","pid":1,"name":"nodes")", R"("failed":1,"nodes made")"}) {
    EXPECT_THAT(trace, HasSubstr(part));
  }
  // Without a file it is a report like others.
  EXPECT_THAT(BatonOpt(passes).err, HasSubstr("{\"displayTimeUnit\""));
  const std::string two =
      File("two.relay", absl::StrCat(kProgram, "// -----\n", kProgram));
  EXPECT_THAT(testing::RunBinary("tools/baton-opt",
                                 two + " --split_input_file --timing=trace")
                  .err,
              HasSubstr("several modules"));
}

TEST(BisectTest, LimitsWhatMayChangeTheProgram) {
  const std::string passes = "--passes=FoldConstant,FuseOps --op_diff ";
  EXPECT_EQ(BatonOpt(passes + "--bisect_limit=0").err,
            "bisect: limit 0: 0 executed; 2 refused\n"
            "--op_diff: no pass changed the number of calls of an operator\n");
  EXPECT_EQ(BatonOpt(passes + "--bisect_limit=1").err,
            "1 FoldConstant add -1\n"
            "0 sequential add -1\n"
            "bisect: limit 1: 1 executed, last #2 FoldConstant; 1 refused\n");
  EXPECT_THAT(BatonOpt(passes + "--bisect_limit 9").err,
              HasSubstr("limit 9: 2 executed, last #5 FuseOps; 0 refused"));
}

TEST(ThreadsTest, OutputDoesNotDependOnThem) {
  std::string program;
  for (int i = 0; i < 200; ++i) {
    absl::StrAppend(&program, "def @f", i, "(%x: Tensor[(2), float32]) {\n",
                    "  add(%x, add(1f, ", i, "f))\n}\n");
  }
  const std::string path = File("many.relay", program);
  const auto run = [&](const std::string& threads) {
    return testing::RunBinary(
        "tools/baton-opt",
        absl::StrCat(path, " --passes=FoldConstant,FuseOps --op_diff ",
                     "--print_changed=diff --print_after=FuseOps --remarks=all "
                     "--statistics ",
                     threads));
  };
  const RunResult one = run("");
  EXPECT_EQ(one.exit_code, 0) << one.err;
  for (const char* threads :
       {"--threads=2", "--threads=16", "--threads=0", "--config=threads=4"}) {
    const RunResult many = run(threads);
    EXPECT_EQ(one.out, many.out) << threads;
    EXPECT_EQ(one.err, many.err) << threads;
  }
}

TEST(ConfigTest, ValuesAreChecked) {
  EXPECT_EQ(BatonOpt("--passes=FoldConstant --config=threads=2").exit_code, 0);
  const RunResult r = BatonOpt("--config=thraeds=2");
  EXPECT_EQ(r.exit_code, 1);
  EXPECT_THAT(r.err, HasSubstr("did you mean \"threads\""));
  EXPECT_THAT(BatonOpt("--config=threads=many").err, HasSubstr("threads"));
  EXPECT_THAT(BatonOpt("--config=threads").err, HasSubstr("--config:1:8"));
}

TEST(ProgressTest, OnATerminalOnly) {
  const std::string args =
      " --bind_params --check_values --emit=none --opt_level=3 "
      "--passes=InferType,SimplifyInference,FoldConstant";
  const std::optional<RunResult> r = testing::RunBinaryOnTerminal(
      "tools/baton-opt", "--workload='resnet{num_layers=50}'" + args);
  if (!r.has_value()) GTEST_SKIP() << "there are no terminals";
  EXPECT_EQ(r->exit_code, 0);
  EXPECT_THAT(r->err, HasSubstr("\r[2/3] SimplifyInference  "));
  EXPECT_THAT(r->err, HasSubstr("\r\x1b[K--check_values: compared "));
  EXPECT_THAT(testing::RunBinary("tools/baton-opt",
                                 "--workload='resnet{num_layers=34}'" + args)
                  .err,
              StartsWith("--check_values: compared "));
  // Fast runs show no progress.
  EXPECT_EQ(testing::RunBinaryOnTerminal("tools/baton-opt",
                                         "--workload=resnet --emit=none")
                ->err,
            "");
}

TEST(VersionTest, NamesTheProgram) {
  const RunResult r = BatonOpt("--version");
  EXPECT_EQ(r.exit_code, 0);
  EXPECT_THAT(r.out, ContainsRegex("^baton-opt \\(Baton [0-9.]+, commit "));
}

// A name or a pattern that nothing registered has is an error before the run.
TEST(SilenceTest, UnknownNamesAreErrors) {
  const std::pair<const char*, const char*> cases[] = {
      {"--print_after=FusOps", "did you mean \"FuseOps\"?"},
      {"--print_before='Fuse.*Ops.+'", "--print_before: no pass has a name"},
      {"--remarks=all:FoldConstnt", "--remarks: no pass has a name"},
      {"--disabled_pass=FuseOp", "did you mean \"FuseOps\""},
      {"--print_after=.* --print_op=nn.rely", "did you mean \"nn.relu\""},
      {"--print_executions=0", "expected numbers from 1, found `0`"}};
  for (const auto& [flags, message] : cases) {
    const RunResult r = BatonOpt(absl::StrCat("--passes=FoldConstant ", flags));
    EXPECT_EQ(r.exit_code, 1) << flags;
    EXPECT_THAT(r.err, HasSubstr(message)) << flags;
    EXPECT_THAT(r.err, Not(HasSubstr("IR after"))) << flags;
  }
}

// LowerToTir lowers primitive functions only.
TEST(SilenceTest, NothingIsLowered) {
  EXPECT_THAT(BatonOpt("--passes=LowerToTir").err,
              HasSubstr("LowerToTir: the module has no primitive functions, so "
                        "nothing is lowered; insert FuseOps before it\n"));
  EXPECT_THAT(BatonOpt("--passes=FuseOps,LowerToTir").err, IsEmpty());
}

// A name that this run does not have is a line after it.
TEST(SilenceTest, UnusedNamesAreLines) {
  const std::pair<std::string, std::string> cases[] = {
      {"--print_after=FuseOps",
       "--print_after=FuseOps: this run has no pass that matches\n"},
      {"--remarks=all:FuseOps",
       "--remarks=FuseOps: this run has no pass that matches\n"},
      {"--disabled_pass=FuseOps",
       "--disabled_pass=FuseOps: this run has no such pass\n"},
      {"--required_pass=FuseOps",
       "--required_pass=FuseOps: this run has no such pass\n"},
      {"--config=relay.FuseOps.max_depth=8",
       "--config=relay.FuseOps.max_depth: no pass of this run reads it\n"},
      {"--disabled_pass=InferType",
       "--disabled_pass=InferType: it runs all the same where another pass "
       "calls or requires it\n"},
      {"--disabled_pass=FoldConstant#2",
       "--disabled_pass=FoldConstant#2: this run has 1 execution of "
       "FoldConstant\n"},
      {"--skip_execution=8",
       "--skip_execution=8: the last execution of this run is #3\n"},
      {"--stop_after=4",
       "--stop_after=4: the last execution of this run is "
       "#3\n"},
      {"--print_executions=9",
       "--print_executions=9: the last execution of this run is #3\n"},
      {"--print_after=FoldConstant --print_function=nowhere",
       "--print_function=nowhere: this run has no such function\n"},
      {"--print_after=FoldConstant --print_op=nn.dense",
       "--print_op=nn.dense: no function that would be printed calls it\n"},
      {"--print_after=FoldConstant --print_executions=1",
       "--print_executions: nothing is to be printed at these\n"},
      {"--print_changed=diff --disabled_pass=FoldConstant",
       "not run: FoldConstant (--disabled_pass)\n"
       "--print_changed: no pass changed the module\n"},
      {"--op_diff --stop_after=0",
       "--op_diff: no pass changed the number of calls of an operator\n"},
      {"--why_not=product_of_sum", "--why_not: this run has no SimplifyExpr\n"},
      {"--insert_required", "--insert_required: no pass is missing\n"},
      {absl::StrCat("--artifacts=", testing::TempDir(), "/no_artifacts"),
       "--artifacts: no code generator made any\n"},
      {"--statistics --stop_after=0", "--statistics: no pass counted\n"},
      {"--remarks=analysis", "--remarks=analysis: no pass has such remarks\n"}};
  for (const auto& [flags, line] : cases) {
    const RunResult r = BatonOpt(absl::StrCat("--passes=FoldConstant ", flags));
    EXPECT_EQ(r.exit_code, 0) << flags;
    EXPECT_EQ(r.err, line) << flags;
  }
  // The passes of a sequence without a name in the text.
  EXPECT_EQ(BatonOpt("--passes=FoldScaleAxis --opt_level=3 "
                     "--disabled_pass=ForwardFoldScaleAxis")
                .err,
            "");
}

TEST(SilenceTest, FlagsThatCannotActAreErrors) {
  for (const char* flags :
       {"--timing_threshold=3", "--norecord_origins", "--dump_changed_only",
        "--onnx_opset=18", "--triage_memory_gb=1", "--triage_seconds=3",
        "--seed=3", "--inputs=x.npz", "--start_after=3", "--print_op=nn.relu",
        "--bind_params"}) {
    const RunResult r = BatonOpt(flags);
    EXPECT_EQ(r.exit_code, 1) << flags;
    EXPECT_THAT(r.err, HasSubstr(": needs --")) << flags;
  }
  EXPECT_THAT(BatonOpt("--output=x").err,
              HasSubstr("--output: nothing is written with --emit=none"));
  EXPECT_THAT(BatonOpt("--verify_diagnostics --op_diff").err,
              HasSubstr("--op_diff: has no effect beside"));
  // One that finds nothing to do is none.
  EXPECT_EQ(BatonOpt("--timing_threshold=0").exit_code, 0);
}

TEST(SilenceTest, ChecksSayHowMuchTheyChecked) {
  EXPECT_EQ(BatonOpt("--passes=FoldConstant --verify_each --verify_contracts "
                     "--verify_roundtrip --check_values")
                .err,
            "--verify_each: checked 4 functions\n"
            "--verify_contracts: checked 2 passes\n"
            "--verify_roundtrip: checked 2 modules\n"
            "--check_values: compared 2 results\n");
  EXPECT_EQ(BatonOpt("--passes=FuseOps --stop_after=0 --verify_roundtrip "
                     "--check_values")
                .err,
            "--verify_roundtrip: checked nothing: no pass changed the module\n"
            "--check_values: compared nothing: no pass changed what it "
            "evaluates\n");
}

TEST(PrintTest, Filters) {
  const RunResult function = BatonOpt(
      "--passes=InferType,FoldConstant --print_changed=diff "
      "--print_function=other");
  EXPECT_THAT(function.err, HasSubstr("--- @other\n"));
  EXPECT_THAT(function.err, Not(HasSubstr("@main")));
  const RunResult op = BatonOpt(
      "--passes=InferType,FoldConstant --print_executions=3 "
      "--print_op=multiply");
  EXPECT_THAT(op.err, StartsWith("// IR after #3 FoldConstant"));
  EXPECT_THAT(op.err, HasSubstr("def @main("));
  EXPECT_THAT(op.err, Not(HasSubstr("@other")));
}

TEST(DumpTest, AFolderOfAnotherRunIsRefused) {
  const std::string folder = testing::TempDir() + "/dump_twice";
  std::filesystem::remove_all(folder);
  const std::string args = absl::StrCat(
      "--passes=FoldConstant,FuseOps --dump_changed_only --dump_dir=", folder);
  EXPECT_EQ(BatonOpt(args).exit_code, 0);
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    names.push_back(entry.path().filename().string());
  }
  EXPECT_THAT(names, ::testing::Each(
                         AnyOf(HasSubstr(".changed."), HasSubstr(".input."))));
  const RunResult again = BatonOpt(args);
  EXPECT_EQ(again.exit_code, 1);
  EXPECT_THAT(again.err, HasSubstr("has dumps of another run"));
}

// The examples in the help are accepted.
TEST(HelpTest, ExamplesOfPipelines) {
  EXPECT_EQ(BatonOpt("--passes='InferType,FixedPoint{limit=5}(SimplifyExpr,"
                     "FoldConstant)'")
                .exit_code,
            0);
  const RunResult help = testing::RunBinary("tools/baton-opt", "--help");
  EXPECT_THAT(help.out, HasSubstr("'InferType,FixedPoint{limit=5}(SimplifyExpr,"
                                  "FoldConstant)'"));
}

TEST(RewritesTest, LimitsCountsAndLeavesOut) {
  const auto rewrites = [](const std::string& flags) {
    return BatonOpt(absl::StrCat("--op_diff ", flags)).err;
  };
  EXPECT_EQ(rewrites("--passes=FoldConstant --rewrites=FoldConstant"),
            "--rewrites=FoldConstant: 1 of 1 rewrite done\n"
            "1 FoldConstant add -1\n0 sequential add -1\n");
  EXPECT_EQ(rewrites("--passes=FoldConstant --rewrites=FoldConstant:0"),
            "--rewrites=FoldConstant:0: 0 of 1 rewrite done\n"
            "--op_diff: no pass changed the number of calls of an operator\n");
  // A function in each function.
  EXPECT_EQ(rewrites("--passes=FoldConstant,FuseOps --rewrites=all"),
            "--rewrites: #2 FoldConstant: 1 rewrite\n"
            "--rewrites: #5 FuseOps: 2 rewrites\n"
            "1 FoldConstant add -1\n0 sequential add -1\n");
  EXPECT_EQ(rewrites("--passes=FastMath --rewrites=FastMath:0-3"),
            "--rewrites=FastMath:0-3: 0 of 0 rewrites done\n"
            "--op_diff: no pass changed the number of calls of an operator\n");
  // A reproducer has it.
  EXPECT_EQ(BatonOpt("--passes=FuseOps --rewrites=FuseOp:1").exit_code, 1);
  EXPECT_THAT(BatonOpt("--passes=FuseOps --rewrites=FuseOp:1").err,
              HasSubstr("--rewrites: unknown pass FuseOp; did you mean"));
  EXPECT_THAT(BatonOpt("--passes=FuseOps --rewrites=FuseOps:3-1").err,
              HasSubstr("--rewrites: FuseOps:3-1: expected a range that does "
                        "not fall, found `3-1`"));
}

TEST(RewritesTest, OnlySomeOperatorsAreFused) {
  const auto primitives = [](const std::string& range) {
    const std::string out =
        testing::RunBinary(
            "tools/baton-opt",
            absl::StrCat(
                File("report.relay", kProgram),
                " --passes=FuseOps --threads=2 --rewrites=FuseOps:", range))
            .out;
    size_t count = 0;
    for (size_t at = out.find("Primitive=1"); at != std::string::npos;
         at = out.find("Primitive=1", at + 1)) {
      ++count;
    }
    return count;
  };
  EXPECT_EQ(primitives("0"), 0);
  EXPECT_EQ(primitives("0-1"), 1);
  EXPECT_EQ(primitives("2"), 1);
  EXPECT_EQ(primitives("0-"), 2);
}

// Rules of a pass are applied one by one.
TEST(RewritesTest, RulesAreRewrites) {
  const std::string file =
      File("rules.relay",
           "def @main(%x: Tensor[(2), float32]) {\n"
           "  add(multiply(%x, 1f), reshape(reshape(%x, newshape=[1, 2]), "
           "newshape=[2]))\n}\n");
  const auto multiplies = [&](const std::string& range) {
    return testing::RunBinary(
        "tools/baton-opt",
        absl::StrCat(file,
                     " --passes=SimplifyExpr --rewrites=SimplifyExpr:", range));
  };
  const RunResult none = multiplies("0");
  EXPECT_THAT(none.out, HasSubstr("multiply("));
  EXPECT_THAT(none.out, HasSubstr("newshape=[1, 2]"));
  const RunResult all = multiplies("0-");
  EXPECT_THAT(all.out, Not(HasSubstr("multiply(")));
  EXPECT_THAT(all.out, Not(HasSubstr("newshape=[1, 2]")));
  const RunResult one = multiplies("1");
  EXPECT_NE(one.out, none.out);
  EXPECT_NE(one.out, all.out);
}

TEST(WhyNotTest, RulesOfOtherPasses) {
  const std::string file = File(
      "why.relay", "def @main(%x: Tensor[(2), float32]) { multiply(%x, 3f) }");
  const RunResult r = testing::RunBinary(
      "tools/baton-opt", absl::StrCat(file,
                                      " --emit=none --passes=SimplifyExpr "
                                      "--why_not=product_of_sum"));
  EXPECT_EQ(r.exit_code, 0);
  EXPECT_THAT(r.err, HasSubstr("note: rule product_of_sum: matched "));
  EXPECT_THAT(BatonOpt("--why_not=product_of_sun").err,
              HasSubstr("--why_not: there is no rule @product_of_sun; did you "
                        "mean \"product_of_sum\""));
  EXPECT_THAT(BatonOpt("--list_rules").out,
              HasSubstr("// Rules of the pass SimplifyExpr.\n"));
}

TEST(ListTest, DescribesPasses) {
  const RunResult r = BatonOpt("--list_passes=ManifestLifetimes,FuseOps");
  EXPECT_EQ(r.exit_code, 0);
  EXPECT_THAT(r.out, StartsWith("ManifestLifetimes\n"));
  EXPECT_THAT(r.out, HasSubstr("\n  requires: a_normal_form\n"));
  EXPECT_THAT(r.out, HasSubstr("\n  option fuse_opt_level=-1 (int)  "));
  EXPECT_THAT(r.out, HasSubstr("\n  statistic FuseOps.groups  "));
  EXPECT_THAT(r.out, HasSubstr("\n  remark missed  why a call was not fused"));
  EXPECT_THAT(BatonOpt("--list_passes=FuseOp").err,
              HasSubstr("did you mean \"FuseOps\""));
  EXPECT_THAT(BatonOpt("--list_properties").out,
              HasSubstr("\n  required by: ManifestLifetimes\n"));
}

}  // namespace
}  // namespace baton
