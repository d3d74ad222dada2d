#include "baton/tools/compile.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/substitute.h"
#include "baton/base/dtype.h"
#include "baton/base/tensor.h"
#include "baton/ir/diagnostics.h"
#include "baton/ir/module.h"
#include "baton/runtime/io/npy.h"
#include "baton/testing/external_data.h"
#include "baton/testing/status_matchers.h"
#include "baton/testing/test_settings.h"
#include "baton/tools/compile_test_util.h"
#include "baton/tools/input.h"
#include "baton/transform/module_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

// The path of NAME.onnx, of the module in `text`.
std::string OnnxFile(absl::string_view name, absl::string_view text) {
  Diagnostics diagnostics;
  const std::vector<InputModule> modules =
      ParseModules(absl::StrCat("#[version = \"0.0.5\"]\n", text),
                   absl::StrCat(name, ".relay"), /*split=*/false, diagnostics);
  const std::string path =
      absl::StrCat(::testing::TempDir(), "/", name, ".onnx");
  std::ofstream file(path, std::ios::binary);
  for (const InputModule& module : modules) {
    const auto written = ModuleWriters().Find("onnx")->write(module.module, {});
    EXPECT_TRUE(written.ok()) << written.status();
    if (!written.ok()) continue;
    for (const absl::string_view piece : written->pieces) file << piece;
  }
  return path;
}

std::string Mistake(const LibraryOptions& options) {
  std::ostringstream out;
  return std::string(CompileLibrary(options, out).message());
}

TEST(CompileTest, RefusesFlags) {
  LibraryOptions options;
  options.model = ModelFile("refused.relay", kPerceptron);
  options.output_dir = ::testing::TempDir();
  options.max_error = 1;
  EXPECT_EQ(Mistake(options),
            "--max_error: needs --test, which measures the error");
  options.max_error = -1;
  options.isas = "avx2,neon";
  EXPECT_EQ(Mistake(options),
            "--isas: 'neon' is not one of avx512, avx2, sse2, the instructions "
            "of --target=x86_64");
  options.isas = "";
  options.state = "out";
  EXPECT_EQ(Mistake(options), "--state: expected OUT:IN, found `out`");
  options.state = "";
  options.isas = "";
  options.llvm_target = "llvm";
  EXPECT_EQ(Mistake(options),
            "--llvm_target: functions of loops are compiled once, for one set "
            "of instructions: give one, as in --isas=avx2");
  options.llvm_target = "llvm -mtriple=aarch64-linux-gnu";
  EXPECT_EQ(Mistake(options),
            "--llvm_target: the triple aarch64-linux-gnu is not of "
            "--target=x86_64");
  options.llvm_target = "";
  options.dims = "n=4";
  EXPECT_EQ(Mistake(options),
            "--dims: no input of the model has a dimension n");
  options.dims = "n=4,n=8";
  EXPECT_EQ(Mistake(options), "--dims: dimension n has two bounds");
  options.dims = "n=4..1";
  EXPECT_THAT(Mistake(options),
              HasSubstr("--dims: the bounds of dimension n are 4..1: the least "
                        "size must be from 0 to the greatest"));
  options.dims = "n=1..65";
  EXPECT_THAT(Mistake(options), HasSubstr("bounds have more than 64 choices"));
  options.dims = "";
  options.max_threads = 2;
  EXPECT_EQ(Mistake(options),
            "--max_threads: needs --threads, which adds a Run for threads");
  options.threads = true;
  options.max_threads = 65;
  // Before the model is read.
  const std::string model = std::exchange(options.model, "none.relay");
  EXPECT_EQ(Mistake(options), "--max_threads=65: it must be from 1 to 64");
  options.model = model;
  options.threads = false;
  options.max_threads = 8;
  options.name = "a-b";
  EXPECT_THAT(Mistake(options), HasSubstr("--name=a-b is no C++ identifier"));
  options.name = "";
  options.target = "mips";
  EXPECT_EQ(Mistake(options),
            "--target=mips: unknown value (expected one of x86_64, aarch64)");
  options.target = "x86_64";
}

// A model with as many weights as `units`.
LibraryOptions Units(absl::string_view name, int units) {
  LibraryOptions options;
  options.model = ModelFile(
      absl::StrCat(name, units, ".relay"),
      absl::Substitute(
          "def @main(%x: Tensor[(1, 1), float32]) {\n"
          "  %0 = sin(arange(0f, $0f, 1f, start=0f, stop=$0f, step=1f, "
          "dtype=\"float32\"));\n"
          "  nn.dense(%x, reshape(%0, newshape=[$0, 1]), units=$0)\n}\n",
          units));
  options.name = std::string(name);
  options.output_dir = absl::StrCat(::testing::TempDir(), "/", name);
  options.shared_dir = options.output_dir + "/functions";
  return options;
}

