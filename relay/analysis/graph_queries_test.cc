#include "baton/relay/analysis/graph_queries.h"

#include <vector>

#include "baton/ir/node.h"
#include "baton/ir/op.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/op/tensor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton::relay {
namespace {

using ::testing::UnorderedElementsAre;

TEST(GraphQueriesTest, AsksAboutEachInnerNodeOnce) {
  const Var x("x");
  const Expr shared = Exp(x);
  const Expr sum = Add(shared, shared);
  const Expr tuple = Tuple({sum, x, shared});
  const Expr item = TupleGetItem(tuple, 0);
  const Function function({x}, item);
  std::vector<const ExprNode*> asked;
  EXPECT_FALSE(AnyInnerNode(function, [&](const ExprNode* node) {
    asked.push_back(node);
    return false;
  }));
  EXPECT_THAT(asked,
              UnorderedElementsAre(function.get(), item.get(), tuple.get(),
                                   sum.get(), shared.get()));
}

TEST(GraphQueriesTest, EndsWithTheFirstThatIsMeant) {
  const Expr chain = Exp(Exp(Exp(Var("x"))));
  int asked = 0;
  EXPECT_TRUE(AnyInnerNode(
      chain, [&](const ExprNode* /*node*/) { return ++asked == 2; }));
  EXPECT_EQ(asked, 2);
}

TEST(GraphQueriesTest, LeavesAndNothing) {
  const auto always = [](const ExprNode* /*node*/) { return true; };
  EXPECT_FALSE(AnyInnerNode(Expr(), always));
  EXPECT_FALSE(AnyInnerNode(Var("x"), always));
}

TEST(GraphQueriesTest, Kinds) {
  const Var x("x", {2});
  const Expr shared = Exp(x);
  const Expr call = Add(shared, Tuple({shared, x}));
  EXPECT_FALSE(ContainsKind(x, ExprKind::kLet));
  EXPECT_FALSE(ContainsKind(Expr(), ExprKind::kLet));
  EXPECT_FALSE(ContainsKind(Function({x}, call), ExprKind::kLet));
  EXPECT_TRUE(ContainsKind(call, ExprKind::kTuple));
  // The callee of a call is a child as well.
  EXPECT_TRUE(ContainsKind(Call(Function({x}, call), {x}), ExprKind::kTuple));
  EXPECT_TRUE(
      ContainsKind(Function({}, If(x, call, Let(x, call, x))), ExprKind::kLet));
}

TEST(GraphQueriesTest, Operators) {
  const Var x("x");
  const Expr sum = Add(Exp(x), x);
  const Op exp = *Op::Get("exp");
  const Op tanh = *Op::Get("tanh");
  EXPECT_TRUE(CallsOp(sum, exp));
  EXPECT_FALSE(CallsOp(sum, tanh));
  // An operator that is an argument is not called.
  EXPECT_FALSE(CallsOp(Tuple({exp}), exp));

  OpProperty<int> map;
  map.Set(*tanh, 1);
  EXPECT_FALSE(CallsOpOf(sum, map));
  map.Set(*exp, 2);
  EXPECT_TRUE(CallsOpOf(sum, map));
}

}  // namespace
}  // namespace baton::relay
