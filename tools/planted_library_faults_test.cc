// Faults that are planted in the lowering to loops and in passes: --check_values
// names the first wrong step. Those in libraries: planted_code_faults_test.cc.

#include <sstream>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "baton/backend/library/loops_check.h"
#include "baton/base/status_macros.h"
#include "baton/ir/module.h"
#include "baton/ir/module_text.h"
#include "baton/lower/lower_to_tir.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/testing/parse_typed.h"
#include "baton/testing/status_matchers.h"
#include "baton/tools/compile.h"
#include "baton/tools/compile_test_util.h"
#include "baton/transform/module_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_registry.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// A replacement in a text, where it must occur.
struct Fault {
  std::string from;
  std::string to;
};

absl::StatusOr<std::string> Planted(const std::string& text,
                                    const Fault& fault) {
  if (!absl::StrContains(text, fault.from)) {
    return absl::NotFoundError(
        absl::StrCat("no `", fault.from, "` in\n", text));
  }
  return absl::StrReplaceAll(text, {{fault.from, fault.to}});
}

// --- Lowering ----------------------------------------------------------------

TEST(PlantedFaultsTest, InTheLoweringToLoops) {
  struct Case {
    std::string program;
    Fault fault;
  };
  const std::string softmax =
      "def @f(%x: Tensor[(3, 40), float32]) { nn.softmax(%x) }";
  const std::string slice =
      "def @f(%x: Tensor[(9, 4), int32]) { strided_slice(%x, begin=[1, 0], "
      "end=[7, 4], strides=[2, 1], axes=None) }";
  const std::string sum =
      "def @f(%x: Tensor[(3, 40), float32]) { sum(%x, axis=[1]) }";
  const Case cases[] = {
      // The maximum of a row is taken of its first elements.
      {softmax, {"T.grid(3, 16, 2)", "T.grid(3, 16, 1)"}},
      {softmax, {"T.exp(", "T.sqrt("}},
      {sum, {"T.float64(0)", "T.float64(1)"}},
      {slice, {" * 2 + 1", " * 2"}},
      {slice, {" * 2 + 1", " + 1"}},
      {"def @f(%x: Tensor[(5, 5), float32]) { transpose(%x, axes=[1, 0]) }",
       {"p0[v_ax1, v_ax0]", "p0[v_ax0, v_ax1]"}},
      {"def @f(%x: Tensor[(5), float32], %y: Tensor[(5), float32]) { "
       "subtract(%x, %y) }",
       {"p0[v_ax0] - p1[v_ax0]", "p1[v_ax0] - p0[v_ax0]"}},
      {"def @f(%x: Tensor[(5), float32]) { clip(%x, a_min=-0.5f, a_max=0.5f) }",
       {"T.float32(0.5)", "T.float32(0.25)"}},
  };
  for (const Case& c : cases) {
    const IRModule relay = testing::ParseTyped(
        absl::StrCat("#[version = \"0.0.5\"]\n", c.program, "\n"));
    BATON_ASSERT_OK_AND_ASSIGN(
        const lower::LoweredFunction lowered,
        lower::LowerFunction(relay.Find<relay::Function>("f"), "f"));
    IRModule loops;
    loops.Set("f", lowered.function);
    LoopsCheck check(/*seed=*/1);
    ASSERT_EQ(
        check.AddFunction(relay, "f", lowered.constants, "a, model.onnx\nb"),
        absl::OkStatus());
    EXPECT_EQ(check.Check(loops, "f", "the lowering to loops"),
              absl::OkStatus());
    EXPECT_EQ(check.num_compared(), 1) << c.program;
    BATON_ASSERT_OK_AND_ASSIGN(const std::string text,
                               Planted(ToText(loops), c.fault));
    BATON_ASSERT_OK_AND_ASSIGN(const IRModule wrong, ParseModule(text));
    EXPECT_THAT(
        std::string(check.Check(wrong, "f", "the lowering to loops").message()),
        StartsWith("first wrong step: the lowering to loops of a, model.onnx, "
                   "function @f: "))
        << text;
  }
}

// --- Passes ------------------------------------------------------------------

const Fault* planted = nullptr;