TEST(CompileTest, RefusesFolders) {
  LibraryOptions options = Units("folders", 40);
  // Before the model is read.
  const std::string model = std::exchange(options.model, "none.relay");
  options.output_dir = model;
  EXPECT_EQ(Mistake(options),
            absl::StrCat("--output_dir: ", model, " is not a folder"));
  options.output_dir = absl::StrCat(::testing::TempDir(), "/none/there");
  EXPECT_EQ(Mistake(options),
            absl::StrCat("--output_dir: cannot create the folder ",
                         options.output_dir, ": No such file or directory"));
  options.output_dir = ::testing::TempDir();
  options.shared_dir = model;
  EXPECT_EQ(Mistake(options),
            absl::StrCat("--shared_dir: ", model, " is not a folder"));
  if (geteuid() == 0) GTEST_SKIP() << "root may write to all folders";
  options.shared_dir = absl::StrCat(::testing::TempDir(), "/closed");
  std::filesystem::create_directory(options.shared_dir);
  std::filesystem::permissions(
      options.shared_dir,
      std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
  EXPECT_THAT(Mistake(options), HasSubstr("closed: Permission denied"));
  options.shared_dir += "/new";
  EXPECT_THAT(Mistake(options), HasSubstr("closed/new: Permission denied"));
}

TEST(CompileTest, FoldersMayEndInSlashes) {
  LibraryOptions options = Units("slashes", 40);
  const std::string folder = options.output_dir;
  ASSERT_EQ(Mistake(options), "");
  const std::map<std::string, std::string> files = ContentsOf(folder);
  // The second folder is in the first, or beside it.
  for (const auto& [output, shared] :
       std::vector<std::pair<std::string, std::string>>{
           {"/", "/functions"}, {"//", "/functions/"}, {"", "/functions//"}}) {
    std::filesystem::remove_all(folder);
    options.output_dir = folder + output;
    options.shared_dir = folder + shared;
    EXPECT_EQ(Mistake(options), "");
    EXPECT_EQ(ContentsOf(folder), files);
  }
  std::filesystem::remove_all(folder);
  options.shared_dir = folder + "_functions/";
  EXPECT_EQ(Mistake(options), "");
  EXPECT_TRUE(std::filesystem::is_directory(options.shared_dir));
}

// A file that may not become so large stands for a disk that is full.
TEST(CompileTest, WritesAllFilesOrNone) {
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit limit = {};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &limit), 0);
  const auto limited = [&limit](const LibraryOptions& options) {
    const rlimit small = {400000, limit.rlim_max};
    setrlimit(RLIMIT_FSIZE, &small);
    std::string mistake = Mistake(options);
    setrlimit(RLIMIT_FSIZE, &limit);
    return mistake;
  };
  const LibraryOptions large = Units("whole", 200000);
  // A folder that is not there stays so.
  EXPECT_THAT(limited(large), HasSubstr("whole_weights.o: File too large"));
  EXPECT_FALSE(std::filesystem::exists(large.output_dir));
  const LibraryOptions small = Units("whole", 40);
  EXPECT_EQ(limited(small), "");
  const std::map<std::string, std::string> files = ContentsOf(small.output_dir);
  EXPECT_GE(files.size(), 5u);
  EXPECT_THAT(limited(large), HasSubstr("whole_weights.o: File too large"));
  EXPECT_EQ(ContentsOf(small.output_dir), files);
  EXPECT_EQ(Mistake(large), "");
  EXPECT_NE(ContentsOf(small.output_dir), files);
}

TEST(CompileTest, AFolderWhereAFileIsToBe) {
  const LibraryOptions options = Units("taken", 40);
  const std::string taken = options.output_dir + "/taken_weights.o";
  std::filesystem::create_directories(taken);
  EXPECT_EQ(Mistake(options),
            absl::StrCat("cannot write ", taken, ": Is a directory"));
  EXPECT_THAT(ContentsOf(options.output_dir), ::testing::IsEmpty());
}

TEST(CompileTest, DoesNotWriteOverWhatItReads) {
  LibraryOptions options = Units("own", 40);
  const std::string model = options.output_dir + "/own.model.txt";
  std::filesystem::create_directories(options.output_dir);
  std::filesystem::rename(options.model, model);
  options.model = model;
  EXPECT_EQ(Mistake(options), "");
  const std::map<std::string, std::string> files =
      ContentsOf(options.output_dir);
  options.line_table = true;
  EXPECT_EQ(Mistake(options),
            absl::StrCat(model,
                         " is read and would be written: give another "
                         "--output_dir or --name"));
  EXPECT_EQ(ContentsOf(options.output_dir), files);
  // An object that stays as it is is not written.
  options.line_table = false;
  const std::string object = options.output_dir + "/own_weights.o";
  options.objects = object;
  EXPECT_EQ(Mistake(options), "");
  const std::map<std::string, std::string> with_report =
      ContentsOf(options.output_dir);
  LibraryOptions other = Units("own", 41);
  other.objects = object;
  EXPECT_THAT(Mistake(other), HasSubstr("own_weights.o is read and would be "
                                        "written"));
  EXPECT_TRUE(ContentsOf(options.output_dir) == with_report);
}

TEST(CompileTest, DoesNotWriteOverExternalData) {
  // A model whose weights are in a file with the name of one of the library.
  LibraryOptions options;
  options.output_dir = absl::StrCat(::testing::TempDir(), "/external_data");
  options.name = "weighty";
  const std::string data = options.output_dir + "/weighty_weights.o";
  options.model =
      testing::WriteModelWithData(options.output_dir, "weighty_weights.o");
  const std::map<std::string, std::string> files =
      ContentsOf(options.output_dir);
  EXPECT_EQ(files.size(), 2u);
  EXPECT_EQ(Mistake(options),
            absl::StrCat(data,
                         " is read and would be written: give another "
                         "--output_dir or --name"));
  EXPECT_EQ(ContentsOf(options.output_dir), files);
  options.name = "other";
  EXPECT_EQ(Mistake(options), "");
}

