// Tests pipelines of passes over loops on many functions, with any number of
// threads.

#include <string>
#include <vector>

#include "baton/ir/module.h"
#include "baton/testing/loops_pipelines.h"
#include "baton/testing/random_loops.h"
#include "baton/testing/status_matchers.h"
#include "baton/testing/test_settings.h"
#include "baton/testing/threads_sweep.h"
#include "baton/testing/threads_sweep_pipelines.h"
#include "baton/transform/pass.h"
#include "baton/transform/pipeline.h"
#include "gtest/gtest.h"

namespace baton {
namespace {

using testing::FindThreadsDifference;

TEST(ThreadsSweepLoopsTest, LoweringAndRandomPipelines) {
  const IRModule module =
      testing::RandomLoopsModule(500, testing::NightlyLongOrShort(40, 24, 15));
  BATON_ASSERT_OK_AND_ASSIGN(const Pass lower, ParsePipeline("tir.lower"));
  EXPECT_EQ(FindThreadsDifference(lower, module), "");
  const std::vector<std::string> passes = testing::PassesOverLoops();
  // Functions with blocks, and flat ones.
  for (const std::string& before : testing::PipelinesBefore("tir.Simplify")) {
    testing::SweepRandomPipelines(
        testing::RandomLoopsModule(600, testing::NightlyLongOrShort(20, 12, 8)),
        passes, before);
  }
}

}  // namespace
}  // namespace baton
