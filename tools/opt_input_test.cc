// Runs the baton-opt binary on all kinds of input.

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "baton/testing/golden.h"
#include "baton/testing/run_binary.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::MatchesGolden;
using testing::ReadFileOrFail;
using testing::RunfilePath;
using testing::RunResult;

RunResult BatonOpt(const std::string& args) {
  return testing::RunBinary("tools/baton-opt", args);
}

// Writes a file and returns its path.
std::string File(const std::string& name, const std::string& content) {
  const std::string path = absl::StrCat(testing::TempDir(), "/", name);
  std::ofstream(path, std::ios::binary) << content;
  return path;
}

constexpr char kRelu[] =
    "#[version = \"0.0.5\"]\n"
    "def @main(%x: Tensor[(2), float32]) {\n"
    "  nn.relu(%x)\n"
    "}\n";

constexpr char kTypedRelu[] =
    "#[version = \"0.0.5\"]\n"
    "def @main(%x: Tensor[(2), float32] /* ty=Tensor[(2), float32] */) "
    "-> Tensor[(2), float32] {\n"
    "  nn.relu(%x) /* ty=Tensor[(2), float32] */\n"
    "}\n";

constexpr char kOne[] =
    "#[version = \"0.0.5\"]\n"
    "def @main() -> float32 {\n"
    "  1f /* ty=float32 */\n"
    "}\n";

TEST(OptInputTest, FunctionsOfLoopsBecomeTextOfLlvm) {
  const std::string loops = File("loops.tir",
                                 "@T.prim_func\n"
                                 "def f(A: T.Buffer((8,), \"float32\")):\n"
                                 "    A[0] = T.float32(1)\n");
  RunResult r = BatonOpt(loops +
                         " --emit=llvm --llvm_target='llvm "
                         "-mcpu=haswell' --line_table");
  EXPECT_EQ(r.exit_code, 0) << r.err;
  EXPECT_THAT(r.out, HasSubstr("define void @f(ptr nocapture %A) #0 !dbg !"));
  EXPECT_THAT(r.out, HasSubstr("\"target-cpu\"=\"haswell\""));
  const std::string path = absl::StrCat(testing::TempDir(), "/f.ll");
  r = BatonOpt(absl::StrCat(loops, " --output=", path));
  EXPECT_EQ(r.exit_code, 0) << r.err;
  EXPECT_THAT(ReadFileOrFail(path), HasSubstr("define void @f("));
  r = BatonOpt(loops + " --line_table");
  EXPECT_EQ(r.exit_code, 1);
  EXPECT_THAT(r.err, HasSubstr("--line_table: needs --emit=llvm"));
}

TEST(OptInputTest, AFileIsPrintedAsItIs) {
  const RunResult r = BatonOpt(File("relu.relay", kRelu));
  EXPECT_EQ(r.exit_code, 0) << r.err;
  EXPECT_EQ(r.out, kRelu);
  EXPECT_THAT(r.err, IsEmpty());
  EXPECT_EQ(BatonOpt(File("relu.relay", kRelu) + " --output=-").out, kRelu);
}

TEST(OptInputTest, StandardInput) {
  const RunResult r =
      BatonOpt(absl::StrCat("- --passes=InferType <", File("in.txt", kRelu)));
  EXPECT_EQ(r.exit_code, 0) << r.err;
  EXPECT_EQ(r.out, kTypedRelu);
}

TEST(OptInputTest, AnExpressionIsAModule) {
  const RunResult r = BatonOpt(
      absl::StrCat("- <", File("expr.txt", "add(1f, 2f)\n"),
                   " --passes=FoldConstant --print_after=FoldConstant"));
  EXPECT_EQ(r.exit_code, 0) << r.err;
  EXPECT_THAT(r.out, HasSubstr("def @main()"));
  EXPECT_THAT(r.out, HasSubstr("3f"));
}