// Files are those of one version or the other, wherever the program ends.
TEST(CompileTest, AProgramThatIsKilledLeavesWholeFiles) {
  const LibraryOptions versions[] = {Units("killed", 20000),
                                     Units("killed", 30000)};
  std::map<std::string, std::string> files[2];
  for (const int i : {0, 1}) {
    ASSERT_EQ(Mistake(versions[i]), "");
    files[i] = ContentsOf(versions[i].output_dir);
  }
  const std::string& folder = versions[0].output_dir;
  const auto time_of_folder = [&folder] {
    struct stat info = {};
    EXPECT_EQ(stat(folder.c_str(), &info), 0);
    return std::pair(info.st_mtim.tv_sec, info.st_mtim.tv_nsec);
  };
  const auto weights = [&folder] {
    std::ifstream file(folder + "/killed_weights.o", std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  const int most = testing::IsLongTest() ? 100 : 10;
  for (int i = 0; i < most; ++i) {
    const auto old_time = time_of_folder();
    const std::string old_weights = weights();
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      for (int k = 0;; ++k) static_cast<void>(Mistake(versions[k % 2]));
    }
    // Until there is a temporary file; in each other round, until one has taken
    // the place of another.
    bool is_changed = false;
    for (int k = 0; k < 60000 && !is_changed; ++k) {
      usleep(1000);
      is_changed =
          i % 2 == 0 ? time_of_folder() != old_time : weights() != old_weights;
    }
    usleep(static_cast<useconds_t>(1700 * (i / 2)));
    kill(child, SIGKILL);
    ASSERT_EQ(waitpid(child, nullptr, 0), child);
    ASSERT_TRUE(is_changed) << "the program wrote nothing in a minute";
    for (const auto& [path, text] : ContentsOf(folder)) {
      if (absl::StrContains(path, ".tmp")) continue;
      const auto is_of = [&path = path, &text = text](const auto& version) {
        const auto found = version.find(path);
        return found != version.end() && found->second == text;
      };
      EXPECT_TRUE(is_of(files[0]) || is_of(files[1])) << path;
    }
  }
}

// Names that the header itself, C++ or the C library has.
TEST(CompileTest, RefusesClasses) {
  LibraryOptions options;
  options.model = ModelFile("refused.relay", kPerceptron);
  options.output_dir = ::testing::TempDir();
  for (const auto& [name, message] :
       std::vector<std::pair<std::string, std::string>>{
           {"acme::Run", "the class has a member 'Run'"},
           {"Inputs", "the class has a member 'Inputs'"},
           {"std::Mlp", "the namespace std is that of C++"},
           {"std", "C++ has a namespace 'std'"},
           {"time", "the library of C has 'time'"},
           {"int16_t", "the library of C has 'int16_t'"},
           {"main", "the library of C has 'main'"},
           {"gamma::Model", "the library of C has 'gamma'"},
           {"uint8_t::v1::Model", "the library of C has 'uint8_t'"},
           {"class", "'class' is no C++ identifier"},
           {"a::b c", "'b c' is no C++ identifier"}}) {
    options.cpp_class = name;
    EXPECT_THAT(Mistake(options),
                HasSubstr(absl::StrCat("--cpp_class=", name, ": ", message)));
  }
  for (const char* name : {"acme::time", "acme::time::Model"}) {
    options.cpp_class = name;
    EXPECT_EQ(Mistake(options), "");
  }
}

// Members are tensors.
TEST(CompileTest, RefusesTuplesOfTuples) {
  LibraryOptions options;
  options.output_dir = ::testing::TempDir();
  options.model = ModelFile(
      "taken.relay",
      "def @main(%x: (Tensor[(4), float32], Tensor[(4), float32])) {\n"
      "  exp(%x.0)\n}\n");
  EXPECT_EQ(Mistake(options),
            "the parameter %x of @main is no tensor but (Tensor[(4), float32], "
            "Tensor[(4), float32]): it cannot be a member");
  options.model = ModelFile("given.relay",
                            "def @main(%x: Tensor[(4), float32]) {\n"
                            "  (exp(%x), (tanh(%x), %x))\n}\n");
  EXPECT_EQ(Mistake(options),
            "a result of @main is no tensor but (Tensor[(4), float32], "
            "Tensor[(4), float32]): it cannot be a member");
}

// A setting that no pass reads is named; a misspelt one is an error.
TEST(CompileTest, NamesSettingsThatNoPassReads) {
  LibraryOptions options;
  options.model = ModelFile("settings.relay", kPerceptron);
  options.output_dir = ::testing::TempDir();
  options.config = "relay.FuseOps.max_depth=3,limits.max_rank=9";
  std::ostringstream out;
  std::ostringstream notes;
  ASSERT_EQ(CompileLibrary(options, out, &notes), absl::OkStatus());
  EXPECT_EQ(notes.str(),
            "--config=relay.FuseOps.max_depth: no pass of this run reads it\n");
  options.passes = "SimplifyInference,FuseOps,LowerToTir";
  notes.str("");
  ASSERT_EQ(CompileLibrary(options, out, &notes), absl::OkStatus());
  EXPECT_EQ(notes.str(), "");
}

Pass Crash() {
  return CreateModulePass(
      [](const IRModule& /*module*/, const PassContext& /*context*/)
          -> absl::StatusOr<IRModule> { std::abort(); },
      {.name = "Crash"});
}
BATON_REGISTER_PASS(Crash);

// The setting of the pass LowerToTir is that of loops of the plan's steps, too.
TEST(CompileTest, LoopsMayAliasIfTheSettingSaysSo) {
  LibraryOptions options;
  options.model = ModelFile("aliases.relay",
                            "def @main(%x: Tensor[(3, 40), float32]) {\n"
                            "  nn.softmax(%x)\n}\n");
  options.output_dir = ::testing::TempDir();
  options.isas = "avx2";
  options.llvm_target = "llvm";
  for (const bool no_alias : {true, false}) {
    options.config = no_alias ? "" : "tir.noalias=false";
    std::ostringstream out;
    std::ostringstream notes;
    ASSERT_EQ(CompileLibrary(options, out, &notes), absl::OkStatus());
    EXPECT_EQ(notes.str(), "");
    const std::string path = options.output_dir + "/aliases_loops.ll";
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    const size_t begin = text.str().find("define void @aliases_");
    const std::string head =
        text.str().substr(begin, text.str().find('{', begin) - begin);
    EXPECT_THAT(head,
                HasSubstr(no_alias ? "(ptr noalias " : "(ptr nocapture "));
  }
}

// A crash names the pass, and the pipeline in which it ran.
TEST(CompileTest, ACrashNamesThePass) {
  LibraryOptions options;
  options.model = ModelFile("crash.relay", kPerceptron);
  options.output_dir = ::testing::TempDir();
  options.passes = "FoldConstant,Crash";
  std::ostringstream out;
  EXPECT_DEATH(static_cast<void>(CompileLibrary(options, out)),
               "baton-compile: crashed \\(Aborted\\) in pass #1 sequential > "
               "#[0-9]+ Crash(.|\n)* --passes=FoldConstant,Crash "
               "--reproducer");
  options.test = true;
  options.inputs = absl::StrCat(::testing::TempDir(), "/crash.npz");
  std::ofstream(options.inputs, std::ios::binary)
      << *WriteNpz({{"x", Tensor::Scalar(1.5f)}});
  EXPECT_DEATH(static_cast<void>(CompileLibrary(options, out)),
               " --passes=FoldConstant,Crash --inputs=[^ ]*crash.npz "
               "--reproducer");
}

// The inputs of an ONNX file also give it shapes.
TEST(CompileTest, ACrashNamesShapesOfInputs) {
  LibraryOptions options;
  options.model = OnnxFile(
      "open", "def @main(%x: Tensor[(?, 3), float32]) {\n  exp(%x)\n}\n");
  options.output_dir = ::testing::TempDir();
  options.passes = "Crash";
  options.inputs = absl::StrCat(::testing::TempDir(), "/open.npz");
  std::ofstream(options.inputs, std::ios::binary)
      << *WriteNpz({{"x", *Tensor::Zeros(DType::Float(32), {2, 3})}});
  std::ostringstream out;
  EXPECT_DEATH(static_cast<void>(CompileLibrary(options, out)),
               " --input_shapes='x:\\[2,3\\]' --passes=Crash --inputs=");
}

TEST(CompileTest, NamesOpenDimensions) {
  LibraryOptions options;
  options.model = ModelFile(
      "open.relay", "def @main(%x: Tensor[(?, 4), float32]) {\n  exp(%x)\n}\n");
  options.output_dir = ::testing::TempDir();
  EXPECT_EQ(Mistake(options),
            "the model leaves dimensions open: a dimension of x; give them "
            "with --dims=NAME=N or --input_shapes");
}

TEST(CompileTest, NamesLoopsWithoutABound) {
  LibraryOptions options;
  options.model = ModelFile("unbounded.relay", StackingLoop("%n"));
  options.output_dir = ::testing::TempDir();
  EXPECT_THAT(
      Mistake(options),
      HasSubstr("unbounded.relay:12:8: error: values decide how large the "
                "results of a loop are: they have no bound (its number of "
                "rounds has no bound: a Loop of ONNX has one if its input M is "
                "a constant, or is bounded by other nodes, as by Min)"));
}

TEST(CompileTest, NamesOperatorsWithoutLoops) {
  LibraryOptions options;
  options.model = ModelFile("sorted.relay",
                            "def @main(%x: Tensor[(2, 4), float32]) {\n"
                            "  %0 = exp(%x);\n  %1 = searchsorted(%0, %x, "
                            "dtype=\"int32\");\n  negative(%1)\n}\n");
  options.output_dir = ::testing::TempDir();
  EXPECT_THAT(Mistake(options),
              HasSubstr("sorted.relay:4:8: error: operator searchsorted has no "
                        "loops: it cannot be compiled"));
}

TEST(CompileTest, NamesResultsOfUnknownSize) {
  LibraryOptions options;
  options.model = ModelFile("found.relay",
                            "def @main(%x: Tensor[(2, 4), float32]) {\n"
                            "  %0 = arange(0f, sum(%x), 1f, start=0f, "
                            "stop=0f, step=1f, dtype=\"float32\");\n"
                            "  %1 = arange(0f, max(%x), 1f, start=0f, "
                            "stop=0f, step=1f, dtype=\"float32\");\n"
                            "  (add(%0, 1f), %1)\n}\n");
  options.output_dir = ::testing::TempDir();
  const std::string mistake = Mistake(options);
  EXPECT_THAT(mistake, HasSubstr("found.relay:3:8: error: values decide how "
                                 "large the result of arange is, Tensor[(?), "
                                 "float32]: it has no bound"));
  EXPECT_THAT(mistake, HasSubstr("found.relay:4:8: error: values"));
  EXPECT_THAT(mistake, Not(HasSubstr("add")));
}

// With the operators that have no loops, also in other functions and branches.
TEST(CompileTest, NamesAllOperatorsOfAModelWithoutAPlan) {
  LibraryOptions options;
  options.model = ModelFile("both.relay",
                            "def @main(%x: Tensor[(2, 4), float32]) {\n"
                            "  %0 = arange(0f, sum(%x), 1f, start=0f, "
                            "stop=0f, step=1f, dtype=\"float32\");\n"
                            "  %1 = searchsorted(%x, %x, dtype=\"int32\");\n"
                            "  %2 = if (less(mean(%x), 0f)) {\n"
                            "    searchsorted(%x, exp(%x), dtype=\"int32\")\n"
                            "  } else { %1 };\n"
                            "  %3 = concatenate((%x, exp(%x)), axis=0);\n"
                            "  (%0, %1, %2, %3)\n}\n");
  options.output_dir = ::testing::TempDir();
  const std::string mistake = Mistake(options);
  EXPECT_THAT(mistake, HasSubstr("both.relay:3:8: error: values decide"));
  EXPECT_THAT(mistake,
              HasSubstr("both.relay:4:8: error: operator searchsorted has no "
                        "loops: it cannot be compiled"));
  EXPECT_THAT(mistake,
              HasSubstr("both.relay:6:5: error: operator searchsorted"));
  for (const char* other : {"exp", "mean", "less", "concatenate"}) {
    EXPECT_THAT(mistake, Not(HasSubstr(absl::StrCat("operator ", other))));
  }
}

// A call that is compiled alone may take tuples of tuples.
TEST(CompileTest, NamesOperatorsBesideTuplesOfTuples) {
  LibraryOptions options;
  options.model =
      ModelFile("tuples.relay",
                "def @main(%x: Tensor[(2, 4), float32]) {\n"
                "  %0 = arange(0f, sum(%x), 1f, start=0f, stop=0f, "
                "step=1f, dtype=\"float32\");\n"
                "  %1 = annotation.stop_fusion(((%x, exp(%x)), %x));\n"
                "  (%0, %1.1, searchsorted(%x, %x, dtype=\"int32\"))\n}\n");
  options.output_dir = ::testing::TempDir();
  options.passes = "";
  const std::string mistake = Mistake(options);
  EXPECT_THAT(mistake, HasSubstr("tuples.relay:3:8: error: values decide"));
  EXPECT_THAT(mistake,
              HasSubstr("tuples.relay:5:14: error: operator searchsorted has "
                        "no loops"));
}

TEST(CompileTest, FunctionsThatMainDoesNotReachAreNotCompiled) {
  LibraryOptions options;
  options.model = ModelFile("reached.relay",
                            "def @main(%x: Tensor[(4), float32]) { exp(%x) }\n"
                            "def @other(%x: Tensor[(4), float32]) "
                            "{ argwhere(%x) }\n");
  options.output_dir = ::testing::TempDir();
  EXPECT_EQ(Mistake(options), "");
}

TEST(CompileTest, InputsBecomeConstants) {
  LibraryOptions options;
  options.model =
      OnnxFile("rate",
               "def @main(%x: Tensor[(2, 3), float32], %i: int64) {\n"
               "  exp(take(%x, %i, axis=0))\n}\n");
  options.output_dir = ::testing::TempDir();
  options.input_values = "i:1";
  EXPECT_EQ(Mistake(options), "");
  std::ostringstream header;
  header << std::ifstream(options.output_dir + "/rate.h").rdbuf();
  EXPECT_THAT(header.str(), HasSubstr("const float* x;"));
  EXPECT_THAT(header.str(), Not(HasSubstr(" i;")));
  options.input_values = "j:1";
  EXPECT_THAT(Mistake(options), HasSubstr("the model has no such input"));
}

// Compiles a model with its test, and returns the folder, whose name is that of
// the model unless another one is given.
std::string Compiled(absl::string_view name, absl::string_view text,
                     LibraryOptions options = {},
                     absl::string_view folder = "") {
  options.model = ModelFile(absl::StrCat(name, ".relay"), text);
  options.output_dir =
      absl::StrCat(::testing::TempDir(), "/", folder.empty() ? name : folder);
  options.test = true;
  std::ostringstream out;
  const absl::Status status = CompileLibrary(options, out);
  EXPECT_TRUE(status.ok()) << status.message();
  return options.output_dir;
}

TEST(CompileTest, SaysWhatMakesOtherOperatorsOfQnn) {
  LibraryOptions options;
  options.model = ModelFile(
      "bytes.relay",
      "def @main(%x: Tensor[(2, 4), int8]) {\n"
      "  qnn.dequantize(%x, 0.5f, 0, out_dtype=\"float32\", axis=-1)\n}\n");
  options.output_dir = ::testing::TempDir();
  const std::string passes = options.passes;
  // The last ones are those of a model without operators of qnn: who asks for
  // them gets no others.
  for (const char* given : {"FoldConstant", "SimplifyInference,FoldConstant"}) {
    options.passes = given;
    EXPECT_THAT(Mistake(options),
                HasSubstr("operator qnn.dequantize has no loops: it cannot be "
                          "compiled"))
        << given;
  }
  EXPECT_THAT(Mistake(options),
              HasSubstr("--passes=qnn.Legalize,qnn.CanonicalizeOps makes"));
  options.passes = "qnn.Legalize,qnn.CanonicalizeOps";
  EXPECT_EQ(Mistake(options), "");
  // Without --passes, such passes run.
  options.passes = passes;
  std::ostringstream out;
  EXPECT_EQ(CompileLibrary(options, out), absl::OkStatus());
  EXPECT_THAT(out.str(), HasSubstr("--passes=qnn.Legalize,qnn.Canonicalize"));
}

TEST(CompileTest, PrintsTheNamesOfItsFiles) {
  LibraryOptions options;
  options.model = ModelFile("perceptron.relay", kPerceptron);
  options.output_dir = absl::StrCat(::testing::TempDir(), "/perceptron");
  options.cpp_class = "acme::Perceptron";
  options.test = true;
  std::ostringstream out;
  const absl::Status status = CompileLibrary(options, out);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_THAT(out.str(),
              HasSubstr("perceptron.h\nperceptron_avx512.cc\nperceptron_avx2.cc"
                        "\nperceptron_sse2.cc\nperceptron.report.json\n"
                        "perceptron_weights.o\nperceptron_test.cc\n"
                        "perceptron_test_data.o\nsteps "));
}

// The test of the library has the given inputs: in their order, by their names,
// without those of the state.
TEST(CompileTest, TakesGivenInputs) {
  LibraryOptions options;
  options.isas = "sse2";
  options.inputs = absl::StrCat(::testing::TempDir(), "/given.npz");
  const auto write = [&](const NamedTensors& tensors) {
    std::ofstream(options.inputs, std::ios::binary) << *WriteNpz(tensors);
  };
  BATON_ASSERT_OK_AND_ASSIGN(const Tensor x,
                             Tensor::FromValues<float>({3}, {0.5f, -2, 4}));
  BATON_ASSERT_OK_AND_ASSIGN(const Tensor y,
                             Tensor::FromValues<float>({1}, {8}));
  write({{"x", x}, {"z", y}});
  constexpr char kModel[] = R"(
def @main(%s: Tensor[(3), float32], %x: Tensor[(3), float32], %y: Tensor[(1), float32]) {
  multiply(add(%s, %x), %y)
}
)";
  options.model = ModelFile("given.relay", kModel);
  options.output_dir = ::testing::TempDir();
  EXPECT_EQ(Mistake(options),
            "--inputs: needs --test or --check_values, which run the model: "
            "only an ONNX file takes shapes and values from its inputs");
  options.test = true;
  EXPECT_EQ(Mistake(options), "there is no tensor 's' among the inputs");
  write({{"y", y}, {"x", x}});
  options.state = "output_0:s";
  const std::string folder = Compiled("given", kModel, options);
  EXPECT_THAT(TextOf(folder + "/given.h"),
              HasSubstr("given_test checks it on\n  // given inputs.\n"));
  EXPECT_THAT(TextOf(folder + "/given_test_data.o"),
              ::testing::AllOf(HasSubstr(std::string(x.bytes())),
                               HasSubstr(std::string(y.bytes()))));
  options.dims = "n=1..2";
  options.state = "";
  EXPECT_EQ(Mistake(options),
            "--inputs: they have one size of n, which has bounds in --dims");
}

