#include "baton/tools/compile.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
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
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/strings/substitute.h"
#include "baton/base/dtype.h"
#include "baton/base/tensor.h"
#include "baton/ir/diagnostics.h"
#include "baton/ir/module.h"
#include "baton/runtime/io/npy.h"
#include "baton/testing/external_data.h"
#include "baton/testing/status_matchers.h"
#include "baton/testing/test_settings.h"
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

std::string ModelFile(absl::string_view name, absl::string_view text) {
  const std::string path = absl::StrCat(::testing::TempDir(), "/", name);
  std::ofstream(path) << "#[version = \"0.0.5\"]\n" << text;
  return path;
}

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

constexpr char kPerceptron[] =
    R"(def @main(%x: Tensor[(1, 24), float32], %w0: Tensor[(40, 24), float32], %b0: Tensor[(40), float32], %w1: Tensor[(10, 40), float32]) {
  %0 = nn.dense(%x, %w0, units=40);
  %1 = add(%0, %b0);
  %2 = nn.relu(%1);
  %3 = nn.dense(%2, %w1, units=10);
  tanh(%3)
}
)";

std::string Mistake(const LibraryOptions& options) {
  std::ostringstream out;
  return std::string(CompileLibrary(options, out).message());
}

TEST(CompileTest, RefusesFlags) {
  LibraryOptions options;
  options.model = ModelFile("refused.relay", kPerceptron);
  options.output_dir = ::testing::TempDir();
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
  EXPECT_EQ(Mistake(options),
            "--dims: expected NAME=N or NAME=LEAST..MOST, as in batch=1..64, "
            "found `n=4..1`");
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

// --- What cannot be written ----------------------------------------------------

// The files of a folder and of those in it: their contents by their paths.
std::map<std::string, std::string> ContentsOf(const std::string& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    std::ifstream file(entry.path(), std::ios::binary);
    files[entry.path()] = std::string(std::istreambuf_iterator<char>(file), {});
  }
  return files;
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

bool Has(const std::string& tool) {
  return std::system(
             absl::StrCat(tool, " --version >/dev/null 2>&1").c_str()) == 0;
}

// The output of a command in a folder, with `exit CODE` at its end if the
// command fails.
std::string OutputOf(const std::string& folder, const std::string& command) {
  const std::string path = folder + "/output";
  const int code = std::system(
      absl::StrCat("cd ", folder, " && { ", command, "; } >", path, " 2>&1")
          .c_str());
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  text.clear();  // nothing was printed
  if (code != 0) text << "exit " << code;
  return text.str();
}

std::string TextOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<std::string> FilesOf(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

// All in the long form of tests.
std::vector<const char*> IsasToTest() {
  if (!testing::IsLongTest()) return {"avx2"};
  return {"avx512", "avx2", "sse2"};
}

// In the short form nothing is optimized, which takes two thirds of the time.
std::string Flags() {
  return absl::StrCat(" -std=c++17 ", testing::IsLongTest() ? "-O1" : "-O0",
                      " -Wall -Wextra -Werror -fno-exceptions -fno-rtti ");
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

// The library gives the evaluator's bytes.
TEST(CompileTest, CompilesAPerceptron) {
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
  if (std::system("g++ --version >/dev/null 2>&1") != 0) {
    GTEST_SKIP() << "there is no g++";
  }
  EXPECT_EQ(std::system(absl::StrCat(
                            "cd ", options.output_dir,
                            " && g++ -std=c++17 -O2 -Wall -Wextra -Werror *.cc "
                            "*.o -lm -o test && ./test")
                            .c_str()),
            0);
}

// The header says how far results are from those of the model without passes,
// and the test fails where they are farther.
TEST(CompileTest, HasANumericalContract) {
  LibraryOptions options;
  options.isas = "sse2";
  const auto error_of = [](const std::string& folder) {
    const std::string header = TextOf(folder + "/contract.h");
    const std::string name = "kMaxError = ";
    const size_t at = header.find(name);
    return at == std::string::npos ? -1 : std::atof(&header[at + name.size()]);
  };
  // Passes that are exact.
  std::string folder = Compiled("contract", kPerceptron, options);
  EXPECT_EQ(error_of(folder), 0);
  EXPECT_THAT(TextOf(folder + "/contract.h"),
              HasSubstr("`SimplifyInference,FoldConstant`"));
  // Weights and products in half floats.
  options.passes = "ToMixedPrecision";
  folder = Compiled("contract", kPerceptron, options);
  const double error = error_of(folder);
  EXPECT_GT(error, 1e-6);
  EXPECT_LT(error, 1e-1);
  EXPECT_THAT(TextOf(folder + "/contract.report.json"),
              HasSubstr("\"max_error\":"));
  const std::string run = absl::StrCat(
      "g++", Flags(), "contract_sse2.cc contract_test.cc *.o -lm -o t && ./t");
  if (!Has("g++")) GTEST_SKIP() << "there is no g++";
  EXPECT_EQ(OutputOf(folder, run), "sse2\n");
  options.max_error = error / 2;
  folder = Compiled("contract", kPerceptron, options);
  EXPECT_DOUBLE_EQ(error_of(folder), error / 2);
  EXPECT_THAT(OutputOf(folder, run),
              ::testing::ContainsRegex("output 0 is .* away from that of the "
                                       "model without passes, more than "
                                       "kMaxError"));
  options.max_error = error * 2;
  folder = Compiled("contract", kPerceptron, options);
  EXPECT_EQ(OutputOf(folder, run), "sse2\n");
  options.model = folder + ".relay";
  options.test = false;
  EXPECT_EQ(Mistake(options),
            "--max_error: needs --test, which measures the error");
}

// A network of convolutions, pools, concatenations, shuffles of channels,
// elementwise functions, products and softmax.
constexpr char kNetwork[] =
    R"(def @main(%x: Tensor[(1, 3, 19, 17), float32], %m: Tensor[(1, 9, 32), float32]) {
  %0 = sin(arange(0f, 648f, 1f, start=0f, stop=648f, step=1f, dtype="float32"));
  %1 = reshape(%0, newshape=[24, 3, 3, 3]);
  %2 = nn.conv2d(%x, %1, strides=[2, 2], padding=[1, 1, 1, 1], channels=24, kernel_size=[3, 3]);
  %3 = sin(arange(0f, 24f, 1f, start=0f, stop=24f, step=1f, dtype="float32"));
  %4 = nn.bias_add(%2, %3);
  %5 = nn.relu(%4);
  %6 = cos(arange(0f, 216f, 1f, start=0f, stop=216f, step=1f, dtype="float32"));
  %7 = reshape(%6, newshape=[24, 1, 3, 3]);
  %8 = nn.conv2d(%5, %7, padding=[1, 1, 1, 1], groups=24, channels=24, kernel_size=[3, 3]);
  %9 = add(%8, %5);
  %10 = clip(%9, a_min=-2f, a_max=2.5f);
  %11 = sin(arange(0f, 480f, 1f, start=0f, stop=480f, step=1f, dtype="float32"));
  %12 = reshape(%11, newshape=[20, 24, 1, 1]);
  %13 = nn.conv2d(%10, %12, channels=20, kernel_size=[1, 1]);
  %14 = sigmoid(%13);
  %15 = multiply(%14, %13);
  %16 = (%15, %10);
  %17 = concatenate(%16, axis=1);
  %18 = nn.max_pool2d(%17, pool_size=[3, 3], strides=[2, 2], padding=[1, 1, 1, 1]);
  %19 = nn.avg_pool2d(%18, pool_size=[2, 2], strides=[1, 1], padding=[0, 0, 0, 0]);
  %20 = nn.lrn(%19, size=5, axis=1, bias=2f, alpha=0.001f, beta=0.75f);
  %21 = nn.global_avg_pool2d(%20);
  %22 = nn.batch_flatten(%21);
  %23 = sin(arange(0f, 440f, 1f, start=0f, stop=440f, step=1f, dtype="float32"));
  %24 = reshape(%23, newshape=[10, 44]);
  %25 = nn.dense(%22, %24, units=10);
  %26 = transpose(%m, axes=[0, 2, 1]);
  %27 = nn.batch_matmul(%26, %m, transpose_b=False);
  %28 = nn.softmax(%25);
  %29 = erf(%27);
  (%28, %29, %19)
}
)";

// Products of few rows with matrices that are computed: with all columns of
// vectors, with some, and with none; in chunks, and in groups of chunks.
TEST(CompileTest, CompilesProductsOfFewRows) {
  if (!Has("g++")) GTEST_SKIP() << "there is no g++";
  std::string params;
  std::string body;
  std::string results;
  int number = 0;
  const auto add = [&](int batch, int m, int n, int k) {
    for (const char* transposed : {"True", "False"}) {
      const bool is = transposed[0] == 'T';
      absl::StrAppend(&params, number == 0 ? "" : ", ", "%a", number,
                      ": Tensor[(", batch, ", ", m, ", ", k, "), float32], %b",
                      number, ": Tensor[(", batch, ", ", is ? n : k, ", ",
                      is ? k : n, "), float32]");
      absl::StrAppend(&body, "  %", number, " = nn.batch_matmul(%a", number,
                      ", %b", number, ", transpose_b=", transposed, ");\n");
      absl::StrAppend(&results, number == 0 ? "" : ", ", "%", number);
      ++number;
    }
  };
  add(2, 1, 77, 300);
  add(1, 3, 5, 3);
  add(1, 1, 17, 4700);
  // Columns are packed sixteen at a time, and the rest one by one.
  add(2, 5, 37, 50);
  add(3, 4, 16, 16);
  LibraryOptions options;
  options.check_values = true;
  const std::string network = absl::StrCat("def @main(", params, ") {\n", body,
                                           "  (", results, ")\n}\n");
  for (const char* isa : IsasToTest()) {
    options.isas = isa;
    const std::string name = absl::StrCat("few_rows_", isa);
    const std::string folder = Compiled(name, network, options);
    const std::string text =
        TextOf(absl::StrCat(folder, "/", name, "_", isa, ".cc"));
    EXPECT_THAT(text, HasSubstr("kernels::Dots(1, 77, 300"));
    EXPECT_THAT(text, HasSubstr("kernels::Dots(3, 5, 3"));
    EXPECT_THAT(text, HasSubstr("kernels::PackMatrix(37, 50"));
    // The matrix is packed for sums of more than one group.
    EXPECT_THAT(text, ::testing::Not(HasSubstr("kernels::Dots(1, 17")));
    EXPECT_THAT(
        OutputOf(folder,
                 absl::StrCat("g++", Flags(), "*.cc *.o -lm -o t && ./t")),
        ::testing::AnyOf(absl::StrCat(isa, "\n"), HasSubstr("skipped")));
  }
}

constexpr char kBytes[] =
    R"(
def @main(%x: Tensor[(1, 16, 9, 9), uint8], %m: Tensor[(17, 64), int8]) {
  %0 = sin(arange(0f, 11520f, 1f, start=0f, stop=11520f, step=1f, dtype="float32"));
  %1 = cast(multiply(%0, 100f), dtype="int8");
  %2 = reshape(strided_slice(%1, begin=[0], end=[4608], strides=[1], axes=None), newshape=[32, 16, 3, 3]);
  %3 = nn.conv2d(%x, %2, padding=[1, 1, 1, 1], channels=32, kernel_size=[3, 3], out_dtype="int32");
  %4 = arange(0f, 32f, 1f, start=0f, stop=32f, step=1f, dtype="float32");
  %5 = reshape(cast(%4, dtype="int32"), newshape=[1, 32, 1, 1]);
  %6 = round(multiply(cast(add(%3, %5), dtype="float32"), 0.003f));
  %7 = cast(clip(add(%6, 131f), a_min=0f, a_max=255f), dtype="uint8");
  %8 = nn.conv2d(%7, reshape(%1, newshape=[40, 32, 3, 3]), strides=[2, 2], channels=40, kernel_size=[3, 3], out_dtype="int32");
  %9 = reshape(strided_slice(%1, begin=[0], end=[2112], strides=[1], axes=None), newshape=[33, 64]);
  %10 = nn.dense(%m, %9, units=33, out_dtype="int32");
  %11 = multiply(cast(%m, dtype="int32"), 1000);
  %12 = subtract(cast(%9, dtype="int32"), 300);
  %13 = reshape(strided_slice(%1, begin=[0], end=[288], strides=[1], axes=None), newshape=[32, 1, 3, 3]);
  %14 = nn.conv2d(%7, %13, padding=[1, 1, 1, 1], groups=32, channels=32, kernel_size=[3, 3], out_dtype="int32");
  %15 = nn.relu(add(multiply(cast(%14, dtype="float32"), 0.002f), reshape(%4, newshape=[32, 1, 1])));
  %16 = cast(clip(round(divide(%15, 0.3f)), a_min=0f, a_max=255f), dtype="uint8");
  (%8, nn.conv2d(%x, %2, channels=32, kernel_size=[3, 3], out_dtype="int32"), %10, nn.dense(%11, %12, units=33, out_dtype="int32"), %16)
}
)";

