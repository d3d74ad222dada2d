#include "baton/tools/run_model.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/base/dtype.h"
#include "baton/base/tensor.h"
#include "baton/ir/diagnostics.h"
#include "baton/runtime/io/npy.h"
#include "baton/testing/external_data.h"
#include "baton/testing/status_matchers.h"
#include "baton/tools/input.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton {
namespace {

using ::baton::testing::IsOk;
using ::baton::testing::StatusIs;
using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// A file with a program that doubles, adds `addend` on line 4, and takes the
// exponential.
std::string ModelFile(absl::string_view name, absl::string_view addend) {
  const std::string path = absl::StrCat(::testing::TempDir(), "/", name);
  std::ofstream(path) << "#[version = \"0.0.5\"]\n"
                         "def @main(%x: Tensor[(2, 3), float32]) {\n"
                         "  %0 = multiply(%x, 2f);\n"
                         "  %1 = add(%0, "
                      << addend
                      << ");\n"
                         "  exp(%1)\n"
                         "}\n";
  return path;
}

std::string OutputOf(const RunModelOptions& options, bool holds = true) {
  std::ostringstream out;
  const absl::StatusOr<bool> result = RunModel(options, out);
  EXPECT_THAT(result, IsOk());
  EXPECT_EQ(result.ok() && *result, holds) << out.str();
  return out.str();
}

TEST(RunModelTest, AProfileSaysWhereTheTimeGoes) {
  RunModelOptions options;
  options.model = ModelFile("profiled.relay", "1f");
  options.random_inputs = true;
  options.profile = "text";
  EXPECT_THAT(
      OutputOf(options),
      AllOf(StartsWith("1 steps: "), HasSubstr(" 1 x elementwise"),
            HasSubstr("multiply+add+exp "), HasSubstr("profiled.relay:5\n"),
            HasSubstr("\ncreation: "), HasSubstr("packing and plan ")));
  options.profile = "json";
  EXPECT_THAT(
      OutputOf(options),
      AllOf(StartsWith("{\"version\":1,\"total_us\":"),
            HasSubstr("{\"name\":\"multiply+add+exp\",\"calls\":1,\"us\":"),
            HasSubstr("{\"operator\":\"multiply+add+exp\","
                      "\"kernel\":\"elementwise\""),
            // The step's time is its first node's.
            ContainsRegex("\\{\"name\":\"[^\"]*profiled.relay:3\",\"us\":[^}]*"
                          "\"share_of_peak\":[0-9.]*,\"steps\":\\[0\\]\\}"),
            ContainsRegex("\\{\"name\":\"[^\"]*profiled.relay:5\",\"us\":0.000,"
                          "[^}]*\"in\":\"[^\"]*profiled.relay:3\"\\}"),
            HasSubstr("\"creation\":[{\"name\":\"read\",\"ms\":")));
  options.profile = "trace";
  options.report = absl::StrCat(::testing::TempDir(), "/trace.json");
  EXPECT_EQ(OutputOf(options), "");
  std::ostringstream trace;
  trace << std::ifstream(options.report).rdbuf();
  EXPECT_THAT(trace.str(),
              AllOf(StartsWith("{\"traceEvents\":["),
                    HasSubstr("{\"name\":\"multiply+add+exp\",\"cat\":"
                              "\"operator\",\"ph\":\"X\"")));
}

TEST(RunModelTest, APlanHasReasonsAndCosts) {
  RunModelOptions options;
  options.model = ModelFile("planned.relay", "1f");
  options.random_inputs = true;
  options.plan = absl::StrCat(::testing::TempDir(), "/plan.txt");
  const auto plan = [&options] {
    std::ostringstream text;
    text << std::ifstream(options.plan).rdbuf();
    return text.str();
  };
  EXPECT_EQ(OutputOf(options), "");
  EXPECT_THAT(plan(),
              AllOf(StartsWith("arena "), HasSubstr(" bytes, lower bound "),
                    HasSubstr("\nstep 0: elementwise (multiply+add+exp): "
                              "input0[0+24] "),
                    HasSubstr(" -> output0[0+24]\n"),
                    ContainsRegex("    predicted [0-9.]+ us, [0-9]+ flops, "
                                  "56 bytes, 1 items, live [0-9]+, "),
                    HasSubstr("planned.relay:5; calls that follow one another"),
                    Not(HasSubstr(", measured "))));
  // With a profile, the time of each step in that run.
  options.profile = "json";
  EXPECT_THAT(OutputOf(options),
              HasSubstr("\"reason\":\"calls that follow one another"));
  EXPECT_THAT(plan(),
              ContainsRegex("predicted [0-9.]+ us, measured [0-9.]+ us, "
                            "[0-9]+ flops"));
}

// The table of --kernel_costs decides the layout of a convolution, whose
// candidates the plan shows.
TEST(RunModelTest, ATableOfCostsDecidesLayouts) {
  const std::string folder = ::testing::TempDir();
  RunModelOptions options;
  options.model = absl::StrCat(folder, "/layouts.relay");
  std::ofstream(options.model)
      << "#[version = \"0.0.5\"]\n"
         "def @main(%x: Tensor[(1, 20, 6, 6), float32]) {\n"
         "  %0 = ones(shape=[24, 20, 1, 1], dtype=\"float32\");\n"
         "  nn.conv2d(%x, %0, channels=24, kernel_size=[1, 1])\n"
         "}\n";
  options.passes = "FoldConstant";
  options.random_inputs = true;
  options.executor = "cpu";
  const std::string results = OutputOf(options);
  const std::string plan_file = absl::StrCat(folder, "/layouts_plan.txt");
  options.kernel_costs = absl::StrCat(folder, "/costs.txt");
  std::ostringstream notes;
  options.notes = &notes;
  const auto plan = [&](absl::string_view costs) {
    std::ofstream(options.kernel_costs) << costs;
    options.plan.clear();
    EXPECT_EQ(OutputOf(options), results);
    // With a plan, results are not printed.
    options.plan = plan_file;
    EXPECT_EQ(OutputOf(options), "");
    std::ostringstream text;
    text << std::ifstream(plan_file).rdbuf();
    return text.str();
  };
  EXPECT_THAT(plan("{machine = \"slow\", to_planar = 1e-6,\n"
                   " matmul.batch.pack = 1e6}"),
              AllOf(HasSubstr("\npredicted from costs measured on slow\n"),
                    HasSubstr("step 0: matmul.batch (nn.conv2d)"),
                    ContainsRegex("; layouts: planar [0-9.]+ us, ")));
  EXPECT_THAT(notes.str(),
              AllOf(HasSubstr("costs.txt lacks rows, which are those of the "
                              "built-in table: peak, step, "),
                    Not(HasSubstr("matmul.batch.pack"))));
  EXPECT_THAT(plan("{matmul.batch.pack = 1e-6, to_blocked16 = 1e-6}"),
              AllOf(HasSubstr("step 0: conv.blocked16.first (nn.conv2d)"),
                    ContainsRegex("; layouts: planar input [0-9.]+ us, ")));
  std::ofstream(options.kernel_costs) << "{\n  to_planar = 0\n}\n";
  std::ostringstream out;
  EXPECT_THAT(RunModel(options, out).status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "costs.txt:2:15: error: to_planar must be a number"));
}