// The bytes of steps and of the rest are those of the files.
TEST(CompileTest, AReportSumsToTheFiles) {
  const std::string folder = Compiled("reported", kNetwork);
  const std::string report = TextOf(folder + "/reported.report.json");
  const size_t steps = report.find("\"steps\":");
  ASSERT_NE(steps, std::string::npos);
  const std::string of_steps = report.substr(steps);
  for (const char* file : {"reported_avx512.cc", "reported_avx2.cc",
                           "reported_sse2.cc", "reported_weights.o"}) {
    const size_t at = report.find(absl::StrCat("\"name\":\"", file));
    ASSERT_NE(at, std::string::npos) << file;
    const std::string entry = report.substr(at, report.find('}', at) - at);
    const int64_t bytes =
        static_cast<int64_t>(TextOf(absl::StrCat(folder, "/", file)).size());
    EXPECT_EQ(SumOf(entry, "\"bytes\":"), bytes) << file;
    EXPECT_EQ(SumOf(entry, "\"of_steps\":") + SumOf(entry, "\"rest\":"), bytes)
        << file;
    EXPECT_EQ(SumOf(of_steps, absl::EndsWith(file, ".o") ? "\"weight_bytes\":"
                                                         : "\"text_bytes\":"),
              SumOf(entry, "\"of_steps\":"))
        << file;
  }
}

