// Puts wrong passes (planted_faults.cc, planted_loop_faults.cc) among right
// ones, on networks and loops: --triage must name the wrong execution, and write
// a small program.

#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "baton/testing/full_disk.h"
#include "baton/testing/golden.h"
#include "baton/testing/run_binary.h"
#include "baton/testing/test_settings.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "re2/re2.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define BATON_HAS_SANITIZER
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define BATON_HAS_SANITIZER
#endif
#endif

namespace baton {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using testing::ReadFileOrFail;
using testing::RunResult;

constexpr char kResNet18[] =
    "--workload='resnet{num_layers=18,image_shape=[3,32,32]}' --bind_params";
// ResNets of `num_layers` in the long form of tests only, where most of the time
// goes into the weights.
std::string ResNet(int num_layers) {
  return absl::StrCat("--bind_params --workload='resnet{num_layers=",
                      testing::IsLongTest()
                          ? absl::StrCat(num_layers, ",image_shape=[3,32,32]")
                          : "20,image_shape=[3,16,16],num_classes=10",
                      "}'");
}
constexpr char kLstm[] = "tools/testdata/lstm.relay";
constexpr char kTransformer[] = "tools/testdata/transformer.relay";

struct Fault {
  const char* name;  // of the guilty pass
  std::string network;
  const char* passes;
  int most_calls = 8;  // that may be left
  const char* kind = "an error";
  // False if another fault is found in the same way, or if it takes many
  // seconds: the short form of tests leaves it out.
  bool in_short_form = true;
};

std::ostream& operator<<(std::ostream& os, const Fault& fault) {
  return os << fault.name;
}

class PlantedFaultTest : public ::testing::TestWithParam<Fault> {};

TEST_P(PlantedFaultTest, IsFound) {
  const Fault& fault = GetParam();
  if (!fault.in_short_form && !testing::IsLongTest()) GTEST_SKIP();
  const std::string folder =
      absl::StrCat(testing::TempDir(), "/triage_", fault.name);
  std::filesystem::remove_all(folder);
  const RunResult run = testing::RunBinary(
      "tools/faulty-opt",
      absl::StrCat(fault.network, " --passes='", fault.passes,
                   "' --opt_level=3 --verify_each --check_values --emit=none "
                   "--triage=",
                   folder));
  EXPECT_EQ(run.exit_code, 1);
  int number = 0;
  std::string guilty;
  int calls = -1;
  ASSERT_TRUE(RE2::PartialMatch(
      run.err, "triage: #(\\d+) (\\w+) is guilty; (\\d+) calls? left\n",
      &number, &guilty, &calls))
      << run.err;
  EXPECT_EQ(guilty, fault.name) << run.err;
  EXPECT_LE(calls, fault.most_calls);
  const std::string page = ReadFileOrFail(folder + "/report.txt");
  EXPECT_THAT(page, HasSubstr(absl::StrCat("Guilty: execution #", number, " ",
                                           guilty, ".\n")));
  EXPECT_THAT(page, HasSubstr(absl::StrCat("What broke: ", fault.kind, ".\n")));
  if (guilty == "AddFirstOperandTwice") {
    // One of many such calls.
    EXPECT_THAT(page,
                ContainsRegex("Its rewrite [0-9]+ alone makes the failure: "
                              "--rewrites=AddFirstOperandTwice#1:[0-9]+\n"));
  }
  if (guilty == "SwapSubtract") {
    EXPECT_THAT(page, ContainsRegex("Its remarks on that program:\n\n"
                                    "  passed #[0-9]+ SwapSubtract @main "
                                    ".*subtract.*: its operands are swapped"));
  }
  const std::string path = folder + "/reduced.relay";
  const std::string test = ReadFileOrFail(path);
  EXPECT_LT(test.size(), 10'000);
  const RunResult again = testing::RunBinary(
      "tools/baton-ir-test",
      absl::StrCat(path, " --programs=tools/faulty-opt,tools/baton-check"));
  EXPECT_EQ(again.exit_code, 0) << again.err << test;
}

INSTANTIATE_TEST_SUITE_P(
    Networks, PlantedFaultTest,
    ::testing::ValuesIn(std::vector<Fault>{
        {"AddFirstOperandTwice", ResNet(50),
         "SimplifyInference,AddFirstOperandTwice,FuseOps"},
        {"SwapSubtract", kTransformer,
         "FoldConstant,EliminateCommonSubexpr,SwapSubtract,FuseOps"},
        {"SoftmaxOverFirstAxis", kTransformer,
         "InferType,ToANormalForm,SoftmaxOverFirstAxis,ToGraphNormalForm", 8,
         "an error", false},
        {"FoldAsInteger", kTransformer, "FoldAsInteger,FuseOps"},
        {"FoldAsDouble", kTransformer, "FoldConstant,FoldAsDouble,FuseOps", 8,
         "an error", false},
        {"DropUnusedWrites", kLstm, "FoldConstant,DropUnusedWrites"},
        {"FlattenByReshape", ResNet(18),
         "SimplifyInference,FlattenByReshape,FoldConstant", 8, "an error",
         false},
        {"FoldSelfComparison", kLstm,
         "EliminateCommonSubexpr,FoldSelfComparison,FoldConstant", 8,
         "an error", false},
        {"CrashOnReluOfAdd", ResNet(50),
         "SimplifyInference,FoldScaleAxis,CrashOnReluOfAdd,FuseOps", 8,
         "a crash"},
        {"HangOnBiasOfDense", kTransformer,
         "SimplifyInference,HangOnBiasOfDense,FuseOps", 8, "a time-out", false},
        {"FixedPoint", ResNet(18),
         "SimplifyInference,FixedPoint(ReluToMaximum,MaximumToRelu),FuseOps"},
        {"TransposeByReshape", kTransformer,
         "FoldConstant,TransposeByReshape,FuseOps"},
        {"DropStrides", ResNet(18), "SimplifyInference,DropStrides", 8,
         "an error", false},
        {"PoolByMaximum", ResNet(50),
         "SimplifyInference,FoldConstant,PoolByMaximum"},
        {"NextField", kLstm, "FoldConstant,NextField", 8, "an error", false},
        {"LargeEpsilon", ResNet(18), "InferType,LargeEpsilon,SimplifyInference",
         8, "an error", false},
        {"DistributeWrongly", kTransformer,
         "EliminateCommonSubexpr,DistributeWrongly", 8, "an error", false},
        {"MergeWithoutAttributes", kTransformer,
         "FoldConstant,MergeWithoutAttributes,FuseOps", 8, "an error", false},
        {"PadBias", kTransformer, "SimplifyInference,PadBias,FuseOps", 8,
         "an error", false},
        {"UnbindParameter", kTransformer,
         "FoldConstant,UnbindParameter,FuseOps"},
    }),
    [](const ::testing::TestParamInfo<Fault>& info) {
      return std::string(info.param.name);
    });

constexpr char kLoops[] = "tools/testdata/dense_softmax.tir";

class PlantedLoopFaultTest : public ::testing::TestWithParam<Fault> {};

TEST_P(PlantedLoopFaultTest, IsFound) {
  const Fault& fault = GetParam();
  if (!fault.in_short_form && !testing::IsLongTest()) GTEST_SKIP();
  const std::string folder =
      absl::StrCat(testing::TempDir(), "/triage_", fault.name);
  std::filesystem::remove_all(folder);
  const RunResult run = testing::RunBinary(
      "tools/faulty-opt",
      absl::StrCat(
          fault.network, " --passes='", fault.passes,
          "' --verify_each --check_values --emit=none --triage=", folder));
  EXPECT_EQ(run.exit_code, 1);
  int number = 0;
  std::string guilty;
  int left = -1;
  ASSERT_TRUE(RE2::PartialMatch(
      run.err, "triage: #(\\d+) ([\\w.]+) is guilty; (\\d+) statements? left\n",
      &number, &guilty, &left))
      << run.err;
  EXPECT_EQ(guilty, fault.name) << run.err;
  EXPECT_LE(left, fault.most_calls);
  const std::string page = ReadFileOrFail(folder + "/report.txt");
  EXPECT_THAT(page, HasSubstr(absl::StrCat("Guilty: execution #", number, " ",
                                           guilty, ".\n")));
  EXPECT_THAT(page, HasSubstr(absl::StrCat("What broke: ", fault.kind, ".\n")));
  EXPECT_THAT(page, HasSubstr("def main("));
  if (guilty == "tir.DropRemainder") {
    // One of many such loops.
    EXPECT_THAT(page,
                ContainsRegex("Its rewrite [0-9]+ alone makes the failure: "
                              "--rewrites=tir.DropRemainder#1:[0-9]+\n"));
    EXPECT_THAT(page,
                ContainsRegex("Its remarks on that program:\n\n"
                              "  passed #[0-9]+ tir.DropRemainder @main .*: it "
                              "has whole vectors only"));
    EXPECT_THAT(page, HasSubstr("What the pass makes of it:\n"));
  }
  // It is a test with passes over loops alone.
  const std::string path = folder + "/reduced.tir";
  const std::string test = ReadFileOrFail(path);
  EXPECT_LT(test.size(), 2000);
  EXPECT_THAT(test, HasSubstr(absl::StrCat(" --passes=", fault.name, " ")));
  const RunResult again = testing::RunBinary(
      "tools/baton-ir-test",
      absl::StrCat(path, " --programs=tools/faulty-opt,tools/baton-check"));
  EXPECT_EQ(again.exit_code, 0) << again.err << test;
}

INSTANTIATE_TEST_SUITE_P(
    Loops, PlantedLoopFaultTest,
    ::testing::ValuesIn(std::vector<Fault>{
        {"tir.DropRemainder", kLoops,
         "tir.Simplify,tir.DropRemainder,tir.LowerInitBlock", 10},
        {"tir.DropInit", kLoops,
         "tir.Simplify,tir.DropInit,tir.LowerInitBlock,"
         "tir.ConvertBlocksToOpaque",
         10, "an error", false},
        {"tir.DropGuard", kLoops,
         "tir.LowerInitBlock,tir.ConvertBlocksToOpaque,tir.LowerOpaqueBlock,"
         "tir.DropGuard,tir.FlattenBuffer,tir.Simplify",
         10},
        {"tir.SwapSubtract", kLoops,
         "tir.LowerInitBlock,tir.PlanAndUpdateBufferAllocationLocation,"
         "tir.ConvertBlocksToOpaque,tir.CompactBufferAllocation,"
         "tir.LowerOpaqueBlock,tir.SwapSubtract,tir.FlattenBuffer",
         10},
        {"tir.DropUnitLoop", kLoops, "tir.DropUnitLoop,tir.Simplify", 10,
         "an error", false},
        {"tir.ShiftLoads", kLoops,
         "tir.LowerInitBlock,tir.ConvertBlocksToOpaque,tir.ShiftLoads,"
         "tir.LowerOpaqueBlock",
         10, "an error", false},
        {"tir.CrashOnSelect", kLoops,
         "tir.Simplify,tir.LowerInitBlock,tir.CrashOnSelect", 10, "a crash"},
    }),
    [](const ::testing::TestParamInfo<Fault>& info) {
      return std::string(info.param.name).substr(4);
    });

TEST(TriageTest, NothingIsLeftOfWhatGoesWell) {
  const std::string folder = testing::TempDir() + "/well";
  const std::string args =
      absl::StrCat(kTransformer, " --passes=FoldConstant,FuseOps");
  const RunResult run = testing::RunBinary(
      "tools/faulty-opt", absl::StrCat(args, " --triage=", folder));
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.out, testing::RunBinary("tools/faulty-opt", args).out);
  EXPECT_FALSE(std::filesystem::exists(folder));
}

// A pass that takes much longer than all before it, but ends, goes well, too.
TEST(TriageTest, SlowIsNotEndless) {
  if (!testing::IsLongTest()) GTEST_SKIP();
  const std::string folder = testing::TempDir() + "/slow";
  const RunResult run = testing::RunBinary(
      "tools/faulty-opt",
      absl::StrCat(
          kTransformer,
          " --passes=FoldConstant,SpinAtCalls,FuseOps --triage=", folder));
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.out, testing::RunBinary("tools/faulty-opt",
                                        absl::StrCat(kTransformer,
                                                     " --passes=FoldConstant,"
                                                     "FuseOps"))
                         .out);
  EXPECT_FALSE(std::filesystem::exists(folder));
}

