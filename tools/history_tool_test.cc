// Runs baton-opt --record and baton-history.

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "baton/testing/run_binary.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "re2/re2.h"

namespace baton {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::RunResult;

constexpr char kProgram[] =
    "#[version = \"0.0.5\"]\n"
    "def @main(%x: Tensor[(2), float32]) {\n"
    "  %0 = add(%x, add(1f, 2f));\n"
    "  nn.relu(%0)\n"
    "}\n";

std::string Path(const std::string& name) {
  return absl::StrCat(testing::TempDir(), "/", name);
}

// Records a run, and says where.
std::string Record(const std::string& name, const std::string& args,
                   int exit_code = 0, const char* text = kProgram) {
  const std::string program = Path(name + ".relay");
  std::ofstream(program) << text;
  const std::string history = Path(name + ".history");
  std::filesystem::remove(history);
  const RunResult r = testing::RunBinary(
      "tools/faulty-opt",
      absl::StrCat(program, " --emit=none --record=", history, " ", args));
  EXPECT_EQ(r.exit_code, exit_code) << r.err;
  return history;
}

std::string Content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

RunResult History(const std::string& args) {
  return testing::RunBinary("tools/baton-history", args);
}

TEST(HistoryToolTest, Html) {
  const std::string file =
      Record("page", "--passes=InferType,FoldConstant,FuseOps");
  const std::string page = Path("page.html");
  std::filesystem::remove(page);
  const RunResult r = History(file + " html --output=" + page);
  EXPECT_EQ(r.exit_code, 0) << r.err;
  EXPECT_EQ(r.out, "");
  std::ifstream in(page);
  const std::string html((std::istreambuf_iterator<char>(in)),
                         std::istreambuf_iterator<char>());
  EXPECT_THAT(html, HasSubstr("<!DOCTYPE html>"));
  EXPECT_THAT(html, HasSubstr("\"nn.relu\""));
  EXPECT_EQ(History(file + " html").out, html);
  const RunResult large = History(file + " html --max_nodes=3");
  EXPECT_EQ(large.exit_code, 1);
  EXPECT_EQ(large.out, "");
  EXPECT_THAT(large.err, HasSubstr("at most 3 are taken; `log`, `show`"));
  const RunResult no_profile = History(file + " html --profile=" + file);
  EXPECT_EQ(no_profile.exit_code, 1);
  EXPECT_THAT(no_profile.err, HasSubstr("is no profile that baton-run"));
  const RunResult no_library = History(file + " html --library=" + file);
  EXPECT_EQ(no_library.exit_code, 1);
  EXPECT_THAT(no_library.err, HasSubstr("is no NAME.report.json"));
  EXPECT_THAT(History(file + " trace").out,
              HasSubstr("\"name\":\"FuseOps\",\"cat\":\"pass\""));
  // A history that is damaged leaves the page as it was.
  const std::string damaged = Path("damaged.history");
  std::filesystem::copy_file(file, damaged,
                             std::filesystem::copy_options::overwrite_existing);
  std::filesystem::resize_file(damaged, 500);
  const RunResult refused = History(damaged + " html --output=" + page);
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.err, HasSubstr("damaged.history: "));
  EXPECT_EQ(std::filesystem::file_size(page), html.size());
  const std::string nowhere = Path("no_folder/page.html");
  const RunResult unwritten = History(file + " html --output=" + nowhere);
  EXPECT_EQ(unwritten.exit_code, 1);
  EXPECT_THAT(unwritten.err, HasSubstr(nowhere));
}