// Convolutions of bytes and products of integers are the executor's kernels, for
// each set of instructions; with AVX-512 there are processors without VNNI, which
// give the same bytes.
TEST(CompileTest, CompilesKernelsOfBytes) {
  LibraryOptions options;
  options.check_values = true;
  options.threads = true;
  for (const char* isa : IsasToTest()) {
    options.isas = isa;
    const std::string name = absl::StrCat("bytes_", isa);
    const std::string folder = Compiled(name, kBytes, options);
    const std::string path = absl::StrCat(folder, "/", name, "_", isa, ".cc");
    const std::string text = TextOf(path);
    for (const char* const call :
         {"kernels::Int8ConvToBytes(kPlan", "kernels::Int8Conv(kPlan",
          "kernels::IntMatmul(kPlan"}) {
      EXPECT_THAT(text, HasSubstr(call));
    }
    EXPECT_THAT(text, Not(HasSubstr("nn_conv2d_")));
    EXPECT_THAT(text, Not(HasSubstr("nn_dense_")));
    if (Has("clang++")) {
      EXPECT_EQ(OutputOf(folder, absl::StrCat("clang++", Flags(),
                                              "-fsyntax-only *.cc")),
                "");
    }
    // g++-11 has no __builtin_shufflevector.
    if (Has("g++-11")) {
      EXPECT_EQ(
          OutputOf(folder, absl::StrCat("g++-11", Flags(), "-fsyntax-only ",
                                        name, "_", isa, ".cc")),
          "");
    }
    if (!Has("g++")) continue;
    // The compiler takes the most time, in sources that ask for all of its work.
    std::ofstream(path) << absl::StrReplaceAll(text, {{", \"O3\")", ")"}});
    const std::string run =
        absl::StrCat("g++", Flags(), "*.cc *.o -lm -o t && ./t");
    const auto passes =
        ::testing::AnyOf(absl::StrCat(isa, "\n"), HasSubstr("skipped"));
    EXPECT_THAT(OutputOf(folder, run), passes);
    if (!absl::StrContains(text, "c >> 11 & b")) {
      EXPECT_NE(isa, absl::string_view("avx512"));
      continue;
    }
    std::ofstream(path) << absl::StrReplaceAll(
        text, {{", \"O3\")", ")"}, {"c >> 11 & b", "0 & b"}});
    EXPECT_THAT(OutputOf(folder, run), passes);
  }
}

// Groups of integers, bools and casts are loops over vectors, as those of floats
// are: for all ways to read operands and to write results, and for floats that
// no integer has.
TEST(CompileTest, CompilesGroupsOfIntegers) {
  LibraryOptions options;
  options.check_values = true;
  options.threads = true;
  for (const char* isa : IsasToTest()) {
    options.isas = isa;
    const std::string name = absl::StrCat("integers_", isa);
    const std::string folder = Compiled(name, R"(
def @main(%f: Tensor[(3, 5, 421), float32], %a: Tensor[(3, 5, 421), int32], %b: Tensor[(5, 1), int32],
    %u: Tensor[(3, 5, 421), uint8], %v: Tensor[(421), uint8], %i: Tensor[(3, 1, 421), int8], %c: Tensor[(3, 5, 421), bool],
    %d: Tensor[(421), bool], %n: int32, %m: uint8) {
  %0 = multiply(cast(multiply(%f, 3e+9f), dtype="int32"), %a);
  %1 = subtract(add(%0, %b), %n);
  %2 = cast(clip(maximum(minimum(%1, %a), %b), a_min=-300f, a_max=1e+6f), dtype="uint8");
  %3 = multiply(add(%u, %v), subtract(%u, %m));
  %4 = cast(maximum(%u, %v), dtype="float32");
  %5 = add(cast(%u, dtype="float32"), %f);
  %6 = cast(exp(multiply(%f, 60f)), dtype="int32");
  %7 = negative(exp(multiply(%f, 60f)));
  %8 = cast(%7, dtype="int8");
  %9 = cast(divide(%f, subtract(%f, %f)), dtype="uint8");
  %10 = cast(divide(subtract(%f, %f), subtract(%f, %f)), dtype="int32");
  %11 = where(logical_or(less(%a, %b), logical_and(%c, %d)), %f, %5);
  %12 = where(logical_not(greater_equal(%f, 0f)), %a, %n);
  %13 = cast(logical_or(equal(%u, %v), not_equal(%f, %5)), dtype="int32");
  %14 = cast(less_equal(%a, %b), dtype="uint8");
  %15 = fixed_point_multiply(%0, multiplier=1518500250, shift=-9);
  %16 = cast(fixed_point_multiply(%0, multiplier=-1073741825, shift=3), dtype="int8");
  %17 = zeros(shape=[5], dtype="int32");
  %18 = cast(multiply(arange(0f, 5f, 1f, start=0f, stop=5f, step=1f, dtype="float32"), 2e+8f), dtype="int32");
  %19 = cast(arange(1f, 6f, 1f, start=1f, stop=6f, step=1f, dtype="float32"), dtype="int32");
  %20 = fixed_point_multiply_per_axis(%0, %18, %17, %19, is_rshift_required=True, axes=[1]);
  %21 = fixed_point_multiply_per_axis(%0, %18, %17, %17, axes=[1]);
  %22 = greater(cast(%i, dtype="int32"), %b);
  %23 = cast(%a, dtype="bool");
  %24 = cast(multiply(cast(%i, dtype="float32"), 1.7f), dtype="int8");
  %25 = cast(cast(%f, dtype="int32"), dtype="float32");
  (%1, %2, %3, %4, %5, %6, %8, %9, %10, %11, %12, %13, %14, %15, %16, %20, %21, %22, %23, %24, %25)
}
)",
                                        options);
    const std::string text =
        TextOf(absl::StrCat(folder, "/", name, "_", isa, ".cc"));
    EXPECT_THAT(text, Not(HasSubstr("    for (int32_t ")));
    if (Has("clang++")) {
      EXPECT_EQ(OutputOf(folder, absl::StrCat("clang++", Flags(),
                                              "-fsyntax-only *.cc")),
                "");
    }
    if (!Has("g++")) continue;
    EXPECT_THAT(
        OutputOf(folder,
                 absl::StrCat("g++", Flags(), "*.cc *.o -lm -o t && ./t")),
        ::testing::AnyOf(absl::StrCat(isa, "\n"), HasSubstr("skipped")));
  }
}

// The branch that is chosen is computed alone, also where it may fail.
TEST(CompileTest, CompilesBranches) {
  LibraryOptions options;
  options.isas = "sse2";
  options.check_values = true;
  options.threads = true;
  options.profile = true;
  const std::string folder = Compiled("branches", R"(
def @main(%x: Tensor[(1, 4), float32], %i: Tensor[(1, 4), int64]) {
  %0 = mean(%x);
  %1 = if (greater(%0, 0.3f)) {
    (exp(%x), mean(%x, axis=[1]))
  } else {
    %2 = (%x, sum(%x, axis=[1]));
    %2
  };
  %3 = if (less(%0, 1f)) { tanh(%1.0) } else { add(%1.0, %1.1) };
  %4 = if (greater(%0, 100f)) {
    gather(%x, add(%i, 1000i64), axis=1)
  } else {
    %5 = nn.dense(%3, reshape(arange(0f, 16f, 1f, start=0f, stop=16f, step=1f, dtype="float32"), newshape=[4, 4]), units=4);
    if (less(%0, 0f)) { nn.softmax(%5) } else { nn.relu(%5) }
  };
  (%3, %4)
}
)",
                                      options);
  const std::string text = TextOf(folder + "/branches_sse2.cc");
  EXPECT_THAT(text, HasSubstr("  } else {\n"));
  if (!Has("g++")) GTEST_SKIP() << "there is no g++";
  EXPECT_EQ(OutputOf(folder, absl::StrCat("g++", Flags(),
                                          "*.cc *.o -lm -o test && ./test")),
            "sse2\n");
}

// Tensors without elements: there is nothing to compute, or what does not depend
// on the input.
TEST(CompileTest, CompilesTensorsWithoutElements) {
  LibraryOptions options;
  options.isas = "sse2";
  options.check_values = true;
  const std::string folder = Compiled("empty", R"(
def @main(%x: Tensor[(1, 0, 4), float32], %y: Tensor[(1, 2, 4), float32]) {
  %0 = concatenate((%x, exp(%y), tanh(%x)), axis=1);
  %1 = nn.softmax(%x);
  %2 = max(%x, axis=[2]);
  %3 = sum(%x, axis=[1]);
  %4 = nn.pad(%x, 1f, pad_width=[[0, 0], [1, 1], [0, 0]]);
  %5 = add(%3, %4);
  %6 = nn.batch_matmul(transpose(%x, axes=[0, 2, 1]), %1);
  (%0, %1, %2, %3, %4, %5, %6)
}
)",
                                      options);
  if (!Has("g++")) GTEST_SKIP() << "there is no g++";
  EXPECT_EQ(OutputOf(folder, absl::StrCat("g++", Flags(),
                                          "*.cc *.o -lm -o test && ./test")),
            "sse2\n");
}

// An index of what has no elements is out of range, whichever it is: the run
// ends, if it comes there.
TEST(CompileTest, ReadingFromNothingEndsARun) {
  LibraryOptions options;
  options.isas = "sse2";
  options.check_values = true;
  std::string text =
      "def @main(%y: Tensor[(1), float32], %x: Tensor[(0, 3), float32], "
      "%i: Tensor[(2), int64], %n: Tensor[(1, 2), int64], %e: Tensor[(2, 3), "
      "int64]) {\n";
  const std::vector<std::string> calls = {"take(%x, %i, axis=0)",
                                          "take(%x, %i, axis=0, mode=\"wrap\")",
                                          "take(%x, %i, axis=0, mode=\"fast\")",
                                          "take(%x, 1i64, axis=0)",
                                          "gather_nd(%x, %n)",
                                          "gather(%x, %e, axis=0)",
                                          "adv_index((%x, %i))"};
  std::vector<std::string> results;
  for (size_t k = 0; k < calls.size(); ++k) {
    results.push_back(absl::StrCat("%", k));
    absl::StrAppend(&text, "  %", k, " = if (not_equal(mean(%y), ", k + 1,
                    "f)) { sum(%y) } else { sum(", calls[k], ") };\n");
  }
  absl::StrAppend(&text, "  (", absl::StrJoin(results, ", "), ")\n}\n");
  const std::string folder = Compiled("nothing", text, options);
  if (!Has("g++")) GTEST_SKIP() << "there is no g++";
  std::ofstream(folder + "/use.cpp") << R"(
#include <cstdio>
#include "nothing.h"
int main() {
  alignas(64) static unsigned char arena[nothing::kArenaBytes];
  nothing model(arena);
  const std::int64_t indices[6] = {};
  float to[7];
  for (int i = 0; i < 8; ++i) {
    const float y = i;
    const auto error = model.Run(
        {&y, nullptr, indices, indices, indices},
        {to, to + 1, to + 2, to + 3, to + 4, to + 5, to + 6});
    std::printf("%d", static_cast<int>(error));
  }
}
)";
  EXPECT_EQ(OutputOf(folder, absl::StrCat("g++", Flags(),
                                          "nothing_sse2.cc nothing_test.cc *.o "
                                          "-lm -o test && ./test && g++",
                                          Flags(),
                                          "use.cpp nothing_sse2.cc "
                                          "nothing_weights.o -lm -o use && "
                                          "./use")),
            "sse2\n01111111");
}

// The library computes a function that passes made for another compiler, which
// is not here, and whose code is in the module.
TEST(CompileTest, CompilesPartitionedModels) {
  LibraryOptions options;
  options.isas = "sse2";
  const std::string folder = Compiled("partitioned", R"(
def @main(%x: Tensor[(4, 5), float32]) {
  %0 = @part(exp(%x));
  tanh(%0)
}
def @part(%y: Tensor[(4, 5), float32], Primitive=1, Inline=1, Compiler="acme", global_symbol="part", artifact_name="part.c", artifact="void part();") -> Tensor[(4, 5), float32] {
  nn.softmax(%y)
}
)",
                                      options);
  if (!Has("g++")) GTEST_SKIP() << "there is no g++";
  EXPECT_EQ(OutputOf(folder, absl::StrCat("g++", Flags(),
                                          "*.cc *.o -lm -o test && ./test")),
            "sse2\n");
}

