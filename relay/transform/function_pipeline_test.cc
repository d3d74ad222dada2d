#include "baton/relay/transform/function_pipeline.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/ir/module.h"
#include "baton/ir/module_text.h"
#include "baton/relay/transform/fold_constant.h"
#include "baton/relay/transform/function_pass.h"
#include "baton/testing/parse_typed.h"
#include "baton/testing/random_program.h"
#include "baton/testing/status_matchers.h"
#include "baton/testing/threads_sweep.h"
#include "baton/testing/workloads/workload.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_info.h"
#include "baton/transform/pass_instrument.h"
#include "baton/transform/pipeline.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton::relay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::ParseTyped;

constexpr absl::string_view kPasses =
    "SimplifyInference,FoldConstant,EliminateCommonSubexpr,FastMath,"
    "CanonicalizeOps,FoldScaleAxis,FuseOps";

// Functions that call each other, a data type, and one that passes skip.
constexpr absl::string_view kProgram = R"(
    type List[A] { Cons(A, List[A]), Nil, }
    def @even(%n: int32, %x: Tensor[(4), float32]) -> Tensor[(4), float32] {
      if (equal(%n, 0)) { add(%x, add(1f, 2f)) }
      else { @odd(subtract(%n, 1), exp(%x)) }
    }
    def @odd(%n: int32, %x: Tensor[(4), float32]) -> Tensor[(4), float32] {
      if (equal(%n, 0)) { subtract(%x, add(1f, 2f)) }
      else { @even(subtract(%n, 1), tanh(tanh(%x))) }
    }
    def @kept(%x: Tensor[(4), float32], SkipOptimization=1) {
      add(%x, add(1f, 2f))
    }
    def @total(%l: List[Tensor[(4), float32]]) -> Tensor[(4), float32] {
      match (%l) {
        Cons(%h, %t) => add(%h, @total(%t)),
        Nil => @kept(zeros(shape=[4], dtype="float32")),
      }
    }
    def @main(%x: Tensor[(4), float32]) {
      %0 = @even(3, add(exp(%x), exp(%x)));
      @total(Cons(%0, Cons(@kept(%x), Nil)))
    })";

Pass Parse(absl::string_view text) {
  absl::StatusOr<Pass> pass = ParsePipeline(text);
  if (!pass.ok()) ADD_FAILURE() << pass.status();
  return pass.ok() ? *pass : Pass();
}

// The text of the result, at level 4.
std::string Run(const Pass& pass, const IRModule& module) {
  const absl::StatusOr<IRModule> result =
      PassContext({.opt_level = 4}).Run([&] { return pass(module); });
  return result.ok() ? AsText(*result) : result.status().ToString();
}

void ExpectSameAsSequence(absl::string_view passes, const IRModule& module) {
  const std::string expected = Run(Parse(passes), module);
  const Pass pass = Parse(absl::StrCat("Function(", passes, ")"));
  EXPECT_EQ(Run(pass, module), expected);
  EXPECT_EQ(testing::FindThreadsDifference(pass, module), "");
}

TEST(FunctionPipelineTest, MakesWhatASequenceMakes) {
  ExpectSameAsSequence(kPasses, ParseTyped(kProgram));
  ExpectSameAsSequence("FastMath,FixedPoint(FoldConstant,InferType)",
                       ParseTyped(kProgram));
}

TEST(FunctionPipelineTest, MakesWhatASequenceMakesOfRandomPrograms) {
  for (uint32_t seed = 0; seed < 32; ++seed) {
    SCOPED_TRACE(seed);
    testing::RandomProgramOptions options =
        testing::RandomProgramOptions::Mixed(seed);
    options.functions = true;
    BATON_ASSERT_OK_AND_ASSIGN(const IRModule module,
                               testing::RandomProgram(seed, options));
    ExpectSameAsSequence(kPasses, module);
  }
}

TEST(FunctionPipelineTest, MakesWhatASequenceMakesOfANetwork) {
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule module,
                             testing::GetWorkloadModule("resnet"));
  ExpectSameAsSequence(kPasses, module);
}