TEST(TriageTest, OtherErrorsAreLeftAlone) {
  const std::string folder = testing::TempDir() + "/other";
  const RunResult run = testing::RunBinary(
      "tools/faulty-opt",
      absl::StrCat(kTransformer, " --passes=FoldConstant --triage=", folder,
                   " --output=/no/such/folder/file"));
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.err, HasSubstr("cannot write /no/such/folder/file"));
  EXPECT_FALSE(std::filesystem::exists(folder));
}

// The contents of the files in the folder, by name.
std::map<std::string, std::string> Contents(const std::string& folder) {
  std::map<std::string, std::string> result;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    result[entry.path().filename().string()] =
        ReadFileOrFail(entry.path().string());
  }
  return result;
}

TEST(TriageTest, FullDisk) {
  constexpr rlim_t kRoom = 1200;
  const std::string folder = testing::TempDir() + "/full";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directory(folder);
  const std::map<std::string, std::string> old = {{"file", "as it was"}};
  std::ofstream(folder + "/file") << "as it was";
  const testing::FullDisk disk(kRoom);
  // An old file stays, and nothing half-written is left.
  for (const char* flags :
       {"--passes=FuseOps --output=", "--passes=FuseOps --emit=none --record=",
        "--passes=FuseOps --emit=binary --output=",
        "--passes=AddFirstOperandTwice --check_values --emit=none "
        "--reproducer="}) {
    const RunResult run = testing::RunBinary(
        "tools/faulty-opt",
        absl::StrCat(kTransformer, " ", flags, folder, "/file"));
    EXPECT_EQ(run.exit_code, 1) << flags;
    EXPECT_THAT(run.err, HasSubstr("cannot write")) << flags;
    EXPECT_EQ(Contents(folder), old) << flags;
  }
  // The test is small enough, the page is not.
  const RunResult run = testing::RunBinary(
      "tools/faulty-opt",
      absl::StrCat(kTransformer,
                   " --passes=AddFirstOperandTwice --check_values --emit=none "
                   "--triage=",
                   folder, "/triage"));
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.err, HasSubstr("cannot write"));
  for (const auto& [name, text] : Contents(folder + "/triage")) {
    EXPECT_EQ(name, "reduced.relay");
    EXPECT_THAT(text, HasSubstr("// RUN: "));
    EXPECT_EQ(text.back(), '\n');
  }
}

