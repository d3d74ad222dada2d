// The C++ of docs/rewrite.md.

#include "absl/status/status.h"
#include "baton/ir/structural_equal.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/op/builders.h"
#include "baton/relay/pattern/dataflow_pattern.h"
#include "baton/relay/pattern/matcher.h"
#include "baton/relay/pattern/rewrite_rule.h"
#include "baton/relay/pattern/rewriter.h"
#include "baton/testing/status_matchers.h"
#include "gtest/gtest.h"

namespace baton::relay {
namespace {

// [pattern]
const DataflowPattern& ConvBiasRelu() {
  static const DataflowPattern& pattern = *new DataflowPattern(
      IsOp("nn.relu")(IsOp("nn.conv2d")(Wildcard("data"), IsConstant())
                          .Optional([](const DataflowPattern& conv) {
                            return IsOp("nn.bias_add")(conv, Wildcard("bias"));
                          })));
  return pattern;
}

TEST(PatternTest, SaysWhyItDoesNotMatch) {
  const Var x("x"), w("w");
  EXPECT_EQ(Matcher(ConvBiasRelu()).Explain(nn::Relu(nn::Conv2D(x, w))),
            "matched 4 of 10 parts, then argument 1 of nn.conv2d must be a "
            "constant, found the variable %w");
}
// [/pattern]

// [rule]
RewriteRule DivideBySqrt() {
  const DataflowPattern x = Wildcard("x"), y = Wildcard("y");
  return {.name = "divide_by_sqrt",
          .doc = "x / sqrt(y) is x * rsqrt(y).",
          .pattern = IsOp("divide")(x, IsOp("sqrt")(y)),
          .replace = [=](const PatternMatch& m) -> Expr {
            return Multiply(m[x], Rsqrt(m[y]));
          },
          .promise = {.exact = false, .rtol = 1e-6}};
}
// [/rule]

// [apply]
TEST(DivideBySqrtTest, IsApplied) {
  const Var x("x"), y("y");
  static const RuleSet& kRules = *new RuleSet({DivideBySqrt()});
  BATON_ASSERT_OK_AND_ASSIGN(const Expr result,
                             kRules.Rewrite(Divide(Exp(x), Sqrt(y))));
  EXPECT_TRUE(StructuralEqual(result, Multiply(Exp(x), Rsqrt(y))));
}
// [/apply]

// [endless]
TEST(RulesTest, ThatUndoEachOtherAreAnError) {
  const DataflowPattern x = Wildcard("x");
  const RewriteRule there = {.name = "there",
                             .pattern = x + x,
                             .replace = [=](const PatternMatch& m) -> Expr {
                               return Multiply(Const(2.0f), m[x]);
                             }};
  const RewriteRule back = {.name = "back",
                            .pattern = x * IsScalar(2),
                            .replace = [=](const PatternMatch& m) -> Expr {
                              return Add(m[x], m[x]);
                            }};
  const Var v("v");
  EXPECT_THAT(ApplyRules({there, back}, Add(v, v)),
              testing::StatusIs(absl::StatusCode::kFailedPrecondition,
                                "rules there and back undo each other"));
}
// [/endless]

}  // namespace
}  // namespace baton::relay
