// Runs the example: each step of each run is seen once.

#include "baton/testing/run_binary.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton {
namespace {

using ::testing::ContainsRegex;

TEST(WatchARunTest, SeesEachStepOfEachRun) {
  const testing::RunResult one =
      testing::RunBinary("examples/watch_a_run", "1");
  ASSERT_EQ(one.exit_code, 0) << one.err;
  EXPECT_THAT(one.out, ContainsRegex("matmul[^:]*: [1-3] steps, "));
  EXPECT_THAT(one.out, ContainsRegex("softmax[^:]*: 1 steps, "));
  const testing::RunResult many =
      testing::RunBinary("examples/watch_a_run", "7");
  EXPECT_THAT(many.out, ContainsRegex("softmax[^:]*: 7 steps, "));
}

}  // namespace
}  // namespace baton
