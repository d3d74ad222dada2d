#include "baton/instrument/bisect.h"

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "baton/ir/module.h"
#include "baton/testing/toy_passes.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/sequential.h"
#include "gtest/gtest.h"

namespace baton {
namespace {

struct Outcome {
  std::string ops;
  std::string report;
};

Outcome RunWithLimit(int64_t limit, PassContextOptions options = {}) {
  const auto bisect = std::make_shared<BisectInstrument>(limit);
  options.instruments = {bisect};
  const Pass pass =
      Sequential({toy::AToB(), FixedPoint({toy::Nothing()}), toy::Grow()});
  const absl::StatusOr<IRModule> result =
      PassContext(options).Run([&] { return pass(toy::Module()); });
  EXPECT_TRUE(result.ok()) << result.status();
  EXPECT_TRUE(result->Find<relay::Function>("main")->type().defined());
  return {toy::Ops(*result), bisect->ToString()};
}

TEST(BisectTest, StopsAfterSoManyExecutions) {
  // Neither sequences nor InferType count.
  EXPECT_EQ(RunWithLimit(0).ops, "a");
  EXPECT_EQ(RunWithLimit(1).ops, "b");
  EXPECT_EQ(RunWithLimit(2).ops, "b");
  EXPECT_EQ(RunWithLimit(3).ops, "a b");
  EXPECT_EQ(RunWithLimit(1000).ops, "a b");
}

TEST(BisectTest, Report) {
  EXPECT_EQ(RunWithLimit(0).report, "bisect: limit 0: 0 executed; 3 refused\n");
  EXPECT_EQ(RunWithLimit(2).report,
            "bisect: limit 2: 2 executed, last #5 Nothing; 1 refused\n");
  EXPECT_EQ(RunWithLimit(3).report,
            "bisect: limit 3: 3 executed, last #7 Grow; 0 refused\n");
}

TEST(BisectTest, RequiredPassesRunAndCount) {
  const Outcome outcome = RunWithLimit(1, {.required_pass = {"Grow"}});
  EXPECT_EQ(outcome.ops, "a b");
  EXPECT_EQ(outcome.report,
            "bisect: limit 1: 2 executed, last #5 Grow; 1 refused\n");
}

TEST(BisectTest, CountsAnewInEachContext) {
  const auto bisect = std::make_shared<BisectInstrument>(1);
  const PassContext context({.instruments = {bisect}});
  for (int i = 0; i < 2; ++i) {
    const absl::StatusOr<IRModule> result =
        context.Run([&] { return toy::AToB()(toy::Module()); });
    EXPECT_EQ(toy::Ops(*result), "b");
    EXPECT_EQ(bisect->executions(), 1);
    EXPECT_EQ(bisect->refusals(), 0);
  }
}

}  // namespace
}  // namespace baton