TEST(HistoryToolTest, Loops) {
  const std::string file = Path("loops.history");
  const RunResult recorded = testing::RunBinary(
      "tools/faulty-opt",
      "tools/testdata/dense_softmax.tir --emit=none --check_values "
      "--passes=tir.LowerInitBlock,tir.ConvertBlocksToOpaque,"
      "tir.LowerOpaqueBlock,tir.Simplify --record=" +
          file);
  EXPECT_EQ(recorded.exit_code, 0) << recorded.err;
  EXPECT_THAT(History(file + " log").out,
              HasSubstr("  tir.LowerOpaqueBlock @main\n"));
  // The text of a state can be read again.
  const RunResult show = History(file + " show 2");
  EXPECT_THAT(show.out, HasSubstr("                if v_k0 == 0:\n"));
  const std::string shown = Path("shown.tir");
  std::ofstream(shown) << show.out;
  const RunResult again = testing::RunBinary("tools/faulty-opt", shown);
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(again.out, show.out);
  // A function of loops is compared by the lines of its text.
  const RunResult diff = History(file + " diff 0 2");
  EXPECT_EQ(diff.exit_code, 0) << diff.err;
  EXPECT_THAT(diff.out, HasSubstr("- @main with T.init(): under with T.block("
                                  "\"T_dense\"):\n"));
  EXPECT_THAT(diff.out, HasSubstr("+ @main if v_k0 == 0: under with T.block("
                                  "\"T_dense\"):\n"));
  EXPECT_THAT(diff.out, Not(HasSubstr("T_bias_add[v_ax0, v_ax1] = ")));
  EXPECT_THAT(History(file + " diff 0 2 --format=json").out,
              HasSubstr("\"lines\":[{\"kind\":\"dropped\",\"before\":"
                        "\"with T.init():\","));
  EXPECT_EQ(History(file + " find --text='if k0 == 0'").out,
            "#3 tir.ConvertBlocksToOpaque\n");
  EXPECT_THAT(History(file + " blame 2").out, HasSubstr("dense_softmax.tir:"));
  const std::string html = History(file + " html").out;
  EXPECT_THAT(html, HasSubstr("<!DOCTYPE html>"));
  EXPECT_THAT(html, HasSubstr("\"block T_softmax_exp\""));
  EXPECT_THAT(html, HasSubstr("+ if v_k0 == 0: under with T.block("));
}

// Remarks about loops, and a run that ends where values are wrong.
TEST(HistoryToolTest, LoopsThatBecameWrong) {
  const std::string file = Path("wrong_loops.history");
  const RunResult recorded = testing::RunBinary(
      "tools/faulty-opt",
      "tools/testdata/dense_softmax.tir --emit=none --check_values "
      "--passes=tir.Simplify,tir.DropRemainder,tir.LowerInitBlock --record=" +
          file);
  EXPECT_EQ(recorded.exit_code, 1);
  const std::string log = History(file + " log").out;
  EXPECT_THAT(log, HasSubstr("tir.DropRemainder @main"));
  EXPECT_THAT(log, Not(HasSubstr("tir.LowerInitBlock @main")));
  EXPECT_THAT(
      History(file + " why 3").out,
      ContainsRegex("passed #3 tir.DropRemainder @main .*: it has whole "
                    "vectors only"));
  EXPECT_THAT(History(file + " diff 2 3").out,
              HasSubstr("~ @main for ax0, ax1, ax2, k0 in T.grid(4, 5, 1, 9): "
                        "-> for ax0, ax1, ax2, k0 in T.grid(4, 4, 1, 8):\n"));
  EXPECT_THAT(History(file + " html").out,
              HasSubstr("it has whole vectors only"));
}

TEST(HistoryToolTest, WhatPassesDidToTheResultsIsInTheHistory) {
  const std::string program = Path("norm.relay");
  std::ofstream(program)
      << "#[version = \"0.0.5\"]\n"
         "def @main(%x: Tensor[(1, 3), float32], %g: Tensor[(3), float32], "
         "%b: Tensor[(3), float32], %m: Tensor[(3), float32], "
         "%v: Tensor[(3), float32]) {\n"
         "  nn.batch_norm(%x, %g, %b, %m, %v).0\n"
         "}\n";
  const std::string history = Path("norm.history");
  // Beside --timing, values are checked in a second run.
  for (const char* timing : {"", " --timing=text --measure=memory"}) {
    const RunResult r = testing::RunBinary(
        "tools/faulty-opt",
        absl::StrCat(program, " --emit=none --check_values --record=", history,
                     " --passes=InferType,SimplifyInference", timing));
    EXPECT_EQ(r.exit_code, 0) << r.err;
    EXPECT_THAT(
        History(history + " why 1").out,
        HasSubstr("SimplifyInference: the results differ from those before "
                  "(error "));
    EXPECT_THAT(History(history + " html").out, HasSubstr("\"error_in_all\""));
    EXPECT_THAT(History(history + " log").out, Not(HasSubstr("?")));
  }
}