TEST(OptInputTest, NothingIsNoModule) {
  const std::string path = File("empty.relay", "");
  const RunResult r = BatonOpt(path);
  EXPECT_EQ(r.exit_code, 1);
  EXPECT_EQ(r.err, absl::StrCat(path,
                                ":1:1: error: expected a definition or an "
                                "expression, found the end of the text\n\n^\n"
                                "baton-opt: 1 error in ",
                                path, "\n"));
}

TEST(OptInputTest, PassesAsWithTheWorkload) {
  const RunResult r =
      BatonOpt(absl::StrCat(RunfilePath("testing/golden/resnet18.relay"),
                            " --passes=InferType --emit=text-no-meta"));
  EXPECT_EQ(r.exit_code, 0) << r.err;
  EXPECT_TRUE(MatchesGolden(r.out, "resnet18.relay"));
}

TEST(OptInputTest, SyntaxAndTypeErrorsInOneRun) {
  const std::string path = File("bad.relay",
                                "def @f(%x: Tensor[(2), float32]) {\n"
                                "  nn.relu(%y)\n"
                                "}\n"
                                "def @g(%x: Tensor[(2), float32]) {\n"
                                "  nn.rleu(%x)\n"
                                "}\n"
                                "def @h(%x: Tensor[(2), float32]) {\n"
                                "  nn.relu(%x, %x)\n"
                                "}\n"
                                "def @calls_f(%x: Tensor[(2), float32]) {\n"
                                "  @f(%x)\n"
                                "}\n"
                                "def @main(%x: Tensor[(2), float32],\n"
                                "          %y: Tensor[(3), float32]) {\n"
                                "  %0 = nn.relu(%x);\n"
                                "  add(%0, %y)\n"
                                "}\n");
  const std::string output = testing::TempDir() + "/bad.out";
  const RunResult r =
      BatonOpt(absl::StrCat(path, " --passes=FoldConstant --output=", output));
  EXPECT_EQ(r.exit_code, 1);
  EXPECT_THAT(r.out, IsEmpty());
  EXPECT_EQ(r.err, absl::StrReplaceAll(
                       "FILE:2:11: error: unknown variable %y\n"
                       "  nn.relu(%y)\n"
                       "          ^~\n"
                       "FILE:5:3: error: unknown operator `nn.rleu`; did you "
                       "mean \"nn.relu\" or \"nn.prelu\"?\n"
                       "  nn.rleu(%x)\n"
                       "  ^~~~~~~\n"
                       "FILE:8:3: error: nn.relu takes 1 argument, found 2\n"
                       "  nn.relu(%x, %x)\n"
                       "  ^~~~~~~~~~~~~~~\n"
                       "FILE:16:3: error: add: the shapes (2) and (3) cannot "
                       "be broadcast together\n"
                       "  add(%0, %y)\n"
                       "  ^~~~~~~~~~~\n"
                       "baton-opt: 4 errors in FILE\n",
                       {{"FILE", path}}));
  EXPECT_FALSE(std::filesystem::exists(output));
}

// A number is known to the end of its definition, what is bound in a function
// only there.
TEST(OptInputTest, IllFormedProgramsAreRefused) {
  const RunResult r =
      BatonOpt(File("scope.relay",
                    "#[version = \"0.0.5\"]\n"
                    "def @main(%x: float32) {\n"
                    "  %1 = fn (%p: float32) { %0 = exp(%p); exp(%0) };\n"
                    "  (%1, %0)\n"
                    "}\n"));
  EXPECT_EQ(r.exit_code, 1);
  EXPECT_THAT(r.out, IsEmpty());
  EXPECT_THAT(r.err, HasSubstr("scope.relay:3:32: error: in @main: a call of "
                               "exp uses a bound variable"));
}