// With too little memory a run fails, whatever it was about to do, and says so;
// what it leaves is whole. Sanitizers take more memory than any limit gives.
TEST(TriageTest, OutOfMemory) {
#if defined(BATON_HAS_SANITIZER)
  GTEST_SKIP();
#endif
  const std::string folder = testing::TempDir() + "/no_memory";
  for (const int megabytes : {50, 90, 130}) {
    if (megabytes > 90 && !testing::IsLongTest()) break;
    SCOPED_TRACE(absl::StrCat(megabytes, " MB"));
    std::filesystem::remove_all(folder);
    const RunResult run = testing::RunBinary(
        "tools/faulty-opt",
        absl::StrCat("--version >/dev/null; ulimit -v ", megabytes * 1000,
                     "; '", testing::RunfilePath("tools/faulty-opt"), "' ",
                     kResNet18,
                     " --passes=PoolByMaximum --check_values "
                     "--triage_seconds=5 --triage=",
                     folder));
    EXPECT_EQ(run.exit_code, 1);
    EXPECT_EQ(run.out, "");
    EXPECT_THAT(run.err, ContainsRegex("memory|triage: .* is guilty"));
    if (!std::filesystem::exists(folder)) continue;
    for (const auto& [name, text] : Contents(folder)) {
      EXPECT_TRUE(name == "reduced.relay" || name == "report.txt") << name;
      EXPECT_EQ(text.back(), '\n') << name;
    }
  }
}