// Images are resized by tables of positions and weights, which are constants of
// the library.
TEST(CompileTest, CompilesResizes) {
  LibraryOptions options;
  options.isas = "avx2";
  options.check_values = true;
  const std::string folder = Compiled("resized", R"(
def @main(%x: Tensor[(1, 16, 6, 5), float32], %m: Tensor[(4, 4), float32]) {
  %0 = image.resize2d(%x, size=[12, 10], roi=[0f, 0f, 0f, 0f], method="nearest_neighbor", coordinate_transformation_mode="asymmetric", rounding_method="floor");
  %1 = image.resize2d(%x, size=[13, 4], roi=[0f, 0f, 0f, 0f], method="linear");
  %2 = image.resize2d(%x, size=[3, 11], roi=[0f, 0f, 0f, 0f], method="cubic");
  %3 = nn.upsampling(nn.relu(%x), scale_h=2f, scale_w=2f);
  (%0, %1, %2, %3, trilu(%m, 0i64))
}
)",
                                      options);
  if (!Has("g++")) GTEST_SKIP() << "there is no g++";
  EXPECT_EQ(OutputOf(folder, absl::StrCat("g++", Flags(),
                                          "*.cc *.o -lm -o test && ./test")),
            "avx2\n");
}

// Statements in an order, whose indices are inputs: of scans, of the largest
// elements, of elements at indices.
TEST(CompileTest, CompilesStatementsInOrder) {
  LibraryOptions options;
  options.isas = "sse2";
  const std::string folder = Compiled("ordered", R"(
def @main(%x: Tensor[(3, 7), float32], %h: Tensor[(2, 9), float16],
          %i: Tensor[(2, 5), int64], %u: Tensor[(5), float32]) {
  %0 = minimum(maximum(%i, -2i64), 1i64);
  %1 = topk(%x, k=3, axis=1, ret_type="both", is_ascend=0, dtype="int32");
  %2 = topk(%h, k=4, axis=-1, ret_type="values", is_ascend=1, dtype="int32");
  %3 = cumsum(%x, axis=0);
  %4 = gather_nd(%x, %0, batch_dims=0, index_rank=2);
  %5 = scatter_nd(%x, %0, %u, mode="add");
  (%1.0, %1.1, %2, %3, %4, %5)
}
)",
                                      options);
  if (!Has("g++")) GTEST_SKIP() << "there is no g++";
  EXPECT_EQ(OutputOf(folder, absl::StrCat("g++", Flags(),
                                          "*.cc *.o -lm -o test && ./test")),
            "sse2\n");
}

// Scatters without updates are copies.
TEST(CompileTest, CompilesScattersOfNothing) {
  LibraryOptions options;
  options.isas = "avx2";
  options.check_values = true;
  const std::string folder = Compiled("nothing_scattered", R"(
def @main(%x: Tensor[(3, 7), float32], %i: Tensor[(2, 0), int64], %u: Tensor[(0), float32],
          %j: Tensor[(3, 0), int64], %v: Tensor[(3, 0), float32]) {
  (scatter_nd(%x, %i, %u, mode="add"), scatter_elements(nn.relu(%x), %j, %v, axis=1))
}
)",
                                      options);
  if (!Has("g++")) GTEST_SKIP() << "there is no g++";
  EXPECT_EQ(OutputOf(folder, absl::StrCat("g++", Flags(),
                                          "*.cc *.o -lm -o test && ./test")),
            "avx2\n");
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

// Powers are parts of groups of functions: ordinary ones, and those of zeros,
// negative numbers and infinities.
TEST(CompileTest, CompilesPowers) {
  LibraryOptions options;
  options.check_values = true;
  for (const char* isa : IsasToTest()) {
    options.isas = isa;
    const std::string name = absl::StrCat("powers_", isa);
    const std::string folder = Compiled(name, R"(
def @main(%x: Tensor[(3, 421), float32], %y: Tensor[(421), float32]) {
  %0 = add(power(abs(%x), 0.75f), %y);
  %1 = divide(%x, power(add(1f, multiply(0.0001f, multiply(%x, %x))), 0.75f));
  %2 = power(multiply(ceil(multiply(%x, 2f)), 3f), 3f);
  %3 = power(divide(%x, subtract(%y, %y)), -1.5f);
  %4 = exp(power(subtract(%x, %y), 2f));
  (%0, %1, %2, %3, %4)
}
)",
                                        options);
    const std::string text =
        TextOf(absl::StrCat(folder, "/", name, "_", isa, ".cc"));
    EXPECT_THAT(text, Not(HasSubstr("    for (int32_t ")));
    if (!Has("g++")) continue;
    EXPECT_THAT(
        OutputOf(folder,
                 absl::StrCat("g++", Flags(), "*.cc *.o -lm -o t && ./t")),
        ::testing::AnyOf(absl::StrCat(isa, "\n"), HasSubstr("skipped")));
  }
}

// Half floats are computed by the kernels of float32, and rounded in groups of
// functions.
TEST(CompileTest, CompilesHalfFloats) {
  LibraryOptions options;
  options.check_values = true;
  for (const char* dtype : {"float16", "bfloat16"}) {
    for (const char* isa : {"avx2", "sse2"}) {
      options.isas = isa;
      const std::string name = absl::StrCat(dtype, "_", isa);
      const std::string folder = Compiled(
          name,
          absl::StrReplaceAll(R"(
def @main(%x: Tensor[(1, 20, 9, 7), H], %b: Tensor[(32), H],
          %m: Tensor[(1, 40, 63), H], %c: bool) {
  %7 = cast(reshape(sin(arange(0f, 5760f, 1f, start=0f, stop=5760f, step=1f, dtype="float32")), newshape=[32, 20, 3, 3]), dtype="H");
  %0 = nn.relu(nn.bias_add(nn.conv2d(%x, %7, padding=[1, 1, 1, 1], channels=32, kernel_size=[3, 3]), %b));
  %1 = reshape(nn.max_pool2d(%0, pool_size=[1, 1], padding=[0, 0, 0, 0]), newshape=[1, 32, 63]);
  %2 = nn.batch_matmul(%1, %m, transpose_b=True);
  %3 = nn.softmax(add(%2, multiply(exp(%2), tanh(%2))), axis=-1);
  %4 = cast(%3, dtype="float32");
  %5 = cast(add(%4, 1.5f), dtype="H");
  %6 = if (%c) { multiply(%5, sigmoid(%3)) } else { sqrt(abs(%5)) };
  (%0, %3, %4, %5, %6, cast(%2, dtype="int8"), power(abs(%2), cast(0.75f, dtype="H")))
}
)",
                              {{"H]", absl::StrCat(dtype, "]")},
                               {"\"H\"", absl::StrCat("\"", dtype, "\"")}}),
          options);
      EXPECT_THAT(TextOf(absl::StrCat(folder, "/", name, "_", isa, ".cc")),
                  HasSubstr("ConvByTiles("));
      if (!Has("g++")) continue;
      EXPECT_EQ(OutputOf(folder, absl::StrCat("g++", Flags(),
                                              "*.cc *.o -lm -o t && ./t")),
                absl::StrCat(isa, "\n"));
    }
  }
}

// Threads divide a convolution into bands; fewer threads take larger ones.
TEST(CompileTest, FewerThreadsTakeLargerBands) {
  LibraryOptions options;
  options.threads = true;
  options.max_threads = 3;
  options.isas = "avx2";
  const std::string folder = Compiled("bands", R"(
def @main(%x: Tensor[(1, 64, 28, 28), float32]) {
  %0 = reshape(arange(0f, 36864f, 1f, start=0f, stop=36864f, step=1f, dtype="float32"), newshape=[64, 64, 3, 3]);
  %1 = subtract(divide(%0, 18432f), 1f);
  %2 = nn.relu(nn.conv2d(%x, %1, padding=[1, 1], channels=64, kernel_size=[3, 3]));
  nn.conv2d_transpose(%2, %1, strides=[2, 2], padding=[1, 1], channels=64, kernel_size=[3, 3])
}
)",
                                      options);
  EXPECT_THAT(TextOf(folder + "/bands_avx2.cc"),
              ContainsRegex("\\(m.level < 2 \\? shared::conv_[0-9a-f]+ : "
                            "shared::conv_[0-9a-f]+\\)"));
  EXPECT_THAT(TextOf(folder + "/bands.h"), HasSubstr("kMaxThreads = 3;"));
  // The report has the functions for any number of threads, and the items of a
  // run of the most.
  EXPECT_THAT(TextOf(folder + "/bands_avx2.cc"),
              HasSubstr("m.level < 2 ? 4 : 6"));
  EXPECT_THAT(TextOf(folder + "/bands.report.json"),
              ContainsRegex("\"functions\":\\[\"conv_[0-9a-f]+\","
                            "\"conv_[0-9a-f]+\"\\],[^\n]*\"items\":6,"));
  if (!Has("g++")) GTEST_SKIP() << "there is no g++";
  EXPECT_EQ(OutputOf(folder, absl::StrCat("g++", Flags(),
                                          "*.cc *.o -lm -o test && ./test")),
            "avx2\n");
}

// Convolutions over three axes use the kernel of those over two.
TEST(CompileTest, CompilesConvolutionsOverThreeAxes) {
  LibraryOptions options;
  options.check_values = true;
  options.isas = "avx2";
  const std::string folder = Compiled("videos", R"(
def @main(%x: Tensor[(1, 3, 5, 9, 8), float32]) {
  %0 = reshape(arange(0f, 2592f, 1f, start=0f, stop=2592f, step=1f, dtype="float32"), newshape=[32, 3, 3, 3, 3]);
  %1 = reshape(arange(0f, 9216f, 1f, start=0f, stop=9216f, step=1f, dtype="float32"), newshape=[18, 32, 2, 2, 4]);
  %2 = subtract(divide(%0, 1296f), 1f);
  %3 = subtract(divide(%1, 4608f), 1f);
  %4 = nn.relu(nn.conv3d(%x, %2, strides=[1, 2, 1], padding=[1, 1, 1], channels=32, kernel_size=[3, 3, 3]));
  nn.conv3d(%4, %3, padding=[0, 1, 2], channels=18, kernel_size=[2, 2, 4])
}
)",
                                      options);
  EXPECT_THAT(TextOf(absl::StrCat(folder, "/videos_avx2.cc")),
              HasSubstr("ConvByTiles("));
  if (!Has("g++")) GTEST_SKIP() << "there is no g++";
  EXPECT_EQ(OutputOf(folder, absl::StrCat("g++", Flags(),
                                          "*.cc *.o -lm -o test && ./test")),
            "avx2\n");
}

// Loops over as many samples and boxes as values say.
TEST(CompileTest, CompilesDetections) {
  LibraryOptions options;
  options.isas = "sse2";
  const std::string folder = Compiled("detected", R"(
def @main(%x: Tensor[(2, 3, 5, 6), float32], %n: Tensor[(9, 1), float32],
          %c: Tensor[(9, 4), float32], %b: Tensor[(1, 17, 4), float32],
          %s: Tensor[(1, 3, 17), float32], %w: Tensor[(6), float32]) {
  %0 = concatenate((floor(multiply(abs(%n), 1.9f)), multiply(%c, 12f)), axis=1);
  %1 = vision.roi_align(%x, %0, pooled_size=[2, 3], spatial_scale=0.5f64, sample_ratio=-1);
  %2 = vision.roi_align_half_pixel(%x, %0, pooled_size=[2, 3], spatial_scale=1f64, sample_ratio=2, mode="max");
  %3 = vision.roi_pool(%x, %0, pooled_size=[2, 2], spatial_scale=1f64);
  %4 = vision.all_class_non_max_suppression(%b, %s, 4i64, 0.2f, -0.5f);
  %5 = stft(reshape(%x, newshape=[2, 90]), %w, n_fft=6, hop_length=4);
  (%1, %2, %3, %4.0, %4.1, %5)
}
)",
                                      options);
  if (!Has("g++")) GTEST_SKIP() << "there is no g++";
  EXPECT_EQ(OutputOf(folder, absl::StrCat("g++", Flags(),
                                          "*.cc *.o -lm -o test && ./test")),
            "sse2\n");
}

