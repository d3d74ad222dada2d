#include "baton/testing/pattern_matchers.h"

#include "baton/relay/ir/expr.h"
#include "baton/relay/op/builders.h"
#include "baton/relay/pattern/dataflow_pattern.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton::testing {
namespace {

using relay::IsOp;
using relay::Wildcard;
using ::testing::Not;
using ::testing::StringMatchResultListener;

TEST(PatternMatchersTest, MatchesPattern) {
  const relay::Var x("x", {4});
  const Expr relu = relay::nn::Relu(relay::Exp(x));
  EXPECT_THAT(relu, MatchesPattern(IsOp("nn.relu")(Wildcard())));
  EXPECT_THAT(x, Not(MatchesPattern(IsOp("nn.relu")(Wildcard()))));
  EXPECT_THAT(Expr(), Not(MatchesPattern(Wildcard())));

  const auto matcher = ::testing::Matcher<Expr>(
      MatchesPattern(IsOp("nn.relu")(IsOp("tanh")(Wildcard("a")))));
  EXPECT_EQ(::testing::DescribeMatcher<Expr>(matcher),
            "matches nn.relu(tanh(%a))");
  StringMatchResultListener listener;
  EXPECT_FALSE(matcher.MatchAndExplain(relu, &listener));
  EXPECT_EQ(listener.str(),
            "matched 1 of 5 parts, then argument 0 of nn.relu must be a call "
            "of tanh, found a call of exp");
}

TEST(PatternMatchersTest, ContainsPattern) {
  const relay::Var x("x", {4});
  const Expr e = relay::Exp(x);
  const relay::Function f({x}, relay::Add(relay::Exp(e), e));
  EXPECT_THAT(f, ContainsPattern(IsOp("exp")(Wildcard()), 2));
  EXPECT_THAT(f, ContainsPattern(IsOp("exp")(IsOp("exp").CallOfAny()), 1));
  EXPECT_THAT(f, ContainsPattern(IsOp("tanh")(Wildcard()), 0));
  EXPECT_THAT(f, ContainsPattern(IsOp("exp")(Wildcard()).HasUses(2), 1));
  const auto matcher = ::testing::Matcher<relay::Function>(
      ContainsPattern(IsOp("exp")(Wildcard("a")), 1));
  EXPECT_EQ(::testing::DescribeMatcher<relay::Function>(matcher),
            "contains 1 match of exp(%a)");
  StringMatchResultListener listener;
  EXPECT_FALSE(matcher.MatchAndExplain(f, &listener));
  EXPECT_EQ(listener.str(), "it contains 2");
}

}  // namespace
}  // namespace baton::testing