TEST(RunModelTest, ProfilesThatDoNotExistAreRefused) {
  RunModelOptions options;
  options.model = ModelFile("refused.relay", "1f");
  options.random_inputs = true;
  options.profile = "xml";
  std::ostringstream out;
  EXPECT_THAT(RunModel(options, out).status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "expected one of text, json, trace"));
  options.profile = "";
  options.report = "report.json";
  EXPECT_THAT(RunModel(options, out).status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "--report: needs --profile"));
}

TEST(RunModelTest, WhatIsReadIsNotWrittenOver) {
  RunModelOptions options;
  options.model = ModelFile("kept.relay", "1f");
  options.random_inputs = true;
  options.outputs = absl::StrCat(::testing::TempDir(), "/kept.npz");
  EXPECT_EQ(OutputOf(options), "");
  const auto mistake = [&options] {
    std::ostringstream out;
    return RunModel(options, out).status();
  };
  options.expect = std::exchange(options.outputs, "");
  options.plan = options.expect;
  EXPECT_THAT(mistake(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       absl::StrCat("--plan: ", options.plan,
                                    " is read and would be written")));
  options.expect.clear();
  options.against = ModelFile("other.relay", "1f");
  options.plan = options.against;
  EXPECT_THAT(mistake(),
              StatusIs(absl::StatusCode::kInvalidArgument, "--plan: "));
  // The external data of a model.
  const std::string folder = absl::StrCat(::testing::TempDir(), "/with_data");
  const std::string data = folder + "/data.npz";
  options = RunModelOptions();
  options.model = testing::WriteModelWithData(folder, "data.npz");
  options.random_inputs = true;
  options.outputs = data;
  EXPECT_THAT(mistake(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       absl::StrCat("--outputs: ", data, " is read")));
  EXPECT_EQ(std::filesystem::file_size(data), 1280u);
  options.outputs = folder + "/results.npz";
  EXPECT_EQ(OutputOf(options), "");
}

