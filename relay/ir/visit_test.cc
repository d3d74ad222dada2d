#include "baton/relay/ir/visit.h"

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "baton/base/tensor.h"
#include "baton/ir/op.h"
#include "baton/relay/ir/expr.h"
#include "baton/testing/test_settings.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton::relay {
namespace {

using ::testing::ElementsAre;

BATON_REGISTER_OP("test.f");
BATON_REGISTER_OP("test.g");

Expr F(std::vector<Expr> args) { return Call(Op::Find("test.f"), args); }

std::string NameOf(const ExprNode* node) {
  if (const auto* var = Expr(node).As<VarNode>()) return "%" + var->name();
  if (const auto* op = Expr(node).As<OpNode>()) return op->name();
  return std::string(NodeKindName(node->kind()));
}

TEST(PostOrderVisitTest, ChildrenFirstEachOnce) {
  const Var x("x", {2});
  const Var y("y", {2});
  const Expr shared = F({x});
  std::vector<std::string> order;
  PostOrderVisit(Tuple({shared, y, F({shared})}),
                 [&](const ExprNode* node) { order.push_back(NameOf(node)); });
  EXPECT_THAT(order,
              ElementsAre("test.f", "%x", "Call", "%y", "Call", "Tuple"));
}

TEST(PostOrderVisitTest, AnOperatorThatIsNotRegistered) {
  const Op op = Op::FindOrStandIn("test.not_registered");
  ASSERT_EQ(op->index(), -1);
  const Var x("x", {2});
  std::vector<std::string> order;
  PostOrderVisit(Call(op, {Call(op, {x})}),
                 [&](const ExprNode* node) { order.push_back(NameOf(node)); });
  EXPECT_THAT(order, ElementsAre("test.not_registered", "%x", "Call", "Call"));
}

TEST(PostOrderVisitTest, EnterKeepsOut) {
  const Var x("x", {2});
  const Expr inner = Function({x}, F({x}));
  int calls = 0;
  PostOrderVisit(
      Tuple({inner, F({})}),
      [](const ExprNode* node) { return node->kind() != ExprKind::kFunction; },
      [&](const ExprNode* node) {
        calls += node->kind() == ExprKind::kCall ? 1 : 0;
      });
  EXPECT_EQ(calls, 1);
}

TEST(VarsTest, FreeAndBound) {
  const Var x("x", {2});
  const Var y("y", {2});
  const Var v("v");
  const Var z("z", {2});
  const Expr e = Let(v, F({z, x}), Tuple({v, Function({y}, F({y, x}))}));
  EXPECT_THAT(FreeVars(e), ElementsAre(z, x));
  EXPECT_THAT(BoundVars(e), ElementsAre(v, y));
}

class CountCalls : public ExprVisitor {
 public:
  int calls = 0;