// Each byte of the objects is of a step, of another part of the code, or of the
// tables of the file; kernels are of the steps that use them.
TEST(CompileTest, AReportSumsToTheObjects) {
  if (!Has("g++") || !Has("ar")) GTEST_SKIP() << "there is no g++ or no ar";
  LibraryOptions options;
  options.isas = "avx2,sse2";
  const char* const model = testing::IsLongTest() ? kNetwork : kPerceptron;
  const std::string folder = Compiled("machine", model, options);
  ASSERT_EQ(
      OutputOf(folder, absl::StrCat("g++ -std=c++17 -O0 "
                                    "-g -c machine_avx2.cc machine_sse2.cc && "
                                    "ar rcs libm.a machine_sse2.o")),
      "");
  options.objects = absl::StrCat(folder, "/machine_avx2.o,", folder, "/libm.a");
  EXPECT_EQ(Compiled("machine", model, options), folder);
  const std::string report = TextOf(folder + "/machine.report.json");
  int64_t of_steps = 0;
  for (const auto& [name, file] :
       std::vector<std::pair<std::string, std::string>>{
           {"machine_avx2.o", "machine_avx2.o"},
           {"libm.a(machine_sse2.o)", "machine_sse2.o"}}) {
    const size_t at = report.find(absl::StrCat("{\"name\":\"", name, "\""));
    ASSERT_NE(at, std::string::npos) << report;
    const std::string entry = report.substr(at, report.find('\n', at) - at);
    const int64_t bytes =
        static_cast<int64_t>(TextOf(absl::StrCat(folder, "/", file)).size());
    const size_t sections = entry.find("\"of_sections\"");
    EXPECT_EQ(SumOf(entry.substr(0, sections), "\"bytes\":"), bytes);
    const int64_t steps = SumOf(entry, "\"of_steps\":");
    EXPECT_EQ(steps + SumOf(entry.substr(sections), "\"bytes\":") +
                  SumOf(entry, "\"of_tables\":"),
              bytes)
        << entry;
    of_steps += steps;
    // Most of the code is of steps.
    const int64_t text = std::atoll(
        OutputOf(folder, absl::StrCat("size -A ", file,
                                      " | awk '/^.text/ {s += $2} END {print "
                                      "s}'"))
            .c_str());
    const std::string of_text = "{\"section\":\".text\",\"bytes\":";
    EXPECT_LT(2 * SumOf(entry, of_text), text) << entry;
  }
  EXPECT_EQ(
      SumOf(report.substr(report.find("\n\"steps\":")), "\"code_bytes\":"),
      of_steps);
  EXPECT_EQ(SumOf(report, "\"code\":"), of_steps);
  options.model = folder + ".relay";
  options.output_dir = folder;
  options.objects = folder + "/machine.h";
  EXPECT_EQ(Mistake(options),
            "machine.h: the file is no relocatable file of ELF with 64 bits");
}