// Functions of loops, compiled by LLVM, give the bytes of the evaluator's kernels.
TEST(RunModelTest, LoopsAreCompiled) {
  RunModelOptions options;
  options.model = ModelFile("compiled.relay", "1f");
  options.random_inputs = true;
  options.outputs = absl::StrCat(::testing::TempDir(), "/kernels.npz");
  OutputOf(options);
  options.expect = options.outputs;
  options.outputs.clear();
  options.rtol = 0;
  options.atol = 0;
  options.executor = "jit";
  std::ostringstream out;
  EXPECT_THAT(RunModel(options, out),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "the module has no functions of loops"));
  options.passes = "FuseOps,LowerToTir,tir.lower";
  const absl::StatusOr<bool> result = RunModel(options, out);
  if (absl::IsUnavailable(result.status())) {
    GTEST_SKIP() << result.status().message();
  }
  EXPECT_THAT(result, IsOk());
  EXPECT_TRUE(result.ok() && *result) << out.str();
  // Blocks are not lowered.
  options.passes = "FuseOps,LowerToTir";
  EXPECT_THAT(RunModel(options, out),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "cannot be written as LLVM's text"));
  options.shadow = "1/2";
  EXPECT_THAT(RunModel(options, out),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "--shadow: needs --executor=cpu"));
}

TEST(RunModelTest, ModelsThatDifferAreComparedNodeByNode) {
  RunModelOptions options;
  options.model = ModelFile("model.relay", "1f");
  options.random_inputs = true;
  options.against = options.model;
  EXPECT_THAT(OutputOf(options), AllOf(HasSubstr("output_0: within tolerance"),
                                       Not(HasSubstr("node"))));
  // Wrong on line 4, and so on line 5.
  options.passes = "AddFirstOperandTwice";
  const std::string report = OutputOf(options, /*holds=*/false);
  EXPECT_THAT(report,
              AllOf(HasSubstr("output_0: "), HasSubstr("elements differ"),
                    HasSubstr("  node "), HasSubstr("model.relay:5: "),
                    Not(HasSubstr("model.relay:3: ")),
                    HasSubstr(" nodes that both models have differs\n")))
      << report;
}

TEST(RunModelTest, WorkloadsWithTheirWeights) {
  RunModelOptions options;
  options.workload = "resnet{num_layers=8,image_shape=[3,12,12],num_classes=4}";
  options.random_inputs = true;
  EXPECT_THAT(OutputOf(options), HasSubstr("float32[1, 4] ["));
  options.input_shapes = "data:[2,3,12,12]";
  options.passes = "FoldConstant,FuseOps";
  EXPECT_THAT(OutputOf(options), HasSubstr("float32[2, 4] ["));
}

// Writes the model as baton-opt --emit=executable does.
std::string ExecutableOf(const std::string& model) {
  std::ostringstream text;
  text << std::ifstream(model).rdbuf();
  Diagnostics diagnostics;
  const std::vector<InputModule> modules =
      ParseModules(text.str(), model, /*split=*/false, diagnostics);
  EXPECT_EQ(modules.size(), 1u);
  const absl::StatusOr<ModuleWriter::Output> output =
      ModuleWriters().Find("executable")->write(modules[0].module, {});
  EXPECT_THAT(output, IsOk());
  const std::string path = absl::StrCat(model, ".exe");
  std::ofstream file(path, std::ios::binary);
  if (output.ok()) {
    for (const absl::string_view piece : output->pieces) file << piece;
  }
  return path;
}

TEST(RunModelTest, ExecutablesRunAsTheirModels) {
  RunModelOptions options;
  options.model = ModelFile("compiled.relay", "1f");
  options.random_inputs = true;
  const std::string want = OutputOf(options);
  const std::string text = options.model;
  options.model = ExecutableOf(text);
  EXPECT_EQ(OutputOf(options), want);
  options.against = text;
  EXPECT_THAT(OutputOf(options), HasSubstr("output_0: within tolerance"));
  options.against = "";
  options.executor = "evaluator";
  EXPECT_EQ(OutputOf(options), want);
  options.executor = "";
  options.threads = 2;
  options.bench = 2;
  EXPECT_THAT(OutputOf(options), HasSubstr(" threads 2 creation "));
  options.bench = 0;
  options.profile = "text";
  EXPECT_THAT(OutputOf(options), HasSubstr("compiled.relay:5\n"));
  options.profile = "";
  std::ostringstream out;
  options.passes = "FoldConstant";
  EXPECT_THAT(RunModel(options, out).status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "is compiled; give the flag to baton-opt"));
  options.passes = "";
  std::ofstream(options.model, std::ios::app) << "x";
  EXPECT_THAT(RunModel(options, out).status(),
              StatusIs(absl::StatusCode::kInvalidArgument, "is damaged"));
  std::ofstream(options.model) << "text";
  EXPECT_THAT(RunModel(options, out).status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "this is no executable of Baton"));
}

