// Asserts what docs/pass_manager.md says.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "baton/base/attr_value.h"
#include "baton/base/status_macros.h"
#include "baton/instrument/recorder.h"
#include "baton/instrument/timing.h"
#include "baton/ir/module.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/module.h"
#include "baton/relay/op/nn.h"
#include "baton/relay/op/tensor.h"
#include "baton/relay/transform/canonicalize_ops.h"
#include "baton/relay/transform/convert_layout.h"
#include "baton/relay/transform/fold_constant.h"
#include "baton/relay/transform/fold_scale_axis.h"
#include "baton/relay/transform/function_pass.h"
#include "baton/relay/transform/infer_type.h"
#include "baton/testing/status_matchers.h"
#include "baton/transform/config.h"
#include "baton/transform/module_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_error.h"
#include "baton/transform/pass_registry.h"
#include "baton/transform/pipeline.h"
#include "baton/transform/sequential.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton::examples {
namespace {

using relay::Function;
using testing::IsOk;
using testing::StatusIs;

// A dense layer with a bias, without types.
IRModule DenseLayer() {
  const relay::Var x("x", {1, 8});
  const relay::Var weight("weight");
  const relay::Var bias("bias");
  return relay::ModuleFromExpr(Function(
      {x, weight, bias},
      relay::nn::BiasAdd(relay::nn::Dense(x, weight, {.units = 4}), bias)));
}

// Returns the passes that ran in a context with these options, as PassRecorder
// renders them.
std::string WhatRuns(const Pass& pass, PassContextOptions options) {
  const auto recorder = std::make_shared<PassRecorder>();
  options.instruments = {recorder};
  const PassContext context(options);
  EXPECT_THAT(context.Run([&] { return pass(DenseLayer()); }), IsOk());
  return recorder->ToString();
}

// [run]
absl::StatusOr<IRModule> Optimize(const IRModule& module,
                                  std::string* profile) {
  const auto timing = std::make_shared<PassTimingInstrument>();
  const PassContext context({.opt_level = 3,
                             .disabled_pass = {"FoldConstant"},
                             .instruments = {timing}});
  const Pass pipeline = Sequential(
      {relay::InferType(), relay::FoldConstant(), relay::CanonicalizeOps()});
  return context.Run([&]() -> absl::StatusOr<IRModule> {
    BATON_ASSIGN_OR_RETURN(IRModule result, pipeline(module));
    BATON_ASSIGN_OR_RETURN(*profile, timing->Render());  // before leaving
    return result;
  });
}
// [/run]

TEST(PassContextTest, Run) {
  std::string profile;
  ASSERT_THAT(Optimize(DenseLayer(), &profile), IsOk());
  EXPECT_THAT(profile, ::testing::HasSubstr("\tCanonicalizeOps: "));
  EXPECT_THAT(profile, ::testing::Not(::testing::HasSubstr("FoldConstant")));
}

// [scope]
absl::StatusOr<IRModule> OptimizeInAScope(const IRModule& module) {
  const PassContext context({.opt_level = 3});
  BATON_ASSIGN_OR_RETURN(PassContext::Scope scope, context.Enter());
  BATON_ASSIGN_OR_RETURN(IRModule result, relay::FoldScaleAxis()(module));
  BATON_RETURN_IF_ERROR(scope.Exit());
  return result;
}
// [/scope]

TEST(PassContextTest, Scope) {
  EXPECT_THAT(OptimizeInAScope(DenseLayer()), IsOk());
}

// [levels]
TEST(LevelsTest, OnlySequencesAsk) {
  // CanonicalizeOps is of level 3 and requires InferType.
  const Pass alone = relay::CanonicalizeOps();
  const Pass listed = Sequential({relay::CanonicalizeOps()});
  EXPECT_EQ(WhatRuns(listed, {.opt_level = 2}), "1 sequential\n");
  EXPECT_EQ(WhatRuns(listed, {.opt_level = 3}),
            "1 sequential *\n"
            "  2 InferType *\n"
            "  3 CanonicalizeOps *\n"
            "    4 InferType\n");
  EXPECT_EQ(WhatRuns(alone, {.opt_level = 2}),
            "1 CanonicalizeOps *\n"
            "  2 InferType *\n");
}
// [/levels]

// [required]
TEST(LevelsTest, RequiredAndDisabled) {
  const Pass listed = Sequential({relay::CanonicalizeOps()});
  // Required by the context: runs whatever its level.
  EXPECT_EQ(
      WhatRuns(listed, {.opt_level = 0, .required_pass = {"CanonicalizeOps"}}),
      "1 sequential *\n"
      "  2 InferType *\n"
      "  3 CanonicalizeOps *\n"
      "    4 InferType\n");
  // Disabled wins.
  EXPECT_EQ(WhatRuns(listed, {.opt_level = 3,
                              .required_pass = {"CanonicalizeOps"},
                              .disabled_pass = {"CanonicalizeOps"}}),
            "1 sequential\n");
  // A required pass runs even if it is disabled.
  EXPECT_EQ(WhatRuns(listed, {.opt_level = 3, .disabled_pass = {"InferType"}}),
            "1 sequential *\n"
            "  2 InferType *\n"
            "  3 CanonicalizeOps *\n"
            "    4 InferType\n");
}
// [/required]

// [nesting]
TEST(LevelsTest, SequencesInSequences) {
  // FoldScaleAxis is a sequence of level 0 of two passes of level 3 and
  // FoldConstant, of level 2.
  EXPECT_EQ(WhatRuns(relay::FoldScaleAxis(), {.opt_level = 2}),
            "1 FoldScaleAxis *\n"
            "  2 FoldConstant *\n"
            "    3 InferType *\n");
}
// [/nesting]

TEST(LevelsTest, SequencesInSequencesAtLevel3) {
  EXPECT_EQ(WhatRuns(relay::FoldScaleAxis(), {.opt_level = 3}),
            "1 FoldScaleAxis *\n"
            "  2 InferType *\n"
            "  3 BackwardFoldScaleAxis\n"
            "    4 InferType\n"
            "  5 InferType\n"
            "  6 ForwardFoldScaleAxis\n"
            "    7 InferType\n"
            "  8 FoldConstant\n"
            "    9 InferType\n");
}

// [error]
TEST(ErrorsTest, SayWhereTheyHappened) {
  const Pass broken = relay::CreateFunctionPass(
      [](const Function& /*function*/, const IRModule& /*module*/,
         const PassContext& /*context*/) -> absl::StatusOr<Function> {
        return absl::UnimplementedError("not for this target");
      },
      {.name = "Lower"});
  const Pass pipeline = Sequential({relay::InferType(), broken});
  const absl::Status status = pipeline(DenseLayer()).status();
  EXPECT_EQ(status.message(),
            "in pass #1 sequential > #3 Lower, function @main:\n"
            "not for this target");

  const std::optional<PassError> error = GetPassError(status);
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->frames.back().pass, "Lower");
  EXPECT_EQ(error->frames.back().number, 3);
  EXPECT_EQ(error->frames.back().function, "main");
  EXPECT_EQ(error->message, "not for this target");
}
// [/error]