// A report in words has a line for each step, and why it has its kernel.
TEST(CompileTest, ReportsInWords) {
  LibraryOptions options;
  options.model = ModelFile("words.relay", kNetwork);
  options.output_dir = absl::StrCat(::testing::TempDir(), "/words");
  options.isas = "sse2";
  options.report = true;
  std::ostringstream out;
  ASSERT_EQ(CompileLibrary(options, out), absl::OkStatus());
  const std::string report = out.str();
  EXPECT_THAT(report,
              ::testing::ContainsRegex("\n +0 +[0-9]+ +[0-9]+ +[0-9]+.  conv"));
  EXPECT_THAT(report, HasSubstr(": nn.conv2d, words.relay:"));
  EXPECT_THAT(report, HasSubstr("\n  sum "));
  EXPECT_THAT(report,
              HasSubstr(absl::StrCat(
                  "\nwords_weights.o: ",
                  TextOf(options.output_dir + "/words_weights.o").size(),
                  " bytes, of steps ")));
}

// Each combination of sizes has steps of its own, and a report says which.
TEST(CompileTest, ReportsTheSizesOfSteps) {
  LibraryOptions options;
  options.model = ModelFile("sizes.relay", R"(
def @main(%x: Tensor[(meta[tir.Var][0], 3, meta[tir.Var][1]), float32]) {
  tanh(%x)
}
#[metadata]
{"root": 1, "nodes": [{"type_key": ""},
  {"type_key": "Map", "keys": ["tir.Var"], "data": [2]},
  {"type_key": "Array", "data": [3, 5]},
  {"type_key": "tir.Var", "attrs": {"dtype": "int32", "name": "4",
   "span": "0", "type_annotation": "0"}},
  {"type_key": "runtime.String", "repr_str": "n"},
  {"type_key": "tir.Var", "attrs": {"dtype": "int32", "name": "6",
   "span": "0", "type_annotation": "0"}},
  {"type_key": "runtime.String", "repr_str": "m"}],
 "b64ndarrays": [], "attrs": {"tvm_version": "0.14.0"}})");
  options.output_dir = absl::StrCat(::testing::TempDir(), "/sizes");
  options.isas = "sse2";
  options.dims = "n=1..2,m=4..6";
  options.report = true;
  std::ostringstream out;
  ASSERT_EQ(CompileLibrary(options, out), absl::OkStatus());
  EXPECT_THAT(out.str(), ::testing::ContainsRegex(
                             "\nsteps of n=1, m=4:\n +0 .*\nsteps of n=1, "
                             "m=5:\n +1 (.|\n)*\nsteps of n=2, m=6:\n +5 "));
  EXPECT_THAT(TextOf(options.output_dir + "/sizes.report.json"),
              HasSubstr(R"({"first_step":4,"sizes":{"n":2,"m":5}})"));
}