// As above with --timing, although the measured run continues.
TEST(HistoryToolTest, AHistoryEndsWhereValuesAreWrong) {
  const auto log = [](const std::string& args) {
    const std::string file = Record(
        "wrong", "--passes=InferType,DropRelu,FuseOps --check_values" + args, 1,
        "def @main(%x: Tensor[(8), float32]) { nn.relu(%x) }\n");
    std::string text = History(file + " log").out;
    // Without times.
    RE2::GlobalReplace(&text, R"((?m)^( *[0-9]+) +[0-9]+ +[0-9]+)", "\\1");
    return text;
  };
  const std::string plain = log("");
  EXPECT_THAT(plain, HasSubstr("DropRelu @main"));
  EXPECT_THAT(plain, Not(HasSubstr("FuseOps @main")));
  EXPECT_EQ(log(" --timing=text"), plain);
}

TEST(HistoryToolTest, MemoryIsInTheHistoryIfItWasMeasured) {
  const std::string passes = "--passes=InferType,FoldConstant,FuseOps";
  const std::string plain = Record("plain", passes);
  EXPECT_THAT(History(plain + " log").out, Not(HasSubstr("garbage")));
  const std::string file = Record("memory", passes + " --measure=memory");
  const std::string log = History(file + " log").out;
  EXPECT_THAT(log, HasSubstr("in tensors  garbage  peak MB\n"));
  EXPECT_THAT(log, Not(HasSubstr("?")));
  EXPECT_THAT(History(file + " trace").out, HasSubstr("\"nodes made\":"));
  EXPECT_THAT(History(file + " html").out, HasSubstr("\"garbage\":"));
  // Also of a run that failed.
  const std::string failed = Record(
      "failed_memory", "--passes=InferType,FailIfTyped --measure=memory", 1);
  EXPECT_THAT(History(failed + " log").out, Not(HasSubstr("?")));
  const RunResult functions = testing::RunBinary(
      "tools/faulty-opt", absl::StrCat(Path("memory.relay"), " --record=", file,
                                       " --measure=functions ", passes));
  EXPECT_EQ(functions.exit_code, 1);
  EXPECT_THAT(functions.err, HasSubstr("--measure: needs --timing"));
}

TEST(HistoryToolTest, LogShowDiff) {
  const std::string file =
      Record("run", "--passes=InferType,FoldConstant,FuseOps");
  const RunResult log = History(file + " log");
  EXPECT_EQ(log.exit_code, 0) << log.err;
  EXPECT_THAT(log.out, HasSubstr("Sequential(InferType,FoldConstant,FuseOps)"));
  EXPECT_THAT(log.out, HasSubstr("  FoldConstant @main\n"));
  const RunResult show = History(file + " show 3");
  EXPECT_EQ(show.exit_code, 0) << show.err;
  EXPECT_THAT(show.out, HasSubstr("add(%x, 3f"));
  EXPECT_EQ(show.err, "");
  // The shown module can be parsed again.
  const std::string shown = Path("shown.relay");
  std::ofstream(shown) << show.out;
  const RunResult again = testing::RunBinary("tools/faulty-opt", shown);
  EXPECT_EQ(again.exit_code, 0) << again.err;
  const RunResult diff = History(file + " diff 2 3");
  EXPECT_EQ(diff.exit_code, 0) << diff.err;
  EXPECT_EQ(diff.out, "- @main %0 = add(1, 2); 3 takes its place\n");
  EXPECT_THAT(History(file + " why 3").out,
              HasSubstr("passed #3 FoldConstant @main %0 = add: "));
  EXPECT_EQ(History(file + " why 3 --op=nn.relu").out, "");
  EXPECT_EQ(History(file + " why 3 --node=%0").out,
            History(file + " why 3").out);
  EXPECT_THAT(History(file + " why 3 --node=0").err,
              HasSubstr("--node: 0 is no number such as %12"));
  EXPECT_THAT(History(file + " blame 1 --op=nn.relu").out,
              HasSubstr("/run.relay:4:3: nn.relu\n"));
  EXPECT_THAT(History(file + " blame 1 --op=nn.relu --format=json").out,
              HasSubstr("\"execution\":2,\"pass\":\"InferType\""));
  EXPECT_EQ(History(file + " find --text=3f").out, "#3 FoldConstant\n");
  EXPECT_EQ(History(file + " find").exit_code, 1);
  EXPECT_THAT(History(file + " diff 2 3 --format=json").out,
              HasSubstr("\"changes\":["));
}