constexpr char kChosen[] = R"(
def @main(%b: Tensor[(1, 17, 4), float32], %s: Tensor[(1, 3, 17), float32], %f: Tensor[(17, 5), float32]) {
  %0 = vision.all_class_non_max_suppression(%b, %s, 4i64, 0.2f, -0.5f);
  %1 = dyn.strided_slice(%0.0, zeros(shape=[1], dtype="int64"), %0.1, ones(shape=[1], dtype="int64"), begin=None, end=None, strides=None, axes=None);
  %2 = take(%1, 2i64, axis=1);
  %3 = take(%f, %2, axis=0, mode="fast");
  %4 = take(reshape(%b, newshape=[17, 4]), %2, axis=0);
  %5 = concatenate((%4, %3, cast(%1, dtype="float32")), axis=1);
  %6 = argwhere(greater(%s, 0f));
  (%1, %5, transpose(%6, axes=[1, 0]), exp(%b))
}
)";

// Results have the memory of the largest that they may be, and extents.
TEST(CompileTest, CompilesResultsOfManySizes) {
  LibraryOptions options;
  options.isas = "sse2";
  options.check_values = true;
  options.threads = true;
  const std::string folder = Compiled("chosen", kChosen, options);
  const std::string header = TextOf(folder + "/chosen.h");
  EXPECT_THAT(header,
              HasSubstr("std::int64_t* output_0;  // at most int64[12,3]: "
                        "row-major, of the extents in output_0_shape\n"));
  EXPECT_THAT(header, HasSubstr("float* output_1;  // at most float32[12,12]"));
  EXPECT_THAT(header, HasSubstr("int32_t* output_2;  // at most int32[3,51]"));
  EXPECT_THAT(header, HasSubstr("std::int64_t* output_2_shape;  // int64[2]: "
                                "the extents of output_2\n"));
  if (!Has("g++")) GTEST_SKIP() << "there is no g++";
  EXPECT_EQ(OutputOf(folder, absl::StrCat("g++", Flags(),
                                          "*.cc *.o -lm -o test && ./test")),
            "sse2\n");
}

constexpr char kFound[] = R"(
#include <cstdint>
#include <cstdio>
#include "found.h"
alignas(found::kArenaAlign) static unsigned char arena[found::kArenaBytes];
int main() {
  found model(arena);
  for (int count = 0; count <= 6; ++count) {
    float x[6] = {};
    for (int i = 0; i < count; ++i) x[i] = 1;
    std::int32_t rows[6], last[1];
    std::int64_t shape[2];
    found::Outputs outputs = {};
    outputs.output_0 = rows;
    outputs.output_0_shape = shape;
    outputs.output_1 = last;
    std::printf("%d", static_cast<int>(model.Run({x}, outputs)));
  }
}
)";

// Three of what is found make a row, and nothing has no largest element.
TEST(CompileTest, FaultsThatDependOnWhatIsFoundEndARun) {
  LibraryOptions options;
  options.isas = "sse2";
  const std::string folder = Compiled("found", R"(
def @main(%x: Tensor[(6), float32]) {
  %0 = argwhere(%x);
  (reshape(%0, newshape=[-1, 3]), argmax(%0, axis=[0]))
}
)",
                                      options);
  if (!Has("g++")) GTEST_SKIP() << "there is no g++";
  std::ofstream(folder + "/use.cpp") << kFound;
  // All but 3 and 6 elements are Error::kValue.
  EXPECT_EQ(OutputOf(folder, absl::StrCat("g++", Flags(),
                                          "use.cpp found_sse2.cc *.o -lm -o "
                                          "use && ./use")),
            "1110110");
}

// Loops run as often as values say.
TEST(CompileTest, CompilesLoops) {
  LibraryOptions options;
  options.isas = "sse2";
  options.check_values = true;
  options.threads = true;
  const std::string folder = Compiled("loops", R"(
def @rounds(%i: int32, %n: int32, %x: Tensor[(2, 3), float32], %y: Tensor[(2, 3), float32]) -> (Tensor[(2, 3), float32], int32) {
  if (less(%i, %n)) {
    %0 = tanh(add(%x, %y));
    %1 = if (greater(max(%0), 0.5f)) { multiply(%0, 0.5f) } else { %0 };
    @rounds(add(%i, 1i32), %n, %1, %y)
  } else {
    (exp(%x), %i)
  }
}
def @main(%x: Tensor[(2, 3), float32], %n: int32) {
  @rounds(0i32, add(mod(%n, 3i32), 7i32), %x, %x)
}
)",
                                      options);
  EXPECT_THAT(TextOf(folder + "/loops_sse2.cc"), HasSubstr("  for (;;) {\n"));
  if (!Has("g++")) GTEST_SKIP() << "there is no g++";
  EXPECT_EQ(OutputOf(folder, absl::StrCat("g++", Flags(),
                                          "*.cc *.o -lm -o test && ./test")),
            "sse2\n");
}

// The stacks of a loop are as large as the values say, up to a bound.
TEST(CompileTest, CompilesLoopsThatStack) {
  const auto text = [](absl::string_view limit) {
    return absl::StrCat(R"(
def @main(%x: Tensor[(2, 3), float32], %n: int64) {
  let %loop = fn (%i: int64, %go: bool, %n: int64, %s: Tensor[(2, 3), float32], %all: Tensor[(?, 2, 3), float32]) -> (Tensor[(2, 3), float32], Tensor[(?, 2, 3), float32]) {
    if (logical_and(%go, less(%i, %n))) {
      %0 = tanh(add(%s, 1f));
      %loop(add(%i, 1i64), less(min(%0), 0.9f), %n, %0, concatenate((%all, expand_dims(%0, axis=0)), axis=0))
    } else {
      (%s, %all)
    }
  };
  %1 = %loop(0i64, True, )",
                        limit,
                        R"(, %x, zeros(shape=[0, 2, 3], dtype="float32"));
  (%1.0, exp(%1.1))
}
)");
  };
  LibraryOptions options;
  options.isas = "sse2";
  options.check_values = true;
  options.threads = true;
  const std::string folder =
      Compiled("stacked", text("minimum(abs(%n), 6i64)"), options);
  EXPECT_THAT(
      TextOf(folder + "/stacked.h"),
      HasSubstr("float* output_1;  // at most float32[6,2,3]: row-major, "
                "of the extents in output_1_shape\n"));
  LibraryOptions unbounded;
  unbounded.model = ModelFile("unbounded.relay", text("%n"));
  unbounded.output_dir = ::testing::TempDir();
  EXPECT_THAT(
      Mistake(unbounded),
      HasSubstr("unbounded.relay:12:8: error: values decide how large the "
                "results of a loop are: they have no bound (its number of "
                "rounds has no bound: a Loop of ONNX has one if its input M is "
                "a constant, or is bounded by other nodes, as by Min)"));
  if (!Has("g++")) GTEST_SKIP() << "there is no g++";
  std::ofstream(folder + "/use.cpp") << R"(
#include <cstdio>
#include "stacked.h"
alignas(64) static unsigned char arena[stacked::kArenaBytes];
int main() {
  stacked model(arena);
  for (long n = 0; n < 9; ++n) {
    float x[6] = {0, -1, 2, -3, 4, -0.5f}, last[6], all[36];
    const std::int64_t limit = n;
    std::int64_t shape[3];
    model.Run({x, &limit}, {last, all, shape});
    std::printf(" %d", static_cast<int>(shape[0]));
  }
}
)";
  EXPECT_EQ(OutputOf(folder, absl::StrCat("g++", Flags(),
                                          "*.cc *.o -lm -o test && ./test")),
            "sse2\n");
  EXPECT_EQ(OutputOf(folder, absl::StrCat("g++", Flags(),
                                          "use.cpp stacked_sse2.cc "
                                          "stacked_weights.o -lm -o use && "
                                          "./use")),
            " 0 1 2 3 4 4 4 4 4");
}

// Windows of transposed convolutions overlap, with and without an epilogue.
TEST(CompileTest, CompilesTransposedConvolutions) {
  LibraryOptions options;
  options.isas = "avx2,sse2";
  options.check_values = true;
  options.threads = true;
  const std::string folder = Compiled("transposed", R"(
def @main(%x: Tensor[(2, 20, 5, 7), float32], %z: Tensor[(1, 4, 9), float32]) {
  %0 = sin(arange(0f, 3240f, 1f, start=0f, stop=3240f, step=1f, dtype="float32"));
  %1 = reshape(%0, newshape=[20, 18, 3, 3]);
  %2 = nn.conv2d_transpose(%x, %1, channels=18, kernel_size=[3, 3], strides=[2, 2], padding=[1, 1, 1, 1], output_padding=[1, 0]);
  %3 = cos(arange(0f, 18f, 1f, start=0f, stop=18f, step=1f, dtype="float32"));
  %4 = nn.relu(nn.bias_add(%2, %3));
  %5 = reshape(sin(arange(0f, 32f, 1f, start=0f, stop=32f, step=1f, dtype="float32")), newshape=[4, 4, 2]);
  (%4, nn.conv1d_transpose(%z, %5, channels=4, kernel_size=[2], strides=[2]))
}
)",
                                      options);
  if (!Has("g++")) GTEST_SKIP() << "there is no g++";
  EXPECT_THAT(OutputOf(folder, absl::StrCat("g++", Flags(),
                                            "*.cc *.o -lm -o test && ./test")),
              Not(HasSubstr("exit ")));
}

// Elements of all sizes are padded, moved and joined as the executor does.
TEST(CompileTest, CompilesMoves) {
  if (!Has("g++")) GTEST_SKIP() << "there is no g++";
  LibraryOptions options;
  options.isas = "sse2";
  options.check_values = true;
  options.threads = true;
  for (const char* type : {"float32", "float64", "int8", "int16"}) {
    const std::string folder = Compiled(absl::StrCat("moves_", type),
                                        absl::StrReplaceAll(R"(
def @main(%x: Tensor[(3, 70, 90), TYPE], %y: Tensor[(5, 1), TYPE]) {
  %0 = nn.pad(%x, cast(3f, dtype="TYPE"), pad_width=[[1, 0], [2, 3], [0, 4]]);
  %1 = nn.pad(%x, cast(-1f, dtype="TYPE"), pad_width=[[0, 0], [1, 1], [0, 0]]);
  %2 = transpose(%x, axes=[2, 0, 1]);
  %3 = strided_slice(%x, begin=[0, 1, 89], end=[3, 70, 0], strides=[2, 3, -2], axes=None);
  %4 = broadcast_to(%y, shape=[2, 5, 33]);
  %5 = (%x, %1);
  %6 = concatenate(%5, axis=1);
  (%0, %1, %2, %3, %4, %6)
}
)",
                                                            {{"TYPE", type}}),
                                        options);
    EXPECT_EQ(OutputOf(folder, absl::StrCat("g++", Flags(),
                                            "*.cc *.o -lm -o test && ./test")),
              "sse2\n")
        << type;
    EXPECT_THAT(TextOf(absl::StrCat(folder, "/moves_", type, "_sse2.cc")),
                HasSubstr("\n// pad.rows\n"));
  }
}