// Large values before a branch and a loop, in both, and behind them.
constexpr char kRegions[] = R"(
def @rounds(%i: int32, %x: Tensor[(1, 2000), float32], %y: Tensor[(1, 2000), float32]) -> Tensor[(1, 2000), float32] {
  if (less(%i, 3i32)) {
    %0 = nn.softmax(add(%x, %y));
    %1 = nn.softmax(nn.log_softmax(%0));
    @rounds(add(%i, 1i32), add(%1, %0), %y)
  } else {
    %x
  }
}
def @main(%x: Tensor[(1, 2000), float32]) {
  %0 = nn.softmax(%x);
  %1 = nn.log_softmax(%0);
  %2 = @rounds(0i32, %0, %1);
  %3 = if (less(mean(%x), 0f)) {
    add(nn.softmax(%2), nn.log_softmax(%2))
  } else {
    nn.softmax(%1)
  };
  nn.softmax(add(%3, %0))
}
)";

// The blocks of the arena at its peak and the rest are the arena.
TEST(CompileTest, AReportSaysWhatTheArenaOfBranchesAndLoopsHolds) {
  const std::string folder = Compiled("regions", kRegions);
  const std::string report = TextOf(folder + "/regions.report.json");
  const size_t begin = report.find("\"arena\":[");
  const size_t end = report.find("\"arena_rest\":");
  const std::string blocks = report.substr(begin, end - begin);
  const int64_t sum = SumOf(blocks, "\"arena_bytes\":");
  const int64_t rest = SumOf(report, "\"arena_rest\":");
  const int64_t bytes = SumOf(report.substr(0, begin), "\"arena_bytes\":");
  EXPECT_EQ(sum + rest, bytes);
  EXPECT_GE(rest, 0) << blocks;
  // The plan of a loop has places for a state before and after a round, of which
  // it holds one at a time.
  EXPECT_GT(3 * sum, bytes) << blocks;
}