TEST(OptInputTest, SplitInput) {
  const std::string path = File("split.relay", absl::StrCat(kRelu,
                                                            "// -----\n"
                                                            "nn.relu(1f)\n"
                                                            "// -----\n"
                                                            "exp(0f)\n"
                                                            "// -----  \n"
                                                            "  // -----\n",
                                                            kRelu));
  const RunResult r = BatonOpt(absl::StrCat(
      path, " --split_input_file --passes=FoldConstant --op_diff"));
  EXPECT_EQ(r.exit_code, 0) << r.err;
  EXPECT_EQ(r.out, absl::StrCat(kTypedRelu, "// -----\n", kOne, "// -----\n",
                                kOne, "// -----\n", kTypedRelu));
  EXPECT_EQ(r.err,
            "// -----\n"
            "1 FoldConstant nn.relu -1\n"
            "0 sequential nn.relu -1\n"
            "// -----\n"
            "1 FoldConstant exp -1\n"
            "0 sequential exp -1\n"
            "// -----\n");
  // Otherwise such a line is a comment.
  EXPECT_EQ(BatonOpt(path).exit_code, 1);
}

TEST(OptInputTest, SplitInputKeepsLineNumbers) {
  const std::string path = File("split_bad.relay",
                                "tanh(1f)\n"
                                "// -----\n"
                                "tanh(%x)\n"
                                "// -----\n"
                                "\n"
                                "tanh(1f, 1f)\n"
                                "// -----\n"
                                "nn.rleu(1f)");
  const RunResult r = BatonOpt(path + " --split_input_file");
  EXPECT_EQ(r.exit_code, 1);
  EXPECT_THAT(r.out, IsEmpty());
  EXPECT_EQ(r.err, absl::StrReplaceAll(
                       "FILE:3:6: error: unknown variable %x\n"
                       "tanh(%x)\n"
                       "     ^~\n"
                       "FILE:6:1: error: tanh takes 1 argument, found 2\n"
                       "tanh(1f, 1f)\n"
                       "^~~~~~~~~~~~\n"
                       "FILE:8:1: error: unknown operator `nn.rleu`; did you "
                       "mean \"nn.relu\" or \"nn.prelu\"?\n"
                       "nn.rleu(1f)\n"
                       "^~~~~~~\n"
                       "baton-opt: 3 errors in FILE\n",
                       {{"FILE", path}}));
}

TEST(OptInputTest, AFailureDoesNotKeepTheOtherModulesFromRunning) {
  const std::string path =
      File("split_fail.relay",
           "def @main(%x: Tensor[(1, 3, 8, 8), float32],\n"
           "          %w: Tensor[(4, 3, 1, 1), float32]) {\n"
           "  nn.conv2d(%x, %w)\n"
           "}\n"
           "// -----\n"
           "tanh(1f)\n");
  const RunResult r =
      BatonOpt(absl::StrCat(path,
                            " --split_input_file --opt_level=3 --op_diff "
                            "--passes='ConvertLayout{desired_layouts={nn."
                            "conv2d:[NHQC,HWIO]}},FoldConstant'"));
  EXPECT_EQ(r.exit_code, 1);
  EXPECT_THAT(r.out, IsEmpty());
  EXPECT_EQ(
      r.err,
      absl::StrCat("// -----\n"
                   "1 FoldConstant tanh -1\n"
                   "0 sequential tanh -1\n"
                   "baton-opt: the module at ",
                   path,
                   ":1: in pass #1 sequential > #5 ConvertLayout, function "
                   "@main:\n"
                   "nn.conv2d: there is no way from layout \"NCHW\" to layout "
                   "\"NHQC\"\n"));
}

TEST(OptInputTest, FilesThatCannotBeRead) {
  const std::string folder = testing::TempDir();
  File("model_a.relay", kRelu);
  EXPECT_EQ(BatonOpt(folder + "/modle_a.relay").err,
            absl::StrCat("baton-opt: there is no file ", folder,
                         "/modle_a.relay; did you mean \"", folder,
                         "/model_a.relay\"?\n"));
  EXPECT_EQ(BatonOpt("'resnet{num_layers=18}'").err,
            "baton-opt: there is no file resnet{num_layers=18}; did you mean "
            "--workload=resnet{num_layers=18}?\n");
  EXPECT_EQ(BatonOpt(folder).err,
            absl::StrCat("baton-opt: ", folder, " is a folder\n"));
}

