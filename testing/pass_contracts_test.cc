// Checks that every registered pass keeps its contract: the properties of
// programs that its PassInfo says it establishes and keeps, on recorded
// programs with each property.

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/substitute.h"
#include "baton/instrument/verify_contracts.h"
#include "baton/ir/module.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/ir/text_parser.h"
#include "baton/testing/conformance.h"
#include "baton/testing/golden.h"
#include "baton/testing/registered_passes.h"
#include "baton/testing/status_matchers.h"
#include "baton/testing/test_settings.h"
#include "baton/transform/contracts.h"
#include "baton/transform/module_pass.h"
#include "baton/transform/module_property.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_info.h"
#include "baton/transform/pass_registry.h"
#include "baton/transform/pipeline.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton::testing {
namespace {

using ::testing::HasSubstr;

Pass Pipeline(absl::string_view text) {
  const absl::StatusOr<Pass> pipeline = ParsePipeline(text);
  EXPECT_THAT(pipeline, IsOk());
  return pipeline.ok() ? *pipeline : Pass();
}

IRModule Typed(absl::string_view text) {
  absl::StatusOr<IRModule> module = ParseModule(text);
  if (module.ok()) module = relay::InferTypes(*module);
  EXPECT_THAT(module, IsOk());
  return module.ok() ? *module : IRModule();
}

IRModule Chain() {
  return Typed(R"(#[version = "0.0.5"]
def @main(%x: Tensor[(2, 3), float32]) {
  nn.relu(tanh(%x))
})");
}

TEST(PassContractsTest, EveryPassKeepsItsWord) {
  BATON_ASSERT_OK_AND_ASSIGN(
      const std::vector<ConformanceCase> cases,
      ReadConformanceCases(RunfilePath("testing/conformance")));
  const char* const forms[] = {"", "ToANormalForm,InferType",
                               "ToBasicBlockNormalForm,InferType",
                               "qnn.CanonicalizeOps"};
  std::vector<Pass> passes;
  for (const std::string& text : RegisteredPasses()) {
    passes.push_back(Pipeline(text).impl().listed_passes()[0]);
  }
  const SilentStderr silence;
  // One case of `every`.
  const int every = LongOrShort(1, 60);
  int number = 0;
  int checked = 0;
  std::set<std::string> broken;
  for (const ConformanceCase& c : cases) {
    if (++number % every != 0) continue;
    absl::StatusOr<IRModule> module = ParseModule(c.before, c.name());
    if (module.ok()) module = relay::InferTypes(*module);
    if (!module.ok()) continue;  // it is there to be refused
    for (const char* form : forms) {
      const absl::StatusOr<IRModule> given = Pipeline(form)(*module);
      if (!given.ok()) continue;
      for (const Pass& pass : passes) {
        PassContext context(
            {.opt_level = 4,
             .instruments = {std::make_shared<VerifyContractsInstrument>()}});
        const absl::StatusOr<IRModule> result =
            context.Run([&] { return pass(*given); });
        ++checked;
        // Other errors are the business of other tests.
        if (!absl::IsInternal(result.status())) continue;
        const std::string error(result.status().message());
        if (broken.insert(error.substr(0, error.find(','))).second) {
          ADD_FAILURE() << c.name() << " after \"" << form << "\": " << error;
        }
      }
    }
  }
  EXPECT_GT(checked, 250'000 / every);
}

// An argument that stands once, outside of the branches of the function that it
// is given to, is in both of them when that is inlined.
TEST(PassContractsTest, InlinedArgumentsAreSharedByScopes) {
  constexpr char kMain[] = R"(
def @main(%c: bool, %x: Tensor[(2), float32]) { $0(%c, exp(%x)) })";
  constexpr char kBranches[] =
      R"((%b: bool, %p: Tensor[(2), float32]$0) -> Tensor[(2), float32] {
  if (%b) { abs(%p) } else { tanh(%p) }
})";
  const auto main = [&](absl::string_view callee) {
    return absl::Substitute(kMain, callee);
  };
  const auto branches = [&](absl::string_view attrs) {
    return absl::Substitute(kBranches, attrs);
  };
  const ModuleProperty& blocks =
      *ModuleProperties().Find("basic_block_normal_form");
  const struct {
    std::string program;
    const char* pass;
  } cases[] = {
      {main(absl::StrCat("fn ", branches(""))), "DefuseOps"},
      {absl::StrCat("def @f", branches(", Inline=1"), main("@f")),
       "InlineGlobals"},
      {absl::StrCat("def @f", branches(", Compiler=\"acme\""), main("@f")),
       "InlineCompilerFunctionsBoundTo{global_vars=[f]}"}};
  for (const auto& c : cases) {
    const IRModule module = Typed(c.program);
    EXPECT_THAT(blocks.check(module), IsOk()) << c.program;
    PassContext context(
        {.opt_level = 4,
         .instruments = {std::make_shared<VerifyContractsInstrument>()}});
    BATON_ASSERT_OK_AND_ASSIGN(const IRModule result, context.Run([&] {
      return Pipeline(c.pass)(module);
    }));
    EXPECT_FALSE(blocks.check(result).ok()) << c.pass;
  }
}