TEST(CompileTest, AReportSaysWhatTheArenaHolds) {
  const std::string folder = Compiled("arena", kNetwork);
  const std::string report = TextOf(folder + "/arena.report.json");
  const size_t begin = report.find("\"arena\":[");
  const size_t end = report.find("\"arena_rest\":");
  ASSERT_NE(begin, std::string::npos);
  ASSERT_NE(end, std::string::npos);
  const int64_t sum =
      SumOf(report.substr(begin, end - begin), "\"arena_bytes\":");
  const int64_t bytes = SumOf(report.substr(0, begin), "\"arena_bytes\":");
  EXPECT_GT(bytes, 0);
  EXPECT_GT(2 * sum, bytes) << report.substr(begin, end - begin);
  EXPECT_EQ(sum + SumOf(report, "\"arena_rest\":"), bytes);
  EXPECT_THAT(report.substr(begin, end - begin),
              HasSubstr("\"origin\":\"nn.conv2d, arena.relay:11"));
}

// The text of a library of 5,000 nodes is below 4 MB.
TEST(CompileTest, CompilesManyNodes) {
  std::string body = "  %0 = tanh(%x);\n";
  constexpr const char* kCalls[] = {"exp(", "nn.softmax(", "tanh(", "atan(",
                                    "transpose("};
  for (int i = 1; i < 5000; ++i) {
    absl::StrAppend(&body, "  %", i, " = ", kCalls[i % 5], "%", i - 1,
                    i % 5 == 4 ? ", axes=[1, 0]" : "", ");\n");
  }
  LibraryOptions options;
  options.isas = "sse2";
  options.model = ModelFile(
      "many.relay", absl::StrCat("def @main(%x: Tensor[(4, 4), float32]) {\n",
                                 body, "  %4999\n}\n"));
  options.output_dir = absl::StrCat(::testing::TempDir(), "/many");
  std::ostringstream out;
  ASSERT_EQ(CompileLibrary(options, out), absl::OkStatus());
  EXPECT_LT(TextOf(options.output_dir + "/many_sse2.cc").size(), 4u << 20);
}

// The hash of a library is of its model alone, also where a branch needs no
// memory of its own.
TEST(CompileTest, BranchesGiveTheSameBytes) {
  constexpr char kModel[] = R"(
def @main(%x: Tensor[(1, 40), float32]) {
  if (less(mean(%x), 0f)) { exp(%x) } else { tanh(%x) }
}
)";
  std::map<std::string, std::string> contents[3];
  for (std::map<std::string, std::string>& files : contents) {
    const std::string folder = Compiled("branch", kModel);
    files = ContentsOf(folder);
    // Other memory for the next one.
    static_cast<void>(Compiled("other", kNetwork));
  }
  EXPECT_GE(contents[0].size(), 5u);
  EXPECT_TRUE(contents[0] == contents[1]);
  EXPECT_TRUE(contents[0] == contents[2]);
}

// Results of a text have numbers for names.
TEST(CompileTest, StateOfAText) {
  LibraryOptions options;
  options.state = "output_1:h";
  const std::string folder = Compiled("stateful", R"(
def @main(%x: Tensor[(1, 4), float32], %h: Tensor[(1, 4), float32]) {
  %0 = add(%x, %h);
  (exp(%0), %0)
}
)",
                                      options);
  const std::string header = TextOf(folder + "/stateful.h");
  EXPECT_THAT(header, HasSubstr("const float* x;"));
  EXPECT_THAT(header, ::testing::Not(HasSubstr("const float* h;")));
  EXPECT_THAT(header, ::testing::Not(HasSubstr("output_1;")));
}

}  // namespace
}  // namespace baton