TEST(OptInputTest, OneInput) {
  const RunResult r =
      BatonOpt(File("relu.relay", kRelu) + " --workload=resnet");
  EXPECT_EQ(r.exit_code, 1);
  EXPECT_THAT(r.err, HasSubstr("--workload=resnet are given"));
  EXPECT_THAT(BatonOpt("a.relay b.relay").err,
              HasSubstr("unexpected argument \"b.relay\""));
  EXPECT_THAT(BatonOpt(File("relu.relay", kRelu) + " --bind_params").err,
              HasSubstr("--bind_params"));
}

std::string TempPath(const std::string& name) {
  return absl::StrCat(testing::TempDir(), "/", name);
}

TEST(OptInputTest, BinaryAndTextAreInterchangeable) {
  const std::string untyped = TempPath("untyped.baton");
  RunResult r = BatonOpt(File("relu.relay", kRelu) +
                         " --emit=binary --output=" + untyped);
  EXPECT_EQ(r.exit_code, 0) << r.err;
  EXPECT_THAT(r.out, IsEmpty());
  EXPECT_EQ(BatonOpt(untyped).out, kRelu);
  // By content, whatever the name, and from and to streams.
  r = BatonOpt(untyped + " --passes=InferType --emit=binary");
  EXPECT_EQ(r.exit_code, 0) << r.err;
  const std::string typed = File("typed.model", r.out);
  EXPECT_EQ(BatonOpt("- < " + typed).out, kTypedRelu);
  EXPECT_EQ(BatonOpt(File("text.baton", kRelu)).out, kRelu);
  // In place.
  r = BatonOpt(typed + " --emit=binary --output=" + typed);
  EXPECT_EQ(r.exit_code, 0) << r.err;
  EXPECT_EQ(BatonOpt(typed).out, kTypedRelu);
}

// Files of earlier versions: never regenerated, only added.
TEST(OptInputTest, OldBinaryFilesAreRead) {
  for (const char* name : {"version_1"}) {
    const std::string path =
        testing::RunfilePath(absl::StrCat("tools/testdata/", name));
    const RunResult r = BatonOpt(path + ".baton");
    EXPECT_EQ(r.exit_code, 0) << r.err;
    EXPECT_TRUE(testing::SameText(r.out, ReadFileOrFail(path + ".relay")));
  }
}

TEST(OptInputTest, BinaryHoldsOneModule) {
  const RunResult r =
      BatonOpt(File("two.relay", absl::StrCat(kRelu, "// -----\n", kRelu)) +
               " --split_input_file --emit=binary");
  EXPECT_EQ(r.exit_code, 1);
  EXPECT_THAT(r.out, IsEmpty());
  EXPECT_THAT(r.err, HasSubstr("--emit=binary: a binary file holds one module, "
                               "but there are 2 in "));
}

TEST(OptInputTest, DamagedBinaryFilesAreRefused) {
  const std::string path = TempPath("damaged.baton");
  ASSERT_EQ(
      BatonOpt(File("relu.relay", kRelu) + " --emit=binary --output=" + path)
          .exit_code,
      0);
  const std::string good = ReadFileOrFail(path);
  for (const size_t size :
       {size_t{0}, size_t{20}, size_t{64}, good.size() - 1}) {
    const std::string cut = File("cut.baton", good.substr(0, size));
    const RunResult r = BatonOpt(cut);
    EXPECT_EQ(r.exit_code, 1);
    EXPECT_THAT(r.out, IsEmpty());
    EXPECT_THAT(r.err, HasSubstr(absl::StrCat("baton-opt: ", cut, ": byte ")));
  }
}