TEST(PassContractsTest, PassesNameFormsThatExist) {
  for (const std::string& name : PassRegistry::Global().Names()) {
    BATON_ASSERT_OK_AND_ASSIGN(const PassInfo info,
                               PassRegistry::Global().Info(name));
    for (const auto& names : {info.needs, info.establishes, info.invalidates}) {
      for (const std::string& form : names) {
        EXPECT_NE(ModuleProperties().Find(form), nullptr)
            << name << ": " << form;
      }
    }
  }
}

TEST(PassContractsTest, IllOrderedPipelines) {
  const PassContext context({.opt_level = 4});
  EXPECT_THAT(CheckContracts(Pipeline("ManifestLifetimes"), Chain(), context),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       "ManifestLifetimes needs a_normal_form, which "
                       "the program does not have ("));
  EXPECT_THAT(
      CheckContracts(Pipeline("ManifestLifetimes"), Chain(), context).message(),
      HasSubstr("; insert ToANormalForm"));
  EXPECT_THAT(CheckContracts(Pipeline("ToANormalForm,ManifestLifetimes"),
                             Chain(), context),
              IsOk());
  EXPECT_THAT(CheckContracts(
                  Pipeline("ToANormalForm,ToGraphNormalForm,ManifestLifetimes"),
                  Chain(), context),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       "ManifestLifetimes needs a_normal_form, which "
                       "ToGraphNormalForm before it may invalidate; insert "
                       "ToANormalForm"));
  EXPECT_THAT(
      CheckContracts(Pipeline("FuseOps,ConvertLayout{desired_layouts={nn."
                              "conv2d:[NHWC,default]}}"),
                     Chain(), context),
      StatusIs(absl::StatusCode::kFailedPrecondition,
               "ConvertLayout needs no_primitive_functions, which FuseOps "
               "before it may invalidate; put ConvertLayout before FuseOps"));
  // The second round of a fixed point begins with what the first one leaves.
  EXPECT_THAT(
      CheckContracts(
          Pipeline(
              "ToANormalForm,FixedPoint(ManifestLifetimes,ToGraphNormalForm)"),
          Chain(), context),
      StatusIs(absl::StatusCode::kFailedPrecondition,
               "which ToGraphNormalForm before it may invalidate"));
  // A pass that is not enabled needs nothing.
  const PassContext disabled(
      {.opt_level = 4, .disabled_pass = {"ManifestLifetimes"}});
  EXPECT_THAT(CheckContracts(Pipeline("ManifestLifetimes"), Chain(), disabled),
              IsOk());
}

TEST(PassContractsTest, WhatIsMissingIsInserted) {
  const PassContext context({.opt_level = 4});
  const auto inserted = [&](absl::string_view text) {
    const absl::StatusOr<Pass> pass =
        InsertRequired(Pipeline(text), Chain(), context);
    EXPECT_THAT(pass, IsOk());
    return pass.ok() ? *PipelineToString(*pass) : "";
  };
  EXPECT_EQ(inserted("FoldConstant,ManifestLifetimes"),
            "FoldConstant,ToANormalForm,ManifestLifetimes");
  EXPECT_EQ(inserted("ToANormalForm,ManifestLifetimes"),
            "ToANormalForm,ManifestLifetimes");
  EXPECT_EQ(inserted("ToANormalForm,ToGraphNormalForm,ManifestLifetimes"),
            "ToANormalForm,ToGraphNormalForm,ToANormalForm,ManifestLifetimes");
  EXPECT_EQ(inserted("FixedPoint{limit=3}(ManifestLifetimes)"),
            "FixedPoint{limit=3}(ToANormalForm,ManifestLifetimes)");
  // Nothing can be inserted that is not enabled.
  const PassContext without(
      {.opt_level = 4, .disabled_pass = {"ToANormalForm"}});
  EXPECT_THAT(InsertRequired(Pipeline("ManifestLifetimes"), Chain(), without),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       "; no pass that is enabled establishes it"));
}

// A pass that lies about the forms of its result is found.
TEST(PassContractsTest, LiesAreFound) {
  const auto run = [](const Pass& pass, const IRModule& module) {
    PassContext context(
        {.instruments = {std::make_shared<VerifyContractsInstrument>()}});
    return context.Run([&] { return pass(module); });
  };
  const auto nothing =
      [](const IRModule& module,
         const PassContext& /*context*/) -> absl::StatusOr<IRModule> {
    return module;
  };
  EXPECT_THAT(run(CreateModulePass(nothing, {.name = "Liar",
                                             .establishes = {"a_normal_form"}}),
                  Chain()),
              StatusIs(absl::StatusCode::kInternal,
                       "Liar should establish a_normal_form, which its "
                       "result does not have: @main: "));
  const Pass nesting = CreateModulePass(
      [](const IRModule& module, const PassContext& /*context*/) {
        return Pipeline("ToGraphNormalForm")(module);
      },
      {.name = "Nesting"});
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule flat,
                             Pipeline("ToANormalForm,InferType")(Chain()));
  EXPECT_THAT(run(nesting, flat), StatusIs(absl::StatusCode::kInternal,
                                           "should keep a_normal_form"));
  EXPECT_THAT(
      run(CreateModulePass(nothing, {.name = "P", .needs = {"no_such_form"}}),
          Chain()),
      StatusIs(absl::StatusCode::kNotFound, "no_such_form"));
}

}  // namespace
}  // namespace baton::testing