// [pipeline]
TEST(PipelineTest, TextRoundTrips) {
  const std::string text =
      "FoldConstant,"
      "ConvertLayout{desired_layouts={nn.conv2d:[NHWC,HWIO]}},"
      "FixedPoint{limit=5}(CanonicalizeOps,FoldConstant)";
  BATON_ASSERT_OK_AND_ASSIGN(const Pass pipeline, ParsePipeline(text));
  BATON_ASSERT_OK_AND_ASSIGN(const std::string printed,
                             PipelineToString(pipeline));
  EXPECT_EQ(printed, text);
}
// [/pipeline]

// [same_pipeline]
TEST(PipelineTest, IsWhatCppBuilds) {
  const Pass built = Sequential(
      {relay::FoldConstant(),
       relay::ConvertLayout(
           {.desired_layouts = {{"nn.conv2d", AttrList{"NHWC", "HWIO"}}}}),
       FixedPoint({relay::CanonicalizeOps(), relay::FoldConstant()},
                  {.limit = 5})});
  BATON_ASSERT_OK_AND_ASSIGN(const std::string text, PipelineToString(built));
  EXPECT_EQ(text,
            "FoldConstant,"
            "ConvertLayout{desired_layouts={nn.conv2d:[NHWC,HWIO]}},"
            "FixedPoint{limit=5}(CanonicalizeOps,FoldConstant)");
}
// [/same_pipeline]