TEST(OptInputTest, ANulInATextHasAPlace) {
  const std::string nul(1, '\0');
  std::string text =
      "@T.prim_func\n"
      "def f(A: T.Buffer((8,), \"float32\")):\n"
      "    A[0] =" +
      nul + " T.float32(1)  # \u00fc\r\n";
  RunResult r = BatonOpt(File("nul.tir", text));
  EXPECT_EQ(r.exit_code, 1);
  EXPECT_THAT(r.err, HasSubstr("nul.tir:3:11: error: unexpected character"));
  text = kRelu;
  r = BatonOpt(File("nul.relay", text.insert(text.find("nn."), nul)));
  EXPECT_EQ(r.exit_code, 1);
  EXPECT_THAT(r.err, HasSubstr("nul.relay:3:3: error: unexpected character"));
}

TEST(OptInputTest, AModuleCanBeWrittenAndReadAsOnnx) {
  const std::string path = absl::StrCat(testing::TempDir(), "/relu.onnx");
  RunResult r = BatonOpt(File("relu.relay", kRelu) + " --output=" + path);
  EXPECT_EQ(r.exit_code, 0) << r.err;
  r = BatonOpt(path);
  EXPECT_EQ(r.exit_code, 0) << r.err;
  EXPECT_THAT(r.out, HasSubstr("nn.relu(%x)"));
  // To standard output, too.
  r = BatonOpt(path + " --emit=onnx --onnx_opset=13");
  EXPECT_EQ(r.exit_code, 0) << r.err;
  EXPECT_EQ(BatonOpt(File("again.onnx", r.out)).exit_code, 0);
  r = BatonOpt(path + " --emit=onnx --onnx_opset=9");
  EXPECT_EQ(r.exit_code, 1);
  EXPECT_THAT(r.err, HasSubstr("13 to 21"));
}

TEST(OnnxTest, InputsBecomeConstants) {
  const std::string relay =
      File("take.relay",
           "def @main(%x: Tensor[(2, 3), float32], %i: int64) {\n"
           "  take(%x, %i, axis=0)\n"
           "}\n");
  const std::string path = absl::StrCat(testing::TempDir(), "/take.onnx");
  ASSERT_EQ(BatonOpt(relay + " --output=" + path).exit_code, 0);
  const RunResult known = BatonOpt(path + " --input_values=i:1");
  EXPECT_EQ(known.exit_code, 0) << known.err;
  EXPECT_THAT(known.out, HasSubstr("take(%x, 1i64"));
  EXPECT_THAT(known.out, HasSubstr("input_tensor_names=[\"x\"]"));
  const std::pair<const char*, const char*> kWrong[] = {
      {"i:0.5", "i has elements of type int64, which have no 0.5"},
      {"i:[1]", "input 'i' is Tensor[(1), int64], not int64"},
      {"i:[a]", "--input_values"},
      {"i:\"a\"", "the value of i is no number"},
      {"i:9223372036854775808", "--input_values"},
      {"j:1", "'j', but the model has no such input"}};
  for (const auto& [values, message] : kWrong) {
    const RunResult wrong =
        BatonOpt(absl::StrCat(path, " --input_values='", values, "'"));
    EXPECT_EQ(wrong.exit_code, 1) << values;
    EXPECT_THAT(wrong.err, HasSubstr(message));
  }
  EXPECT_THAT(BatonOpt(relay + " --input_values=i:1").err,
              HasSubstr("take.relay is no ONNX file"));
}

TEST(OnnxTest, NamesOfInputsHaveAnyCharacters) {
  const std::string relay =
      File("names.relay",
           "def @main(%x: Tensor[(2, 3), float32], %i: int64, "
           "input_tensor_names=[\"onnx::x/0\", \"1:0\"]) {\n"
           "  take(%x, %i, axis=0)\n"
           "}\n");
  const std::string path = absl::StrCat(testing::TempDir(), "/names.onnx");
  ASSERT_EQ(BatonOpt(relay + " --output=" + path).exit_code, 0);
  for (const char* flags :
       {" --input_shapes=onnx::x/0:[4,3] --input_values=1:0:1",
        " --input_shapes='\"onnx::x/0\":[4,3]' --input_values='\"1:0\":1'"}) {
    const RunResult r = BatonOpt(path + flags);
    EXPECT_EQ(r.exit_code, 0) << r.err;
    EXPECT_THAT(r.out, HasSubstr("Tensor[(4, 3), float32]"));
    EXPECT_THAT(r.out, HasSubstr("1i64"));
  }
}

