#include "baton/relay/analysis/indexed_graph.h"

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "baton/base/dtype.h"
#include "baton/ir/node.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/visit.h"
#include "baton/relay/op/tensor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton::relay {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(IndexedGraphTest, ChildrenBeforeUsersEachOnce) {
  const Var x("x");
  const Expr shared = Exp(x);
  const Expr sum = Add(shared, shared);
  const Expr root = Tuple({sum, Negative(sum), x});
  const IndexedGraph graph(root);
  // exp, x, exp(x), add, add(...), negative, negative(...), root: the operator
  // of a call comes before its arguments, but `add` is met before its own.
  ASSERT_EQ(graph.size(), 8);
  EXPECT_EQ(graph.root(), 7);
  const auto find = [&](const ExprNode* node) {
    int i = 0;
    while (graph.node(i) != node) ++i;
    return i;
  };
  const int x_at = find(x.get());
  const int shared_at = find(shared.get());
  const int sum_at = find(sum.get());
  const int negative_at = sum_at + 2;
  EXPECT_EQ(graph.node(7), root.get());
  EXPECT_NE(graph.As<CallNode>(negative_at), nullptr);
  EXPECT_EQ(graph.As<TupleNode>(negative_at), nullptr);
  EXPECT_EQ(graph.kind(graph.callee(sum_at)), ExprKind::kOp);
  EXPECT_EQ(graph.node(graph.callee(sum_at)), sum.As<CallNode>()->op().get());

  EXPECT_THAT(graph.children(x_at), IsEmpty());
  EXPECT_THAT(graph.children(sum_at),
              ElementsAre(graph.callee(sum_at), shared_at, shared_at));
  EXPECT_THAT(graph.args(sum_at), ElementsAre(shared_at, shared_at));
  EXPECT_THAT(graph.children(7), ElementsAre(sum_at, negative_at, x_at));
  for (int i = 0; i < graph.size(); ++i) {
    for (const int child : graph.children(i)) EXPECT_LT(child, i);
  }

  EXPECT_EQ(graph.num_uses(x_at), 2);
  EXPECT_EQ(graph.num_uses(shared_at), 2);
  EXPECT_EQ(graph.num_uses(sum_at), 2);
  EXPECT_EQ(graph.num_uses(negative_at), 1);
  EXPECT_EQ(graph.num_uses(graph.root()), 0);
}

TEST(IndexedGraphTest, AnOperatorIsOneNodeHoweverManyCallIt) {
  const Var x("x");
  const IndexedGraph graph(Exp(Exp(Exp(x))));
  ASSERT_EQ(graph.size(), 5);
  EXPECT_EQ(graph.num_uses(graph.callee(graph.root())), 3);
}

TEST(IndexedGraphTest, EveryKindOfChild) {
  const Var x("x"), v("v");
  const Function callee({x}, x);
  const Expr call = Call(callee, {v});
  const Function root({v}, Let(v, call, If(v, v, TupleGetItem(v, 0))));
  const IndexedGraph graph(root);
  // v, x, callee, call, v.0, if, let, root.
  ASSERT_EQ(graph.size(), 8);
  EXPECT_THAT(graph.children(2), ElementsAre(1, 1));
  EXPECT_THAT(graph.children(3), ElementsAre(2, 0));
  EXPECT_THAT(graph.args(3), ElementsAre(0));
  EXPECT_THAT(graph.children(5), ElementsAre(0, 0, 4));
  EXPECT_THAT(graph.children(6), ElementsAre(0, 3, 5));
  EXPECT_THAT(graph.children(7), ElementsAre(0, 6));
}

TEST(IndexedGraphTest, AVariableAlone) {
  const Var x("x");
  const IndexedGraph graph(x);
  ASSERT_EQ(graph.size(), 1);
  EXPECT_EQ(graph.node(0), x.get());
}

TEST(IndexedGraphTest, NullHasNoNodes) {
  EXPECT_EQ(IndexedGraph(Expr()).size(), 0);
}

TEST(IndexedGraphTest, DoesNotEnterWhatItIsToldNotTo) {
  const Var x("x"), y("y");
  const Function inner({y}, Exp(y));
  const Expr root = Call(inner, {x});
  const IndexedGraph graph(root, [&](const ExprNode* node) {
    return node->kind() != ExprKind::kFunction;
  });
  ASSERT_EQ(graph.size(), 3);  // inner, x, root
  EXPECT_EQ(graph.node(0), inner.get());
  EXPECT_THAT(graph.children(0), IsEmpty());
  EXPECT_THAT(graph.children(2), ElementsAre(0, 1));
}

TEST(IndexedGraphTest, LongChains) {
  constexpr int kLength = 300'000;
  Expr expr = Var("x");
  for (int i = 0; i < kLength; ++i) expr = Add(expr, expr);
  const IndexedGraph graph(expr);
  ASSERT_EQ(graph.size(), kLength + 2);
  EXPECT_THAT(graph.args(graph.root()),
              ElementsAre(graph.root() - 1, graph.root() - 1));
}

