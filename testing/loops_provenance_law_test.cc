// Tests the law of provenance on passes over loops.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/base/status_macros.h"
#include "baton/ir/module.h"
#include "baton/ir/module_text.h"
#include "baton/testing/loops_pipelines.h"
#include "baton/testing/provenance_law.h"
#include "baton/testing/random_loops.h"
#include "baton/testing/registered_passes.h"
#include "baton/testing/status_matchers.h"
#include "baton/testing/test_settings.h"
#include "baton/transform/pass.h"
#include "baton/transform/pipeline.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton::testing {
namespace {

using ::testing::IsEmpty;

// Random functions after `before`, as if they came from a file: with places.
absl::StatusOr<std::vector<IRModule>> Programs(absl::string_view before) {
  std::vector<IRModule> result;
  const uint32_t modules = IsLongTest() ? 16 : 2;
  for (uint32_t seed = 0; seed < modules; ++seed) {
    IRModule module = RandomLoopsModule(100 * seed, 8);
    if (!before.empty()) {
      BATON_ASSIGN_OR_RETURN(const Pass prepare, ParsePipeline(before));
      BATON_ASSIGN_OR_RETURN(module, prepare(module));
    }
    BATON_ASSIGN_OR_RETURN(
        module, ParseModule(AsText(module), absl::StrCat("seed", seed)));
    result.push_back(module);
  }
  return result;
}

TEST(LoopsProvenanceLawTest, NodesComeFromPlaces) {
  const SilentStderr silent;
  ProvenanceSurvey survey;
  std::map<std::string, std::vector<IRModule>> programs;  // by pipelines
  for (const std::string& text : PassesOverLoops()) {
    BATON_ASSERT_OK_AND_ASSIGN(const Pass pass, GetRegisteredPass(text));
    for (const std::string& before : PipelinesBefore(pass.name())) {
      if (programs.find(before) == programs.end()) {
        BATON_ASSERT_OK_AND_ASSIGN(programs[before], Programs(before));
      }
      for (const IRModule& program : programs[before]) {
        StudyProvenance(pass, program, survey);
      }
    }
  }
  EXPECT_THAT(survey.unexplained, IsEmpty());
  EXPECT_GT(survey.made, 15'000);
}

TEST(LoopsProvenanceLawTest, NodesOfTheLoweringComeFromPlaces) {
  const SilentStderr silent;
  BATON_ASSERT_OK_AND_ASSIGN(const Pass pass, ParsePipeline("tir.lower"));
  BATON_ASSERT_OK_AND_ASSIGN(const std::vector<IRModule> programs,
                             Programs(""));
  ProvenanceSurvey survey;
  for (const IRModule& program : programs) {
    StudyProvenance(pass, program, survey);
  }
  EXPECT_THAT(survey.unexplained, IsEmpty());
  EXPECT_GT(survey.made, 2'000);
}

}  // namespace
}  // namespace baton::testing