TEST(OnnxTest, NamesOfInputsAreUtf8AndHaveQuotes) {
  const std::string relay =
      File("utf8.relay",
           "def @main(%x: Tensor[(2, 3), float32], "
           "input_tensor_names=[\"gr\xc3\xb6\xc3\x9f'e\"]) {\n"
           "  tanh(%x)\n"
           "}\n");
  const std::string path = absl::StrCat(testing::TempDir(), "/utf8.onnx");
  ASSERT_EQ(BatonOpt(relay + " --output=" + path).exit_code, 0);
  const RunResult r =
      BatonOpt(path + " --input_shapes=\"gr\xc3\xb6\xc3\x9f'e:[4,3]\"");
  EXPECT_EQ(r.exit_code, 0) << r.err;
  EXPECT_THAT(r.out, HasSubstr("Tensor[(4, 3), float32]"));
}

TEST(OptInputTest, ExternalDataIsAFileBesideTheOutput) {
  const std::string path = absl::StrCat(testing::TempDir(), "/net.onnx");
  RunResult r = BatonOpt(
      "--workload='resnet{num_layers=18,image_shape=[3,32,32]}' --bind_params"
      " --onnx_external_data --output=" +
      path);
  EXPECT_EQ(r.exit_code, 0) << r.err;
  EXPECT_GT(std::filesystem::file_size(path + ".data"),
            std::filesystem::file_size(path));
  r = BatonOpt(path + " --emit=none");
  EXPECT_EQ(r.exit_code, 0) << r.err;
  std::filesystem::remove(path + ".data");
  EXPECT_EQ(BatonOpt(path + " --emit=none").exit_code, 1);
}

TEST(OptInputTest, WhatIsReadIsNotWrittenOver) {
  const std::string folder = absl::StrCat(testing::TempDir(), "/kept");
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  const std::string model = folder + "/a.onnx";
  RunResult r = BatonOpt(
      "--workload=mlp --bind_params --onnx_external_data "
      "--output=" +
      model);
  ASSERT_EQ(r.exit_code, 0) << r.err;
  // The data of the model, under the name that that of another would have.
  const std::string text = ReadFileOrFail(model);
  const std::string data = folder + "/b.onnx.data";
  std::filesystem::rename(model + ".data", data);
  File("kept/a.onnx",
       absl::StrReplaceAll(text, {{"a.onnx.data", "b.onnx.data"}}));
  const std::string bytes = ReadFileOrFail(data);
  const auto refuses = [&](const std::string& flags, const std::string& flag,
                           const std::string& path) {
    r = BatonOpt(model + flags);
    EXPECT_EQ(r.exit_code, 1) << flags;
    EXPECT_THAT(r.err, HasSubstr(absl::StrCat(flag, ": ", path,
                                              " is read and would be written")))
        << flags;
    EXPECT_EQ(ReadFileOrFail(data), bytes) << flags;
  };
  refuses(" --onnx_external_data --output=" + folder + "/b.onnx",
          "the data of --output", data);
  for (const std::string flag :
       {"--output", "--report", "--record", "--reproducer"}) {
    refuses(
        absl::StrCat(" --passes=FoldConstant --emit=text ", flag, "=", data),
        flag, data);
  }
  // A result takes the place of its input, and its data that of the input's.
  r = BatonOpt(absl::StrCat(model, " --onnx_external_data --output=", model));
  EXPECT_EQ(r.exit_code, 0) << r.err;
  EXPECT_EQ(ReadFileOrFail(data), bytes);
  r = BatonOpt(absl::StrCat(model, " --onnx_external_data --output=", model));
  EXPECT_EQ(r.exit_code, 0) << r.err;
  r = BatonOpt(model + " --emit=none");
  EXPECT_EQ(r.exit_code, 0) << r.err;
  // Rules, schedules, arguments and histories are kept, too.
  const std::string rules = File("kept/a.rules", "");
  r = BatonOpt(absl::StrCat(model, " --rules=", rules, " --output=", rules));
  EXPECT_EQ(r.exit_code, 1);
  EXPECT_THAT(r.err, HasSubstr("--output: " + rules + " is read"));
  const std::string history = folder + "/h";
  r = BatonOpt(model +
               " --passes=FoldConstant --emit=none --record=" + history);
  ASSERT_EQ(r.exit_code, 0) << r.err;
  r = BatonOpt(absl::StrCat("--resume=", history, " --record=", history));
  EXPECT_EQ(r.exit_code, 1);
  EXPECT_THAT(r.err, HasSubstr("--record: " + history + " is read"));
}

