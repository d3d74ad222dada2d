#include "baton/ir/node.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "baton/base/tensor.h"
#include "baton/ir/attrs.h"
#include "baton/ir/module.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/module.h"
#include "baton/testing/test_settings.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton::relay {
namespace {

using ::testing::HasSubstr;

BATON_REGISTER_OP("test.node").Describe("For tests.");
Op NodeOp() { return Op::Find("test.node"); }

TEST(NodeTest, SizesStaySmall) {
  EXPECT_EQ(sizeof(Node), 16u);
  EXPECT_EQ(sizeof(ExprNode), 32u);
  EXPECT_EQ(sizeof(CallNode), 64u);
  EXPECT_EQ(sizeof(Expr), 8u);
  EXPECT_EQ(sizeof(Dim), 8u);
}

TEST(NodeTest, HandlesCompareIdentities) {
  const Var a("x", {2});
  const Var b("x", {2});
  const Var c = a;  // NOLINT(performance-unnecessary-copy-initialization)
  EXPECT_EQ(a, c);
  EXPECT_NE(a, b);
  EXPECT_TRUE(a.Is<VarNode>());
  EXPECT_TRUE(a.Is<ExprNode>());
  EXPECT_EQ(a.As<CallNode>(), nullptr);
  EXPECT_EQ(Expr().As<CallNode>(), nullptr);
  EXPECT_FALSE(Expr().defined());
}

TEST(NodeTest, UniqueMeansOneHolder) {
  Expr call = Call(NodeOp(), {Var("x", {2})});
  EXPECT_TRUE(call->unique());
  {
    const Expr other = call;  // NOLINT
    EXPECT_FALSE(call->unique());
  }
  EXPECT_TRUE(call->unique());
  EXPECT_FALSE(NodeOp()->unique());
}

TEST(NodeTest, DestroyingDeepGraphsDoesNotRecurse) {
  const int depth = testing::IsLongTest() ? 1'000'000 : 100'000;
  const Var x("x", {2});
  Expr calls = x;
  Expr tuples = x;
  Expr items = x;
  Expr lets = x;
  Expr ifs = x;
  Expr functions = x;
  Expr refs = x;
  Type types = TupleType(std::vector<Type>());
  Dim dims(new DimExprNode(DimExprNode::Op::kVar, "n", DType::Int(32), 0, 0));
  for (int i = 0; i < depth; ++i) {
    calls = Call(NodeOp(), {std::move(calls)});
    tuples = Tuple({std::move(tuples)});
    items = TupleGetItem(std::move(items), 0);
    lets = Let(Var("v"), x, std::move(lets));
    ifs = If(x, x, std::move(ifs));
    functions = Function({}, std::move(functions));
    refs = RefWrite(RefRead(RefCreate(std::move(refs))), x);
    types = TupleType({std::move(types)});
    dims = Dim(new DimExprNode(DimExprNode::Op::kAdd, "", DType::Int(32),
                               std::move(dims), 1));
  }
}

TEST(DimTest, NumbersUnknownAndSymbolic) {
  EXPECT_EQ(Dim(224).value(), 224);
  EXPECT_EQ(Dim(-3).value(), -3);
  EXPECT_TRUE(Dim::Any().is_any());
  EXPECT_TRUE(Dim(0).is_const());
  EXPECT_NE(Dim(0), Dim::Any());
  const Dim n(new DimExprNode(DimExprNode::Op::kVar, "n", DType::Int(32), Dim(),
                              Dim()));
  const Dim copy = n;  // NOLINT
  EXPECT_TRUE(copy.is_symbolic());
  EXPECT_EQ(copy, n);
  EXPECT_EQ(n.expr()->name(), "n");
}

TEST(TypeTest, StructuralEquality) {
  const Type f32 = TensorType({1, Dim::Any()}, DType::Float(32));
  EXPECT_TRUE(TypeEqual(f32, TensorType({1, Dim::Any()}, DType::Float(32))));
  EXPECT_FALSE(TypeEqual(f32, TensorType({1, 2}, DType::Float(32))));
  EXPECT_FALSE(TypeEqual(f32, TensorType({1, Dim::Any()}, DType::Int(32))));
  EXPECT_FALSE(TypeEqual(f32, Type()));
  EXPECT_TRUE(TypeEqual(TupleType({f32, f32}), TupleType({f32, f32})));
  EXPECT_FALSE(TypeEqual(TupleType({f32}), TupleType({f32, f32})));
  EXPECT_TRUE(TypeEqual(RefType(f32), RefType(f32)));
  // Type parameters match by position, free type variables by identity.
  const TypeVar a("A");
  const TypeVar b("B");
  EXPECT_TRUE(TypeEqual(FuncType({a}, a, {a}), FuncType({b}, b, {b})));
  EXPECT_FALSE(TypeEqual(FuncType({a}, a), FuncType({b}, b)));
  EXPECT_FALSE(
      TypeEqual(FuncType({a, b}, a, {a, b}), FuncType({a, b}, b, {a, b})));
}

TEST(TypeTest, CompletenessIsKnown) {
  const Type hole = IncompleteType();
  EXPECT_FALSE(hole->complete());
  EXPECT_FALSE(TupleType({hole})->complete());
  EXPECT_TRUE(TensorType::Scalar(DType::Bool())->complete());
  EXPECT_FALSE(FuncType({}, hole)->complete());
}

TEST(OpTest, FindAndGet) {
  EXPECT_TRUE(Op::Find("test.node").defined());
  EXPECT_FALSE(Op::Find("test.nope").defined());
  const absl::StatusOr<Op> missing = Op::Get("test.nodes");
  ASSERT_FALSE(missing.ok());
  EXPECT_THAT(std::string(missing.status().message()),
              HasSubstr("did you mean \"test.node\""));
  EXPECT_TRUE(IsCallTo(Call(NodeOp(), {}), NodeOp()));
}

TEST(OpTest, PropertiesOfPackagesAbove) {
  OpProperty<int> map;
  EXPECT_EQ(map.Get(NodeOp()), nullptr);
  map.Set(*NodeOp().get(), 7);
  ASSERT_NE(map.Get(NodeOp()), nullptr);
  EXPECT_EQ(*map.Get(NodeOp()), 7);
  EXPECT_EQ(map.Get(Expr(Var("x"))), nullptr);
}

TEST(ModuleTest, IsAValue) {
  const Var x("x", {2});
  IRModule a = ModuleFromExpr(Function({x}, x));
  const IRModule b = a;
  EXPECT_TRUE(a.SameAs(b));
  a.Set("other", Function({}, Tuple({})));
  EXPECT_FALSE(a.SameAs(b));
  EXPECT_EQ(b.size(), 1);
  EXPECT_EQ(a.size(), 2);
  EXPECT_EQ(a.functions()[1].var->name(), "other");
  a.Remove("main");
  EXPECT_FALSE(a.Find<Function>("main").defined());
  EXPECT_TRUE(a.Find<Function>("other").defined());
  EXPECT_TRUE(b.Find<Function>("main").defined());
}

TEST(ModuleTest, SettingTheSameFunctionChangesNothing) {
  const Var x("x", {2});
  IRModule a = ModuleFromExpr(Function({x}, x));
  const IRModule b = a;
  a.Set("main", a.Find<Function>("main"));
  EXPECT_TRUE(a.SameAs(b));
  EXPECT_TRUE(a.WithFunctions(std::vector<Function>{b.Find<Function>("main")})
                  .SameAs(b));
}

TEST(ModuleTest, FromExprTakesFreeVariablesAsParameters) {
  const Var x("x", {2});
  const Var y("y", {2});
  const IRModule m = ModuleFromExpr(Tuple({y, x, y}));
  ASSERT_EQ(m.Find<Function>("main")->params().size(), 2u);
  EXPECT_EQ(m.Find<Function>("main")->params()[0], y);
  EXPECT_EQ(m.Find<Function>("main")->params()[1], x);
}

TEST(ModuleTest, LookupSuggests) {
  IRModule m = ModuleFromExpr(Tuple({}));
  const auto missing = m.Lookup("mian");
  ASSERT_FALSE(missing.ok());
  EXPECT_THAT(std::string(missing.status().message()), HasSubstr("main"));
}

TEST(ModuleTest, ManyFunctionsInLinearTime) {
  IRModule m;
  const Function f({}, Tuple({}));
  for (int i = 0; i < 20'000; ++i) m.Set("f" + std::to_string(i), f);
  EXPECT_EQ(m.size(), 20'000);
}

}  // namespace
}  // namespace baton::relay
