// Networks after the passes that a user asks for: one answer. In the short form of
// tests each network is run with vectors of one width.

#include <cstddef>
#include <iterator>
#include <string>

#include "baton/backend/cpu/executable.h"
#include "baton/backend/cpu/one_answer_test_util.h"
#include "baton/ir/module.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/testing/status_matchers.h"
#include "baton/testing/test_settings.h"
#include "baton/testing/workloads/bound_workload.h"
#include "gtest/gtest.h"

namespace baton {
namespace {

class OptimizedNetworksTest : public ::testing::TestWithParam<const char*> {};

TEST_P(OptimizedNetworksTest, EvaluatorAndExecutor) {
  BATON_ASSERT_OK_AND_ASSIGN(IRModule module,
                             testing::BoundWorkload(GetParam()));
  BATON_ASSERT_OK_AND_ASSIGN(module, relay::InferTypes(module));
  BATON_ASSERT_OK_AND_ASSIGN(module, RunNamedPipeline("onnx,O3", module));
  size_t number = 0;
  while (kOneAnswerNetworks[number] != GetParam()) ++number;
  for (size_t i = 0; i < std::size(kNamedWidths); ++i) {
    if (!testing::IsLongTest() && i != number % std::size(kNamedWidths)) {
      continue;
    }
    SCOPED_TRACE(kNamedWidths[i].name);
    ExpectOneAnswer(module, kNamedWidths[i]);
  }
}

INSTANTIATE_TEST_SUITE_P(Workloads, OptimizedNetworksTest,
                         ::testing::ValuesIn(kOneAnswerNetworks),
                         [](const ::testing::TestParamInfo<const char*>& info) {
                           const std::string name = info.param;
                           return name.substr(0, name.find('{'));
                         });

}  // namespace
}  // namespace baton