int64_t SumOf(const std::string& text, const std::string& key) {
  int64_t sum = 0;
  for (size_t at = text.find(key); at != std::string::npos;
       at = text.find(key, at + 1)) {
    sum += std::strtoll(text.c_str() + at + key.size(), nullptr, 10);
  }
  return sum;
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

// Steps name functions whose bytes the objects tell.
TEST(CompileTest, AReportNamesTheFunctionsOfSteps) {
  if (!Has("g++") || !Has("nm")) GTEST_SKIP() << "there is no g++ or no nm";
  LibraryOptions options;
  options.isas = "sse2";
  const std::string folder = Compiled("named", kNetwork, options);
  ASSERT_EQ(OutputOf(folder, absl::StrCat("g++", Flags(), "-c named_sse2.cc")),
            "");
  const std::string symbols =
      OutputOf(folder, "nm -S --defined-only named_sse2.o");
  const std::string report = TextOf(folder + "/named.report.json");
  const std::string key = "\"functions\":[\"";
  int steps = 0;
  for (size_t at = report.find(key); at != std::string::npos;
       at = report.find(key, at + 1)) {
    const size_t begin = at + key.size();
    const std::string name =
        report.substr(begin, report.find('"', begin) - begin);
    EXPECT_THAT(symbols, HasSubstr(name));
    ++steps;
  }
  EXPECT_GT(steps, 3);
}

// Each byte of the objects is of a step, of another part of the code, or of the
// tables of the file; kernels are of the steps that use them.
TEST(CompileTest, AReportSumsToTheObjects) {
  if (!Has("g++") || !Has("ar")) GTEST_SKIP() << "there is no g++ or no ar";
  LibraryOptions options;
  options.isas = "avx2,sse2";
  const std::string folder = Compiled("machine", kNetwork, options);
  ASSERT_EQ(
      OutputOf(folder, absl::StrCat("g++", Flags(),
                                    "-g -c machine_avx2.cc machine_sse2.cc && "
                                    "ar rcs libm.a machine_sse2.o")),
      "");
  options.objects = absl::StrCat(folder, "/machine_avx2.o,", folder, "/libm.a");
  EXPECT_EQ(Compiled("machine", kNetwork, options), folder);
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

// Sources of a model with other weights are the same: a build compiles none of
// them, and links the other object. The header names the weights.
TEST(CompileTest, OtherWeightsAreLinkedToTheSameCode) {
  LibraryOptions options;
  options.isas = "avx2,sse2";
  options.test = true;
  const std::string network = kNetwork;
  std::string folders[2];
  for (const bool again : {false, true}) {
    options.model = ModelFile(
        "retrained.relay",
        again ? absl::StrReplaceAll(network, {{"sin(", "cos("}}) : network);
    folders[again] = absl::StrCat(::testing::TempDir(), "/retrained", again);
    options.output_dir = folders[again];
    std::ostringstream out;
    ASSERT_EQ(CompileLibrary(options, out), absl::OkStatus());
    options.shared_dir = folders[again] + "/functions";
    options.name = "retrained_split";
    options.test = false;
    ASSERT_EQ(CompileLibrary(options, out), absl::OkStatus());
    std::filesystem::remove(folders[again] + "/retrained_split_weights.o");
    options.shared_dir.clear();
    options.name.clear();
    options.test = true;
  }
  // So are the files of functions.
  EXPECT_EQ(FilesOf(folders[0] + "/functions"),
            FilesOf(folders[1] + "/functions"));
  for (const char* file : {"retrained.h", "retrained_avx2.cc",
                           "retrained_sse2.cc", "retrained_weights.o"}) {
    EXPECT_EQ(TextOf(absl::StrCat(folders[0], "/", file)) ==
                  TextOf(absl::StrCat(folders[1], "/", file)),
              absl::EndsWith(file, ".cc"))
        << file;
  }
  if (!Has("g++")) GTEST_SKIP() << "there is no g++";
  // The objects of the first, the weights of the second.
  EXPECT_EQ(OutputOf(folders[1],
                     absl::StrCat("cp ../retrained0/*_avx2.cc "
                                  "../retrained0/*_sse2.cc . && g++",
                                  Flags(), "*.cc *.o -lm -o test && ./test")),
            "avx2\n");
  // The header of the first names other weights.
  EXPECT_THAT(
      OutputOf(folders[1], absl::StrCat("cp ../retrained0/*.h . && g++",
                                        Flags(), "*.cc *.o -lm -o test 2>&1")),
      HasSubstr("undefined reference to `retrained_model_"));
}

int SizeOf(const std::string& folder, absl::string_view file) {
  return std::atoi(
      OutputOf(folder, absl::StrCat("size ", file, " | tail -1 | cut -f1"))
          .c_str());
}

// A network, and one that differs in its last function: a program with both has
// one copy of equal functions and weights.
TEST(CompileTest, ModelsOfAProgramShareFunctionsAndWeights) {
  const std::string network = kNetwork;
  const std::string root = absl::StrCat(::testing::TempDir(), "/sharing");
  std::filesystem::create_directory(root);
  std::vector<std::string> files[2];
  for (const bool second : {false, true}) {
    LibraryOptions options;
    options.model = ModelFile(
        second ? "second.relay" : "first.relay",
        second ? absl::StrReplaceAll(network, {{"erf(", "atan("}}) : network);
    options.isas = "avx2";
    options.test = true;
    options.output_dir = root;
    options.shared_dir = absl::StrCat(root, "/functions", second);
    std::ostringstream out;
    ASSERT_EQ(CompileLibrary(options, out), absl::OkStatus());
    files[second] = FilesOf(options.shared_dir);
  }
  // Another function, and the group of the copies.
  std::vector<std::string> others;
  std::set_difference(files[1].begin(), files[1].end(), files[0].begin(),
                      files[0].end(), std::back_inserter(others));
  EXPECT_GE(files[0].size(), 8u);
  EXPECT_EQ(others.size(), 1u) << absl::StrJoin(others, ", ");
  for (const std::string& file : files[0]) {
    const std::string other = TextOf(absl::StrCat(root, "/functions1/", file));
    if (other.empty()) continue;
    EXPECT_EQ(TextOf(absl::StrCat(root, "/functions0/", file)), other) << file;
  }
  if (!Has("g++") || !Has("size")) GTEST_SKIP() << "there is no g++ or no size";
  std::ofstream(root + "/use.cc")
      << "int First();\nint Second();\nint main() { return RUN; }\n";
  const std::string compile = absl::StrCat("g++", Flags(), "-c ");
  std::ofstream(root + "/build.sh") << absl::StrCat(
      "set -e\nmkdir -p objects0 objects1\n(cd objects0 && ", compile,
      "../functions0/*.cc)\nfor f in functions1/*.cc; do\n"
      "  o=${f##*/}; o=${o%.cc}.o\n"
      "  cp objects0/$o objects1 2>/dev/null || ",
      compile, "$f -o objects1/$o\ndone\n", compile,
      "first_avx2.cc second_avx2.cc\n", compile, "-Dmain=First first_test.cc\n",
      compile,
      "-Dmain=Second second_test.cc\n"
      "g++ use.cc '-DRUN=First()' first_*.o objects0/*.o -lm -o first\n"
      "g++ use.cc '-DRUN=Second()' second_*.o objects1/*.o -lm -o second\n"
      // Equal objects may be linked twice.
      "g++ use.cc '-DRUN=First() + Second()' first_*.o second_*.o objects?/*.o "
      "-lm -o both\n./both\n");
  EXPECT_EQ(OutputOf(root, "bash build.sh"), "avx2\navx2\n");
  for (const auto& [name, count] :
       std::vector<std::pair<std::string, int>>{{"Tile<6, 2, false>", 1},
                                                {"nn_softmax_[0-9a-f]*", 1},
                                                {"elementwise_[0-9a-f]*", 2},
                                                {"atan_[0-9a-f]*", 1}}) {
    EXPECT_EQ(
        OutputOf(root, absl::StrCat(
                           "nm -C both | grep -v clone | grep -c ' [tW] .*::",
                           name, "('")),
        absl::StrCat(count, "\n"))
        << name;
  }
  // The test has inputs and outputs of both models, which are equal in part.
  const int first = SizeOf(root, "first");
  const int second = SizeOf(root, "second");
  EXPECT_GT(first, 30000);
  EXPECT_LT(SizeOf(root, "both"), (first + second) * 2 / 3);
}

// The library gives the evaluator's bytes. Then faults in what runs the steps:
// one that does not run, or not to its end. The test of the library finds each.
TEST(CompileTest, TestsOfANetworkFindPlantedFaults) {
  if (!Has("g++")) GTEST_SKIP() << "there is no g++";
  LibraryOptions options;
  options.isas = "avx2";
  const std::string folder = Compiled("faulty", kNetwork, options);
  if (Has("clang++")) {
    EXPECT_EQ(OutputOf(folder,
                       absl::StrCat("clang++", Flags(), "-fsyntax-only *.cc")),
              "");
  }
  std::string source = "extern int planted;\n";
  int faults = 0;
  for (absl::string_view line :
       absl::StrSplit(TextOf(folder + "/faulty_avx2.cc"), '\n')) {
    if (absl::StartsWith(line, "  Step")) {
      absl::StrAppend(&source, "  if (planted != ", ++faults, ")");
      if (!absl::EndsWith(line, ", 1);")) {
        absl::StrAppend(&source, line.substr(0, line.size() - 2),
                        " - (planted == ", ++faults, "));\n");
        continue;
      }
    }
    absl::StrAppend(&source, line, "\n");
  }
  EXPECT_GE(faults, 20);
  std::ofstream(folder + "/faulty_avx2.cc") << source;
  std::string test = TextOf(folder + "/faulty_test.cc");
  const std::string main = "int main() {\n";
  const size_t at = test.find(main);
  ASSERT_NE(at, std::string::npos);
  test.replace(at, main.size(),
               "int planted = 0;\nint main(int argc, char** argv) {\n"
               "  for (const char* c = argc > 1 ? argv[1] : \"\"; *c; ++c) "
               "planted = planted * 10 + *c - '0';\n");
  std::ofstream(folder + "/faulty_test.cc") << test;
  ASSERT_EQ(OutputOf(folder, absl::StrCat("g++", Flags(),
                                          "*.cc *.o -lm -o run && ./run 0")),
            "avx2\n");
  for (int fault = 1; fault <= faults; ++fault) {
    EXPECT_THAT(OutputOf(folder, absl::StrCat("./run ", fault)),
                HasSubstr("differs from the evaluator's"))
        << fault;
  }
}

// Operators with an order of their own: sorts, sums of products, samples.
TEST(CompileTest, SortsContractsAndSamples) {
  if (!Has("g++")) GTEST_SKIP() << "there is no g++";
  LibraryOptions options;
  options.isas = "avx2,sse2";
  const std::string folder = Compiled("ordered", R"(
def @main(%x: Tensor[(3, 1500), float32], %i: Tensor[(5, 7, 2), int8], %a: Tensor[(2, 3, 40), float32], %b: Tensor[(2, 40, 24), float32], %g: Tensor[(1, 2, 4, 5), float32]) {
  %0 = topk(%x, k=1200, is_ascend=True, dtype="int64");
  %1 = reshape(%a, newshape=[1, 3, 8, 10]);
  (sort(%x, is_ascend=False),
   argsort(%i, axis=1, dtype="int32"),
   %0.0,
   %0.1,
   einsum((%a, %b), equation="bij,bjk->bik"),
   einsum((%a, %b, %b), equation="bij,bjk,bjl->ikl"),
   image.grid_sample(%1, %g, method="bicubic", padding_mode="reflection"),
   image.grid_sample(%1, %g, padding_mode="border", align_corners=False))
}
)",
                                      options);
  for (const char* compiler : {"g++", "clang++"}) {
    if (!Has(compiler)) continue;
    EXPECT_EQ(OutputOf(folder, absl::StrCat(compiler, Flags(),
                                            "*.cc *.o -lm -o run && ./run")),
              "avx2\n");
  }
}

TEST(CompileTest, LibrariesAreSmallAndNeedLibcAlone) {
  if (!Has("g++") || !Has("nm")) GTEST_SKIP() << "there is no g++ or no nm";
  const std::string folder = Compiled("small", kPerceptron);
  EXPECT_EQ(OutputOf(folder, absl::StrCat("g++", Flags(),
                                          "-ffreestanding -fsyntax-only "
                                          "small_avx2.cc small_sse2.cc")),
            "");
  ASSERT_EQ(OutputOf(folder, absl::StrCat("g++", Flags(),
                                          "-c small_avx512.cc small_avx2.cc "
                                          "small_sse2.cc")),
            "");
  // The text and the data of all instructions.
  const std::string sizes = OutputOf(
      folder,
      "size small_avx512.o small_avx2.o small_sse2.o | awk 'NR > 1 {sum += $4} "
      "END {print sum}'");
  int64_t bytes = 0;
  ASSERT_TRUE(absl::SimpleAtoi(absl::StripAsciiWhitespace(sizes), &bytes))
      << sizes;
  EXPECT_LT(bytes, 64 << 10);
  // Nothing runs before main.
  EXPECT_EQ(OutputOf(folder,
                     "{ nm small_*.o; objdump -h small_*.o; } | awk "
                     "'/_GLOBAL__sub_I|init_array/ {++n} END {print n + 0}'"),
            "0\n");
  // Also with exceptions, which the library does not have, and without
  // optimization.
  for (const std::string& compiler :
       {absl::StrCat("g++", Flags()), std::string("g++ -std=c++17 -O2 "),
        std::string("g++ -std=c++17 -O0 "),
        std::string("clang++ -std=c++17 -O2 ")}) {
    SCOPED_TRACE(compiler);
    if (!Has(compiler.substr(0, compiler.find(' ')))) continue;
    const std::string undefined = OutputOf(
        folder, absl::StrCat(compiler,
                             "-c small_avx512.cc small_avx2.cc small_sse2.cc "
                             "&& nm -u small_avx512.o small_avx2.o "
                             "small_sse2.o | grep ' U '"));
    EXPECT_THAT(undefined, HasSubstr("fmaf"));
    for (absl::string_view line :
         absl::StrSplit(undefined, '\n', absl::SkipWhitespace())) {
      line = absl::StripAsciiWhitespace(line);
      line = absl::StripPrefix(line, "U ");
      EXPECT_TRUE(absl::StrContains(line, "small_") || line == "memcpy" ||
                  line == "memset" || line == "fmaf" || line == "sqrtf")
          << line;
    }
  }
}

// A recurrent model of voice detection: spectra, convolutions over time, and an
// LSTM cell, whose state is an output.
constexpr char kVoice[] =
    R"(def @main(%x: Tensor[(1, 1, 512), float32], %h: Tensor[(1, 128), float32], %c: Tensor[(1, 128), float32]) {
  %0 = sin(arange(0f, 66048f, 1f, start=0f, stop=66048f, step=1f, dtype="float32"));
  %1 = nn.conv1d(%x, reshape(%0, newshape=[258, 1, 256]), strides=[128], padding=[64, 64], channels=258, kernel_size=[256]);
  %2 = split(%1, indices_or_sections=[129], axis=1);
  %3 = multiply(%2.0, %2.0);
  %4 = multiply(%2.1, %2.1);
  %5 = sqrt(add(%3, %4));
  %6 = multiply(cos(arange(0f, 49536f, 1f, start=0f, stop=49536f, step=1f, dtype="float32")), 0.05f);
  %7 = nn.relu(nn.bias_add(nn.conv1d(%5, reshape(%6, newshape=[128, 129, 3]), padding=[1, 1], channels=128, kernel_size=[3]), cos(arange(0f, 128f, 1f, start=0f, stop=128f, step=1f, dtype="float32"))));
  %8 = multiply(cos(arange(0f, 24576f, 1f, start=0f, stop=24576f, step=1f, dtype="float32")), 0.05f);
  %9 = nn.relu(nn.bias_add(nn.conv1d(%7, reshape(%8, newshape=[64, 128, 3]), strides=[2], padding=[1, 1], channels=64, kernel_size=[3]), cos(arange(0f, 64f, 1f, start=0f, stop=64f, step=1f, dtype="float32"))));
  %10 = multiply(cos(arange(0f, 12288f, 1f, start=0f, stop=12288f, step=1f, dtype="float32")), 0.05f);
  %11 = nn.relu(nn.bias_add(nn.conv1d(%9, reshape(%10, newshape=[64, 64, 3]), strides=[2], padding=[1, 1], channels=64, kernel_size=[3]), cos(arange(0f, 64f, 1f, start=0f, stop=64f, step=1f, dtype="float32"))));
  %12 = multiply(sin(arange(0f, 24576f, 1f, start=0f, stop=24576f, step=1f, dtype="float32")), 0.05f);
  %13 = nn.relu(nn.bias_add(nn.conv1d(%11, reshape(%12, newshape=[128, 64, 3]), padding=[1, 1], channels=128, kernel_size=[3]), cos(arange(0f, 128f, 1f, start=0f, stop=128f, step=1f, dtype="float32"))));
  %14 = nn.batch_flatten(mean(%13, axis=[2], keepdims=True));
  %15 = multiply(sin(arange(0f, 65536f, 1f, start=0f, stop=65536f, step=1f, dtype="float32")), 0.05f);
  %16 = multiply(cos(arange(0f, 65536f, 1f, start=0f, stop=65536f, step=1f, dtype="float32")), 0.05f);
  %17 = nn.dense(%14, reshape(%15, newshape=[512, 128]), units=512);
  %18 = nn.dense(%h, reshape(%16, newshape=[512, 128]), units=512);
  %19 = add(add(%17, %18), cos(arange(0f, 512f, 1f, start=0f, stop=512f, step=1f, dtype="float32")));
  %20 = split(%19, indices_or_sections=4, axis=1);
  %21 = multiply(sigmoid(%20.1), %c);
  %22 = multiply(sigmoid(%20.0), tanh(%20.2));
  %23 = add(%21, %22);
  %24 = multiply(sigmoid(%20.3), tanh(%23));
  %25 = multiply(sin(arange(0f, 128f, 1f, start=0f, stop=128f, step=1f, dtype="float32")), 0.1f);
  %26 = sigmoid(nn.dense(nn.relu(%24), reshape(%25, newshape=[1, 128]), units=1));
  (%26, %24, %23)
}
)";