// With less still, the program is not loaded (127 is the loader's, 139 the
// kernel's), or what comes before main fails. Where Abseil, which registers its
// flags then, is refused the memory of its locks, it aborts and says so.
TEST(TriageTest, OutOfMemoryBeforeMain) {
#if defined(BATON_HAS_SANITIZER)
  GTEST_SKIP();
#endif
  const int step = testing::LongOrShort(500, 2000);
  for (int kilobytes = 15'000; kilobytes < 35'000; kilobytes += step) {
    const RunResult run = testing::RunBinary(
        "tools/faulty-opt",
        absl::StrCat("--version >/dev/null; ulimit -c 0; ulimit -v ", kilobytes,
                     "; '", testing::RunfilePath("tools/faulty-opt"),
                     "' --version"));
    if (run.exit_code == 1) {
      EXPECT_THAT(run.err, HasSubstr("out of memory"));
    }
    const bool is_abseil = run.exit_code == 134 &&
                           absl::StrContains(run.err, "[low_level_alloc.cc");
    EXPECT_TRUE(run.exit_code == 0 || run.exit_code == 1 ||
                run.exit_code == 127 || run.exit_code == 139 || is_abseil)
        << kilobytes << " kB: " << run.exit_code << "\n"
        << run.err;
  }
}

