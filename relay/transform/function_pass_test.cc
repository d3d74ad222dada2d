#include "baton/relay/transform/function_pass.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "baton/base/attr_value.h"
#include "baton/ir/attrs.h"
#include "baton/ir/module.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/op/tensor.h"
#include "baton/testing/status_matchers.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton::relay {
namespace {

// A function of one tensor that gives it back.
Function Identity() {
  const Var x("x", {2});
  return Function({x}, x);
}

// Puts tanh around the result of each function.
Pass AddTanh() {
  return CreateFunctionPass(
      [](const Function& function, const IRModule& /*module*/,
         const PassContext& /*context*/) -> absl::StatusOr<Function> {
        return Function({function->params().begin(), function->params().end()},
                        Tanh(function->body()), {}, {}, function->attrs());
      },
      {.name = "AddTanh"});
}

TEST(RelayFunctionPassTest, LeavesSomeFunctionsAlone) {
  const struct {
    const char* attr;
    AttrValue value;
    const char* reason;
  } cases[] = {
      {attr::kCompiler, "dnnl", "Compiler"},
      {attr::kExtern, 1, "Extern"},
      {attr::kExtern, 0, ""},
      {attr::kSkipOptimization, 1, "SkipOptimization"},
      {attr::kSkipOptimization, 0, ""},
      {attr::kPrimitive, 1, ""},
  };
  IRModule module;
  module.Set("main", Identity());
  for (const auto& c : cases) {
    const Function function = Identity().WithAttr(c.attr, c.value);
    EXPECT_EQ(RelayFunctions().SkipReason(function), c.reason);
    module.Set(absl::StrCat("f", module.size()), function);
  }
  EXPECT_EQ(RelayFunctions().SkipReason(Identity()), "");
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule result, AddTanh()(module));
  for (int i = 0; i < module.size(); ++i) {
    const Function function = result.functions<Function>()[i].function;
    const bool skipped = i > 0 && *cases[i - 1].reason != '\0';
    EXPECT_EQ(function->body().As<CallNode>() == nullptr, skipped) << i;
    EXPECT_TRUE(function->type().defined()) << i;
  }
}

TEST(RelayFunctionPassTest, InferTypeRunsInside) {
  const Pass pass = CreateFunctionPass(
      [](const Function& function, const IRModule& /*module*/,
         const PassContext& /*context*/) -> absl::StatusOr<Function> {
        const Var y("y", {3});
        return Function({y}, Add(function->params()[0], y));
      },
      {.name = "Broken"});
  IRModule module;
  module.Set("main", Identity());
  EXPECT_THAT(pass(module),
              testing::StatusIs(absl::StatusCode::kInvalidArgument,
                                "in pass #1 Broken > #2 InferType:\n"));
}

}  // namespace
}  // namespace baton::relay