TEST(CompileTest, ARecurrentModelIsSmall) {
  LibraryOptions options;
  options.state = "output_1:h,output_2:c";
  const std::string folder = Compiled("voice", kVoice, options);
  const std::string report = TextOf(folder + "/voice.report.json");
  EXPECT_LT(SumOf(report, "\n\"arena_bytes\":"), 64 << 10);
  if (!Has("g++")) GTEST_SKIP() << "there is no g++";
  // -O3, as baton_model_library has it, takes minutes.
  const bool is_long = testing::IsLongTest();
  ASSERT_EQ(OutputOf(folder,
                     absl::StrCat("g++", Flags(), is_long ? "-O3" : "",
                                  " -c voice_avx512.cc voice_avx2.cc "
                                  "voice_sse2.cc voice_test.cc && "
                                  "g++ *.o -lm -o test && ./test >/dev/null")),
            "");
  const std::string sizes = OutputOf(
      folder,
      "size voice_avx512.o voice_avx2.o voice_sse2.o | awk 'NR > 1 {sum += $4} "
      "END {print sum}'");
  int64_t bytes = 0;
  ASSERT_TRUE(absl::SimpleAtoi(absl::StripAsciiWhitespace(sizes), &bytes))
      << sizes;
  std::cout << "bytes of code: " << bytes << "\n";
  EXPECT_LT(bytes, 256 << 10);
}

constexpr char kConfined[] = R"(
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "confined.h"
alignas(64) static unsigned char arena[confined::kArenaBytes];
int main() {
  static float x[24], w0[40 * 24], b0[40], w1[400], y[10];
  confined model(arena);
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0) return 99;
  for (int run = 0; run < 10; ++run) {
    x[0] = static_cast<float>(run % 3);
    model.Run({x, w0, b0, w1}, {y});
    model.Run({x, w0, b0, w1}, {y}, nullptr, nullptr);
  }
  syscall(SYS_exit, 0);
}
)";

// A run at one thread, also of a library that may divide steps.
TEST(CompileTest, ARunMakesNoSystemCall) {
  if (!Has("g++")) GTEST_SKIP() << "there is no g++";
  LibraryOptions options;
  options.threads = true;
  // With a branch that values decide.
  const std::string folder = Compiled(
      "confined",
      absl::StrReplaceAll(
          kPerceptron, {{"tanh(%3)",
                         "if (less(mean(%x), 0f)) { exp(%3) } else { tanh(%3) "
                         "}"}}),
      options);
  std::ofstream(folder + "/use.cpp") << kConfined;
  const std::string output = OutputOf(
      folder, absl::StrCat("g++", Flags(),
                           "use.cpp confined_avx512.cc confined_avx2.cc "
                           "confined_sse2.cc confined_weights.o -lm -o use && "
                           "./use; echo $?"));
  if (output == "99\n") GTEST_SKIP() << "there is no strict mode of seccomp";
  EXPECT_EQ(output, "0\n");
}

// Two builds in different folders write equal files, of which g++ makes equal
// objects.
TEST(CompileTest, TwoBuildsGiveTheSameBytes) {
  LibraryOptions options;
  options.isas = "avx2,sse2";
  options.threads = options.line_table = options.benchmark = true;
  std::map<std::string, std::string> contents[2];
  for (const int i : {0, 1}) {
    const std::string folder =
        Compiled("same", kPerceptron, options, absl::StrCat("same_", i));
    if (Has("g++")) {
      EXPECT_EQ(OutputOf(folder, absl::StrCat("g++", Flags(),
                                              "-g0 -c same_avx2.cc "
                                              "same_sse2.cc")),
                "");
    }
    for (const auto& [path, bytes] : ContentsOf(folder)) {
      contents[i].emplace(path.substr(folder.size()), bytes);
    }
  }
  EXPECT_GE(contents[0].size(), Has("g++") ? 11u : 9u);
  EXPECT_TRUE(contents[0] == contents[1]);
}

// A model without inputs, of which passes leave no steps but copies; and results
// that are constants, an input, or equal.
TEST(CompileTest, CompilesModelsWithoutInputs) {
  LibraryOptions options;
  options.isas = "avx2,sse2";
  options.threads = options.profile = options.check_values = true;
  options.line_table = options.benchmark = true;
  const char* const nothing = R"(
def @main() {
  %0 = nn.softmax(arange(0f, 5f, 1f, start=0f, stop=5f, step=1f, dtype="float32"));
  (%0, full(3i32, shape=[2], dtype="int32"), %0)
}
)";
  const char* const passed = R"(
def @main(%x: Tensor[(3), float32], %unused: Tensor[(2), int64]) {
  (%x, exp(%x), %x, ones(shape=[2], dtype="bool"))
}
)";
  for (const char* passes : {"", "FoldConstant"}) {
    for (const auto& [name, text] :
         {std::pair("nothing", nothing), std::pair("passed", passed)}) {
      SCOPED_TRACE(absl::StrCat(name, " ", passes));
      options.passes = passes;
      const std::string folder =
          Compiled(name, text, options, absl::StrCat(name, "_", passes));
      for (const char* compiler : {"g++", "clang++"}) {
        if (!Has(compiler)) continue;
        EXPECT_EQ(
            OutputOf(folder,
                     absl::StrCat("rm -f run && ", compiler, Flags(),
                                  "-fsyntax-only ", name, "_benchmark.cc && ",
                                  compiler, Flags(), name, "_avx2.cc ", name,
                                  "_sse2.cc ", name,
                                  "_test.cc *.o -lm -o run && ./run")),
            "avx2\n");
      }
    }
  }
}

// Names that are keywords, macros, types and members, and a file's name that
// ends comments, strings and lines.
TEST(CompileTest, TakesHostileNames) {
  LibraryOptions options;
  options.name = "hostile";
  options.cpp_class = "arena";
  options.isas = "avx2,sse2";
  options.profile = options.line_table = options.check_values = true;
  options.benchmark = true;
  std::string params;
  std::string sum = "%int64_t";
  for (const char* name :
       {"int64_t", "class", "stdin", "INT8_MAX", "__LINE__", "std", "Inputs",
        "Run", "size_t", "arena", "inputs", "from", "this", "m", "uint8_t"}) {
    absl::StrAppend(&params, params.empty() ? "" : ", ", "%", name,
                    ": Tensor[(2, 3), float32]");
    sum = absl::StrCat("add(", sum, ", %", name, ")");
  }
  const std::string folder = Compiled(
      "hostile ?"
      "?> \\ \" %s\n#error \xc3\xa9",
      absl::StrCat("def @main(", params, ") {\n  %0 = ", sum,
                   ";\n  (%0, nn.log_softmax(%0), atan(%0))\n}\n"),
      options, "hostile");
  EXPECT_THAT(TextOf(folder + "/hostile.h"),
              HasSubstr("const float* INT8_MAX_;"));
  for (const char* compiler : {"g++", "clang++"}) {
    if (!Has(compiler)) continue;
    EXPECT_EQ(OutputOf(folder,
                       absl::StrCat(compiler, Flags(),
                                    "-c hostile_benchmark.cc -o benchmark && ",
                                    compiler, Flags(),
                                    "hostile_avx2.cc hostile_sse2.cc "
                                    "hostile_test.cc *.o -lm -o run && ./run")),
              "avx2\n");
    EXPECT_EQ(OutputOf(folder, absl::StrCat(
                                   "echo '#include \"hostile.h\"' | ", compiler,
                                   " -std=c++11 -Wall -Wextra -Werror "
                                   "-pedantic -fsyntax-only -x c++ -")),
              "");
  }
}