TEST(RunModelTest, ShadowEvaluatesStepsAgain) {
  RunModelOptions options;
  options.model = ModelFile("shadowed.relay", "1f");
  options.random_inputs = true;
  options.shadow = "1/1";
  EXPECT_THAT(OutputOf(options), HasSubstr("steps that ran were evaluated"));
  EXPECT_THAT(OutputOf(options), HasSubstr("none differs\n"));
  options.bench = 10;
  options.shadow = "1/2";
  EXPECT_THAT(OutputOf(options), HasSubstr("none differs\n"));
  std::ostringstream out;
  for (const char* wrong : {"2/3", "1/0", "1/", "x"}) {
    options.shadow = wrong;
    EXPECT_THAT(RunModel(options, out).status(),
                StatusIs(absl::StatusCode::kInvalidArgument, "expected 1/K"));
  }
  options.shadow = "1/64";
  options.executor = "evaluator";
  EXPECT_THAT(RunModel(options, out).status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "--shadow: needs --executor=cpu"));
}

TEST(RunModelTest, StateIsKeptFromRunToRun) {
  const std::string path = absl::StrCat(::testing::TempDir(), "/state.relay");
  std::ofstream(path) << "#[version = \"0.0.5\"]\n"
                         "def @main(%s: Tensor[(2), float32]) {\n"
                         "  %0 = add(%s, 1f);\n"
                         "  (multiply(%0, 2f), %0)\n"
                         "}\n";
  RunModelOptions options;
  options.model = path;
  options.random_inputs = true;
  options.state = "output_1:s";
  for (const char* executor : {"evaluator", "cpu"}) {
    options.executor = executor;
    // From zeros.
    EXPECT_EQ(OutputOf(options),
              "output_0: float32[2] [2, 2]\noutput_1: float32[2] [1, 1]\n");
  }
  options.bench = 3;
  EXPECT_THAT(OutputOf(options), StartsWith("ms min "));
  options.bench = 0;
  std::ostringstream out;
  options.state = "y:s";
  EXPECT_THAT(RunModel(options, out).status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "--state: the model has no result y; it has output_0, "
                       "output_1"));
  options.state = "output_1:t";
  EXPECT_THAT(RunModel(options, out).status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "--state: the model has no input t; it has s"));
  options.state = "s";
  EXPECT_THAT(RunModel(options, out).status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "--state: expected OUT:IN, found `s`"));
  options.state = "output_0:s,output_1:s";
  EXPECT_THAT(RunModel(options, out).status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "--state: result output_1 or input s is named twice"));
}

TEST(RunModelTest, StateHasTheTypeOfTheInput) {
  RunModelOptions options;
  options.model = absl::StrCat(::testing::TempDir(), "/other_state.relay");
  std::ofstream(options.model) << "#[version = \"0.0.5\"]\n"
                                  "def @main(%s: Tensor[(2), float32]) {\n"
                                  "  (%s, sum(%s, keepdims=True),"
                                  " cast(%s, dtype=\"int32\"))\n"
                                  "}\n";
  options.random_inputs = true;
  std::ostringstream out;
  for (const auto& [executor, error] :
       {std::pair("evaluator",
                  "--state: result output_1 and input s differ: "
                  "Tensor[(1), float32] and Tensor[(2), float32]"),
        std::pair("cpu",
                  "output 1 is float32[1], but input 0 (%s) is float32[2]")}) {
    options.executor = executor;
    options.state = "output_1:s";
    EXPECT_THAT(RunModel(options, out).status(),
                StatusIs(absl::StatusCode::kInvalidArgument, error));
    options.state = "output_0:s";
    EXPECT_THAT(RunModel(options, out), IsOk()) << executor;
  }
  options.executor = "evaluator";
  options.state = "output_2:s";
  EXPECT_THAT(RunModel(options, out).status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "--state: result output_2 and input s differ: "
                       "Tensor[(2), int32] and Tensor[(2), float32]"));
}

// The error names --input_shapes once.
TEST(RunModelTest, RandomInputsNeedShapes) {
  RunModelOptions options;
  options.model = absl::StrCat(::testing::TempDir(), "/no_shape.relay");
  std::ofstream(options.model) << "#[version = \"0.0.5\"]\n"
                                  "def @main(%x: Tensor[(?), float32]) {\n"
                                  "  %x\n"
                                  "}\n";
  options.random_inputs = true;
  std::ostringstream out;
  EXPECT_EQ(RunModel(options, out).status().message(),
            "parameter %x: no random value can be made for the type "
            "Tensor[(?), float32]; --input_shapes gives the shape of an input");
}

