#include "baton/testing/threads_sweep_pipelines.h"

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_join.h"
#include "baton/ir/module.h"
#include "baton/testing/status_matchers.h"
#include "baton/testing/threads_sweep.h"
#include "baton/transform/pass.h"
#include "baton/transform/pipeline.h"
#include "gtest/gtest.h"

namespace baton::testing {

void SweepRandomPipelines(const IRModule& module,
                          const std::vector<std::string>& passes,
                          const std::string& before) {
  for (uint32_t seed = 0; seed < 6; ++seed) {
    std::mt19937 random(seed);
    std::vector<std::string> items;
    if (!before.empty()) items.push_back(before);
    for (int i = 0; i < 6; ++i)
      items.push_back(passes[random() % passes.size()]);
    const std::string text = absl::StrJoin(items, ",");
    BATON_ASSERT_OK_AND_ASSIGN(const Pass pipeline, ParsePipeline(text));
    EXPECT_EQ(
        FindThreadsDifference(pipeline, module,
                              {.num_schedules = 1, .first_seed = seed + 1}),
        "")
        << text;
  }
}

}  // namespace baton::testing