// Two models with classes of one name, in archives of one program: each part of
// the program has its own.
TEST(CompileTest, ClassesOfOneNameAreDifferent) {
  if (!Has("g++") || !Has("ar")) GTEST_SKIP() << "there is no g++ or no ar";
  LibraryOptions options;
  options.cpp_class = "acme::Model";
  options.isas = "sse2";
  const std::string root = absl::StrCat(::testing::TempDir(), "/one_name");
  std::filesystem::create_directories(root);
  for (const char* name : {"least", "most"}) {
    const std::string function = name[0] == 'l' ? "min" : "max";
    const std::string folder =
        Compiled(name,
                 absl::StrCat("def @main(%x: Tensor[(2, 3), float32]) {\n  ",
                              function, "(%x)\n}\n"),
                 options, absl::StrCat("one_name/", name));
    std::ofstream(absl::StrCat(folder, "/use.cc"))
        << "#include \"" << name << ".h\"\nfloat Use_" << name
        << "() {\n  alignas(64) static unsigned char "
           "arena[acme::Model::kArenaBytes];\n  acme::Model model(arena);\n"
           "  const float x[6] = {5, 3, 8, 2, 4, 6};\n  float y = 0;\n"
           "  model.Run({x}, {&y});\n  return y;\n}\n";
    ASSERT_EQ(
        OutputOf(folder, absl::StrCat("g++", Flags(), "-c use.cc ", name,
                                      "_sse2.cc && ar rcs ../lib", name, ".a ",
                                      name, "_sse2.o ", name, "_weights.o")),
        "");
  }
  std::ofstream(root + "/main.cc")
      << "#include <cstdio>\nfloat Use_least();\nfloat Use_most();\nint main() "
         "{ std::printf(\"%g %g\\n\", Use_least(), Use_most()); }\n";
  EXPECT_EQ(OutputOf(root, absl::StrCat("g++", Flags(),
                                        "main.cc least/use.o most/use.o -L. "
                                        "-lleast -lmost -lm -o run && ./run")),
            "2 8\n");
}

// Two versions of a model, of one name, that differ in their weights alone: each
// part of a program has its own, and the code is there once.
TEST(CompileTest, VersionsOfOneNameAreDifferent) {
  if (!Has("g++") || !Has("ar")) GTEST_SKIP() << "there is no g++ or no ar";
  LibraryOptions options;
  options.cpp_class = "acme::Model";
  options.isas = "sse2";
  const std::string root = absl::StrCat(::testing::TempDir(), "/versions");
  std::filesystem::create_directories(root);
  for (const char* version : {"2", "5"}) {
    const std::string folder = Compiled(
        "version",
        absl::StrCat("def @main(%x: Tensor[(2), float32]) {\n  "
                     "multiply(%x, cumsum(full(",
                     version, "f, shape=[2], dtype=\"float32\")))\n}\n"),
        options, absl::StrCat("versions/v", version));
    std::ofstream(absl::StrCat(folder, "/use.cc"))
        << "#include \"version.h\"\nfloat Use_" << version
        << "() {\n  alignas(64) static unsigned char "
           "arena[acme::Model::kArenaBytes];\n  acme::Model model(arena);\n"
           "  const float x[2] = {1, 1};\n  float y[2];\n"
           "  model.Run({x}, {y});\n  return y[1];\n}\n";
    ASSERT_EQ(OutputOf(folder, absl::StrCat("g++", Flags(),
                                            "-c use.cc version_sse2.cc && ar "
                                            "rcs ../libv",
                                            version,
                                            ".a version_sse2.o "
                                            "version_weights.o")),
              "");
  }
  EXPECT_EQ(TextOf(root + "/v2/version_sse2.cc"),
            TextOf(root + "/v5/version_sse2.cc"));
  std::ofstream(root + "/main.cc")
      << "#include <cstdio>\nfloat Use_2();\nfloat Use_5();\nint main() "
         "{ std::printf(\"%g %g\\n\", Use_2(), Use_5()); }\n";
  EXPECT_EQ(OutputOf(root, absl::StrCat("g++", Flags(),
                                        "main.cc v2/use.o v5/use.o -L. -lv2 "
                                        "-lv5 -lm -o run && ./run")),
            "4 10\n");
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

// The number of the line of `text` that has `part`.
int LineWith(absl::string_view text, absl::string_view part) {
  int line = 1;
  for (absl::string_view one : absl::StrSplit(text, '\n')) {
    if (absl::StrContains(one, part)) return line;
    ++line;
  }
  return 0;
}

// Lines of objects are those of the model's text, where nodes have names.
TEST(CompileTest, HasALineTable) {
  LibraryOptions options;
  options.isas = "sse2";
  options.line_table = true;
  const std::string folder = Compiled("lines", R"(
def @main(%x: Tensor[(8, 16), float32], %w: Tensor[(16, 16), float32]) {
  %0 = nn.dense(%x, %w, units=16);
  nn.softmax(%0)
}
)",
                                      options);
  const auto text_of = [&folder](const std::string& name) {
    std::ifstream file(folder + "/" + name);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  };
  const std::string model = text_of("lines.model.txt");
  const std::string source = text_of("lines_sse2.cc");
  const int dense = LineWith(model, "# step 0, ");
  EXPECT_THAT(model, HasSubstr("lines.relay:4\n"));
  EXPECT_THAT(source, HasSubstr(absl::StrCat("#line ", dense,
                                             " \"lines.model.txt\"\n")));
  const int loop = LineWith(model, "    for ");
  ASSERT_GT(loop, 0) << model;
  EXPECT_THAT(source, HasSubstr(absl::StrCat("#line ", loop,
                                             " \"lines.model.txt\"\n")));
  if (!Has("g++") || !Has("objdump")) {
    GTEST_SKIP() << "there is no g++ or no objdump";
  }
  const std::string table =
      OutputOf(folder, absl::StrCat("g++", Flags(),
                                    "-g -c lines_sse2.cc -o lines.o && objdump "
                                    "--dwarf=decodedline lines.o"));
  for (const int line : {dense, loop}) {
    EXPECT_THAT(table, ::testing::ContainsRegex(
                           absl::StrCat("lines.model.txt +", line, " ")));
  }
  EXPECT_THAT(table, HasSubstr("lines_sse2.cc"));
}

// With threads and a profile: the test divides steps, too.
TEST(CompileTest, DividesAndMeasuresSteps) {
  if (!Has("g++")) GTEST_SKIP() << "there is no g++";
  LibraryOptions options;
  options.threads = true;
  options.profile = true;
  options.benchmark = true;
  options.isas = "avx2";
  const std::string folder = Compiled("divided", R"(
def @main(%x: Tensor[(64, 256), float32], %w: Tensor[(256, 256), float32]) {
  %0 = nn.dense(%x, %w, units=256);
  %1 = exp(%0);
  %2 = nn.dense(%1, %w, units=256);
  tanh(%2)
}
)",
                                      options);
  std::ofstream(folder + "/use.cpp") << R"(
#include <cstdio>
#include "divided.h"
alignas(64) static unsigned char arena[divided::kArenaBytes];
static int parts = 0;
static void Parallel(void* ctx, int n, void (*body)(void*, int), void* body_ctx) {
  for (int i = 0; i < n; ++i) body(body_ctx, i);
  *static_cast<int*>(ctx) += n;
}
static std::uint64_t now = 0;
static std::uint64_t Clock() { return now += 3; }
int main() {
  static float x[64 * 256], w[256 * 256], y[64 * 256], z[64 * 256];
  for (float& v : x) v = static_cast<float>(parts++ % 7) - 3;
  parts = 0;
  for (float& v : w) v = static_cast<float>(&v - w) / 65536 - 0.5f;
  divided model(arena);
  std::uint64_t times[divided::kSteps] = {};
  model.Run({x, w}, {y}, Parallel, &parts);
  model.RunProfiled({x, w}, {z}, Clock, times);
  std::printf("%d %d %d\n", parts > 1, static_cast<int>(times[0]),
              __builtin_memcmp(y, z, sizeof(y)));
  for (std::size_t i = 0; i < divided::kSteps; ++i) {
    std::printf("%s\n", divided::StepName(i));
  }
}
)";
  EXPECT_EQ(
      OutputOf(folder, absl::StrCat("g++", Flags(), "-c divided_avx2.cc")), "");
  const std::string files = "divided_avx2.o divided_weights.o -lm ";
  const std::string output = OutputOf(
      folder,
      absl::StrCat("g++", Flags(), "use.cpp ", files, "-o use && ./use"));
  EXPECT_THAT(output, HasSubstr("1 3 0\n"));
  EXPECT_THAT(output, HasSubstr("elementwise: exp, "));
  EXPECT_EQ(
      OutputOf(folder, absl::StrCat("g++", Flags(), "divided_test.cc ", files,
                                    "divided_test_data.o "
                                    "-o run && ./run")),
      "avx2\n");
  EXPECT_THAT(
      OutputOf(folder, absl::StrCat("g++", Flags(), "divided_benchmark.cc ",
                                    files, "-o measure && ./measure 3")),
      ::testing::MatchesRegex(
          "(ms min [0-9.]+ median [0-9.]+ threads 1 arena [0-9]+ weights in "
          "(the file|large pages)\n){2}"));
}

// The constants of a header are what is counted in a run: calls by the clock,
// bytes of the arena by those that change, multiplications and additions by the
// shapes.
TEST(CompileTest, ConstantsOfAHeaderAreTrue) {
  if (!Has("g++")) GTEST_SKIP() << "there is no g++";
  LibraryOptions options;
  options.isas = "sse2";
  options.profile = true;
  const std::string folder = Compiled("counted", R"(
def @main(%x: Tensor[(1, 16, 6, 6), float32]) {
  %0 = sin(arange(0f, 4608f, 1f, start=0f, stop=4608f, step=1f, dtype="float32"));
  %1 = nn.relu(nn.conv2d(%x, reshape(%0, newshape=[32, 16, 3, 3]), channels=32, kernel_size=[3, 3]));
  %2 = cos(arange(0f, 5120f, 1f, start=0f, stop=5120f, step=1f, dtype="float32"));
  %3 = nn.dense(nn.batch_flatten(%1), reshape(%2, newshape=[10, 512]), units=10);
  nn.softmax(tan(%3))
}
)",
                                      options);
  std::ofstream(folder + "/use.cpp") << R"(
#include <cstdio>
#include <cstring>
#include "counted.h"
constexpr std::size_t kBehind = 4096;
alignas(64) static unsigned char arena[counted::kArenaBytes + kBehind];
static int calls = 0;
static std::uint64_t Clock() { return static_cast<std::uint64_t>(++calls); }
int main() {
  static float x[16 * 36], y[10];
  for (float& v : x) v = static_cast<float>(&v - x) / 512;
  std::memset(arena, 0xA5, sizeof(arena));
  counted model(arena);
  std::uint64_t times[counted::kSteps] = {};
  model.RunProfiled({x}, {y}, Clock, times);
  std::size_t end = sizeof(arena);
  while (end > 0 && arena[end - 1] == 0xA5) --end;
  // The clock is read before the first step.
  std::printf("%d %d %d %d\n", calls - 1 == static_cast<int>(counted::kCalls),
              end <= counted::kArenaBytes && end + 64 > counted::kArenaBytes,
              counted::kFlops == 2 * (32 * 16 * 16 * 9 + 10 * 512),
              counted::kWeightBytes >= 4 * (4608 + 5120) &&
                  counted::kWeightBytes < 4 * (4608 + 2 * 5120));
}
)";
  EXPECT_EQ(
      OutputOf(folder, absl::StrCat("g++", Flags(),
                                    "use.cpp counted_sse2.cc "
                                    "counted_weights.o -lm -o use && ./use")),
      "1 1 1 1\n");
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

// With optimization, compilers warn of loops of which they know more.
TEST(CompileTest, ProductsOfBytesHaveNoWarnings) {
  if (!Has("g++")) GTEST_SKIP() << "there is no g++";
  LibraryOptions options;
  options.isas = "avx512,avx2,sse2";
  const std::string folder = Compiled("products", R"(
def @main(%m: Tensor[(16, 384), int8]) {
  %0 = sin(arange(0f, 147456f, 1f, start=0f, stop=147456f, step=1f, dtype="float32"));
  %1 = reshape(cast(multiply(%0, 100f), dtype="int8"), newshape=[384, 384]);
  nn.dense(%m, %1, units=384, out_dtype="int32")
}
)",
                                      options);
  EXPECT_THAT(OutputOf(folder,
                       "g++ -std=c++17 -O2 -Wall -Wextra -Werror *.cc "
                       "*.o -lm -o run && ./run"),
              ::testing::MatchesRegex("avx512\n|avx2\n|sse2\n"));
}