TEST(RunModelTest, DimensionsWithBounds) {
  RunModelOptions options;
  options.model = absl::StrCat(::testing::TempDir(), "/bounded.relay");
  std::ofstream(options.model) << R"(#[version = "0.0.5"]
def @main(%x: Tensor[(meta[tir.Var][0], 3), float32]) {
  exp(%x)
}
#[metadata]
{"root": 1, "nodes": [{"type_key": ""},
  {"type_key": "Map", "keys": ["tir.Var"], "data": [2]},
  {"type_key": "Array", "data": [3]},
  {"type_key": "tir.Var", "attrs": {"dtype": "int32", "name": "4",
   "span": "0", "type_annotation": "0"}},
  {"type_key": "runtime.String", "repr_str": "batch"}],
 "b64ndarrays": [], "attrs": {"tvm_version": "0.14.0"}})";
  options.executor = "cpu";
  options.dims = "batch=1..64";
  options.random_inputs = true;
  options.outputs = absl::StrCat(::testing::TempDir(), "/bounded.npz");
  EXPECT_EQ(OutputOf(options), "");
  // The largest size, without --inputs.
  options.expect = options.outputs;
  EXPECT_THAT(OutputOf(options), HasSubstr("output_0: within tolerance"));
  const auto refusal = [&options] {
    std::ostringstream out;
    return RunModel(options, out).status();
  };
  options.dims = "batch=64..1";
  EXPECT_THAT(refusal(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "--dims: the bounds of dimension batch are 64..1"));
  options.dims = "n=1..64";
  EXPECT_THAT(refusal(), StatusIs(absl::StatusCode::kUnimplemented,
                                  "--dims: dimension 0 of input %x is batch, "
                                  "which has no bounds"));
  options.dims = "batch=1..64";
  options.executor = "evaluator";
  EXPECT_THAT(refusal(), StatusIs(absl::StatusCode::kInvalidArgument,
                                  "--dims needs --executor=cpu"));
  options.executor = "cpu";
  options.state = "a:b";
  EXPECT_THAT(refusal(), StatusIs(absl::StatusCode::kInvalidArgument,
                                  "--state needs one size"));
}

TEST(RunModelTest, ThePlanIsForTheShapesOfTheInputs) {
  RunModelOptions options;
  options.model = absl::StrCat(::testing::TempDir(), "/open.relay");
  std::ofstream(options.model) << "#[version = \"0.0.5\"]\n"
                                  "def @main(%x: Tensor[(?, 3), float32]) {\n"
                                  "  exp(%x)\n"
                                  "}\n";
  options.inputs = absl::StrCat(::testing::TempDir(), "/open.npz");
  std::ostringstream notes;
  options.notes = &notes;
  options.executor = "cpu";
  const auto run_with = [&options](const TensorShape& shape) {
    const absl::StatusOr<Tensor> x = Tensor::Zeros(DType::Float(32), shape);
    const absl::StatusOr<std::string> npz = WriteNpz({{"x", *x}});
    std::ofstream(options.inputs, std::ios::binary) << *npz;
  };
  run_with({2, 3});
  EXPECT_EQ(OutputOf(options), "output_0: float32[2, 3] [1, 1, 1, 1, 1, 1]\n");
  EXPECT_THAT(notes.str(), HasSubstr("open.relay: the executor needs the shape "
                                     "of 'x', taken from the inputs\n"));
  options.executor = "";
  options.bench = 1;
  EXPECT_THAT(OutputOf(options), StartsWith("ms min "));
  EXPECT_THAT(notes.str(), Not(HasSubstr("the evaluator runs the model")));
  options.bench = 0;
  options.executor = "cpu";
  run_with({2, 4});
  std::ostringstream out;
  EXPECT_FALSE(RunModel(options, out).ok());
}