TEST(GraphRewriterTest, RebuildsWhatHasNewChildren) {
  const Var x("x"), y("y");
  const Expr left = Exp(x);
  const Expr right = Exp(y);
  const Expr root = Add(left, right);
  const IndexedGraph graph(root);
  GraphRewriter rewriter(graph);
  const Var z("z");
  for (int i = 0; i < graph.size(); ++i) {
    if (graph.node(i) == x.get()) {
      rewriter.Replace(i, z);
      EXPECT_EQ(rewriter.Get(i), z);
    } else {
      rewriter.Rebuild(i);
    }
    EXPECT_EQ(rewriter.changed(i), graph.node(i) == x.get() ||
                                       graph.node(i) == left.get() ||
                                       graph.node(i) == root.get());
  }
  const Expr result = rewriter.Result();
  ASSERT_TRUE(result.Is<CallNode>());
  EXPECT_EQ(result.As<CallNode>()->arg(0).As<CallNode>()->arg(0), z);
  EXPECT_EQ(result.As<CallNode>()->arg(1), right);
  EXPECT_EQ(result.As<CallNode>()->op(), root.As<CallNode>()->op());
}

TEST(GraphRewriterTest, TheSameNodeIsNoChange) {
  const Var x("x");
  const Expr root = Exp(x);
  const IndexedGraph graph(root);
  GraphRewriter rewriter(graph);
  for (int i = 0; i < graph.size(); ++i) {
    if (graph.node(i) == x.get()) {
      rewriter.Replace(i, x);
    } else {
      rewriter.Rebuild(i);
    }
    EXPECT_FALSE(rewriter.changed(i));
  }
  EXPECT_EQ(rewriter.Result(), root);
}

TEST(GraphRewriterTest, ARuleIsAskedAboutItsKindOfNodeChildrenFirst) {
  const Var x("x");
  const Expr shared = Exp(x);
  const Expr root = Tuple({Negative(shared), shared});
  const IndexedGraph graph(root);
  GraphRewriter rewriter(graph);
  const Expr exp = shared.As<CallNode>()->op();
  const Expr result =
      rewriter.Rewrite<CallNode>([&](int i, const CallNode& call) -> Expr {
        if (call.op() != exp) return {};
        return Sigmoid(rewriter.Args(i)[0]);
      });
  const auto* tuple = result.As<TupleNode>();
  ASSERT_NE(tuple, nullptr);
  // The call that no rule replaces is rebuilt, and sharing is kept.
  const auto* negative = tuple->fields()[0].As<CallNode>();
  ASSERT_NE(negative, nullptr);
  EXPECT_EQ(negative->arg(0), tuple->fields()[1]);
  EXPECT_EQ(tuple->fields()[1].As<CallNode>()->op(), Op::Find("sigmoid"));
}

TEST(GraphRewriterTest, ARuleThatLeavesAllAloneChangesNothing) {
  const Expr root = Exp(Exp(Var("x")));
  const IndexedGraph graph(root);
  GraphRewriter rewriter(graph);
  EXPECT_EQ(rewriter.Rewrite<CallNode>(
                [](int, const CallNode&) -> Expr { return {}; }),
            root);
}

TEST(GraphRewriterTest, ARuleCanFail) {
  const Expr root = Exp(Exp(Var("x")));
  const IndexedGraph graph(root);
  GraphRewriter rewriter(graph);
  int asked = 0;
  const absl::StatusOr<Expr> result = rewriter.Rewrite<CallNode>(
      [&](int, const CallNode&) -> absl::StatusOr<Expr> {
        ++asked;
        return absl::InvalidArgumentError("no exp here");
      });
  EXPECT_EQ(result.status(), absl::InvalidArgumentError("no exp here"));
  EXPECT_EQ(asked, 1);
}

TEST(GraphRewriterTest, ANodeKeepsItsTypeIfItsChildrenKeepTheirs) {
  const Type t = TensorType({2}, DType::Float(32));
  const Type u = TensorType({3}, DType::Float(32));
  const Expr x = WithType(Var("x", t), t);
  const Expr root = WithType(Exp(x), t);
  const IndexedGraph graph(root);
  const auto replace_by = [&](const Expr& var) {
    GraphRewriter rewriter(graph);
    return rewriter.Rewrite<VarNode>(
        [&](int, const VarNode&) -> Expr { return var; });
  };
  EXPECT_EQ(replace_by(WithType(Var("y", t), t))->type(), t);
  EXPECT_FALSE(replace_by(WithType(Var("y", u), u))->type().defined());
  EXPECT_FALSE(replace_by(Var("y"))->type().defined());
}

}  // namespace
}  // namespace baton::relay
