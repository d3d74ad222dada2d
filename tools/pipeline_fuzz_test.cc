// Runs some random pipelines; `bazelw run //tools:fuzz-pipelines` runs more.

#include "baton/tools/pipeline_fuzz.h"

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "baton/ir/module.h"
#include "baton/ir/op.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/visit.h"
#include "baton/relay/transform/function_pass.h"
#include "baton/testing/golden.h"
#include "baton/testing/run_binary.h"
#include "baton/testing/status_matchers.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton {
namespace {

using End = PipelineFuzzer::End;
using ::testing::HasSubstr;
using testing::IsOk;
using testing::StatusIs;

constexpr char kWrongPass[] = "DropRelusInTest";

class ReluDropper final : public relay::ExprMutator {
 protected:
  Expr VisitCall(const relay::CallNode* /*original*/,
                 relay::Call call) override {
    return relay::IsCallTo(call, relu_) ? call->arg(0) : Expr(call);
  }

 private:
  const Op relu_ = Op::Find("nn.relu");
};

Pass DropRelusInTest() {
  return relay::CreateFunctionPass(
      [](const relay::Function& function, const IRModule& /*module*/,
         const PassContext& /*context*/) -> absl::StatusOr<relay::Function> {
        return ReluDropper().MutateFunction(function);
      },
      {.name = kWrongPass, .required = {"InferType"}});
}
BATON_REGISTER_PASS(DropRelusInTest);

PipelineFuzzer Fuzzer(std::vector<std::string> passes) {
  absl::StatusOr<PipelineFuzzer> fuzzer = PipelineFuzzer::Create(
      {.passes = std::move(passes),
       .recorded = testing::RunfilePath("testing/conformance/FuseOps"),
       .workloads = {
           "resnet{num_layers=8,image_shape=[3,12,12],num_classes=10}"}});
  EXPECT_THAT(fuzzer, IsOk());
  return *std::move(fuzzer);
}

// A fixed list, not all registered passes: with each pass that is added, every
// seed would draw something else. The program draws from all.
const std::vector<std::string>& SomePasses() {
  static const auto& kPasses = *new std::vector<std::string>{
      "AlterOpLayout",
      "AnnotateTarget{targets=[acme]}",
      "CanonicalizeCast",
      "CanonicalizeOps",
      "CombineParallelConv2d",
      "CombineParallelDense",
      "ConvertLayout{desired_layouts={nn.conv2d:[NHWC,default]}}",
      "DeadCodeElimination",
      "DefuseOps",
      "DivToMul",
      "DynamicToStatic",
      "EliminateCommonSubexpr",
      "EtaExpand",
      "FastMath",
      "FoldConstant",
      "FoldScaleAxis",
      "FuseOps",
      "InferType",
      "InlineGlobals",
      "LambdaLift",
      "Legalize",
      "RemoveUnusedFunctions",
      "SimplifyExpr",
      "SimplifyInference",
      "SplitArgs{max_function_args=8}",
      "ToANormalForm",
      "ToBasicBlockNormalForm",
      "ToGraphNormalForm",
      "ToMixedPrecision"};
  return kPasses;
}

TEST(PipelineFuzzTest, NothingIsWrong) {
  const PipelineFuzzer fuzzer = Fuzzer(SomePasses());
  std::map<End, int> ends;
  int with_values = 0;
  for (uint32_t seed = 0; seed < 60; ++seed) {
    BATON_ASSERT_OK_AND_ASSIGN(const FuzzedPipeline fuzzed, fuzzer.Draw(seed));
    BATON_ASSERT_OK_AND_ASSIGN(const PipelineFuzzer::Outcome outcome,
                               fuzzer.Run(fuzzed));
    EXPECT_NE(outcome.end, End::kFailed)
        << "seed " << seed << ": " << fuzzed.name << ", " << fuzzed.passes
        << ": " << outcome.failure.message;
    ++ends[outcome.end];
    with_values += outcome.checked_values ? 1 : 0;
  }
  EXPECT_GT(ends[End::kPassed], 40);
  EXPECT_GT(with_values, 30);
}

TEST(PipelineFuzzTest, WhatIsWrongIsFoundAndReduced) {
  const PipelineFuzzer fuzzer =
      Fuzzer({kWrongPass, "FuseOps", "SimplifyExpr", "ToANormalForm"});
  for (uint32_t seed = 0; seed < 100; ++seed) {
    BATON_ASSERT_OK_AND_ASSIGN(const FuzzedPipeline fuzzed, fuzzer.Draw(seed));
    BATON_ASSERT_OK_AND_ASSIGN(const PipelineFuzzer::Outcome outcome,
                               fuzzer.Run(fuzzed));
    if (outcome.end != End::kFailed) continue;
    EXPECT_EQ(outcome.failure.pass, kWrongPass);
    const std::string folder = absl::StrCat(testing::TempDir(), "/found");
    EXPECT_THAT(fuzzer.WriteTriage(fuzzed, outcome, folder), IsOk());
    const std::string test = testing::ReadFileOrFail(folder + "/reduced.relay");
    EXPECT_THAT(test, HasSubstr("RUN: not baton-opt %s --passes=DropRelus"));
    EXPECT_THAT(test, HasSubstr("nn.relu("));
    return;
  }
  ADD_FAILURE() << "nothing was found";
}

TEST(PipelineFuzzTest, TheSameSeedDrawsTheSame) {
  const PipelineFuzzer fuzzer = Fuzzer({"FuseOps", "DefuseOps"});
  for (uint32_t seed = 0; seed < 10; ++seed) {
    BATON_ASSERT_OK_AND_ASSIGN(const FuzzedPipeline a, fuzzer.Draw(seed));
    BATON_ASSERT_OK_AND_ASSIGN(const FuzzedPipeline b, fuzzer.Draw(seed));
    EXPECT_EQ(a.name, b.name);
    EXPECT_EQ(a.passes, b.passes);
  }
}

TEST(PipelineFuzzTest, PassesThatDoNotCommuteAreListed) {
  const PipelineFuzzer fuzzer =
      Fuzzer({"ToANormalForm", "ToGraphNormalForm", "InferType"});
  BATON_ASSERT_OK_AND_ASSIGN(const std::vector<PipelineFuzzer::Pair> pairs,
                             fuzzer.NonCommuting(0, 10, nullptr));
  ASSERT_EQ(pairs.size(), 1u);
  EXPECT_EQ(pairs[0].first, "ToANormalForm");
  EXPECT_EQ(pairs[0].second, "ToGraphNormalForm");
  EXPECT_GT(pairs[0].differ, 5);
}

TEST(PipelineFuzzTest, MistakesAreErrors) {
  EXPECT_THAT(PipelineFuzzer::Create({.passes = {}, .recorded = ""}),
              StatusIs(absl::StatusCode::kInvalidArgument, "no passes"));
  EXPECT_EQ(PipelineFuzzer::Create({.passes = {"NoPass"}, .recorded = ""})
                .status()
                .ok(),
            false);
}

}  // namespace
}  // namespace baton