TEST(OptInputTest, ArtifactsAreFilesOfAFolder) {
  const auto function = [](const char* artifact) {
    return absl::StrCat("def @f(%x: int32, artifact_name=\"", artifact,
                        "\", artifact=\"int f;\\n\") { %x }\n");
  };
  const std::string folder = absl::StrCat(testing::TempDir(), "/made/here");
  RunResult r = BatonOpt(File("f.relay", function("f.c")) +
                         " --emit=none --artifacts=" + folder);
  EXPECT_EQ(r.exit_code, 0) << r.err;
  EXPECT_EQ(ReadFileOrFail(folder + "/f.c"), "int f;\n");
  // If there are several modules, each has a folder.
  r = BatonOpt(File("two.relay", absl::StrCat(function("f.c"), "// -----\n",
                                              function("f.c"))) +
               " --split_input_file --emit=none --artifacts=" + folder);
  EXPECT_EQ(r.exit_code, 0) << r.err;
  EXPECT_EQ(ReadFileOrFail(folder + "/2/f.c"), "int f;\n");
  // Nothing is written outside of the folder, or if anything is wrong.
  r = BatonOpt(File("f.relay", function("../f.c")) + " --artifacts=" + folder);
  EXPECT_EQ(r.exit_code, 1);
  EXPECT_THAT(r.out, IsEmpty());
  EXPECT_THAT(r.err, HasSubstr("\"../f.c\" is not that of a file"));
  r = BatonOpt(File("f.relay", function("f.c")) + " --artifacts=/dev/null/x");
  EXPECT_EQ(r.exit_code, 1);
  EXPECT_THAT(r.out, IsEmpty());
  EXPECT_THAT(r.err, HasSubstr("--artifacts=/dev/null/x: "));
  // Nor over what is read or is another result.
  std::filesystem::create_directories(folder + "/kept");
  const std::string model = File("made/here/kept/f.c", function("f.c"));
  const std::string text = ReadFileOrFail(model);
  const std::string kept = absl::StrCat(" --artifacts=", folder, "/kept");
  r = BatonOpt(absl::StrCat(model, " --emit=none", kept));
  EXPECT_EQ(r.exit_code, 1);
  EXPECT_THAT(r.err, HasSubstr("--artifacts: " + model + " is read"));
  EXPECT_EQ(ReadFileOrFail(model), text);
  const std::string rules = File("made/here/kept/g.c", "");
  r = BatonOpt(absl::StrCat(File("g.relay", function("g.c")),
                            " --rules=", rules, " --emit=none", kept));
  EXPECT_EQ(r.exit_code, 1);
  EXPECT_THAT(r.err, HasSubstr("--artifacts: " + rules + " is read"));
  r = BatonOpt(absl::StrCat(File("g.relay", function("h.c")), kept,
                            " --output=", folder, "/kept/h.c"));
  EXPECT_EQ(r.exit_code, 1);
  EXPECT_THAT(r.err, HasSubstr("--artifacts and --output are one file"));
  EXPECT_FALSE(std::filesystem::exists(folder + "/kept/h.c"));
}