TEST(HistoryToolTest, FailedRunsAreRecorded) {
  const std::string file =
      Record("failed", "--passes=InferType,FoldConstant,FailIfTyped", 1);
  const RunResult log = History(file + " log");
  EXPECT_EQ(log.exit_code, 0) << log.err;
  EXPECT_THAT(log.out, HasSubstr("FailIfTyped failed: the module has types\n"));
  EXPECT_THAT(History(file + " show 5").err,
              HasSubstr("execution 5 (FailIfTyped) failed"));
  EXPECT_THAT(History(file + " show 3").out, HasSubstr("add(%x, 3f"));
}

TEST(HistoryToolTest, OriginsMayBeLeftOut) {
  // Sizes of files are multiples of 64 bytes.
  const std::string passes =
      "--passes=InferType,FoldConstant,ToANormalForm,ToGraphNormalForm,FuseOps";
  const std::string all = Record("origins", passes);
  const std::string fewer =
      Record("no_origins", passes + " --norecord_origins");
  EXPECT_LT(std::filesystem::file_size(fewer), std::filesystem::file_size(all));
  const std::string nobody = "made nn.relu from an unknown node";
  EXPECT_THAT(History(fewer + " blame 1").out, HasSubstr(nobody));
  EXPECT_THAT(History(all + " blame 1").out, Not(HasSubstr(nobody)));
  EXPECT_EQ(History(fewer + " show 3").out, History(all + " show 3").out);
}

TEST(HistoryToolTest, CrashesAreRecorded) {
  const std::string file =
      Record("crash", "--passes=InferType,FoldConstant,CrashOnReluOfAdd",
             128 + SIGABRT);
  const RunResult log = History(file + " log");
  EXPECT_EQ(log.exit_code, 0) << log.err;
  EXPECT_THAT(log.out, HasSubstr("CrashOnReluOfAdd did not end\n"));
  EXPECT_THAT(log.out, HasSubstr("The run was ended by signal "));
  // Passes that did not end took the time until then.
  EXPECT_THAT(log.out, Not(ContainsRegex("\n *[0-9]+ +[0-9]+ +-[0-9]")));
  const RunResult show = History(file + " show 3");
  EXPECT_THAT(show.out, HasSubstr("add(%x, 3f"));
  EXPECT_THAT(History(file + " blame 3 --op=nn.relu").out,
              HasSubstr("crash.relay:4:3: nn.relu"));
  EXPECT_THAT(History(file + " why 3").out, HasSubstr("computed"));
}

TEST(HistoryToolTest, MistakesAreErrors) {
  const std::string file = Record("mistakes", "--passes=InferType");
  EXPECT_THAT(History(file + " lgo").err,
              HasSubstr("no command is called \"lgo\"; did you mean"));
  EXPECT_THAT(History(file + " show").err, HasSubstr("show takes 1 number"));
  EXPECT_THAT(History(file + " show x").err,
              HasSubstr("\"x\" is no number of an execution"));
  EXPECT_THAT(History(file + " show 77").err,
              HasSubstr("there is no execution 77"));
  EXPECT_THAT(History(file + " log --has=nn.relu").err,
              HasSubstr("--has: has no effect on log"));
  EXPECT_THAT(History(file + " show 1 --op=nn.relu").err,
              HasSubstr("--op: has no effect on show"));
  EXPECT_THAT(History(file + " find --text='('").err,
              HasSubstr("--text: regular expression (: missing )"));
  EXPECT_THAT(History(file + " find").err,
              HasSubstr("give one of --has, --lacks and --text"));
  const std::string before = Content(file);
  EXPECT_THAT(History(file + " log --output=" + file).err,
              HasSubstr("--output: " + file + " is read and would be written"));
  EXPECT_EQ(Content(file), before);
  EXPECT_EQ(History(Path("mistakes.relay") + " log").exit_code, 1);
  EXPECT_THAT(History("--help").out, HasSubstr("baton-history FILE log"));
  const RunResult unwritable = testing::RunBinary(
      "tools/faulty-opt",
      absl::StrCat(Path("mistakes.relay"),
                   " --emit=none --passes=InferType --record=/no/such/dir/x"));
  EXPECT_EQ(unwritable.exit_code, 1);
  EXPECT_THAT(unwritable.err, HasSubstr("/no/such/dir/x"));
}

