// Tests pipelines of registered passes on programs of many functions.

#include "baton/testing/threads_sweep.h"

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "baton/base/status_macros.h"
#include "baton/ir/module.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/transform/function_pass.h"
#include "baton/testing/random_program.h"
#include "baton/testing/registered_passes.h"
#include "baton/testing/status_matchers.h"
#include "baton/testing/test_settings.h"
#include "baton/testing/threads_sweep_pipelines.h"
#include "baton/testing/workloads/workload.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_info.h"
#include "baton/transform/pipeline.h"
#include "gtest/gtest.h"

namespace baton {
namespace {

using relay::Function;
using testing::FindThreadsDifference;
using testing::RandomProgram;
using testing::RandomProgramOptions;

// `count` random functions; those of one program call each other.
absl::StatusOr<IRModule> RandomFunctions(uint32_t seed, int count) {
  IRModule module;
  for (uint32_t i = 0; module.size() < count; ++i) {
    RandomProgramOptions options = RandomProgramOptions::Mixed(seed + i);
    options.size = 20;
    // Data types of two programs may have one name.
    options.data_types = false;
    options.functions = options.functions && i == 0;
    BATON_ASSIGN_OR_RETURN(const IRModule program,
                           RandomProgram(seed + i, options));
    if (i == 0) {
      module = program;
    } else {
      module.Set(absl::StrCat("f", i), program.Find<Function>("main"));
    }
  }
  return relay::InferTypes(module);
}

constexpr const char* kLevel3 =
    "SimplifyInference,FoldScaleAxis,CanonicalizeOps,EliminateCommonSubexpr,"
    "ConvertLayout{desired_layouts={nn.conv2d:[NHWC,default]}},FoldConstant,"
    "DeadCodeElimination,FuseOps";
constexpr const char* kNormalForms =
    "ToANormalForm,DeadCodeElimination,FoldConstant,ToGraphNormalForm,"
    "EliminateCommonSubexpr,ToBasicBlockNormalForm,FuseOps,DefuseOps,"
    "FixedPoint(FoldConstant,EliminateCommonSubexpr)";

TEST(ThreadsSweepTest, RandomFunctions) {
  const int num_functions = testing::NightlyLongOrShort(40, 24, 16);
  for (const uint32_t seed : {100, 200}) {
    if (seed > 100 && !testing::IsLongTest()) break;
    BATON_ASSERT_OK_AND_ASSIGN(const IRModule module,
                               RandomFunctions(seed, num_functions));
    for (const char* text : {kLevel3, kNormalForms}) {
      BATON_ASSERT_OK_AND_ASSIGN(const Pass pipeline, ParsePipeline(text));
      EXPECT_EQ(FindThreadsDifference(pipeline, module), "") << text;
    }
  }
}

TEST(ThreadsSweepTest, RandomPipelines) {
  std::vector<std::string> passes;
  for (const std::string& pass : testing::RegisteredPasses()) {
    // PrintIR prints to standard error.
    if (pass != "PrintIR" && !absl::StartsWith(pass, "tir.")) {
      passes.push_back(pass);
    }
  }
  BATON_ASSERT_OK_AND_ASSIGN(
      const IRModule module,
      RandomFunctions(300, testing::NightlyLongOrShort(20, 12, 6)));
  testing::SweepRandomPipelines(module, passes, "");
}

TEST(ThreadsSweepTest, Workloads) {
  // Several networks in one module.
  IRModule module;
  for (const int layers : {18, 34}) {
    if (layers > 18 && !testing::IsLongTest()) break;
    BATON_ASSERT_OK_AND_ASSIGN(const IRModule network,
                               testing::GetWorkloadModule(absl::StrCat(
                                   "resnet{num_layers=", layers, "}")));
    for (const char* copy : {"a", "b", "c"}) {
      module.Set(absl::StrCat("resnet_", layers, copy),
                 network.Find<Function>("main"));
    }
  }
  BATON_ASSERT_OK_AND_ASSIGN(const Pass pipeline, ParsePipeline(kLevel3));
  EXPECT_EQ(FindThreadsDifference(pipeline, module, {.num_schedules = 1}), "");
}

TEST(ThreadsSweepTest, PipelinesInsideBodies) {
  BATON_ASSERT_OK_AND_ASSIGN(const Pass inner,
                             ParsePipeline("FoldConstant,FuseOps"));
  const Pass pass = relay::CreateFunctionPass(
      [inner](const Function& function, const IRModule& module,
              const PassContext& /*context*/) -> absl::StatusOr<Function> {
        IRModule one = module;
        one.Set("main", function);
        BATON_ASSIGN_OR_RETURN(one, inner(one));
        return one.Find<Function>("main");
      },
      {.name = "Inside"});
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule module,
                             RandomFunctions(400, testing::LongOrShort(10, 4)));
  EXPECT_EQ(FindThreadsDifference(pass, module, {.num_schedules = 1}), "");
}

}  // namespace
}  // namespace baton