TEST(OptInputTest, FilesOfOtherKindsAreNamed) {
  RunResult r = BatonOpt(File("model.relay", "PK\x03\x04 and more"));
  EXPECT_EQ(r.exit_code, 1);
  EXPECT_THAT(r.err, HasSubstr("is a zip archive"));
  r = BatonOpt(File("model.txt", "module {\n  func.func @main() {}\n}\n"));
  EXPECT_EQ(r.exit_code, 1);
  EXPECT_THAT(r.err, HasSubstr("is text of MLIR"));
  r = BatonOpt(File("model.txt", "{\"nodes\": []}"));
  EXPECT_EQ(r.exit_code, 1);
  EXPECT_THAT(r.err, HasSubstr("is JSON"));
  // Text is text under any name.
  r = BatonOpt(File("text.onnx", kRelu));
  EXPECT_EQ(r.exit_code, 0) << r.err;
  // An ONNX file is one under any name.
  const std::string onnx = absl::StrCat(testing::TempDir(), "/x.onnx");
  ASSERT_EQ(BatonOpt(File("relu.relay", kRelu) + " --output=" + onnx).exit_code,
            0);
  const std::string renamed = absl::StrCat(testing::TempDir(), "/x.relay");
  std::filesystem::rename(onnx, renamed);
  r = BatonOpt(renamed);
  EXPECT_EQ(r.exit_code, 0) << r.err;
}

TEST(OptInputTest, TheNameOfTheOutputSaysTheFormat) {
  const std::string relu = File("relu.relay", kRelu);
  const std::string path = TempPath("out.baton");
  EXPECT_EQ(BatonOpt(absl::StrCat(relu, " --output=", path)).exit_code, 0);
  EXPECT_EQ(ReadFileOrFail(path).substr(0, 4),
            "\x89"
            "BAT");
  EXPECT_EQ(
      BatonOpt(absl::StrCat(relu, " --emit=text --output=", path)).exit_code,
      0);
  EXPECT_EQ(ReadFileOrFail(path), kRelu);
}

TEST(OptInputTest, InputShapesOfTextAndWorkloads) {
  const std::string relu = File("relu.relay", kTypedRelu);
  const RunResult r =
      BatonOpt(relu + " --input_shapes=x:[3,4] --passes=InferType");
  EXPECT_EQ(r.exit_code, 0) << r.err;
  EXPECT_THAT(r.out, HasSubstr("-> Tensor[(3, 4), float32]"));
  EXPECT_THAT(BatonOpt(relu + " --input_shapes=y:[3,4]").err,
              HasSubstr("@main has no parameter called \"y\""));
  EXPECT_THAT(BatonOpt(relu + " --input_values=x:3").err,
              HasSubstr("--input_values: "));
  EXPECT_THAT(BatonOpt("--workload='resnet{image_shape=[3,32,32]}' "
                       "--input_shapes=data:[2,3,32,32] --passes=InferType")
                  .out,
              HasSubstr("-> Tensor[(2, 1000), float32]"));
  const std::string dense = File(
      "dense.relay",
      "def @main(%x: Tensor[(1, 8), float32], %w: Tensor[(4, 8), float32]) {\n"
      "  nn.dense(%x, %w, units=4)\n}\n");
  EXPECT_THAT(BatonOpt(dense + " --input_shapes=x:[1,9]").err,
              HasSubstr("--input_shapes: "));
}

TEST(OptInputTest, OneErrorForAllMissingConstants) {
  const std::string path = TempPath("no_meta.relay");
  EXPECT_EQ(BatonOpt("--workload='resnet{image_shape=[3,32,32]}' "
                     "--bind_params --emit=text-no-meta --output=" +
                     path)
                .exit_code,
            0);
  const RunResult r = BatonOpt(path);
  EXPECT_EQ(r.exit_code, 1);
  EXPECT_THAT(r.err, HasSubstr("no metadata section"));
  EXPECT_THAT(r.err, HasSubstr("baton-opt: 1 error in "));
}

}  // namespace
}  // namespace baton