// [pipeline_error]
TEST(PipelineTest, ErrorsShowThePlace) {
  EXPECT_EQ(ParsePipeline("FoldConstants").status().message(),
            "pipeline:1:1: error: unknown pass FoldConstants; did you mean "
            "\"FoldConstant\"?\n"
            "FoldConstants\n"
            "^~~~~~~~~~~~~");
}
// [/pipeline_error]

// [named_pipeline]
BATON_REGISTER_PIPELINE(
    "tidy", {.doc = "Makes biases additions of constants.",
             .opt_level = 3,
             .steps = {{"CanonicalizeOps", "A bias becomes an addition."},
                       {"FoldConstant", "Its operand becomes a constant."}}});

TEST(PipelineTest, HasAName) {
  BATON_ASSERT_OK_AND_ASSIGN(const Pass pipeline, ParsePipeline("tidy"));
  BATON_ASSERT_OK_AND_ASSIGN(const std::string printed,
                             PipelineToString(pipeline));
  EXPECT_EQ(printed, "Sequential{name=tidy}(CanonicalizeOps,FoldConstant)");
  EXPECT_EQ(OptLevelOf(pipeline), 3);
}
// [/named_pipeline]

// [config]
BATON_REGISTER_CONFIG(kMaxFunctions, int64_t, "example.max_functions", 100,
                      "Modules with more functions are left alone.");

Pass DropExtras() {
  return CreateModulePass(
      [](IRModule module,
         const PassContext& context) -> absl::StatusOr<IRModule> {
        if (module.size() > context.Get(kMaxFunctions)) return module;
        module.Remove("extra");
        return module;
      },
      {.name = "DropExtras"});
}

TEST(ConfigTest, IsTypedAndChecked) {
  IRModule module = DenseLayer();
  module.Set("extra", module.Find<Function>("main"));
  const PassContext small({.config = {{"example.max_functions", 1}}});
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule same,
                             small.Run([&] { return DropExtras()(module); }));
  EXPECT_TRUE(same.SameAs(module));
  // Outside of any context of ours, the setting has its default.
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule changed, DropExtras()(module));
  EXPECT_EQ(changed.size(), 1);

  const PassContext misspelt({.config = {{"example.max_function", 1}}});
  EXPECT_THAT(misspelt.status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "did you mean \"example.max_functions\""));
  const PassContext mistyped({.config = {{"example.max_functions", "few"}}});
  EXPECT_THAT(mistyped.status(), StatusIs(absl::StatusCode::kInvalidArgument,
                                          "example.max_functions"));
}
// [/config]

// [registry]
TEST(RegistryTest, ATestCanReplaceAPass) {
  PassRegistry registry(PassRegistry::Global());
  registry.Override(
      "InferType", PassFactory([] {
        return CreateModulePass(
            [](const IRModule& /*module*/,
               const PassContext& /*context*/) -> absl::StatusOr<IRModule> {
              return absl::InternalError("no types today");
            },
            {.name = "InferType"});
      }));
  const PassContext context({.opt_level = 3, .registry = &registry});
  // CanonicalizeOps requires InferType, by name.
  const Pass pass = Sequential({relay::CanonicalizeOps()});
  EXPECT_THAT(context.Run([&] { return pass(DenseLayer()); }),
              StatusIs(absl::StatusCode::kInternal,
                       "in pass #1 sequential > #2 InferType:\n"
                       "no types today"));
}
// [/registry]

// [threads]
TEST(ThreadsTest, AreASetting) {
  const PassContext context({.config = {{"threads", 8}}});
  const Pass pass = relay::FoldConstant();
  EXPECT_THAT(context.Run([&] { return pass(DenseLayer()); }), IsOk());
}
// [/threads]

}  // namespace
}  // namespace baton::examples
