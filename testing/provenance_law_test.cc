// Tests the law of provenance: after any registered pass, every node has
// origins in the input program, and so in its text.

#include "baton/testing/provenance_law.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "baton/instrument/history.h"
#include "baton/instrument/history_file.h"
#include "baton/instrument/history_recorder.h"
#include "baton/ir/module.h"
#include "baton/ir/module_text.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/transform/function_pass.h"
#include "baton/testing/conformance.h"
#include "baton/testing/golden.h"
#include "baton/testing/pass_laws.h"
#include "baton/testing/random_program.h"
#include "baton/testing/registered_passes.h"
#include "baton/testing/status_matchers.h"
#include "baton/testing/test_settings.h"
#include "baton/transform/parallel.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pipeline.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton::testing {
namespace {

using ::testing::IsEmpty;
using ::testing::IsSupersetOf;

// As if it came from a file: with places, and with types.
absl::StatusOr<IRModule> FromText(const IRModule& module,
                                  const std::string& name) {
  absl::StatusOr<IRModule> parsed = ParseModule(AsText(module), name);
  if (!parsed.ok()) return parsed;
  return relay::InferTypes(*parsed);
}

absl::StatusOr<std::vector<IRModule>> Programs() {
  std::vector<IRModule> result;
  BATON_ASSIGN_OR_RETURN(const auto modules, LawModules());
  for (const auto& [name, module] : modules) {
    BATON_ASSIGN_OR_RETURN(IRModule program, FromText(module, name));
    result.push_back(std::move(program));
  }
  const uint32_t num_seeds = LongOrShort(64, 20);
  for (uint32_t seed = 0; seed < num_seeds; ++seed) {
    BATON_ASSIGN_OR_RETURN(
        const IRModule module,
        RandomProgram(seed, RandomProgramOptions::Mixed(seed)));
    BATON_ASSIGN_OR_RETURN(IRModule program,
                           FromText(module, absl::StrCat("seed", seed)));
    result.push_back(std::move(program));
  }
  return result;
}

TEST(ProvenanceLawTest, NodesComeFromPlaces) {
  const SilentStderr silent;
  BATON_ASSERT_OK_AND_ASSIGN(const std::vector<IRModule> programs, Programs());
  ProvenanceSurvey survey;
  for (const std::string& text : RegisteredPasses()) {
    BATON_ASSERT_OK_AND_ASSIGN(const Pass pass, ParsePipeline(text));
    for (const IRModule& program : programs)
      StudyProvenance(pass, program, survey);
  }
  EXPECT_THAT(survey.unexplained, IsEmpty());
  EXPECT_THAT(survey.without_place, IsEmpty());
  EXPECT_GT(survey.made, LongOrShort(100'000, 25'000));
}

TEST(ProvenanceLawTest, NodesOfPipelinesComeFromPlaces) {
  const SilentStderr silent;
  BATON_ASSERT_OK_AND_ASSIGN(const std::vector<IRModule> programs, Programs());
  ProvenanceSurvey survey;
  for (const std::string& name : NamedPipelines().Names()) {
    BATON_ASSERT_OK_AND_ASSIGN(const Pass pass, ParsePipeline(name));
    for (const IRModule& program : programs)
      StudyProvenance(pass, program, survey);
  }
  EXPECT_THAT(survey.unexplained, IsEmpty());
  EXPECT_THAT(survey.without_place, IsEmpty());
  EXPECT_GT(survey.made, 10'000);
}

// Each program of the cases of conformance, through the passes of the case.
TEST(ProvenanceLawTest, NodesOfConformanceCasesComeFromPlaces) {
  const SilentStderr silent;
  BATON_ASSERT_OK_AND_ASSIGN(
      const std::vector<ConformanceCase> cases,
      ReadConformanceCases(RunfilePath("testing/conformance")));
  ProvenanceSurvey survey;
  for (const ConformanceCase& c : cases) {
    if (c.passes.empty()) continue;
    const absl::StatusOr<IRModule> module = ParseModule(c.before, c.name());
    const absl::StatusOr<Pass> pass = ParsePipeline(c.passes);
    if (module.ok() && pass.ok()) StudyProvenance(*pass, *module, survey);
  }
  EXPECT_THAT(survey.unexplained, IsEmpty());
  EXPECT_THAT(survey.without_place, IsEmpty());
  EXPECT_GT(survey.made, 1000);
}

// One thread keeps origins as pointers, whose nodes may die; several hold the
// nodes.
TEST(ProvenanceLawTest, ThreadsMakeNoDifference) {
  const SilentStderr silent;
  IRModule module;
  const uint32_t num_functions = LongOrShort(24, 8);
  for (uint32_t seed = 0; seed < num_functions; ++seed) {
    BATON_ASSERT_OK_AND_ASSIGN(
        const IRModule program,
        RandomProgram(seed, {.size = 60, .networks = seed % 2 == 0}));
    module.Set(absl::StrCat("f", seed), program.Find("main"));
  }
  for (const char* passes : {"O3", "ToANormalForm,FoldConstant,O2"}) {
    BATON_ASSERT_OK_AND_ASSIGN(const Pass pass, ParsePipeline(passes));
    const auto record = [&](int64_t threads) {
      const auto recorder = std::make_shared<HistoryRecorder>(
          HistoryOptions{.clock = [] { return int64_t{0}; }});
      const PassContext context({.opt_level = 3,
                                 .config = {{ThreadsConfig().name(), threads}},
                                 .instruments = {recorder}});
      EXPECT_THAT(context.Run([&] { return pass(module); }), IsOk());
      const auto bytes = WriteHistory(recorder->history());
      EXPECT_THAT(bytes, IsOk());
      return bytes.ok() ? bytes->ToString() : "";
    };
    const std::string one = record(1);
    EXPECT_GT(one.size(), 10'000);
    EXPECT_TRUE(record(2) == one) << passes;
    EXPECT_TRUE(record(16) == one) << passes;
  }
}

// A pass that makes a program anew, by no rewriter.
TEST(ProvenanceLawTest, NodesThatComeFromNowhereAreFound) {
  const Pass pass = relay::CreateFunctionPass(
      [](relay::Function function, const IRModule&,
         const PassContext&) -> absl::StatusOr<relay::Function> {
        const auto* call = function->body().As<relay::CallNode>();
        if (call == nullptr) return function;
        return relay::Function(
            {function->params().begin(), function->params().end()},
            relay::Call(call->op(), call->args()));
      },
      {.name = "Anew"});
  BATON_ASSERT_OK_AND_ASSIGN(IRModule module,
                             ParseModule("#[version = \"0.0.5\"]\n"
                                         "def @main(%x: Tensor[(2), float32]) "
                                         "{ nn.relu(%x) }"));
  ProvenanceSurvey survey;
  StudyProvenance(pass, module, survey);
  EXPECT_THAT(survey.unexplained, IsSupersetOf({"Anew: fn", "Anew: nn.relu"}));
}

}  // namespace
}  // namespace baton::testing