TEST(HistoryToolTest, NothingIsALine) {
  const std::string file = Record("nothing", "--passes=InferType,FoldConstant");
  const std::pair<const char*, const char*> cases[] = {
      {"diff 1 1", "baton-history: diff 1 1: nothing differs\n"},
      {"why 2", "baton-history: why 2: no remarks\n"},
      {"blame 1 --node=%99", "baton-history: blame 1: no node is selected\n"}};
  for (const auto& [command, line] : cases) {
    const RunResult r = History(absl::StrCat(file, " ", command));
    EXPECT_EQ(r.exit_code, 0) << command;
    EXPECT_EQ(r.out, "") << command;
    EXPECT_EQ(r.err, line) << command;
  }
}

TEST(HistoryToolTest, UnknownOperatorsAreErrors) {
  const std::string file = Record("unknown", "--passes=FoldConstant");
  for (const char* command : {"find --has=nn.rely", "find --lacks=nn.rely",
                              "blame 1 --op=nn.rely", "why 1 --op=nn.rely"}) {
    const RunResult r = History(absl::StrCat(file, " ", command));
    EXPECT_EQ(r.exit_code, 1) << command;
    EXPECT_THAT(r.err, HasSubstr(": no operator has a name that")) << command;
  }
  EXPECT_EQ(History(file + " find --has=nn.relu").exit_code, 0);
}

// Tensors that are not in the file are not shown as others.
TEST(HistoryToolTest, TensorsThatAreNotThere) {
  const std::string file = Path("light.history");
  for (const char* tensors : {"", " --record_tensors"}) {
    const RunResult r = testing::RunBinary(
        "tools/faulty-opt",
        absl::StrCat("--workload='resnet{num_layers=20,image_shape=[3,16,16],"
                     "num_classes=10}' --bind_params "
                     "--emit=none --passes=FoldConstant --record=",
                     file, tensors));
    EXPECT_EQ(r.exit_code, 0) << r.err;
    const RunResult shown = History(file + " show 1");
    EXPECT_EQ(shown.exit_code, 0);
    const bool light = *tensors == '\0';
    EXPECT_EQ(shown.out.find("#[metadata]") == std::string::npos, light);
    EXPECT_EQ(
        shown.err.find("record with --record_tensors") != std::string::npos,
        light);
    EXPECT_EQ(testing::RunBinary("tools/faulty-opt",
                                 absl::StrCat("--resume=", file,
                                              " --start_after=0 --emit=none"))
                  .exit_code,
              light ? 1 : 0);
  }
}

TEST(ResumeTest, RunsTheRest) {
  const std::string passes = "--passes=InferType,FoldConstant,FuseOps";
  const std::string file = Record("resume", passes);
  const auto opt = [](const std::string& args) {
    return testing::RunBinary("tools/faulty-opt", args);
  };
  const RunResult whole = opt(absl::StrCat(Path("resume.relay"), " ", passes));
  for (const int k : {0, 1, 2, 3}) {
    const RunResult r =
        opt(absl::StrCat("--resume=", file, " --start_after=", k));
    EXPECT_EQ(r.exit_code, 0) << r.err;
    EXPECT_EQ(r.out, whole.out) << k;
  }
  EXPECT_THAT(opt(absl::StrCat("--resume=", file, " --start_after=4")).err,
              HasSubstr("runs inside of #3 FoldConstant"));
  EXPECT_THAT(opt("--resume=" + file).err, HasSubstr("ended without an error"));
  // From before a failure, with other passes.
  const std::string failed = Record(
      "resume_failed", "--passes=InferType,DropRelu,FuseOps --check_values", 1,
      "def @main(%x: Tensor[(8), float32]) { nn.relu(%x) }\n");
  const RunResult r =
      opt(absl::StrCat("--resume=", failed, " --passes=FuseOps --op_diff"));
  EXPECT_EQ(r.exit_code, 0) << r.err;
  EXPECT_THAT(r.err, HasSubstr("--resume: after #2 InferType: FuseOps\n"));
}

}  // namespace
}  // namespace baton
