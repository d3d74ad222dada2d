// Tests that every named pipeline keeps the laws of passes, and that the
// contracts of its passes are kept.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "baton/instrument/verify_contracts.h"
#include "baton/ir/module.h"
#include "baton/ir/structural_equal.h"
#include "baton/testing/pass_laws.h"
#include "baton/testing/random_program.h"
#include "baton/testing/status_matchers.h"
#include "baton/testing/test_settings.h"
#include "baton/transform/contracts.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_info.h"
#include "baton/transform/pipeline.h"
#include "baton/transform/sequential.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton::testing {
namespace {

class PipelinesTest : public ::testing::TestWithParam<std::string> {
 protected:
  const NamedPipeline& named() const {
    return *NamedPipelines().Find(GetParam());
  }

  // The pipeline as a pass that promises what the pipeline does.
  Pass pass() const {
    const Pass pipeline = ParsePipeline(GetParam()).value();
    PassInfo info = pipeline.info();
    info.name = GetParam();
    info.idempotent = named().not_idempotent.empty();
    return CreateSequentialPass({pipeline}, info);
  }
};

// Modules that are small enough for all pipelines.
std::vector<IRModule> SomeModules(uint32_t first_seed, uint32_t count) {
  std::vector<IRModule> modules;
  for (uint32_t seed = first_seed; seed < first_seed + count; ++seed) {
    modules.push_back(
        RandomProgram(seed, RandomProgramOptions::Mixed(seed)).value());
  }
  return modules;
}

TEST_P(PipelinesTest, SaysWhy) {
  EXPECT_NE(named().doc, "");
  EXPECT_FALSE(named().steps.empty());
  for (const PipelineStep& step : named().steps) {
    EXPECT_NE(step.reason, "") << step.items;
  }
}

// A pass above the pipeline's level would never run in it.
TEST_P(PipelinesTest, IsMadeForTheLevelOfItsPasses) {
  const Pass pipeline = ParsePipeline(GetParam()).value();
  EXPECT_EQ(OptLevelOf(pipeline), named().opt_level);
  for (const Pass& pass :
       pipeline.impl().listed_passes()[0].impl().listed_passes()) {
    EXPECT_LE(pass.info().opt_level, named().opt_level) << pass.name();
  }
}

TEST_P(PipelinesTest, TextRoundTrips) {
  const Pass pipeline = ParsePipeline(GetParam()).value();
  BATON_ASSERT_OK_AND_ASSIGN(const std::string text,
                             PipelineToString(pipeline));
  EXPECT_EQ(text, absl::StrCat("Sequential{name=", GetParam(), "}(",
                               named().ToString(), ")"));
  EXPECT_EQ(PipelineToString(ParsePipeline(text).value()).value(), text);
}

TEST_P(PipelinesTest, KeepsTheLawsOnRandomPrograms) {
  const absl::Status status =
      CheckPassOnRandomPrograms(pass(), 0, LongOrShort(100, 25));
  EXPECT_TRUE(status.ok()) << status.message();
}

TEST_P(PipelinesTest, KeepsTheLawsOnLargeModules) {
  BATON_ASSERT_OK_AND_ASSIGN(const auto modules, LawModules());
  for (const auto& [name, module] : modules) {
    const absl::Status status = CheckPassLaws(pass(), module);
    EXPECT_TRUE(status.ok()) << name << ": " << status.message();
  }
}

TEST_P(PipelinesTest, KeepsTheLawsOnDeepPrograms) {
  const std::string name = GetParam();
  if (name == "O0" || name == "O1" || name == "O2") return;  // parts of O3
  const absl::Status status = CheckPassStack(pass());
  EXPECT_TRUE(status.ok()) << status.message();
}

TEST_P(PipelinesTest, ContractsHold) {
  const Pass pipeline = ParsePipeline(GetParam()).value();
  const PassContext context(
      {.opt_level = named().opt_level,
       .instruments = {std::make_shared<VerifyContractsInstrument>()}});
  for (const IRModule& module : SomeModules(5000, 30)) {
    EXPECT_THAT(CheckContracts(pipeline, module, context), IsOk());
    EXPECT_THAT(context.Run([&] { return pipeline(module); }), IsOk());
  }
}

INSTANTIATE_TEST_SUITE_P(Registered, PipelinesTest,
                         ::testing::ValuesIn(NamedPipelines().Names()),
                         [](const ::testing::TestParamInfo<std::string>& info) {
                           return info.param;
                         });

IRModule RunAtLevel(const std::string& pipeline, int level,
                    const IRModule& module) {
  return PassContext({.opt_level = level})
      .Run([&] { return ParsePipeline(pipeline).value()(module); })
      .value();
}

// A pipeline that is run at a lower level is that of the lower level.
TEST(BuildPipelinesTest, RespectTheLevelOfTheContext) {
  for (const IRModule& module : SomeModules(7000, 20)) {
    for (int level = 0; level < 3; ++level) {
      const std::string own = absl::StrCat("O", level);
      const IRModule expected = RunAtLevel(own, level, module);
      for (int higher = level + 1; higher <= 3; ++higher) {
        EXPECT_TRUE(StructuralEqual(
            RunAtLevel(absl::StrCat("O", higher), level, module), expected))
            << "O" << higher << " at level " << level;
      }
      EXPECT_TRUE(StructuralEqual(RunAtLevel(own, 3, module), expected))
          << own << " at level 3";
    }
  }
}

}  // namespace
}  // namespace baton::testing
