#include "baton/tools/measure_kernels.h"

#include "baton/backend/cpu/kernel_costs.h"
#include "baton/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Each row has a program whose plan has a step of that row; the few without one
// are named.
TEST(MeasureKernelsTest, MeasuresTheRowsOfATable) {
  BATON_ASSERT_OK_AND_ASSIGN(const cpu::KernelCosts costs,
                             MeasureKernels({.seconds = 0}));
  EXPECT_THAT(costs.missing(),
              ElementsAre("gather_nd.indices", "gather_nd.bytes", "one_hot",
                          "add.bytes"));
  EXPECT_EQ(costs.machine(), MachineName());
  BATON_ASSERT_OK_AND_ASSIGN(
      const cpu::KernelCosts read,
      cpu::KernelCosts::Parse(costs.ToString(), "costs.txt"));
  EXPECT_EQ(read.ToString(), costs.ToString());
  EXPECT_EQ(read.missing(), costs.missing());
  EXPECT_THAT(costs.ToString(), HasSubstr("\n  conv.pointwise@16x64 = ["));
}

}  // namespace
}  // namespace baton