TEST(FunctionPipelineTest, ReturnsTheModuleIfNothingChanges) {
  const IRModule module = ParseTyped("def @main(%x: int32) { %x }");
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule result,
                             Parse("Function(FoldConstant)")(module));
  EXPECT_TRUE(result.SameAs(module));
}

// Records the names of passes and the functions in their modules.
class Events final : public PassInstrument {
 public:
  Events() : PassInstrument("Events") {}

  absl::Status RunBeforePass(const IRModule& module,
                             const PassExecution& pass) override {
    if (pass.name() == "InferType" || pass.depth() < 2) {
      return absl::OkStatus();
    }
    std::string line = absl::StrCat(pass.name(), ":");
    for (const IRModule::Definition& definition : module.functions()) {
      absl::StrAppend(&line, " ", definition.var->name());
    }
    lines.push_back(line);
    return absl::OkStatus();
  }

  std::vector<std::string> lines;
};

TEST(FunctionPipelineTest, RunsAllPassesOnOneFunctionThenOnTheNext) {
  const IRModule module = ParseTyped(R"(
      def @f(%x: float32) { add(%x, 1f) }
      def @g(%x: float32) { @f(@f(%x)) }
      def @main(%x: float32) { (@g(%x), exp(%x)) })");
  for (const int64_t threads : {1, 2, 16}) {
    const auto events = std::make_shared<Events>();
    const PassContext context({.opt_level = 3,
                               .config = {{"threads", threads}},
                               .instruments = {events}});
    const absl::StatusOr<IRModule> result = context.Run(
        [&] { return Parse("Function(FastMath,FoldConstant)")(module); });
    ASSERT_TRUE(result.ok()) << result.status();
    // FastMath is of level 4.
    EXPECT_THAT(events->lines,
                ElementsAre("FoldConstant: f", "FoldConstant: f g",
                            "FoldConstant: f g main"));
  }
}

TEST(FunctionPipelineTest, ErrorsNameTheFunctionAndThePass) {
  const Pass picky = CreateFunctionPass(
      [](const Function& function, const IRModule& /*module*/,
         const PassContext& /*context*/) -> absl::StatusOr<Function> {
        if (function->params().size() == 2) {
          return absl::InternalError("two parameters");
        }
        return function;
      },
      {.name = "Picky"});
  const IRModule module = ParseTyped(R"(
      def @f(%x: float32) { %x }
      def @bad(%x: float32, %y: float32) { %x }
      def @worse(%x: float32, %y: float32) { %y })");
  for (const int64_t threads : {1, 2}) {
    const absl::StatusOr<IRModule> result =
        PassContext({.config = {{"threads", threads}}}).Run([&] {
          return FunctionPipeline({FoldConstant(), picky})(module);
        });
    EXPECT_THAT(result.status().ToString(), HasSubstr("two parameters"));
    EXPECT_THAT(result.status().ToString(), HasSubstr("bad"));
    EXPECT_THAT(result.status().ToString(), HasSubstr("Picky"));
  }
}

TEST(FunctionPipelineTest, TakesPassesOverFunctionsOnly) {
  EXPECT_THAT(
      ParsePipeline("Function(FoldConstant,ToANormalForm)").status().ToString(),
      HasSubstr("ToANormalForm works on a whole module, not on one "
                "function"));
  EXPECT_THAT(ParsePipeline("Function(Sequential(FixedPoint(LambdaLift)))")
                  .status()
                  .ToString(),
              HasSubstr("LambdaLift works on a whole module"));
  EXPECT_THAT(FunctionPipeline({Pass()})(IRModule()).status().ToString(),
              HasSubstr("null"));
  EXPECT_THAT(
      ParsePipeline("Function{limit=3}(FoldConstant)").status().ToString(),
      HasSubstr("Function takes no options"));
}

TEST(FunctionPipelineTest, TextRoundTrips) {
  const std::string text =
      "Function(FoldConstant,FixedPoint{limit=3}(EliminateCommonSubexpr),"
      "Function(FoldScaleAxis))";
  BATON_ASSERT_OK_AND_ASSIGN(const std::string printed,
                             PipelineToString(Parse(text)));
  EXPECT_EQ(printed, text);
}

}  // namespace
}  // namespace baton::relay