// The plan has what has known sizes; the evaluator computes the rest.
TEST(RunModelTest, TheRestOfAModelWithoutAPlanIsEvaluated) {
  RunModelOptions options;
  options.model = absl::StrCat(::testing::TempDir(), "/chosen.relay");
  std::ofstream(options.model)
      << "#[version = \"0.0.5\"]\n"
         "def @main(%x: Tensor[(4), float32]) {\n"
         "  %0 = exp(%x);\n"
         "  %1 = argwhere(greater(%x, 0f));\n"
         "  (take(%x, squeeze(%1, axis=[1])),\n"
         "   reshape(multiply(%0, 0f), newshape=[2, 2]))\n"
         "}\n";
  options.inputs = absl::StrCat(::testing::TempDir(), "/chosen.npz");
  const absl::StatusOr<Tensor> x =
      Tensor::FromValues<float>({4}, {3.0f, -1.0f, 0.0f, 5.0f});
  const absl::StatusOr<std::string> npz = WriteNpz({{"x", *x}});
  std::ofstream(options.inputs, std::ios::binary) << *npz;
  std::ostringstream notes;
  options.notes = &notes;
  options.executor = "cpu";
  for (const int threads : {1, 2}) {
    options.threads = threads;
    EXPECT_EQ(OutputOf(options),
              "output_0: float32[2] [3, 5]\n"
              "output_1: float32[2, 2] [0, 0, 0, 0]\n");
  }
  EXPECT_THAT(notes.str(),
              AllOf(HasSubstr("the evaluator computes what has no plan: "),
                    HasSubstr("argwhere")));
  options.bench = 1;
  EXPECT_THAT(OutputOf(options), StartsWith("ms min "));
  options.bench = 0;
  options.profile = "text";
  EXPECT_THAT(OutputOf(options),
              AllOf(HasSubstr("elementwise"), HasSubstr("the evaluator:"),
                    HasSubstr("argwhere")));
  for (const char* format : {"json", "trace"}) {
    options.profile = format;
    EXPECT_THAT(OutputOf(options),
                AllOf(HasSubstr("elementwise"), HasSubstr("argwhere")));
  }
  options.profile = "";
  options.shadow = "1/1";
  EXPECT_THAT(OutputOf(options), HasSubstr("none differs"));
  options.shadow = "";
  options.plan = absl::StrCat(::testing::TempDir(), "/chosen.plan");
  OutputOf(options);
  std::ostringstream plan;
  plan << std::ifstream(options.plan).rdbuf();
  EXPECT_THAT(plan.str(),
              HasSubstr("the evaluator computes what has no plan: "));
}

// A field of a message of ONNX: bytes, or a number.
std::string Varint(size_t value) {
  std::string text;
  for (; value >= 128; value >>= 7) {
    text += static_cast<char>((value & 127) | 128);
  }
  return text + static_cast<char>(value);
}
std::string Field(size_t number, absl::string_view bytes) {
  return absl::StrCat(Varint((number << 3) | 2), Varint(bytes.size()), bytes);
}
std::string Field(size_t number, int value) {
  return Varint(number << 3) + Varint(static_cast<size_t>(value));
}

// A value of floats whose dimensions are one with a name, and 3.
std::string ValueOf(absl::string_view name, absl::string_view dimension) {
  const std::string shape =
      Field(1, Field(2, dimension)) + Field(1, Field(1, 3));
  return Field(1, name) + Field(2, Field(1, Field(1, 1) + Field(2, shape)));
}

// A state that is kept beside a value that decides a branch, from data set to
// data set, also where the plan is made anew for another size.
TEST(RunModelTest, StateIsKeptBesideValuesThatTheImportTakes) {
  const auto value = [](absl::string_view name, int type,
                        absl::string_view dimensions) {
    return Field(1, name) +
           Field(2, Field(1, Field(1, type) + Field(2, dimensions)));
  };
  const std::string two = Field(1, Field(1, 2));
  // y = x summed over the axes `a`; t = s + y.
  const std::string folder = absl::StrCat(::testing::TempDir(), "/kept");
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  std::ofstream(folder + "/model.onnx", std::ios::binary)
      << Field(1, 8) + Field(8, Field(2, 17)) +
             Field(7,
                   Field(1, Field(1, "x") + Field(1, "a") + Field(2, "y") +
                                Field(4, "ReduceSum") +
                                // keepdims: 0
                                Field(5, Field(1, "keepdims") + Field(3, 0) +
                                             Field(20, 2))) +
                       Field(1, Field(1, "s") + Field(1, "y") + Field(2, "t") +
                                    Field(4, "Add")) +
                       Field(2, "g") +
                       Field(11, value("x", 1, Field(1, Field(2, "n")) + two)) +
                       Field(11, value("s", 1, two)) +
                       Field(11, value("a", 7, Field(1, Field(1, 1)))) +
                       Field(12, Field(1, "t")));
  // n is 2, 2 and 3.
  const auto tensor = [](int type, const std::vector<int>& dims,
                         const std::string& bytes) {
    std::string text;
    for (const int dim : dims) text += Field(1, dim);
    return text + Field(2, type) + Field(9, bytes);
  };
  const std::string one("\0\0\x80\x3f", 4);
  for (const int set : {0, 1, 2}) {
    const int n = set < 2 ? 2 : 3;
    const std::string to = absl::StrCat(folder, "/test_data_set_", set);
    std::filesystem::create_directories(to);
    std::string ones;
    for (int i = 0; i < 2 * n; ++i) ones += one;
    std::ofstream(to + "/input_0.pb", std::ios::binary)
        << tensor(1, {n, 2}, ones);
    std::ofstream(to + "/input_1.pb", std::ios::binary)
        << tensor(7, {1}, std::string(8, '\0'));
    // The sum of all n.
    const std::string sum(set == 0   ? "\0\0\0\x40"
                          : set == 1 ? "\0\0\x80\x40"
                                     : "\0\0\xe0\x40",
                          4);
    std::ofstream(to + "/output_0.pb", std::ios::binary)
        << tensor(1, {2}, sum + sum);
  }
  RunModelOptions options;
  options.model = folder;
  options.state = "t:s";
  for (const char* executor : {"evaluator", "cpu"}) {
    options.executor = executor;
    const std::string out = OutputOf(options);
    EXPECT_THAT(out, Not(HasSubstr("differ"))) << executor;
  }
}

