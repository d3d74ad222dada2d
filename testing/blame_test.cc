// Tests that blame leads back to the text, for every node of every state of a
// recorded run of each workload.

#include "baton/testing/blame.h"

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "baton/instrument/history.h"
#include "baton/instrument/history_recorder.h"
#include "baton/ir/module.h"
#include "baton/ir/module_text.h"
#include "baton/testing/status_matchers.h"
#include "baton/testing/test_settings.h"
#include "baton/testing/workloads/workload.h"
#include "baton/transform/module_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pipeline.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton::testing {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

// Checks the history in the recorder, and the same history in a file.
void ExpectNoGaps(const History& history) {
  BATON_ASSERT_OK_AND_ASSIGN(const History read, WrittenAndRead(history));
  for (const History* which : {&history, &read}) {
    BATON_ASSERT_OK_AND_ASSIGN(const BlameGaps blame,
                               FindBlameGaps(*which, /*needs_places=*/true));
    EXPECT_THAT(blame.gaps, IsEmpty());
    EXPECT_GT(blame.nodes, 0);
  }
}

TEST(BlameTest, OfWorkloadsEndsAtTheirText) {
  BATON_ASSERT_OK_AND_ASSIGN(const std::vector<WorkloadInfo> workloads,
                             ListWorkloads());
  EXPECT_GE(workloads.size(), 13);
  bool is_turn_of_onnx = false;
  for (const WorkloadInfo& info : workloads) {
    is_turn_of_onnx = !is_turn_of_onnx;
    for (const bool onnx : {false, true}) {
      // The short form of tests runs one of two pipelines on each.
      if (!IsLongTest() && onnx != is_turn_of_onnx) continue;
      const char* const passes = onnx ? "onnx,O3" : "O3";
      SCOPED_TRACE(info.name + " " + passes);
      BATON_ASSERT_OK_AND_ASSIGN(const IRModule network,
                                 GetWorkloadModule(info.name));
      BATON_ASSERT_OK_AND_ASSIGN(const IRModule text,
                                 ParseModule(AsText(network), "network.relay"));
      BATON_ASSERT_OK_AND_ASSIGN(const Pass pass, ParsePipeline(passes));
      const auto recorder = std::make_shared<HistoryRecorder>();
      const PassContext context({.opt_level = 3, .instruments = {recorder}});
      EXPECT_THAT(context.Run([&] { return pass(text); }), IsOk());
      ExpectNoGaps(recorder->history());
    }
  }
}

// A pass that makes a node out of nothing, as far as it says.
TEST(BlameTest, FindsGaps) {
  BATON_ASSERT_OK_AND_ASSIGN(
      const IRModule module,
      ParseModule("#[version = \"0.0.5\"]\n"
                  "def @main(%x: Tensor[(2), float32]) { nn.relu(%x) }",
                  "relu.relay"));
  BATON_ASSERT_OK_AND_ASSIGN(
      const IRModule other,
      ParseModule("#[version = \"0.0.5\"]\n"
                  "def @main(%x: Tensor[(2), float32]) { tanh(%x) }",
                  "tanh.relay"));
  const Pass pass = CreateModulePass(
      [&other](IRModule /*module*/, const PassContext& /*context*/)
          -> absl::StatusOr<IRModule> { return other; },
      {.name = "Another"});
  const auto recorder = std::make_shared<HistoryRecorder>();
  const PassContext context({.instruments = {recorder}});
  ASSERT_THAT(context.Run([&] { return pass(module); }), IsOk());
  BATON_ASSERT_OK_AND_ASSIGN(const BlameGaps blame,
                             FindBlameGaps(recorder->history(), false));
  EXPECT_EQ(blame.nodes, 3);
  EXPECT_THAT(blame.gaps, SizeIs(3));
}

}  // namespace
}  // namespace baton::testing