 protected:
  void VisitCall(const CallNode* /*node*/) override { ++calls; }
};

TEST(ExprVisitorTest, RemembersOverVisits) {
  const Expr shared = F({});
  CountCalls visitor;
  EXPECT_TRUE(visitor.Visit(Tuple({shared, shared})).ok());
  EXPECT_TRUE(visitor.Visit(shared).ok());
  EXPECT_EQ(visitor.calls, 1);
}

TEST(ExprVisitorTest, VisitsARootOnceThoughNothingElseHoldsIt) {
  const Var x("x", {2});
  const Expr root = F({F({x})});
  ASSERT_TRUE(root->unique());
  CountCalls visitor;
  EXPECT_TRUE(visitor.Visit(root).ok());
  EXPECT_TRUE(visitor.Visit(root).ok());
  EXPECT_EQ(visitor.calls, 2);
  EXPECT_TRUE(visitor.Visit(root.As<CallNode>()->arg(0)).ok());
  EXPECT_EQ(visitor.calls, 2);
}

TEST(ExprVisitorTest, AHookEndsTheVisitWithAnError) {
  class FailAtFirstCall : public CountCalls {
   protected:
    void VisitCall(const CallNode* node) override {
      CountCalls::VisitCall(node);
      Fail(absl::InvalidArgumentError("a call"));
    }
  };
  FailAtFirstCall visitor;
  EXPECT_EQ(visitor.Visit(Tuple({F({}), F({})})),
            absl::InvalidArgumentError("a call"));
  EXPECT_EQ(visitor.calls, 1);
  // The next visit starts afresh.
  EXPECT_TRUE(visitor.Visit(Var("x")).ok());
}

// Replaces test.f by test.g.
class FToG : public ExprMutator {
 protected:
  Expr VisitOp(const Op& op) override {
    return op == Op::Find("test.f") ? Op::Find("test.g") : op;
  }
};

class Nothing : public ExprMutator {};

TEST(ExprMutatorTest, NothingToDoIsTheSameNode) {
  const Var x("x", {2});
  const Var v("v");
  const Expr e = Function(
      {x}, Let(v, F({x}), If(v, F({v}), TupleGetItem(Tuple({v, x}), 1))));
  EXPECT_EQ(*Nothing().Mutate(e), e);
}

TEST(ExprMutatorTest, KeepsSharing) {
  const Var x("x", {2});
  const Expr shared = F({x});
  const Expr result = *FToG().Mutate(Tuple({shared, shared}));
  const auto fields = result.As<TupleNode>()->fields();
  EXPECT_EQ(fields[0], fields[1]);
  EXPECT_EQ(fields[0].As<CallNode>()->op(), Op::Find("test.g"));
}

TEST(ExprMutatorTest, ARootIsRewrittenOnceThoughNothingElseHoldsIt) {
  const Expr root = F({F({})});
  ASSERT_TRUE(root->unique());
  FToG mutator;
  EXPECT_EQ(*mutator.Mutate(root), *mutator.Mutate(root));
}

TEST(ExprMutatorTest, AHookFails) {
  class NoConstants : public FToG {
   public:
    int calls = 0;

   protected:
    Expr VisitConstant(const Constant& /*constant*/) override {
      return Fail(absl::InvalidArgumentError("a constant"));
    }
    Expr VisitCall(const CallNode* /*original*/, Call call) override {
      ++calls;
      return call;
    }
  };
  NoConstants mutator;
  const Expr c = Constant(Tensor::Scalar(1.0f));
  EXPECT_EQ(mutator.Mutate(F({F({}), F({c})})).status(),
            absl::InvalidArgumentError("a constant"));
  EXPECT_EQ(mutator.calls, 1);
  EXPECT_EQ(mutator.MutateFunction(Function({}, c)).status(),
            absl::InvalidArgumentError("a constant"));
  // A tree without constants is rewritten as usual.
  EXPECT_TRUE(mutator.Mutate(F({})).ok());
}

TEST(ExprMutatorTest, BeforeAndAfterLetValueFail) {
  class FailBefore : public ExprMutator {
   protected:
    Expr Before(const ExprNode* node) override {
      return Expr(node).Is<CallNode>() ? Fail(absl::AbortedError("before"))
                                       : Expr();
    }
  };
  class FailAfter : public ExprMutator {
   protected:
    Expr AfterLetValue(const LetNode* /*let*/, const Expr& /*value*/) override {
      return Fail(absl::AbortedError("after"));
    }
  };
  const Expr let = Let(Var("v"), F({}), F({}));
  EXPECT_EQ(FailBefore().Mutate(let).status(), absl::AbortedError("before"));
  EXPECT_EQ(FailAfter().Mutate(let).status(), absl::AbortedError("after"));
}

TEST(ExprMutatorTest, ANullFromAHookIsAnError) {
  class Null : public ExprMutator {
   protected:
    Expr VisitCall(const CallNode* /*original*/, Call /*call*/) override {
      return {};
    }
  };
  EXPECT_EQ(Null().Mutate(Tuple({F({})})).status(),
            absl::InternalError(
                "the hook of an ExprMutator for a Call returned null"));
}

TEST(ExprMutatorTest, AFunctionStaysAFunction) {
  class BodyOnly : public ExprMutator {
   protected:
    Expr VisitFunction(const FunctionNode* /*original*/,
                       Function function) override {
      return function->body();
    }
  };
  const Function function({}, F({}));
  EXPECT_EQ(BodyOnly().MutateFunction(function).status(),
            absl::InternalError("a function was replaced by a Call"));
  EXPECT_EQ(*Nothing().MutateFunction(function), function);
}

TEST(ExprMutatorTest, KeepsTypesWhereChildrenKeepTheirs) {
  const Type t = TensorType({2}, DType::Float(32));
  const Expr x = WithType(Var("x", t), t);
  const Expr inner(Call(Op::Find("test.f"), std::vector<Expr>{x}, {}, {}, t));
  const Expr outer(
      Call(Op::Find("test.f"), std::vector<Expr>{inner}, {}, {}, t));
  // A replacement of the same type: the parent keeps its type.
  const Expr y = WithType(Var("y", t), t);
  const Expr same = Substitute(outer, {{x.As<VarNode>(), y}});
  EXPECT_NE(same, outer);
  EXPECT_EQ(same->type(), t);
  // One without a type: the parents lose theirs.
  const Expr untyped = Substitute(outer, {{x.As<VarNode>(), Var("z", t)}});
  EXPECT_FALSE(untyped->type().defined());
  EXPECT_FALSE(untyped.As<CallNode>()->arg(0)->type().defined());
}

// Inlines lets of constants.
class InlineConstants : public ExprMutator {
 protected:
  Expr AfterLetValue(const LetNode* /*let*/, const Expr& value) override {
    return value.Is<ConstantNode>() ? value : Expr();
  }
  Expr VisitLet(const LetNode* /*original*/, Let let) override {
    return let->value().Is<ConstantNode>() ? let->body() : Expr(let);
  }
};

TEST(ExprMutatorTest, AfterLetValueStandsForTheVariable) {
  const Var v("v");
  const Var w("w");
  const Expr c = Constant(Tensor::Scalar(1.0f));
  const Expr result =
      *InlineConstants().Mutate(Let(v, c, Let(w, v, F({w, v}))));
  const auto* call = result.As<CallNode>();
  ASSERT_NE(call, nullptr);
  EXPECT_EQ(call->arg(0), c);
  EXPECT_EQ(call->arg(1), c);
}

TEST(ExprMutatorTest, BeforeStopsTheDescent) {
  class Stop : public ExprMutator {
   protected:
    Expr Before(const ExprNode* node) override {
      return node->kind() == ExprKind::kFunction ? Expr(node) : Expr();
    }
    Expr VisitConstant(const Constant& /*constant*/) override {
      return Tuple({});
    }
  };
  const Expr function = Function({}, Constant(Tensor::Scalar(1)));
  const Expr result =
      *Stop().Mutate(Tuple({function, Constant(Tensor::Scalar(1))}));
  EXPECT_EQ(result.As<TupleNode>()->fields()[0], function);
  EXPECT_TRUE(result.As<TupleNode>()->fields()[1].Is<TupleNode>());
}

TEST(DeepTest, ManyNodesNeedNoStack) {
  const int depth = testing::IsLongTest() ? 1'000'000 : 100'000;
  const Var x("x", {2});
  Expr e = x;
  Expr lets = x;
  for (int i = 0; i < depth; ++i) {
    e = F({e});
    lets = Let(Var("v"), x, lets);
  }
  int64_t count = 0;
  PostOrderVisit(e, [&](const ExprNode*) { ++count; });
  EXPECT_EQ(count, depth + 2);
  EXPECT_EQ(*Nothing().Mutate(e), e);
  EXPECT_NE(*FToG().Mutate(e), e);
  EXPECT_EQ(*Nothing().Mutate(lets), lets);
  EXPECT_EQ(FreeVars(lets).size(), 1u);
}

TEST(DeepTest, DiamondLadderIsVisitedOnce) {
  Expr e = Var("x", {2});
  for (int i = 0; i < 1000; ++i) e = F({e, e});  // 2^1000 paths
  int64_t count = 0;
  PostOrderVisit(e, [&](const ExprNode*) { ++count; });
  EXPECT_EQ(count, 1002);
  EXPECT_NE(*FToG().Mutate(e), e);
}

}  // namespace
}  // namespace baton::relay