// The model calls one extent by two names.
TEST(RunModelTest, DimensionsOfAGraphThatIsNotTypedWithThem) {
  RunModelOptions options;
  options.model = absl::StrCat(::testing::TempDir(), "/two_names.onnx");
  std::ofstream(options.model, std::ios::binary)
      << Field(1, 8) + Field(8, Field(2, 17)) +
             Field(7, Field(1, Field(1, "a") + Field(1, "b") + Field(2, "y") +
                                   Field(4, "Add")) +
                          Field(2, "g") + Field(11, ValueOf("a", "n")) +
                          Field(11, ValueOf("b", "m")) +
                          Field(12, Field(1, "y")));
  options.inputs = absl::StrCat(::testing::TempDir(), "/two_names.npz");
  const Tensor ones = *Tensor::Ones(DType::Float(32), {2, 3});
  std::ofstream(options.inputs, std::ios::binary)
      << *WriteNpz({{"a", ones}, {"b", ones}});
  options.executor = "cpu";
  const std::string want = OutputOf(options);
  EXPECT_EQ(want, "y: float32[2, 3] [2, 2, 2, 2, 2, 2]\n");
  options.dims = "n=1..4,m=1..4";
  EXPECT_EQ(OutputOf(options), want);
  const auto refusal = [&options] {
    std::ostringstream out;
    return RunModel(options, out).status();
  };
  options.dims = "n=1,m=1..4";
  EXPECT_FALSE(refusal().ok());
  options.dims = "n=1..4,k=1..4";
  EXPECT_THAT(refusal(), StatusIs(absl::StatusCode::kInvalidArgument,
                                  "no input of the model has a dimension k"));
  options.dims = "n=1..4";
  EXPECT_THAT(refusal(), StatusIs(absl::StatusCode::kUnimplemented,
                                  "input %b has dimensions without bounds"));
}

// Sizes that may not differ: each alone is no model.
TEST(RunModelTest, DimensionsOfTwoNamesThatAreOneSize) {
  RunModelOptions options;
  options.model = absl::StrCat(::testing::TempDir(), "/one_size.onnx");
  std::ofstream(options.model, std::ios::binary)
      << Field(1, 8) + Field(8, Field(2, 17)) +
             Field(7, Field(1, Field(1, "a") + Field(1, "b") + Field(2, "y") +
                                   Field(4, "Add")) +
                          Field(2, "g") + Field(11, ValueOf("a", "n")) +
                          Field(11, ValueOf("b", "m")) +
                          Field(12, Field(1, "y")));
  options.inputs = absl::StrCat(::testing::TempDir(), "/one_size.npz");
  const Tensor ones = *Tensor::Ones(DType::Float(32), {2, 3});
  std::ofstream(options.inputs, std::ios::binary)
      << *WriteNpz({{"a", ones}, {"b", ones}});
  options.executor = "cpu";
  options.dims = "n=2..4,m=2..4";
  EXPECT_EQ(OutputOf(options), "y: float32[2, 3] [2, 2, 2, 2, 2, 2]\n");
}