// Replaces text in functions of loops.
Pass PlantedFault() {
  return CreateModulePass(
      [](const IRModule& module,
         const PassContext& /*context*/) -> absl::StatusOr<IRModule> {
        if (planted == nullptr) return module;
        BATON_ASSIGN_OR_RETURN(const std::string text,
                               Planted(ToText(module), *planted));
        return ParseModule(text);
      },
      {.name = "PlantedFault"});
}
BATON_REGISTER_PASS(PlantedFault);

// Replaces text in functions of operators.
Pass PlantedModelFault() {
  return CreateModulePass(
      [](const IRModule& module,
         const PassContext& /*context*/) -> absl::StatusOr<IRModule> {
        if (planted == nullptr) return module;
        BATON_ASSIGN_OR_RETURN(const std::string text,
                               Planted(ToText(module), *planted));
        BATON_ASSIGN_OR_RETURN(const IRModule read, ParseModule(text));
        return relay::InferTypes(read);
      },
      {.name = "PlantedModelFault"});
}
BATON_REGISTER_PASS(PlantedModelFault);

TEST(PlantedFaultsTest, InPassesOverTheModel) {
  const Fault faults[] = {
      {"nn.relu(", "abs("},
      {"axis=[1]", "axis=[-2]"},
      {"subtract(%x, %y)", "subtract(%y, %x)"},
      {"2.5f", "2.25f"},
      {"nn.dense(%y, %w", "nn.dense(%w, %y"},
  };
  LibraryOptions options;
  options.model = ModelFile(
      "model.relay",
      "def @main(%x: Tensor[(8, 8), float32], %y: Tensor[(8, 8), float32], "
      "%w: Tensor[(8, 8), float32]) {\n"
      "  %0 = nn.relu(subtract(%x, %y));\n"
      "  %1 = multiply(nn.dense(%y, %w, units=8), 2.5f);\n"
      "  (%0, %1, sum(%x, axis=[1]))\n}\n");
  options.output_dir = absl::StrCat(::testing::TempDir(), "/model");
  options.check_values = true;
  options.passes = "SimplifyInference,PlantedModelFault,FoldConstant";
  std::ostringstream none;
  EXPECT_EQ(CompileLibrary(options, none), absl::OkStatus());
  for (const Fault& fault : faults) {
    planted = &fault;
    std::ostringstream out;
    const absl::Status status = CompileLibrary(options, out);
    planted = nullptr;
    EXPECT_THAT(std::string(status.message()),
                HasSubstr("pass PlantedModelFault changed what @main"))
        << fault.from;
  }
}

TEST(PlantedFaultsTest, InPassesOverLoops) {
  const Fault faults[] = {
      {"", ""},  // none
      {"T.max(", "T.min("},
      {"T.exp(", "T.sqrt("},
      {"range(7)", "range(6)"},
      {" - ", " + "},
      {"T.float64(1)", "T.float64(2)"},
  };
  LibraryOptions options;
  options.model = ModelFile(
      "passes.relay",
      "def @main(%x: Tensor[(7, 40), float32]) {\n  nn.softmax(%x)\n}\n");
  options.output_dir = absl::StrCat(::testing::TempDir(), "/passes");
  options.check_values = true;
  for (const int phase : {0, 3, 7}) {
    // The last time, for text of LLVM.
    options.llvm_target = phase == 7 ? "llvm" : "";
    options.isas = phase == 7 ? "avx2" : "";
    options.config =
        absl::StrCat("tir.add_lower_pass=[[", phase % 4, ",PlantedFault]]");
    int found = 0;
    for (const Fault& fault : faults) {
      planted = fault.from.empty() ? nullptr : &fault;
      std::ostringstream out;
      const absl::Status status = CompileLibrary(options, out);
      planted = nullptr;
      if (fault.from.empty()) {
        EXPECT_EQ(status, absl::OkStatus());
        EXPECT_THAT(out.str(), Not(HasSubstr("not compared")));
        continue;
      }
      // The text is not the same in all phases.
      if (absl::IsNotFound(status)) continue;
      ++found;
      EXPECT_THAT(
          std::string(status.message()),
          HasSubstr("first wrong step: pass PlantedFault of nn.softmax, "
                    "passes.relay:3, function @nn_softmax: "))
          << fault.from;
    }
    EXPECT_GE(found, 3) << phase;
  }
}

}  // namespace
}  // namespace baton
