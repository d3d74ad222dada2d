#include "baton/relay/analysis/post_order_index.h"

#include <string>
#include <vector>

#include "baton/relay/ir/expr.h"
#include "baton/relay/op/tensor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton::relay {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(PostOrderIndexTest, ChildrenBeforeParentsEachOnce) {
  const Var x("x");
  const Expr shared = Exp(x);
  const Expr sum = Add(shared, shared);
  const Expr root = Tuple({sum, Negative(sum), x});
  const PostOrderIndex graph(root);
  ASSERT_EQ(graph.size(), 5);
  EXPECT_EQ(graph.node(0), x.get());
  EXPECT_EQ(graph.node(1), shared.get());
  EXPECT_EQ(graph.node(2), sum.get());
  EXPECT_EQ(graph.node(4), root.get());
  EXPECT_NE(graph.As<CallNode>(3), nullptr);
  EXPECT_EQ(graph.As<TupleNode>(3), nullptr);

  EXPECT_THAT(graph.children(0), IsEmpty());
  EXPECT_THAT(graph.children(2), ElementsAre(PostOrderIndex::kNoIndex, 1, 1));
  EXPECT_THAT(graph.args(2), ElementsAre(1, 1));
  EXPECT_THAT(graph.children(4), ElementsAre(2, 3, 0));

  EXPECT_EQ(graph.num_uses(0), 2);
  EXPECT_EQ(graph.num_uses(1), 2);
  EXPECT_EQ(graph.num_uses(2), 2);
  EXPECT_EQ(graph.num_uses(3), 1);
  EXPECT_EQ(graph.num_uses(4), 0);
}

TEST(PostOrderIndexTest, EveryKindOfChild) {
  const Var x("x"), v("v");
  const Function callee({x}, x);
  const Expr call = Call(callee, {v});
  const Function root({v}, Let(v, call, If(v, v, TupleGetItem(v, 0))));
  const PostOrderIndex graph(root);
  // v, x, callee, call, v.0, if, let, root.
  ASSERT_EQ(graph.size(), 8);
  EXPECT_THAT(graph.children(2), ElementsAre(1, 1));
  EXPECT_THAT(graph.children(3), ElementsAre(2, 0));
  EXPECT_THAT(graph.args(3), ElementsAre(0));
  EXPECT_THAT(graph.children(5), ElementsAre(0, 0, 4));
  EXPECT_THAT(graph.children(6), ElementsAre(0, 3, 5));
  EXPECT_THAT(graph.children(7), ElementsAre(0, 6));
}

TEST(PostOrderIndexTest, AVariableAlone) {
  const Var x("x");
  const PostOrderIndex graph(x);
  ASSERT_EQ(graph.size(), 1);
  EXPECT_EQ(graph.node(0), x.get());
}

TEST(PostOrderIndexTest, LongChains) {
  constexpr int kLength = 300'000;
  Expr expr = Var("x");
  for (int i = 0; i < kLength; ++i) expr = Add(expr, expr);
  const PostOrderIndex graph(expr);
  ASSERT_EQ(graph.size(), kLength + 1);
  EXPECT_THAT(graph.args(kLength), ElementsAre(kLength - 1, kLength - 1));
}

TEST(IndexedRewriterTest, RebuildsWhatHasNewChildren) {
  const Var x("x"), y("y");
  const Expr left = Exp(x);
  const Expr right = Exp(y);
  const Expr root = Add(left, right);
  const PostOrderIndex graph(root);  // x, left, y, right, root
  IndexedRewriter rewriter(graph);
  const Var z("z");
  rewriter.Set(0, z);
  for (int i = 0; i < graph.size(); ++i) rewriter.RebuildFromChildren(i);
  EXPECT_EQ(rewriter.Get(0), z);
  EXPECT_TRUE(rewriter.changed(1));
  EXPECT_FALSE(rewriter.changed(2));
  EXPECT_EQ(rewriter.Get(3), right);
  const Expr result = rewriter.Get(4);
  ASSERT_TRUE(result.Is<CallNode>());
  EXPECT_EQ(result.As<CallNode>()->arg(0).As<CallNode>()->arg(0), z);
  EXPECT_EQ(result.As<CallNode>()->arg(1), right);
  EXPECT_EQ(result.As<CallNode>()->op(), root.As<CallNode>()->op());
}

TEST(IndexedRewriterTest, TheSameNodeIsNoChange) {
  const Var x("x");
  const Expr root = Exp(x);
  const PostOrderIndex graph(root);
  IndexedRewriter rewriter(graph);
  rewriter.Set(0, x);
  rewriter.RebuildFromChildren(1);
  EXPECT_FALSE(rewriter.changed(0));
  EXPECT_EQ(rewriter.Get(1), root);
}

TEST(ContainsKindTest, Lets) {
  const Var x("x", {2});
  const Expr shared = Exp(x);
  const Expr call = Add(shared, Tuple({shared, x}));
  EXPECT_FALSE(ContainsKind(x, NodeKind::kLet));
  EXPECT_FALSE(ContainsKind(Expr(), NodeKind::kLet));
  EXPECT_FALSE(ContainsKind(Function({x}, call), NodeKind::kLet));
  EXPECT_TRUE(ContainsKind(call, NodeKind::kTuple));
  EXPECT_TRUE(
      ContainsKind(Function({}, If(x, call, Let(x, call, x))), NodeKind::kLet));
}

}  // namespace
}  // namespace baton::relay
