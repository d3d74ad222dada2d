#include "baton/instrument/op_differ.h"

#include <memory>

#include "absl/status/status.h"
#include "baton/ir/module.h"
#include "baton/ir/op.h"
#include "baton/relay/ir/expr.h"
#include "baton/testing/toy_passes.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/sequential.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton {
namespace {

using relay::Call;

using ::testing::StartsWith;

TEST(CountOpsTest, CountsEachCallOnceOverTheWholeModule) {
  const relay::Var x("x", {2});
  const Call shared(Op::Find("toy.a"), {x});
  IRModule module;
  // toy.a is used twice in main, and once more in f.
  module.Set(
      "main",
      relay::Function({x}, relay::Tuple({Call(Op::Find("toy.b"), {shared}),
                                         Call(Op::Find("toy.b"), {shared})})));
  module.Set("f", relay::Function({x}, shared));
  // Calls of functions are not counted.
  module.Set("g", relay::Function({x}, Call(module.FindGlobalVar("f"), {x})));
  EXPECT_EQ(CountOps(module), (OpCounts{{"toy.a", 1}, {"toy.b", 2}}));
  EXPECT_EQ(CountOps(IRModule()), OpCounts{});
}

TEST(OpDifferTest, RecordsPassesThatChangeACount) {
  const auto differ = std::make_shared<OpDiffer>();
  const Pass pass = Sequential({toy::Nothing(), toy::AToB(), toy::Liar(),
                                Sequential({toy::Grow(), toy::Grow()})});
  ASSERT_TRUE(PassContext({.instruments = {differ}})
                  .Run([&] { return pass(toy::Module(2)); })
                  .ok());
  EXPECT_EQ(differ->ToString(),
            "1 AToB toy.a -2, toy.b +2\n"
            "2 Grow toy.a +2\n"
            "2 Grow toy.a +2\n"
            "1 sequential toy.a +4\n"
            "0 sequential toy.a +2, toy.b +2\n");
  EXPECT_THAT(
      differ->ToJson(),
      StartsWith(
          R"([{"pass":"AToB","number":4,"depth":1,"changes":{"toy.a":-2,)"
          R"("toy.b":2}},{"pass":"Grow","number":9,"depth":2,)"));
  ASSERT_EQ(differ->diffs().size(), 5);
  EXPECT_EQ(differ->diffs()[0].depth, 1);
  EXPECT_EQ(differ->diffs()[0].pass, "AToB");
  EXPECT_EQ(differ->diffs()[0].changes,
            (OpCounts{{"toy.a", -2}, {"toy.b", 2}}));
}

TEST(OpDifferTest, NothingIsAnEmptyList) {
  EXPECT_EQ(OpDiffer().ToJson(), "[]");
}

TEST(OpDifferTest, FailureKeepsTheStackRight) {
  const auto differ = std::make_shared<OpDiffer>();
  const PassContext context({.instruments = {differ}});
  ASSERT_TRUE(
      context
          .Run([&]() -> absl::Status {
            EXPECT_FALSE(
                Sequential({toy::AToB(), toy::Fails()})(toy::Module()).ok());
            return toy::Grow()(toy::Module()).status();
          })
          .ok());
  EXPECT_EQ(differ->ToString(),
            "1 AToB toy.a -1, toy.b +1\n"
            "0 Grow toy.a +1\n");
  // Entered again, it starts afresh.
  ASSERT_TRUE(context.Run([&] { return toy::Grow()(toy::Module()); }).ok());
  EXPECT_EQ(differ->ToString(), "0 Grow toy.a +1\n");
}

}  // namespace
}  // namespace baton
