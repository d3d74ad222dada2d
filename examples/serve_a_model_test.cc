// Runs the example: any number of threads gives the same answers.

#include "baton/testing/run_binary.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton {
namespace {

using ::testing::StartsWith;

TEST(ServeAModelTest, AnyNumberOfThreadsGivesTheSameAnswers) {
  const testing::RunResult one =
      testing::RunBinary("examples/serve_a_model", "1 40");
  ASSERT_EQ(one.exit_code, 0) << one.err;
  EXPECT_THAT(one.out, StartsWith("40 answers, sum "));
  const testing::RunResult many =
      testing::RunBinary("examples/serve_a_model", "5 40");
  EXPECT_EQ(many.out, one.out);
}

}  // namespace
}  // namespace baton
