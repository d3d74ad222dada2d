// Each recorded step keeps the values of its function.

#include <cstddef>
#include <cstdint>
#include <iostream>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "baton/base/tensor.h"
#include "baton/ir/module.h"
#include "baton/ir/module_text.h"
#include "baton/testing/conformance.h"
#include "baton/testing/loops_values.h"
#include "baton/testing/test_settings.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/schedule/schedule.h"
#include "baton/tir/schedule/step_text.h"
#include "gtest/gtest.h"

namespace baton::tir {
namespace {

constexpr int64_t kMaxSteps = 3'000'000;

absl::StatusOr<std::vector<Tensor>> RunOnIntegers(const PrimFunc& function) {
  return testing::RunOnSmallIntegers(
      function, {.check_initialized = false, .max_steps = kMaxSteps});
}

TEST(ScheduleValuesTest, StepsKeepValues) {
  const absl::StatusOr<std::vector<testing::ConformanceCase>> cases =
      testing::ReadConformanceCases("testing/loops/schedule");
  ASSERT_TRUE(cases.ok()) << cases.status();
  // One case of `every`.
  const int every = testing::IsLongTest() ? 1 : 4;
  int number = 0;
  int compared = 0;
  int skipped = 0;
  for (const testing::ConformanceCase& c : *cases) {
    if (c.expects_error || ++number % every != 0) continue;
    // The step makes a buffer of two axes with one stride, as the reference
    // does; such a buffer has no meaning.
    if (c.name() == "cache_index/b5f683f0f2") continue;
    SCOPED_TRACE(c.name());
    const absl::StatusOr<IRModule> module = ParseModule(c.before);
    ASSERT_TRUE(module.ok()) << module.status();
    const PrimFunc function = module->functions<PrimFunc>()[0].function;
    const absl::StatusOr<Step> step = ParseStep(c.step);
    ASSERT_TRUE(step.ok()) << step.status();
    const absl::StatusOr<std::vector<Tensor>> before = RunOnIntegers(function);
    if (!before.ok()) {
      ++skipped;
      continue;
    }
    Schedule schedule(function);
    const absl::Status status = schedule.Apply(*step);
    ASSERT_TRUE(status.ok()) << status;
    const absl::StatusOr<std::vector<Tensor>> after =
        RunOnIntegers(schedule.function());
    if (absl::IsResourceExhausted(after.status())) {
      ++skipped;
      continue;
    }
    ASSERT_TRUE(after.ok()) << after.status();
    ASSERT_EQ(before->size(), after->size());
    for (size_t i = 0; i < before->size(); ++i) {
      EXPECT_EQ((*before)[i], (*after)[i]) << "parameter " << i;
    }
    ++compared;
  }
  std::cout << compared << " compared, " << skipped << " not run\n";
  EXPECT_GE(compared, 60 / every);
}

}  // namespace
}  // namespace baton::tir