TEST(RunModelTest, DimensionsWhoseNamesAreFormulas) {
  RunModelOptions options;
  options.model = absl::StrCat(::testing::TempDir(), "/formula.onnx");
  // y = concat(past, x) + mask
  std::ofstream(options.model, std::ios::binary)
      << Field(1, 8) + Field(8, Field(2, 17)) +
             Field(7, Field(1, Field(1, "past") + Field(1, "x") +
                                   Field(2, "c") + Field(4, "Concat") +
                                   Field(5, Field(1, "axis") + Field(3, 0) +
                                                Field(20, 2))) +
                          Field(1, Field(1, "c") + Field(1, "mask") +
                                       Field(2, "y") + Field(4, "Add")) +
                          Field(2, "g") + Field(11, ValueOf("past", "p")) +
                          Field(11, ValueOf("x", "s")) +
                          Field(11, ValueOf("mask", "p + 2*s - s")) +
                          Field(12, Field(1, "y")));
  options.inputs = absl::StrCat(::testing::TempDir(), "/formula.npz");
  const auto ones = [](int64_t n) {
    return *Tensor::Ones(DType::Float(32), {n, 3});
  };
  options.executor = "cpu";
  options.dims = "p=2..4,s=1..2";
  for (const int64_t past : {2, 3}) {
    std::ofstream(options.inputs, std::ios::binary) << *WriteNpz(
        {{"past", ones(past)}, {"x", ones(1)}, {"mask", ones(past + 1)}});
    EXPECT_THAT(OutputOf(options),
                HasSubstr(absl::StrCat("y: float32[", past + 1, ", 3] [2")));
  }
  std::ofstream(options.inputs, std::ios::binary)
      << *WriteNpz({{"past", ones(2)}, {"x", ones(1)}, {"mask", ones(4)}});
  std::ostringstream out;
  EXPECT_THAT(RunModel(options, out).status(),
              StatusIs(absl::StatusCode::kInvalidArgument, "mask"));
}

TEST(RunModelTest, InputShapesOfText) {
  RunModelOptions options;
  options.model = ModelFile("shaped.relay", "1f");
  options.random_inputs = true;
  options.input_shapes = "x:[4]";
  EXPECT_THAT(OutputOf(options), HasSubstr("float32[4] ["));
}

TEST(RunModelTest, SettingsThatNoPassReadsAreNoted) {
  std::ostringstream notes;
  RunModelOptions options;
  options.model = ModelFile("unread.relay", "1f");
  options.random_inputs = true;
  options.config = "relay.FuseOps.max_depth=8,limits.max_rank=20";
  options.notes = &notes;
  OutputOf(options);
  EXPECT_EQ(notes.str(),
            "--config=relay.FuseOps.max_depth: no pass of this run reads it\n");
  notes.str("");
  options.passes = "FuseOps";
  OutputOf(options);
  EXPECT_EQ(notes.str(), "");
}

TEST(RunModelTest, ArraysThatAreNotTakenByTheirNamesAreNoted) {
  RunModelOptions options;
  options.model = ModelFile("named.relay", "1f");
  options.inputs = absl::StrCat(::testing::TempDir(), "/named.npz");
  std::ostringstream notes;
  options.notes = &notes;
  const absl::StatusOr<Tensor> x = Tensor::Zeros(DType::Float(32), {2, 3});
  const auto notes_on = [&](const NamedTensors& inputs) {
    const absl::StatusOr<std::string> npz = WriteNpz(inputs);
    std::ofstream(options.inputs, std::ios::binary) << *npz;
    notes.str("");
    OutputOf(options);
    return notes.str();
  };
  EXPECT_EQ(notes_on({{"x", *x}}), "");
  EXPECT_EQ(notes_on({{"y", *x}}),
            "--inputs: 'y' is none of the inputs: it is taken by its position, "
            "as 'x'\n");
  EXPECT_EQ(notes_on({{"x", *x}, {"z", *x}}),
            "--inputs: 'z' is none of the inputs: it is not used\n");
}

TEST(RunModelTest, TuplesInTheResultAreTheirTensors) {
  RunModelOptions options;
  options.model = absl::StrCat(::testing::TempDir(), "/nested.relay");
  options.random_inputs = true;
  const auto write = [&options](absl::string_view result) {
    std::ofstream(options.model)
        << "#[version = \"0.0.5\"]\n"
        << "def @main(%x: Tensor[(2), float32]) { " << result << " }\n";
  };
  write("((%x, (), (exp(%x),)), negative(%x))");
  const std::string evaluated = OutputOf(options);
  EXPECT_THAT(evaluated, HasSubstr("output_2: float32[2] ["));
  options.executor = "cpu";
  EXPECT_EQ(OutputOf(options), evaluated);
  options.executor = "";
  write("(%x, fn (%y: float32) { %y })");
  std::ostringstream out;
  EXPECT_THAT(RunModel(options, out).status(),
              StatusIs(absl::StatusCode::kUnimplemented, "is a function"));
}

TEST(RunModelTest, LimitsAreSettings) {
  RunModelOptions options;
  options.model = ModelFile("limited.relay", "1f");
  options.random_inputs = true;
  options.config = "limits.max_rank=1";
  std::ostringstream out;
  EXPECT_THAT(
      RunModel(options, out).status(),
      StatusIs(absl::StatusCode::kInvalidArgument, "limits.max_rank=1"));
  options.config = "limits.max_rnak=1";
  EXPECT_THAT(RunModel(options, out).status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "did you mean \"limits.max_rank\""));
}

}  // namespace
}  // namespace baton