// Loops of rows are made for a group of rows, which stays in the cache, and
// called for each group; threads share the groups.
TEST(CompileTest, LoopsTakeGroupsOfRows) {
  LibraryOptions options;
  options.threads = true;
  options.check_values = true;
  options.isas = "avx2";
  const std::string folder = Compiled("rows", R"(
def @main(%x: Tensor[(1, 12, 64, 128), float32], %y: Tensor[(1009, 40), float32], %z: Tensor[(40, 16, 20), float32], %b: Tensor[(4000, 2, 3), bool]) {
  %0 = nn.softmax(%x);
  %1 = mean(%y, axis=[-1], keepdims=True);
  %2 = variance(%y, %1, axis=[1], keepdims=True);
  %3 = nn.log_softmax(%z, axis=1);
  %4 = sum(%z, axis=[0, 2], exclude=True);
  %5 = argmax(%x, axis=[1, 3]);
  %6 = max(%x, axis=[3]);
  (%0, %1, %2, %3, %4, %5, %6, all(%b, axis=[2]), min(%y, axis=[0]), nn.softmax(%y, axis=0))
}
)",
                                      options);
  const std::string source = TextOf(folder + "/rows_avx2.cc");
  // 768 rows of 1024 bytes and their results, 24 of a group.
  EXPECT_THAT(source,
              ContainsRegex("for \\(int64_t i = begin; i < end; "
                            "\\+\\+i\\) \\{\n *shared::nn_softmax_[0-9a-"
                            "f]+\\(At<const float>\\(m.inputs\\[0\\], "
                            "0\\) \\+ i \\* 3072,"));
  if (!Has("g++")) GTEST_SKIP() << "there is no g++";
  EXPECT_EQ(OutputOf(folder, absl::StrCat("g++", Flags(),
                                          "*.cc *.o -lm -o test && ./test")),
            "avx2\n");
}

// Also in both branches of an `if`, in all parts of a loop, and in these of
// each other.
TEST(CompileTest, LoopsInBranchesAndLoopsTakeGroupsOfRows) {
  LibraryOptions options;
  options.threads = true;
  options.check_values = true;
  options.isas = "avx2";
  const std::string folder = Compiled("nested", R"(
def @rounds(%i: int32, %n: int32, %x: Tensor[(64, 200), float32]) -> (Tensor[(64, 200), float32], Tensor[(64), float32]) {
  if (less(%i, %n)) {
    %0 = nn.softmax(multiply(%x, 3f));
    %1 = if (equal(%i, 1i32)) { nn.log_softmax(%0) } else { nn.softmax(%0) };
    @rounds(add(%i, 1i32), %n, %1)
  } else {
    (nn.softmax(%x), sum(%x, axis=[1]))
  }
}
def @main(%x: Tensor[(64, 200), float32], %y: Tensor[(12, 64, 128), float32], %c: bool, %n: int32) {
  %0 = if (%c) { sum(%x, axis=[1]) } else { max(%x, axis=[1]) };
  %1 = if (logical_not(%c)) { sum(%x, axis=[1]) } else { max(%x, axis=[1]) };
  %2 = if (%c) { nn.softmax(%y) } else { nn.log_softmax(%y) };
  %3 = if (logical_not(%c)) { nn.softmax(%y) } else { nn.log_softmax(%y) };
  %4 = @rounds(0i32, add(abs(mod(%n, 3i32)), 2i32), %x);
  (%0, %1, %2, %3, %4.0, %4.1)
}
)",
                                      options);
  if (!Has("g++")) GTEST_SKIP() << "there is no g++";
  EXPECT_EQ(OutputOf(folder, absl::StrCat("g++", Flags(),
                                          "*.cc *.o -lm -o test && ./test")),
            "avx2\n");
}

// A run whose number of threads is unknown has at most as many parts as have
// run concurrently so far, at least two; its first step and every eighth try
// more.
TEST(CompileTest, RunsSeeTheirThreads) {
  if (!Has("g++")) GTEST_SKIP() << "there is no g++";
  LibraryOptions options;
  options.threads = true;
  options.isas = "sse2";
  std::string text =
      "def @main(%x: Tensor[(256, 256), float32]) {\n"
      "  %100 = reshape(sin(arange(0f, 65536f, 1f, start=0f, stop=65536f, "
      "step=1f, dtype=\"float32\")), newshape=[256, 256]);\n";
  constexpr int kProducts = 11;
  for (int i = 0; i < kProducts; ++i) {
    absl::StrAppend(&text, "  %", i, " = nn.dense(",
                    i == 0 ? "%x" : absl::StrCat("%", i - 1),
                    ", %100, units=256);\n");
  }
  absl::StrAppend(&text, "  %", kProducts - 1, "\n}\n");
  const std::string folder = Compiled("seen", text, options);
  std::ofstream(folder + "/use.cpp") << R"(
#include <cstdio>
#include <cstring>
#include <thread>
#include <vector>
#include "seen.h"
alignas(64) static unsigned char arena[seen::kArenaBytes];
static std::vector<int> parts;
static void InTurn(void*, int n, void (*body)(void*, int), void* ctx) {
  for (int i = 0; i < n; ++i) body(ctx, i);
  parts.push_back(n);
}
static void AtOnce(void*, int n, void (*body)(void*, int), void* ctx) {
  std::vector<std::thread> threads;
  for (int i = 0; i < n; ++i) threads.emplace_back(body, ctx, i);
  for (std::thread& thread : threads) thread.join();
  parts.push_back(n);
}
static float x[256 * 256], y[256 * 256], z[256 * 256];
int main() {
  for (int i = 0; i < 256 * 256; ++i) x[i] = (i * 7 % 31 - 15) / 100.0f;
  seen model(arena);
  model.Run({x}, {y});
  model.Run({x}, {z}, InTurn, nullptr);
  for (const int n : parts) std::printf(" %d", n);
  int same = std::memcmp(y, z, sizeof(y));
  bool more = false;
  for (int i = 0; i < 1000 && !more; ++i) {
    parts.clear();
    model.Run({x}, {z}, AtOnce, nullptr);
    same |= std::memcmp(y, z, sizeof(y));
    more = parts[1] > 2;
  }
  std::printf(" %d %d\n", same, more);
  parts.clear();
  model.Run({x}, {z}, InTurn, nullptr, 3);
  for (const int n : parts) std::printf(" %d", n);
}
)";
  EXPECT_EQ(
      OutputOf(folder, absl::StrCat("g++ -std=c++17 -O1 -Wall -Wextra -Werror "
                                    "use.cpp seen_sse2.cc seen_weights.o -lm "
                                    "-pthread -o use && ./use")),
      " 8 2 2 2 2 2 2 2 8 2 2 0 1\n 3 3 3 3 3 3 3 3 3 3 3");
}

// A thread that has computed its part of a step computes what is left of others.
TEST(CompileTest, ThreadsTakeWhatOthersHaveLeft) {
  LibraryOptions options;
  options.threads = true;
  options.isas = "sse2";
  const std::string folder = Compiled("left", R"(
def @main(%x: Tensor[(1, 32, 28, 28), float32], %w: Tensor[(48, 32, 3, 3), float32], %v: Tensor[(48, 784), float32]) {
  %0 = nn.relu(nn.conv2d(%x, %w, padding=[1, 1, 1, 1], channels=48, kernel_size=[3, 3]));
  %1 = reshape(%0, newshape=[48, 784]);
  %2 = nn.dense(%1, %v, units=48);
  %3 = nn.batch_matmul(reshape(%2, newshape=[1, 48, 48]), reshape(%1, newshape=[1, 48, 784]));
  nn.softmax(exp(tanh(reshape(%3, newshape=[48, 784]))))
}
)",
                                      options);
  if (!Has("g++")) GTEST_SKIP() << "there is no g++";
  std::ofstream(folder + "/use.cpp") << R"(
#include <cstdio>
#include <cstring>
#include <thread>
#include "left.h"
alignas(64) static unsigned char arena[left::kArenaBytes];
static float x[32 * 784], w[48 * 288], v[48 * 784], y[48 * 784], z[48 * 784];
static int steps = 0, first = 0;
static bool is_complete = false;
// One part computes all of a step, before the others begin.
static void InTurn(void*, int n, void (*body)(void*, int), void* ctx) {
  ++steps;
  for (int i = 0; i < n; ++i) {
    body(ctx, (first + i) % n);
    if (i == 0) is_complete = std::memcmp(y, z, sizeof(y)) == 0;
  }
}
static void AtOnce(void*, int n, void (*body)(void*, int), void* ctx) {
  std::thread threads[8];
  for (int i = 0; i < n; ++i) threads[i] = std::thread(body, ctx, i);
  for (int i = 0; i < n; ++i) threads[i].join();
}
int main() {
  for (int i = 0; i < 32 * 784; ++i) x[i] = (i * 7 % 31 - 15) / 10.0f;
  for (int i = 0; i < 48 * 288; ++i) w[i] = (i * 5 % 23 - 11) / 50.0f;
  for (int i = 0; i < 48 * 784; ++i) v[i] = (i * 3 % 29 - 14) / 90.0f;
  left model(arena);
  model.Run({x, w, v}, {y});
  const int counts[] = {0, 2, 3, 8};
  for (const int threads : counts) {
    for (first = 0; first < 2; ++first) {
      std::memset(z, 0, sizeof(z));
      steps = 0;
      is_complete = false;
      model.Run({x, w, v}, {z}, InTurn, nullptr, threads);
      std::printf("%d%d%d ", steps > 1, is_complete,
                  std::memcmp(y, z, sizeof(y)) == 0);
    }
  }
  for (int i = 0; i < 100; ++i) {
    std::memset(z, 0, sizeof(z));
    model.Run({x, w, v}, {z}, AtOnce, nullptr, i % 9);
    if (std::memcmp(y, z, sizeof(y)) != 0) std::puts("differs");
  }
}
)";
  EXPECT_EQ(
      OutputOf(folder, absl::StrCat("g++", Flags(),
                                    "use.cpp left_sse2.cc left_weights.o -lm "
                                    "-pthread -o use && ./use")),
      "111 111 111 111 111 111 111 111 ");
}

// A model with a dimension that each run chooses.
constexpr char kSequence[] =
    R"(def @main(%x: Tensor[(meta[tir.Var][0], 24), float32], %m: Tensor[(2, 40), float32]) {
  %0 = sin(arange(0f, 960f, 1f, start=0f, stop=960f, step=1f, dtype="float32"));
  %1 = tanh(nn.dense(%x, reshape(%0, newshape=[40, 24]), units=40));
  (nn.softmax(nn.dense(%1, %m, units=2)), sum(%x, axis=[0]))
}

#[metadata]
{"root": 1, "nodes": [
  {"type_key": ""},
  {"type_key": "Map", "keys": ["tir.Var"], "data": [2]},
  {"type_key": "Array", "data": [3]},
  {"type_key": "tir.Var", "attrs": {"dtype": "int32", "name": "4", "span": "0", "type_annotation": "0"}},
  {"type_key": "runtime.String", "repr_str": "n"}],
 "b64ndarrays": [], "attrs": {"tvm_version": "0.14.0"}}
)";

// Steps that threads divide, and the vector mathematics.
constexpr char kDivided[] =
    R"(def @main(%x: Tensor[(64, 256), float32], %w: Tensor[(256, 256), float32]) {
  %0 = nn.dense(%x, %w, units=256);
  %1 = exp(%0);
  (tanh(nn.dense(%1, %w, units=256)), erf(%0), log(abs(%0)), power(abs(%0), 0.3f), cast(%0, dtype="float16"))
}
)";

// The libraries of AArch64 have the evaluator's bytes, too: a perceptron and a
// model with dimensions; in the long form a network of convolutions, a recurrent
// model, one of bytes, results whose sizes values decide, parts for threads.
TEST(CompileTest, CrossCompiles) {
  struct Case {
    std::string name;
    std::string text;
    std::string dims;
    bool threads = false;
  };
  std::vector<Case> cases = {{"perceptron", kPerceptron},
                             {"sequence", kSequence, "n=1..3"}};
  if (testing::IsLongTest()) {
    cases.push_back({"network", kNetwork, "", true});
    cases.push_back({"voice", kVoice});
    cases.push_back({"bytes", kBytes});
    cases.push_back({"chosen", kChosen, "", true});
    cases.push_back({"divided", kDivided, "", true});
  }
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    LibraryOptions options;
    options.target = "aarch64";
    options.dims = c.dims;
    options.threads = c.threads;
    const std::string folder =
        Compiled(c.name, c.text, options, "arm_" + c.name);
    EXPECT_THAT(FilesOf(folder),
                ::testing::IsSupersetOf({c.name + ".h", c.name + "_neon.cc"}));
    if (!Has("aarch64-linux-gnu-g++")) {
      GTEST_SKIP() << "there is no aarch64-linux-gnu-g++";
    }
    const std::string compile = absl::StrCat("aarch64-linux-gnu-g++", Flags());
    EXPECT_EQ(OutputOf(folder, absl::StrCat(compile, "-fsyntax-only *.cc")),
              "");
    if (!Has("qemu-aarch64")) GTEST_SKIP() << "there is no qemu-aarch64";
    EXPECT_EQ(OutputOf(folder, absl::StrCat(compile,
                                            "-static *.cc *.o -lm -o run && "
                                            "qemu-aarch64 ./run")),
              "neon\n");
  }
}

}  // namespace
}  // namespace baton