// A run that is killed while it reduces leaves a test that is whole; if it can,
// it says so.
TEST(TriageTest, Killed) {
  const std::string folder = testing::TempDir() + "/killed";
  const std::string said = testing::TempDir() + "/killed.err";
  for (const int signal : {SIGTERM, SIGKILL}) {
    std::filesystem::remove_all(folder);
    const RunResult run = testing::RunBinary(
        "tools/faulty-opt",
        absl::StrCat(kTransformer,
                     " --passes=AddFirstOperandTwice --check_values "
                     "--emit=none --triage=",
                     folder, " 2>", said, " & pid=$!; while ! test -e ", folder,
                     "/reduced.relay; do sleep 0.01; done; kill -", signal,
                     " $pid; wait $pid"));
    const bool is_told = signal != SIGKILL;
    EXPECT_EQ(run.exit_code, 128 + signal);
    const std::map<std::string, std::string> left = Contents(folder);
    ASSERT_EQ(left.count("reduced.relay"), 1);
    EXPECT_EQ(left.count("report.txt"), is_told);
    if (is_told) {
      EXPECT_THAT(ReadFileOrFail(said),
                  HasSubstr("left when it was interrupted\n"));
      EXPECT_THAT(left.at("report.txt"), HasSubstr("\nInterrupted: "));
    }
    const RunResult again = testing::RunBinary(
        "tools/faulty-opt", folder +
                                "/reduced.relay --emit=none --check_values "
                                "--passes=AddFirstOperandTwice");
    EXPECT_EQ(again.exit_code, 1);
    EXPECT_THAT(again.err, HasSubstr("pass AddFirstOperandTwice changed"));
  }
}

}  // namespace
}  // namespace baton
