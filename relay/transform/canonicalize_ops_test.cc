#include "baton/relay/transform/canonicalize_ops.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "baton/ir/module.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/ir/text_printer.h"
#include "baton/relay/op/nn.h"
#include "baton/testing/round_trip.h"
#include "baton/testing/status_matchers.h"
#include "baton/transform/pass.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton::relay {
namespace {

using ::baton::testing::IsOk;

absl::StatusOr<IRModule> Typed(std::vector<Var> params, const Expr& body) {
  IRModule module;
  module.Set("main", Function(std::move(params), body));
  return InferTypes(module);
}

std::string Canonicalized(std::vector<Var> params, const Expr& body) {
  const absl::StatusOr<IRModule> module = Typed(std::move(params), body);
  if (!module.ok()) return module.status().ToString();
  const absl::StatusOr<IRModule> result = CanonicalizeOps()(*module);
  if (!result.ok()) return result.status().ToString();
  EXPECT_THAT(testing::CheckRoundTrip(*result, /*typed=*/true),
              testing::IsOk());
  const std::string text =
      AsText(*result, {.version = false, .metadata = false, .types = false});
  return "\n" + text.substr(text.find('\n') + 1);
}

TEST(CanonicalizeOpsTest, BiasGetsTheAxesAfterItsOwn) {
  const Var x("x", {1, 8, 4, 4});
  const Var bias("bias", {8});
  EXPECT_EQ(Canonicalized({x, bias}, nn::BiasAdd(x, bias)), R"(
  %0 = expand_dims(%bias, axis=1, num_newaxis=2);
  add(%x, %0)
}
)");
}

TEST(CanonicalizeOpsTest, OnTheLastAxisNoneIsMissing) {
  const Var x("x", {1, 8});
  const Var bias("bias", {8});
  EXPECT_EQ(Canonicalized({x, bias}, nn::BiasAdd(x, bias, -1)), R"(
  add(%x, %bias)
}
)");
}

TEST(CanonicalizeOpsTest, BiasesAreExpandedWhereTheyAreUsed) {
  const Var x("x", {1, 8, 4});
  const Var bias("bias", {8});
  EXPECT_EQ(Canonicalized({x, bias},
                          nn::BiasAdd(nn::Relu(nn::BiasAdd(x, bias)), bias)),
            R"(
  %0 = expand_dims(%bias, axis=1);
  %1 = add(%x, %0);
  %2 = nn.relu(%1);
  %3 = expand_dims(%bias, axis=1);
  add(%2, %3)
}
)");
}

TEST(CanonicalizeOpsTest, NothingToDoGivesTheSameModule) {
  const Var x("x", {1, 8});
  const absl::StatusOr<IRModule> module = Typed({x}, nn::Relu(x));
  ASSERT_THAT(module, IsOk());
  const absl::StatusOr<IRModule> result = CanonicalizeOps()(*module);
  ASSERT_THAT(result, IsOk());
  EXPECT_TRUE(result->SameAs(*module));
}

}  // namespace
}  // namespace baton::relay
