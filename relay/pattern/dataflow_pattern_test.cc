// Tests the cases of the reference's tests of its pattern language, and cases
// that only this language has.

#include "baton/relay/pattern/dataflow_pattern.h"

#include <cstddef>
#include <functional>
#include <iterator>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/base/attr_value.h"
#include "baton/base/dtype.h"
#include "baton/base/tensor.h"
#include "baton/ir/attrs.h"
#include "baton/ir/module.h"
#include "baton/ir/op.h"
#include "baton/ir/structural_equal.h"
#include "baton/ir/type.h"
#include "baton/relay/analysis/indexed_graph.h"
#include "baton/relay/ir/adt.h"
#include "baton/relay/ir/constant.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/ir/text_parser.h"
#include "baton/relay/ir/text_printer.h"
#include "baton/relay/ir/visit.h"
#include "baton/relay/op/builders.h"
#include "baton/relay/op/fusion_pattern.h"
#include "baton/relay/pattern/matcher.h"
#include "baton/relay/pattern/partition.h"
#include "baton/relay/pattern/rewrite_rule.h"
#include "baton/relay/pattern/rewriter.h"
#include "baton/testing/small_stack.h"
#include "baton/testing/status_matchers.h"
#include "baton/testing/test_settings.h"
#include "gtest/gtest.h"

namespace baton::relay {
namespace {

using testing::IsOk;

using P = DataflowPattern;

// Expressions in the tests are without types, unless said.
Expr Conv(const Expr& x, const Expr& w) { return nn::Conv2D(x, w); }

const P& Unary() {
  static const P& kPattern = *new P(Wildcard().HasProperty(
      FusionPatterns(), FusionPattern::kElemWise)(Wildcard()));
  return kPattern;
}

P IsConv() { return IsOp("nn.conv2d")(Wildcard(), Wildcard()); }

Expr Typed(const Expr& expr) {
  absl::StatusOr<Expr> typed = InferTypeOf(expr);
  EXPECT_THAT(typed, IsOk());
  return *typed;
}

// Rewrites with one rule.
Expr RewriteBy(const P& pattern,
               std::function<absl::StatusOr<Expr>(const PatternMatch&)> replace,
               const Expr& expr, bool once = false) {
  absl::StatusOr<Expr> result = ApplyRules({{.name = "rule",
                                             .pattern = pattern,
                                             .replace = std::move(replace),
                                             .once = once}},
                                           expr);
  EXPECT_THAT(result, IsOk());
  return result.ok() ? *result : Expr();
}

// The structure of patterns.

TEST(DataflowPatternTest, Nodes) {
  const Var x("x", {4, 1});
  EXPECT_EQ(IsExpr(x)->kind(), P::Kind::kExpr);
  EXPECT_EQ(IsExpr(x)->expr(), x);
  EXPECT_EQ(IsVar("x")->kind(), P::Kind::kVar);
  EXPECT_EQ(IsVar("x")->name(), "x");
  EXPECT_EQ(IsConstant()->kind(), P::Kind::kConstant);
  EXPECT_EQ(Wildcard()->kind(), P::Kind::kWildcard);

  const P a = Wildcard(), b = Wildcard();
  const P call = IsOp("add")(a, b);
  EXPECT_EQ(call->kind(), P::Kind::kCall);
  ASSERT_EQ(call->children().size(), 3u);
  EXPECT_EQ(call->children()[0]->op()->name(), "add");
  EXPECT_EQ(call->children()[1], a);
  EXPECT_EQ(call->children()[2], b);

  const P function = IsFunction({a, b}, call);
  EXPECT_EQ(function->kind(), P::Kind::kFunction);
  ASSERT_EQ(function->children().size(), 3u);
  EXPECT_EQ(function->children()[0], call);
  EXPECT_EQ(function->children()[1], a);

  const P tuple = IsTuple({a, b});
  EXPECT_EQ(tuple->kind(), P::Kind::kTuple);
  EXPECT_EQ(tuple->children()[1], b);
  const P item = IsTupleGetItem(tuple, 1);
  EXPECT_EQ(item->kind(), P::Kind::kTupleGetItem);
  EXPECT_EQ(item->index(), 1);
  EXPECT_EQ(item->children()[0], tuple);

  EXPECT_EQ((IsOp("add") | IsOp("subtract"))->kind(), P::Kind::kAlt);
  const P branch = IsIf(IsOp("less")(a, b), a, b);
  EXPECT_EQ(branch->kind(), P::Kind::kIf);
  EXPECT_EQ(branch->children()[2], b);
  const P let = IsLet(a, IsOp("less")(a, b), a);
  EXPECT_EQ(let->kind(), P::Kind::kLet);
  EXPECT_EQ(let->children()[0], a);
}

TEST(DataflowPatternTest, Conditions) {
  const TensorType type({10, 10}, DType::Float(32));
  const P typed = Wildcard().HasType(type);
  EXPECT_EQ(typed->kind(), P::Kind::kWhere);
  EXPECT_EQ(typed.ToString(), "_ [Tensor[(10, 10), float32]]");
  EXPECT_EQ(Wildcard("x").HasDType(DType::Float(16)).ToString(),
            "%x [dtype float16]");
  EXPECT_EQ(Wildcard().HasShape({10, Dim::Any()}).ToString(),
            "_ [shape (10, ?)]");
  EXPECT_EQ(IsConv().HasAttr("groups", 1).HasOneUse().ToString(),
            "nn.conv2d(_, _) [groups = 1] [one use]");
}

TEST(DataflowPatternTest, PrintsAllForms) {
  const P x = Wildcard("x");
  EXPECT_EQ(IsTuple({x, IsScalar(2)}).ToString(),
            "(%x, constant [= 2] [rank 0])");
  EXPECT_EQ(IsTuple({}).ToString(), "()");
  EXPECT_EQ(IsAnyTuple().ToString(), "(...)");
  EXPECT_EQ(IsTupleGetItem(x, 1).ToString(), "%x.1");
  EXPECT_EQ(IsIf(x, x, IsVar("y")).ToString(), "if(%x, %x, var %y)");
  EXPECT_EQ(IsOp("exp")(x).Optional(IsOp("nn.relu")).ToString(),
            "(exp(%x) | nn.relu(...))");
  EXPECT_EQ(Wildcard().CallOfAny().ToString(), "_(...)");
  EXPECT_EQ(
      Repeated([&](const P& self) { return IsOp("exp")(self | x); }).ToString(),
      "repeated(exp((self | %x)))");
  EXPECT_EQ(P().ToString(), "nothing");
}

// Matching.

TEST(MatchTest, Operator) {
  EXPECT_TRUE(Matches(IsOp("add"), Op::Find("add")));
  EXPECT_FALSE(Matches(IsOp("add"), Op::Find("subtract")));
  const P either = IsOp("add") | IsOp("subtract");
  EXPECT_TRUE(Matches(either, Op::Find("add")));
  EXPECT_TRUE(Matches(either, Op::Find("subtract")));
}

TEST(MatchTest, ArgumentsOfCommutativeOperatorsInEitherOrder) {
  const Var x("x"), y("y");
  for (const absl::string_view op : {"add", "multiply", "maximum", "equal"}) {
    const P pattern = IsOp(op)(IsVar("x"), IsVar("y"));
    EXPECT_TRUE(Matches(pattern, Call(Op::Find(op), {x, y})));
    EXPECT_TRUE(Matches(pattern, Call(Op::Find(op), {y, x})));
  }
  for (const absl::string_view op : {"subtract", "divide", "power"}) {
    const P pattern = IsOp(op)(IsVar("x"), IsVar("y"));
    EXPECT_TRUE(Matches(pattern, Call(Op::Find(op), {x, y})));
    EXPECT_FALSE(Matches(pattern, Call(Op::Find(op), {y, x})));
  }
}

TEST(MatchTest, OrdersOfArgumentsAreTriedTogether) {
  const P a = Wildcard("a"), b = Wildcard("b");
  const Var x("x"), y("y");
  // The inner addition must be exchanged for the outer one to match.
  const P pattern = IsOp("subtract")(a + b, a);
  EXPECT_TRUE(Matches(pattern, Subtract(Add(x, y), x)));
  EXPECT_TRUE(Matches(pattern, Subtract(Add(y, x), x)));
  EXPECT_FALSE(Matches(pattern, Subtract(Add(y, y), x)));
}

TEST(MatchTest, Calls) {
  const Var x("x"), y("y");
  const P add = IsOp("add")(Wildcard(), Wildcard());
  EXPECT_TRUE(Matches(add, Add(x, y)));
  EXPECT_FALSE(Matches(add, Subtract(x, y)));
  // Any number of arguments.
  const P call = Wildcard().CallOfAny();
  EXPECT_TRUE(Matches(call, nn::Relu(x)));
  EXPECT_TRUE(Matches(call, Add(x, y)));
  EXPECT_FALSE(Matches(call, x));
  EXPECT_FALSE(Matches(IsOp("add")(Wildcard()), Add(x, y)));
}

TEST(MatchTest, Functions) {
  const Var x("x"), y("y");
  const P a = Wildcard(), b = Wildcard();
  EXPECT_TRUE(Matches(IsFunction({a, b}, a + b), Function({x, y}, Add(x, y))));
  EXPECT_FALSE(
      Matches(IsFunction({a, b}, a + b), Function({x, y}, Subtract(x, y))));
  const P any = IsFunctionOfAny(Wildcard());
  EXPECT_TRUE(Matches(any, Function({x}, x)));
  EXPECT_TRUE(Matches(any, Function({x, y}, Add(x, y))));
}

TEST(MatchTest, Branches) {
  const P x = IsVar("x"), y = IsVar("y");
  const P pattern = IsIf(IsOp("less")(x, y), x, y);
  const Var a("x"), b("y");
  EXPECT_TRUE(Matches(pattern, If(Less(a, b), a, b)));
  EXPECT_FALSE(Matches(pattern, If(Greater(a, b), a, b)));
  EXPECT_FALSE(Matches(pattern, If(Less(a, b), b, a)));
}

TEST(MatchTest, Lets) {
  const P x = IsVar("x"), y = IsVar("y"), v = IsVar("let");
  const P pattern = IsLet(v, IsOp("less")(x, y), v);
  const Var a("x"), b("y"), let("let");
  EXPECT_TRUE(Matches(pattern, Let(let, Less(a, b), let)));
  EXPECT_FALSE(Matches(pattern, Let(let, Greater(a, b), let)));
  EXPECT_FALSE(Matches(pattern, Let(let, Less(a, b), Multiply(let, a))));
}

TEST(MatchTest, OptionalCalls) {
  const Var x("x"), w("w"), b("b");
  const P bias = IsOp("nn.relu")(IsConv().Optional(
      [](const P& data) { return IsOp("nn.bias_add")(data, Wildcard()); }));
  EXPECT_TRUE(Matches(bias, nn::Relu(Conv(x, w))));
  EXPECT_TRUE(Matches(bias, nn::Relu(nn::BiasAdd(Conv(x, w), b))));
  EXPECT_FALSE(Matches(bias, Tanh(Conv(x, w))));
  EXPECT_FALSE(Matches(bias, Tanh(nn::Dense(x, w))));
  EXPECT_FALSE(Matches(bias, nn::Relu(nn::BiasAdd(nn::Dense(x, w), b))));
  EXPECT_FALSE(Matches(bias, nn::Relu(Add(Conv(x, w), w))));

  const P chain = IsConv().Optional(IsOp("nn.relu")).Optional(IsOp("tanh"));
  const Expr conv = Conv(x, w);
  EXPECT_TRUE(Matches(chain, conv));
  EXPECT_TRUE(Matches(chain, nn::Relu(conv)));
  EXPECT_TRUE(Matches(chain, Tanh(conv)));
  EXPECT_TRUE(Matches(chain, Tanh(nn::Relu(conv))));
  EXPECT_FALSE(Matches(chain, nn::Relu(Tanh(conv))));
}

TEST(MatchTest, Constants) {
  const P pattern = IsOp("nn.bias_add")(
      IsOp("nn.conv2d")(Wildcard(), IsConstant()), Wildcard());
  const Var x("x", {1, 3, 224, 224}), w("w", {3, 3, 3, 3}), b("b", {3});
  EXPECT_FALSE(Matches(pattern, nn::BiasAdd(Conv(x, w), b)));
  BATON_ASSERT_OK_AND_ASSIGN(const Tensor ones,
                             Tensor::Ones(DType::Float(32), {3, 3, 3, 3}));
  EXPECT_TRUE(Matches(pattern, nn::BiasAdd(Conv(x, Const(ones)), b)));
}

TEST(MatchTest, ConstantsByValue) {
  BATON_ASSERT_OK_AND_ASSIGN(const Tensor ones,
                             Tensor::Ones(DType::Float(16), {2, 3}));
  BATON_ASSERT_OK_AND_ASSIGN(const Tensor empty,
                             Tensor::Ones(DType::Float(16), {0, 3}));
  EXPECT_TRUE(Matches(IsSplat(1), Const(ones)));
  EXPECT_TRUE(Matches(IsSplat(1), Const(1.0f)));
  EXPECT_TRUE(Matches(IsSplat(1), Const(1)));
  EXPECT_FALSE(Matches(IsSplat(1), Const(2.0f)));
  EXPECT_FALSE(Matches(IsSplat(1), Const(empty)));
  EXPECT_FALSE(Matches(IsSplat(0), Const(-0.0f)));
  EXPECT_TRUE(Matches(IsScalar(1), Const(1.0f)));
  EXPECT_FALSE(Matches(IsScalar(1), Const(ones)));
  EXPECT_FALSE(Matches(IsScalar(), Const(ones)));
  const P positive = IsConstant().Where("a positive scalar", [](const Expr& e) {
    return ConstantScalar(e).value_or(0) > 0;
  });
  EXPECT_TRUE(Matches(positive, Const(3.0f)));
  EXPECT_FALSE(Matches(positive, Const(-3.0f)));
}

TEST(MatchTest, Tuples) {
  const Var x("x"), y("y");
  const Expr z = Op::Find("add");
  const P tuple = IsTuple({IsVar("x"), Wildcard(), IsOp("add")});
  const Expr three = Tuple({x, y, z});
  EXPECT_TRUE(Matches(tuple, three));
  EXPECT_TRUE(Matches(IsTupleGetItem(tuple, 1), TupleGetItem(three, 1)));
  for (const int i : {0, 1, 2}) {
    EXPECT_TRUE(Matches(IsTupleGetItem(tuple), TupleGetItem(three, i)));
  }
  EXPECT_FALSE(Matches(
      IsTuple({IsVar("x"), Wildcard(), IsOp("add"), Wildcard()}), three));
  EXPECT_FALSE(Matches(IsTupleGetItem(tuple, 1), TupleGetItem(three, 2)));
  const P concat = IsOp("concatenate")(IsAnyTuple());
  EXPECT_TRUE(Matches(concat, Concatenate({x}, 0)));
  EXPECT_TRUE(Matches(concat, Concatenate({x, y}, 0)));
  EXPECT_TRUE(Matches(concat, Concatenate({x, y, x}, 0)));
}

TEST(MatchTest, Types) {
  const Var x("x", {10, 10});
  const Var n("n", {10, 10}, DType::Int(32));
  const P typed = Wildcard().HasType(TensorType({10, 10}, DType::Float(32)));
  EXPECT_TRUE(Matches(typed, x));
  EXPECT_FALSE(Matches(typed, n));
  EXPECT_TRUE(Matches(Wildcard().HasDType(DType::Float(32)), x));
  EXPECT_FALSE(Matches(Wildcard().HasDType(DType::Float(32)), n));
  EXPECT_TRUE(
      Matches(Wildcard().HasDType({DType::Float(32), DType::Int(32)}), n));
  EXPECT_TRUE(Matches(Wildcard().HasShape({10, 10}), x));
  EXPECT_TRUE(Matches(Wildcard().HasShape({Dim::Any(), 10}), x));
  EXPECT_FALSE(Matches(Wildcard().HasShape({10, 5}), x));
  EXPECT_FALSE(Matches(Wildcard().HasShape({10}), x));
  EXPECT_TRUE(Matches(Wildcard().HasRank(2), x));
  // The type that inference found.
  EXPECT_TRUE(Matches(typed, Typed(nn::Relu(x))));
  EXPECT_FALSE(Matches(typed, nn::Relu(x)));
}

TEST(MatchTest, PropertiesOfOperators) {
  const Var x("x"), y("y"), z("z");
  const P broadcast = IsOp("add").HasProperty(
      FusionPatterns(), FusionPattern::kBroadcast)(Wildcard(), Wildcard());
  EXPECT_TRUE(Matches(broadcast, Add(x, y)));
  EXPECT_FALSE(Matches(broadcast, Subtract(x, y)));
  EXPECT_FALSE(Matches(broadcast, Let(z, Add(x, y), z)));
  const P elementwise =
      IsOp("nn.dense")
          .HasProperty(FusionPatterns(), FusionPattern::kElemWise)(Wildcard(),
                                                                   Wildcard());
  EXPECT_FALSE(Matches(elementwise, nn::Dense(x, y)));
}

TEST(MatchTest, AttributesOfFunctions) {
  const P pattern = Wildcard().HasAttr("Composite", "add");
  const Var x("x"), y("y");
  const Function f({x, y}, Add(x, y));
  EXPECT_TRUE(Matches(pattern, f.WithAttr("Composite", "add")));
  EXPECT_FALSE(Matches(pattern, f.WithAttr("RandomTest", "add")));
  EXPECT_FALSE(Matches(pattern, f.WithAttr("Composite", "conv_bias")));
  EXPECT_FALSE(Matches(pattern, x));
}

struct CallAttrs {
  std::string call_attr;
  static constexpr char kTypeKey[] = "test.CallAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("call_attr", &CallAttrs::call_attr, "For the test.");
  }
};

TEST(MatchTest, AttributesOfCalls) {
  const Var x("x"), y("y");
  const auto conv_with = [&](std::string name, AttrValue value) {
    return IsConv().HasAttr(std::move(name), std::move(value));
  };
  EXPECT_TRUE(Matches(conv_with("data_layout", "NCHW"), Conv(x, y)));
  EXPECT_FALSE(Matches(conv_with("data_layout", "NHWC"), Conv(x, y)));
  EXPECT_FALSE(Matches(conv_with("RandomAttr", "NCHW"), Conv(x, y)));
  const AttrValue size = AttrList{3, 3};
  EXPECT_TRUE(Matches(conv_with("kernel_size", size),
                      nn::Conv2D(x, y, {.kernel_size = {3, 3}})));
  EXPECT_FALSE(Matches(conv_with("kernel_size", size),
                       nn::Conv2D(x, y, {.kernel_size = {2, 1}})));
  const P cast = IsOp("cast")(Wildcard()).HasAttr("dtype", "float32");
  EXPECT_TRUE(Matches(cast, Cast(x, DType::Float(32))));
  EXPECT_FALSE(Matches(cast, Cast(x, DType::Int(32))));
  // A call without attributes has the defaults.
  const P softmax = IsOp("nn.softmax")(Wildcard()).HasAttr("axis", -1);
  EXPECT_TRUE(Matches(softmax, Call(Op::Find("nn.softmax"), {x})));

  // A call of something else than an operator.
  const P call = Wildcard()(Wildcard());
  const P with = call.HasAttr("call_attr", "attr");
  const Expr right = Call(x, {y}, Attrs::Make(CallAttrs{"attr"}));
  const Expr wrong = Call(x, {y}, Attrs::Make(CallAttrs{"wrong"}));
  EXPECT_TRUE(Matches(with, right));
  EXPECT_TRUE(Matches(call, right));
  EXPECT_TRUE(Matches(call, Call(x, {y})));
  EXPECT_FALSE(Matches(with, wrong));
  EXPECT_FALSE(Matches(with, Call(x, {y})));
  EXPECT_FALSE(Matches(call.HasAttr("wrong", "attr"), right));
}

P DiamondOfCalls() {
  const P conv = IsConv();
  return IsOp("nn.relu")(conv) + IsOp("nn.leaky_relu")(conv);
}

TEST(MatchTest, OnePatternInTwoPlacesIsOneNode) {
  const Var x("x"), w("w"), x2("x2"), w2("w2");
  const Expr conv = Conv(x, w);
  const Expr relu = nn::Relu(conv);
  const Expr leaky = nn::LeakyRelu(conv, 0);
  EXPECT_TRUE(Matches(DiamondOfCalls(), Add(relu, leaky)));
  EXPECT_FALSE(Matches(DiamondOfCalls(), leaky));
  EXPECT_FALSE(Matches(DiamondOfCalls(), relu));
  EXPECT_FALSE(
      Matches(DiamondOfCalls(), Add(relu, nn::LeakyRelu(Conv(x2, w2), 0))));
  EXPECT_FALSE(Matches(DiamondOfCalls(), Add(Add(relu, leaky), conv)));
}

// Regions.

P Diamond() { return Dominates(IsConv(), Unary(), Wildcard() + Wildcard()); }

P FuzzyDiamond() {
  return Dominates(IsConv(), Unary() | (Wildcard() + Wildcard()),
                   Wildcard() + Wildcard());
}

Expr ClassicDiamond(const Expr& x, const Expr& w) {
  const Expr conv = Conv(x, w);
  return Add(nn::Relu(nn::Relu(conv)), nn::LeakyRelu(conv, 0));
}

Expr DeeperDiamond(const Expr& x, const Expr& w) {
  const Expr conv = Conv(x, w);
  return Add(Tanh(nn::Relu(nn::Relu(conv))), nn::LeakyRelu(conv, 0));
}

Expr SingleBranch(const Expr& x, const Expr& w) {
  const Expr relu = nn::Relu(nn::Relu(Conv(x, w)));
  return Add(relu, Tanh(relu));
}

Expr NestedDiamond(const Expr& x, const Expr& w) {
  const Expr conv = Conv(x, w);
  const Expr relu = nn::Relu(conv);
  return Add(Tanh(Add(relu, relu)), nn::LeakyRelu(conv, 0));
}

TEST(RegionTest, Matches) {
  const Var x("input"), w("weight");
  EXPECT_TRUE(Matches(Diamond(), ClassicDiamond(x, w)));
  EXPECT_TRUE(Matches(Diamond(), DeeperDiamond(x, w)));
  EXPECT_TRUE(Matches(Diamond(), SingleBranch(x, w)));
  EXPECT_TRUE(Matches(FuzzyDiamond(), NestedDiamond(x, w)));
}

TEST(RegionTest, DoesNotMatch) {
  const Var x("input"), w("weight"), x2("input2"), w2("weight2");
  const Expr conv = Conv(x, w);
  // Two parents.
  EXPECT_FALSE(
      Matches(Diamond(), Add(nn::Relu(conv), nn::LeakyRelu(Conv(x2, w2), 0))));
  // The path has an addition.
  const Expr relu = nn::Relu(conv);
  EXPECT_FALSE(
      Matches(Diamond(), Add(Add(relu, relu), nn::LeakyRelu(conv, 0))));
  // A path that does not start at the parent.
  EXPECT_FALSE(Matches(Diamond(), Add(nn::Relu(x), nn::LeakyRelu(conv, 0))));
  // No parent.
  const Expr relus = nn::Relu(nn::Relu(x));
  EXPECT_FALSE(Matches(Diamond(), Add(relus, Tanh(relus))));
}

TEST(RegionTest, HasOneParent) {
  const Var x("x"), w("w");
  const P pattern =
      Dominates(IsConv(), IsOp("nn.relu")(Wildcard()), Wildcard() + Wildcard());
  const Expr n6 = Conv(x, w);
  const Expr n8 = Conv(Tanh(n6), w);
  EXPECT_FALSE(Matches(pattern, Add(nn::Relu(n8), nn::Relu(n6))));
  EXPECT_FALSE(Matches(pattern, Add(n8, nn::Relu(n6))));
}

TEST(RegionTest, HasConditions) {
  const Var x("input", {1, 3, 12, 12}), w("weight", {3, 3, 3, 3});
  const Expr diamond = Typed(ClassicDiamond(x, w));
  const auto pattern = [](DType dtype, Dims shape) {
    return Dominates(IsConv(), Unary().HasDType(dtype),
                     (Wildcard() + Wildcard()).HasShape(std::move(shape)));
  };
  EXPECT_TRUE(Matches(pattern(DType::Float(32), {1, 3, 10, 10}), diamond));
  EXPECT_FALSE(Matches(pattern(DType::Float(32), {1, 1, 10, 10}), diamond));
  EXPECT_FALSE(Matches(pattern(DType::Float(16), {1, 3, 10, 10}), diamond));
}

TEST(RegionTest, IsNotLeftInBetween) {
  const Var x("x"), w("w");
  const Expr conv = Conv(x, w);
  const Expr relu = nn::Relu(conv);
  const Expr child = Add(relu, nn::LeakyRelu(conv, 0));
  const auto stands = [&](const Expr& program) {
    const IndexedGraph graph(program);
    const UseCounts uses(graph);
    return Matcher(Diamond()).At(child, &uses).has_value();
  };
  EXPECT_TRUE(stands(Tuple({child, x})));
  EXPECT_FALSE(stands(Tuple({child, relu})));
  EXPECT_FALSE(stands(Tuple({child, conv})));
  EXPECT_TRUE(stands(Tuple({child, child})));
}

// Rewriting.

absl::StatusOr<Expr> SubtractInstead(const PatternMatch& m) {
  const auto* call = m.root().As<CallNode>();
  return Subtract(call->arg(0), call->arg(1));
}

TEST(RewriteTest, Replaces) {
  const Var x("x"), y("y");
  const Expr out =
      RewriteBy(Wildcard() + Wildcard(), SubtractInstead, Add(x, y));
  EXPECT_TRUE(Matches(Wildcard() - Wildcard(), out));
}

TEST(RewriteTest, BesideAFunction) {
  const Var x("x"), w("w"), y("y"), a("input"), b("weight");
  const Function f({a, b}, nn::Relu(Conv(a, b)));
  const Expr out = RewriteBy(Wildcard() + Wildcard(), SubtractInstead,
                             Add(Call(f, {x, w}), y));
  EXPECT_TRUE(Matches(Wildcard() - Wildcard(), out));
}

TEST(RewriteTest, CallOfAFunctionWithAnAttribute) {
  const Var x("x"), y("y"), a("a"), b("b");
  const Function f = Function({x, y}, Add(x, y)).WithAttr("Composite", "add");
  const P arg0 = Wildcard(), arg1 = Wildcard();
  const Expr out = RewriteBy(
      Wildcard().HasAttr("Composite", "add")(arg0, arg1),
      [=](const PatternMatch& m) -> Expr { return Add(m[arg0], m[arg1]); },
      Abs(Call(f, {a, b})));
  EXPECT_TRUE(StructuralEqual(out, Abs(Add(a, b))));
}

TEST(RewriteTest, NestedPatternOfSharedParts) {
  const Var x("x"), y("y");
  const Expr n0 = Add(x, Add(y, y));
  const Expr program = Add(Add(x, n0), n0);
  const P a = Wildcard(), b = Wildcard();
  const P p0 = a + b;
  const P pattern = p0 + (p0 + a);
  EXPECT_TRUE(Matches(pattern, program));
  // A rule that puts back what is there changes nothing.
  EXPECT_EQ(
      RewriteBy(
          pattern, [](const PatternMatch& m) { return m.root(); }, program),
      program);
}

struct BatchNormPattern {
  P x = Wildcard("x"), var = Wildcard("var"), mean = Wildcard("mean"),
    beta = Wildcard("beta"), gamma = Wildcard("gamma"), eps = IsConstant();
  P stddev = IsOp("sqrt")(var + eps);
  P centred = x - mean;
  // gamma * centred / stddev, in any association.
  P scaled = gamma * centred / stddev | gamma * (centred / stddev) |
             centred * (gamma / stddev);
  P pattern = scaled + beta;

  RewriteRule Rule() const {
    return {.name = "fuse_batch_norm",
            .pattern = pattern,
            .replace = [*this](const PatternMatch& m) -> Expr {
              return TupleGetItem(
                  nn::BatchNorm(m[x], m[gamma], m[beta], m[mean], m[var],
                                {.epsilon = *ConstantScalar(m[eps])}),
                  0);
            }};
  }
};

class BatchNormTest : public ::testing::Test {
 protected:
  Expr Stddev(const Expr& eps) const { return Sqrt(Add(var, eps)); }
  Expr Stddev() const { return Stddev(Const(1e-5f)); }
  Expr Norm(const Expr& data) const { return Add(Scaled(data), beta); }
  Expr Scaled(const Expr& data) const {
    return Divide(Multiply(gamma, Subtract(data, mean)), Stddev());
  }
  Expr Fused(const Expr& data) const {
    return TupleGetItem(
        nn::BatchNorm(data, gamma, beta, mean, var, {.epsilon = 1e-5f}), 0);
  }
  static Expr Fuse(const Expr& expr) {
    absl::StatusOr<Expr> result = ApplyRules({BatchNormPattern().Rule()}, expr);
    EXPECT_THAT(result, IsOk());
    return *result;
  }

  const Var x{"x"}, var{"var"}, mean{"mean"}, beta{"beta"}, gamma{"gamma"};
};

TEST_F(BatchNormTest, IsFused) {
  EXPECT_TRUE(StructuralEqual(Fuse(Norm(x)), Fused(x)));
}

TEST_F(BatchNormTest, IsNotFusedIfItIsNone) {
  const Expr other = Subtract(Scaled(x), beta);
  EXPECT_EQ(Fuse(other), other);
}

TEST_F(BatchNormTest, IsFusedTwice) {
  EXPECT_TRUE(StructuralEqual(Fuse(Norm(Norm(x))), Fused(Fused(x))));
  const Expr other = Subtract(Scaled(x), beta);
  EXPECT_TRUE(StructuralEqual(Fuse(Norm(other)), Fused(other)));
}

TEST_F(BatchNormTest, IsFusedInAnyOrder) {
  const Expr centred = Subtract(x, mean);
  EXPECT_TRUE(StructuralEqual(Fuse(Add(beta, Scaled(x))), Fused(x)));
  EXPECT_TRUE(StructuralEqual(
      Fuse(Add(Divide(Multiply(centred, gamma), Stddev()), beta)), Fused(x)));
  EXPECT_TRUE(StructuralEqual(
      Fuse(Add(Multiply(gamma, Divide(centred, Stddev())), beta)), Fused(x)));
}

TEST_F(BatchNormTest, IsPartitioned) {
  const auto norm = [](const Expr& g, const Expr& d, const Expr& m,
                       const Expr& v, const Expr& b, const Expr& eps) {
    return Add(Divide(Multiply(g, Subtract(d, m)), Sqrt(Add(v, eps))), b);
  };
  const Expr eps = Const(1e-5f);
  const Var pg("g"), px("x"), pm("m"), pv("v"), pb("b");
  const Function f =
      Function({pg, px, pm, pv, pb}, norm(pg, px, pm, pv, pb, eps))
          .WithAttr("PartitionedFromPattern",
                    "subtract_multiply_add_sqrt_divide_add_");
  const P pattern = BatchNormPattern().pattern;
  const Expr once = Partition(pattern, norm(gamma, x, mean, var, beta, eps));
  EXPECT_TRUE(StructuralEqual(once, Call(f, {gamma, x, mean, var, beta})));
  const Expr twice = Partition(
      pattern,
      norm(gamma, norm(gamma, x, mean, var, beta, eps), mean, var, beta, eps));
  // Each match is a function of its own.
  const Var qg("g"), qx("x"), qm("m"), qv("v"), qb("b");
  const Function g =
      Function({qg, qx, qm, qv, qb}, norm(qg, qx, qm, qv, qb, eps))
          .WithAttr("PartitionedFromPattern",
                    "subtract_multiply_add_sqrt_divide_add_");
  EXPECT_TRUE(StructuralEqual(
      twice,
      Call(g, {gamma, Call(f, {gamma, x, mean, var, beta}), mean, var, beta})));
}

TEST(RewriteTest, FourRegions) {
  const P in = Wildcard(), weight = Wildcard();
  const P pattern =
      Dominates(IsOp("nn.conv2d")(in, weight),
                Unary() | (Wildcard() + Wildcard()), Wildcard() + Wildcard());
  const Var x("input"), w("weight");
  const Expr program =
      NestedDiamond(SingleBranch(DeeperDiamond(ClassicDiamond(x, w), w), w), w);
  const Expr out = RewriteBy(
      pattern,
      [=](const PatternMatch& m) -> Expr { return Conv(m[in], m[weight]); },
      program);
  EXPECT_TRUE(StructuralEqual(out, Conv(Conv(Conv(Conv(x, w), w), w), w)));
}

Expr SimplifyAlgebra(const Expr& expr) {
  const P x = Wildcard("x");
  const P zero = IsExpr(Const(0)) | IsExpr(Const(0.0f));
  const P one = IsExpr(Const(1)) | IsExpr(Const(1.0f));
  const auto is = [](std::string name, const P& pattern, const P& result) {
    return RewriteRule{
        .name = std::move(name),
        .pattern = pattern,
        .replace = [=](const PatternMatch& m) { return m[result]; }};
  };
  absl::StatusOr<Expr> result = ApplyRules(
      {is("x+0", x + zero, x), is("x-0", x - zero, x), is("x*1", x * one, x),
       is("x/1", x / one, x), is("0*x", zero * Wildcard(), zero),
       is("0/x", zero / Wildcard(), zero)},
      expr);
  EXPECT_THAT(result, IsOk());
  return *result;
}

TEST(RewriteTest, Algebra) {
  const Var x("x"), y("y");
  for (const Expr& zero : {Expr(Const(0)), Expr(Const(0.0f))}) {
    EXPECT_EQ(SimplifyAlgebra(Add(x, zero)), x);
    EXPECT_EQ(SimplifyAlgebra(Add(zero, x)), x);
    EXPECT_EQ(SimplifyAlgebra(Subtract(x, zero)), x);
    EXPECT_EQ(SimplifyAlgebra(Multiply(x, zero)), zero);
    EXPECT_EQ(SimplifyAlgebra(Divide(zero, x)), zero);
  }
  for (const Expr& one : {Expr(Const(1)), Expr(Const(1.0f))}) {
    EXPECT_EQ(SimplifyAlgebra(Multiply(x, one)), x);
    EXPECT_EQ(SimplifyAlgebra(Multiply(one, x)), x);
    EXPECT_EQ(SimplifyAlgebra(Divide(x, one)), x);
  }
  const Expr zero = Const(0), one = Const(1);
  EXPECT_TRUE(StructuralEqual(
      SimplifyAlgebra(Subtract(
          Add(Divide(Add(x, Multiply(zero, y)), one), Multiply(y, one)),
          Divide(zero, x))),
      Add(x, y)));
}

TEST(RewriteTest, FunctionWithAnyBody) {
  const Var x("x"), w("w"), b("b"), x1("x1"), w1("w1");
  const P function = IsFunction({Wildcard(), Wildcard()}, Wildcard());
  const P pattern = function(Wildcard(), Wildcard()) + Wildcard();
  const Function f({x1, w1}, Conv(x1, w1));
  const Expr out = RewriteBy(
      pattern, [&](const PatternMatch&) -> Expr { return Add(x, w); },
      Add(Add(Call(f, {x, w}), b), b), /*once=*/true);
  EXPECT_TRUE(StructuralEqual(out, Add(Add(x, w), b)));
}

TEST(RewriteTest, ProgramWithMatches) {
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule module, ParseModule(R"(
#[version = "0.0.5"]
type List[A] { Cons(A, List[A]), Nil }
def @f(%l: List[Tensor[(2), float32]], %x: Tensor[(2), float32]) {
  match (%l) {
    Cons(%h, _) => subtract(%h, %x),
    Nil => multiply(%x, %x),
  }
}
)"));
  const Expr f = module.Find<Function>("f");
  EXPECT_EQ(RewriteBy(Wildcard() + Wildcard(), SubtractInstead, f), f);
  const Expr out = RewriteBy(
      Wildcard() - Wildcard(),
      [](const PatternMatch& m) -> Expr {
        const auto* call = m.root().As<CallNode>();
        return Add(call->arg(1), call->arg(0));
      },
      f);
  EXPECT_NE(out, f);
}

// Removes the last part of a concatenation.
absl::StatusOr<Expr> DropLast(const PatternMatch& m) {
  const auto* tuple = m.root().As<CallNode>()->arg(0).As<TupleNode>();
  std::vector<Expr> fields(tuple->fields().begin(), tuple->fields().end());
  fields.pop_back();
  if (fields.empty()) return tuple->fields()[0];
  return Concatenate(fields, 0);
}

TEST(RewriteTest, OnceOrUntilNothingMatches) {
  const Var x("x"), y("y"), z("z");
  const Expr concat = Concatenate({x, y, z}, 0);
  const P pattern = IsOp("concatenate").CallOfAny();
  EXPECT_EQ(RewriteBy(pattern, DropLast, concat), x);
  EXPECT_TRUE(StructuralEqual(RewriteBy(pattern, DropLast, concat, true),
                              Concatenate({x, y}, 0)));

  const auto rules = [&](bool concat_once) -> std::vector<RewriteRule> {
    return {{.name = "one_more_relu",
             .pattern = IsOp("nn.softmax").CallOfAny(),
             .replace = [](const PatternMatch& m) -> Expr {
               return nn::Relu(m.root());
             },
             .once = true},
            {.name = "drop_last",
             .pattern = pattern,
             .replace = DropLast,
             .once = concat_once}};
  };
  BATON_ASSERT_OK_AND_ASSIGN(const Expr once,
                             ApplyRules(rules(true), nn::Softmax(concat)));
  EXPECT_TRUE(
      StructuralEqual(once, nn::Relu(nn::Softmax(Concatenate({x, y}, 0)))));
  BATON_ASSERT_OK_AND_ASSIGN(const Expr all,
                             ApplyRules(rules(false), nn::Softmax(concat)));
  EXPECT_TRUE(StructuralEqual(all, nn::Relu(nn::Softmax(x))));
}

TEST(RewriteTest, PatternOfAnyLength) {
  const Var data("data", {2, 8}), weight("weight", {4, 8});
  Expr casts = nn::Dense(data, weight);
  for (int i = 0; i < 6; ++i) casts = Cast(casts, DType::Float(32));
  const P dense = IsOp("nn.dense")(Wildcard(), Wildcard());
  const std::vector<P> patterns = {
      Repeated([&](const P& self) { return IsOp("cast")(self | dense); }),
      Repeated([&](const P& self) { return IsOp("cast")(dense | self); }),
      IsOp("cast")(
          Repeated([&](const P& self) { return IsOp("cast")(self) | dense; })),
  };
  for (const P& pattern : patterns) {
    const Expr out = RewriteBy(
        pattern,
        [](const PatternMatch& m) -> Expr { return nn::Relu(m.root()); }, casts,
        /*once=*/true);
    EXPECT_TRUE(StructuralEqual(out, nn::Relu(casts))) << pattern.ToString();
  }
}

// Partitioning.

Expr ConvBiasRelu(const Expr& x, const Expr& w, const Expr& b) {
  return nn::Relu(nn::BiasAdd(Conv(x, w), b));
}

Function Named(std::vector<Var> params, Expr body, const char* name) {
  return Function(std::move(params), std::move(body))
      .WithAttr("PartitionedFromPattern", name);
}

TEST(PartitionTest, Twice) {
  const P bias_add = IsOp("nn.bias_add")(IsConv(), Wildcard());
  const P relu = IsOp("nn.relu")(bias_add);
  const Var x("input"), w("weight"), b("bias"), w2("weight"), b2("bias");
  Expr program = nn::BiasAdd(Conv(ConvBiasRelu(x, w, b), w2), b2);
  program = Partition(relu, program, {{"Composite", "conv_bias_relu"}});
  program = Partition(bias_add, program, {{"Composite", "conv_bias"}});

  const Var p0("p0"), p1("p1"), p2("p2"), q0("q0"), q1("q1"), q2("q2");
  const Function f0 = Named({p0, p1, p2}, ConvBiasRelu(p0, p1, p2),
                            "nn.conv2d_nn.bias_add_nn.relu_")
                          .WithAttr("Composite", "conv_bias_relu");
  const Function f1 = Named({q0, q1, q2}, nn::BiasAdd(Conv(q0, q1), q2),
                            "nn.conv2d_nn.bias_add_")
                          .WithAttr("Composite", "conv_bias");
  EXPECT_TRUE(
      StructuralEqual(program, Call(f1, {Call(f0, {x, w, b}), w2, b2})));
}

TEST(PartitionTest, Region) {
  const Var x("input"), w("weight"), p("p"), q("q");
  const Expr partitioned =
      Partition(Diamond(), ClassicDiamond(Multiply(x, x), Multiply(w, w)));
  const Function f = Named({p, q}, ClassicDiamond(p, q),
                           "nn.conv2d_nn.relu_nn.relu_nn.leaky_relu_add_");
  EXPECT_TRUE(
      StructuralEqual(partitioned, Call(f, {Multiply(x, x), Multiply(w, w)})));
}

TEST(PartitionTest, FourRegions) {
  const Var x("input"), w("weight");
  const Expr partitioned = Partition(
      FuzzyDiamond(),
      NestedDiamond(SingleBranch(DeeperDiamond(ClassicDiamond(x, w), w), w),
                    w));
  using Make = Expr (*)(const Expr&, const Expr&);
  const auto call = [&](Make make, const char* name, const Expr& data) {
    const Var p("p"), q("q");
    return Call(Named({p, q}, make(p, q), name), {data, w});
  };
  Expr expected =
      call(ClassicDiamond, "nn.conv2d_nn.relu_nn.relu_nn.leaky_relu_add_", x);
  expected =
      call(DeeperDiamond, "nn.conv2d_nn.relu_nn.relu_tanh_nn.leaky_relu_add_",
           expected);
  expected =
      call(SingleBranch, "nn.conv2d_nn.relu_nn.relu_tanh_add_", expected);
  expected = call(NestedDiamond,
                  "nn.conv2d_nn.relu_add_tanh_nn.leaky_relu_add_", expected);
  EXPECT_TRUE(StructuralEqual(partitioned, expected));
}

TEST(PartitionTest, WhatOverlapsStays) {
  const P item =
      IsTupleGetItem(IsOp("nn.batch_norm")(Wildcard(), Wildcard(), Wildcard(),
                                           Wildcard(), Wildcard()),
                     0);
  const Var x("x"), var("var"), mean("mean"), beta("beta"), gamma("gamma");
  const Expr norm = nn::BatchNorm(x, gamma, beta, mean, var);
  const Expr program = Add(TupleGetItem(norm, 0), TupleGetItem(norm, 0));
  EXPECT_EQ(Partition(item, program), program);
}

TEST(PartitionTest, WhatIsUsedElsewhereStays) {
  const Var x("input"), w("weight");
  const Expr conv = Conv(x, w);
  const Expr program = Add(nn::Relu(conv), conv);
  EXPECT_EQ(Partition(IsOp("nn.relu")(IsConv()), program), program);
}

TEST(PartitionTest, TupleOfAny) {
  const Var x("x"), y("y"), p("p"), q("q"), r("r");
  const Expr z = Add(x, y);
  const P concat = IsOp("concatenate")(IsAnyTuple());
  const char name[] = "Tuple_concatenate_";
  EXPECT_TRUE(
      StructuralEqual(Partition(concat, Concatenate({x}, 0)),
                      Call(Named({p}, Concatenate({p}, 0), name), {x})));
  EXPECT_TRUE(StructuralEqual(
      Partition(concat, Concatenate({x, y}, 0)),
      Call(Named({p, q}, Concatenate({p, q}, 0), name), {x, y})));
  EXPECT_TRUE(StructuralEqual(
      Partition(concat, Concatenate({x, y, z}, 0)),
      Call(Named({p, q, r}, Concatenate({p, q, r}, 0), name), {x, y, z})));
}

TEST(PartitionTest, CallOfAFunctionOfAny) {
  const P pattern =
      IsFunctionOfAny(Wildcard() + Wildcard()).CallOfAny() + Wildcard();
  const Var x("x"), y("y"), z("z"), b("b"), xp("xp"), yp("yp"), zp("zp");
  const auto check = [&](const Function& f, std::vector<Expr> args,
                         const char* name) {
    std::vector<Var> params;
    std::vector<Expr> inner;
    for (size_t i = 0; i <= args.size(); ++i) params.emplace_back("p");
    inner.assign(params.begin(), params.end() - 1);
    const Expr partitioned = Partition(pattern, Add(Call(f, args), b));
    const Function outer =
        Named(params, Add(Call(f, inner), params.back()), name);
    args.push_back(b);
    EXPECT_TRUE(StructuralEqual(partitioned, Call(outer, args))) << name;
  };
  check(Function({xp}, Add(xp, xp)), {x}, "add_FunctionCall_add_");
  check(Function({xp, yp}, Add(xp, yp)), {x, y}, "add_FunctionCall_add_");
  check(Function({xp, yp, zp}, Add(Add(xp, yp), zp)), {x, y, z},
        "add_add_FunctionCall_add_");
}

TEST(PartitionTest, Check) {
  const P pattern =
      IsOp("nn.relu")(IsOp("nn.conv2d")(IsVar("input"), Wildcard()));
  const auto check = [](const Expr& root) {
    const auto* conv = root.As<CallNode>()->arg(0).As<CallNode>();
    return conv->attrs_as<Conv2DAttrs>()->data_layout == "NCHW";
  };
  const Var x("input"), w("weight"), p("p"), q("q");
  EXPECT_TRUE(StructuralEqual(
      Partition(pattern, nn::Relu(Conv(x, w)), {}, check),
      Call(Named({p, q}, nn::Relu(Conv(p, q)), "nn.conv2d_nn.relu_"), {x, w})));
  const Expr other = nn::Relu(nn::Conv2D(x, w, {.data_layout = "NHWC"}));
  EXPECT_EQ(Partition(pattern, other, {}, check), other);
}

TEST(PartitionTest, CheckOfTypes) {
  const P pattern = IsOp("nn.relu")(IsConv());
  const auto check = [](const Expr& root) {
    const auto* conv = root.As<CallNode>()->arg(0).As<CallNode>();
    return conv->tensor_type()->dim(0).is_const(1);
  };
  const Var w("weight", {10, 10, 3, 3});
  for (const int batch : {1, 2}) {
    const Var x("input", {batch, 10, 10, 10});
    const Expr relu = Typed(nn::Relu(Conv(x, w)));
    const Expr partitioned = Partition(pattern, relu, {}, check);
    if (batch == 2) {
      EXPECT_EQ(partitioned, relu);
      continue;
    }
    const auto* call = partitioned.As<CallNode>();
    ASSERT_NE(call, nullptr);
    const auto* f = call->op().As<FunctionNode>();
    ASSERT_NE(f, nullptr);
    EXPECT_EQ(*f->attrs().Find("PartitionedFromPattern"),
              AttrValue("nn.conv2d_nn.relu_"));
  }
}

TEST(PartitionTest, Options) {
  const auto bias = [](const P& data) {
    return IsOp("nn.bias_add")(data, Wildcard());
  };
  const P pattern1 = IsOp("nn.relu")(IsConv().Optional(bias));
  const P pattern2 = bias(IsConv()).Optional(IsOp("nn.relu"));
  const Var x("x"), w("w"), b("b"), p("p"), q("q"), r("r");
  const Expr relu = ConvBiasRelu(x, w, b);
  const Expr expected = Call(
      Named({p, q, r}, ConvBiasRelu(p, q, r), "nn.conv2d_nn.bias_add_nn.relu_"),
      {x, w, b});
  for (const P& pattern : {pattern1, pattern2}) {
    EXPECT_TRUE(Matches(pattern, relu));
    EXPECT_TRUE(StructuralEqual(Partition(pattern, relu), expected));
  }
}

TEST(PartitionTest, Functions) {
  const Var x("x"), w("w"), b("b"), x1("x1"), w1("w1");
  const Var p("p"), q("q"), r("r");
  const P px = Wildcard(), pw = Wildcard();
  const Function conv({x1, w1}, Conv(x1, w1));
  const Function relu({x1, w1}, nn::Relu(Conv(x1, w1)));
  // A function with a body that is given, and with any.
  const std::vector<P> functions = {
      IsFunction({px, pw}, IsOp("nn.conv2d")(px, pw)),
      IsFunction({px, pw}, Wildcard())};
  for (const P& function : functions) {
    const P pattern = function(Wildcard(), Wildcard()) + Wildcard();
    const Function outer = Named({p, q, r}, Add(Call(conv, {p, q}), r),
                                 "nn.conv2d_FunctionCall_add_");
    EXPECT_TRUE(
        StructuralEqual(Partition(pattern, Add(Add(Call(conv, {x, w}), b), b)),
                        Add(Call(outer, {x, w, b}), b)));
  }
  // One of two functions.
  const P in = Wildcard(), weight = Wildcard();
  const P either =
      IsFunction({px, pw}, IsOp("sigmoid")(IsOp("nn.conv2d")(px, pw)))(in,
                                                                       weight) |
      IsFunction({px, pw}, IsOp("nn.relu")(IsOp("nn.conv2d")(px, pw)))(in,
                                                                       weight);
  const Function outer =
      Named({p, q}, Call(relu, {p, q}), "nn.conv2d_nn.relu_FunctionCall_");
  EXPECT_TRUE(StructuralEqual(Partition(either, Add(Call(relu, {x, w}), b)),
                              Add(Call(outer, {x, w}), b)));
}

TEST(PartitionTest, ConstantsThatAreAskedForBelongToTheFunction) {
  const Var x("x"), w("w"), b("b"), p("p"), q("q"), r("r");
  const Expr one = Const(1);
  const char name[] = "nn.conv2d_nn.bias_add_nn.relu_";
  const Function embedded = Named({p, r}, ConvBiasRelu(p, one, r), name);
  const Function lifted = Named({p, q, r}, ConvBiasRelu(p, q, r), name);
  const Expr with_var = ConvBiasRelu(x, w, b);
  const Expr with_constant = ConvBiasRelu(x, one, b);
  const auto pattern = [](const P& weight) {
    return IsOp("nn.relu")(
        IsOp("nn.bias_add")(IsOp("nn.conv2d")(Wildcard(), weight), Wildcard()));
  };
  const Expr lifted_var = Call(lifted, {x, w, b});
  const Expr lifted_constant = Call(lifted, {x, one, b});
  const Expr embedded_constant = Call(embedded, {x, b});
  const auto expect = [&](const P& weight, const Expr& of_var,
                          const Expr& of_constant) {
    EXPECT_TRUE(StructuralEqual(Partition(pattern(weight), with_var), of_var));
    EXPECT_TRUE(StructuralEqual(Partition(pattern(weight), with_constant),
                                of_constant));
  };
  expect(Wildcard(), lifted_var, lifted_constant);
  expect(IsVar(), lifted_var, with_constant);
  expect(IsConstant(), with_var, embedded_constant);
  expect(IsExpr(one), with_var, embedded_constant);
  expect(IsVar() | IsConstant(), lifted_var, embedded_constant);
  expect(IsConstant() | IsVar(), lifted_var, embedded_constant);
}

TEST(PartitionTest, UsedOutsideOnTheWayToTheRoot) {
  const auto multiply = IsOp("multiply")((IsConv() + Wildcard()), Wildcard());
  const Var x("x"), w("w"), b("b"), p("p"), q("q"), r("r"), s("s");
  const Expr sum = Add(Conv(x, w), b);
  const Expr gate = Sigmoid(sum);
  const Function f = Named({p, q, r, s}, Multiply(Add(Conv(p, q), r), s),
                           "nn.conv2d_add_multiply_");
  EXPECT_TRUE(
      StructuralEqual(Partition(multiply, nn::Relu(Multiply(sum, gate))),
                      nn::Relu(Call(f, {x, w, b, gate}))));
}

TEST(PartitionTest, InputOfTwoBranchesIsOneParameter) {
  const P pattern = (Wildcard() * Wildcard()) + (Wildcard() + Wildcard());
  const Var x("x"), w("w"), l("l"), r("r"), p("p"), q("q"), s("s");
  const Expr conv = Conv(x, w);
  const Function f =
      Named({p, q, s}, Add(Multiply(p, q), Add(q, s)), "multiply_add_add_");
  EXPECT_TRUE(
      StructuralEqual(Partition(pattern, Add(Multiply(l, conv), Add(conv, r))),
                      Call(f, {l, conv, r})));
}

// Cases that the reference lacks.

TEST(MatchTest, TellsWhatItsPartsMatched) {
  const P x = Wildcard("x"), w = Wildcard("w");
  const P conv = IsOp("nn.conv2d")(x, w);
  const P bias = IsOp("nn.bias_add")(conv, Wildcard());
  const P pattern = IsOp("nn.relu")(conv | bias);
  const Var a("a"), b("b");
  const Expr program = nn::Relu(nn::Conv2D(a, b, {.data_layout = "NHWC"}));
  const Matcher matcher(pattern);
  const std::optional<PatternMatch> match = matcher.At(program);
  ASSERT_TRUE(match.has_value());
  EXPECT_EQ(match->root(), program);
  EXPECT_EQ((*match)[x], a);
  EXPECT_EQ((*match)["w"], b);
  EXPECT_EQ(match->attrs<Conv2DAttrs>(conv).data_layout, "NHWC");
  EXPECT_EQ(match->call(conv), program.As<CallNode>()->arg(0).get());
  EXPECT_FALSE((*match)[bias].defined());
  EXPECT_EQ(match->call(bias), nullptr);
  EXPECT_FALSE((*match)["y"].defined());
}

TEST(MatchTest, TellsAllThatARepetitionMatched) {
  const P end = Wildcard("end");
  P cast;
  const P pattern = Repeated([&](const P& self) {
    cast = IsOp("exp")(self | end);
    return cast;
  });
  const Var x("x");
  const Expr inner = Exp(x);
  const Expr program = Exp(inner);
  const Matcher matcher(pattern);
  const std::optional<PatternMatch> match = matcher.At(program);
  ASSERT_TRUE(match.has_value());
  EXPECT_EQ(match->All(cast), (std::vector<Expr>{program, inner}));
  EXPECT_EQ((*match)[end], x);
}

TEST(MatchTest, NumberOfUses) {
  const P once = IsOp("exp")(IsOp("nn.relu")(Wildcard()).HasOneUse());
  const Var x("x");
  const Expr relu = nn::Relu(x);
  EXPECT_TRUE(Matches(once, Exp(relu)));
  const Expr exp = Exp(relu);
  const Expr both = Add(exp, relu);
  const UseCounts uses{IndexedGraph(both)};
  EXPECT_FALSE(Matcher(once).At(exp, &uses).has_value());
}

TEST(MatchTest, ExplainsHowFarItCame) {
  const P hard_swish =
      Wildcard("x") *
      IsOp("clip")(Wildcard("x") + IsScalar(3)).HasAttr("a_max", 6);
  const Var x("x"), y("y");
  const Matcher matcher(hard_swish);
  EXPECT_EQ(matcher.Explain(nn::Relu(x)),
            "matched 0 of 12 parts, then the root must be a call of multiply, "
            "found a call of nn.relu");
  EXPECT_EQ(matcher.Explain(Multiply(y, nn::Relu(x))),
            "matched 2 of 12 parts, then argument 1 of multiply, a call of "
            "nn.relu, does not meet: a_max = 6");
  EXPECT_EQ(matcher.Explain(Multiply(x, Clip(Add(x, Const(4.0f)), 0, 6))),
            "matched 7 of 12 parts, then argument 1 of add, a constant "
            "float32[], does not meet: = 3");
  EXPECT_EQ(matcher.Explain(Multiply(x, Clip(Add(x, Const(3.0f)), 0, 6))), "");
}

TEST(MatchTest, PatternsThatMatchNothing) {
  const Var x("x");
  EXPECT_FALSE(Matches(P(), x));
  EXPECT_FALSE(Matches(IsOp("nn.relu")(P()), nn::Relu(x)));
  EXPECT_FALSE(Matches(IsOp("no.such.operator")(Wildcard()), nn::Relu(x)));
  // A repetition that repeats nothing.
  const P nothing =
      Repeated([&](const P& self) { return self | IsOp("exp")(Wildcard()); });
  EXPECT_FALSE(Matches(nothing, Exp(x)));
  EXPECT_EQ(Matcher(nothing).Explain(Exp(x)),
            "a repetition repeats nothing: repeated((self | exp(_)))");
  // A kSelf outside of its repetition.
  P self;
  (void)Repeated([&](const P& s) {
    self = s;
    return IsOp("exp")(s);
  });
  EXPECT_FALSE(Matches(self, Exp(x)));
}

TEST(MatchTest, TooManyWaysToMatchAreGivenUp) {
  // 2^20 orders of arguments, none of which matches.
  P pattern = IsVar("none");
  Expr program = Var("x");
  const Var y("y");
  for (int i = 0; i < 40; ++i) {
    pattern = pattern + pattern.Where("more", [](const Expr&) { return true; });
    program = Add(program, Exp(program));
  }
  EXPECT_FALSE(Matches(pattern, program));
  P wide = Wildcard();
  Expr sum = y;
  for (int i = 0; i < 40; ++i) {
    wide = Wildcard() + wide;
    sum = Add(sum, Var("v"));
  }
  const P last = IsOp("subtract")(wide, IsVar("z"));
  EXPECT_FALSE(Matches(last, Subtract(sum, y)));
}

TEST(MatchTest, DeepPatternsAndPrograms) {
  constexpr int kDepth = 100'000;
  testing::RunWithStack(testing::SmallStackBytesOfThisBuild(), [&] {
    P relus = Wildcard("x"), sums = Wildcard("y");
    Expr relu_program = Var("x"), sum_program = Var("y");
    const Var z("z");
    for (int i = 0; i < kDepth; ++i) {
      relus = IsOp("nn.relu")(relus);
      sums = sums + IsVar();
      relu_program = nn::Relu(relu_program);
      sum_program = Add(z, sum_program);
    }
    EXPECT_TRUE(Matches(relus, relu_program));
    EXPECT_FALSE(Matches(IsOp("nn.relu")(relus), relu_program));
    EXPECT_TRUE(Matches(sums, sum_program));
    EXPECT_LT(relus.ToString().size(), 600u);
    EXPECT_NE(Matcher(IsOp("nn.relu")(relus)).Explain(relu_program), "");
    const P path = Repeated(
        [](const P& self) { return IsOp("nn.relu")(self | IsVar("x")); });
    EXPECT_TRUE(Matches(path, relu_program));
    EXPECT_TRUE(Matches(Dominates(IsConv(), Unary(), Unary()), [&] {
      Expr e = Conv(z, z);
      for (int i = 0; i < kDepth; ++i) e = Exp(e);
      return e;
    }()));
  });
}

// Failing early, by the kinds of nodes that parts can match, changes no match.

using Bindings = std::vector<std::pair<int, const ExprNode*>>;

// The bindings of `matcher` at `expr`; nullopt without a match.
std::optional<Bindings> BindingsOf(const Matcher& matcher, const Expr& expr,
                                   const UseCounts& uses,
                                   bool tries_all_parts) {
  MatchMachine machine;
  machine.set_tries_all_parts(tries_all_parts);
  const PatternMatch* match = machine.Run(matcher, expr.get(), &uses);
  if (match == nullptr) return std::nullopt;
  Bindings result;
  for (const PatternMatch::Bound& bound : match->bound()) {
    result.push_back({bound.part, bound.node});
  }
  return result;
}

// A random program, and for each of its nodes a pattern that mostly follows it:
// arguments may be exchanged or others, parts have alternatives, and are often
// shared.
struct RandomPatterns {
  RandomPatterns(int num_calls, std::mt19937_64& random)
      : nodes({Var("x"), Var("y"), Const(1.0f), Const(2.0f)}),
        patterns({Wildcard("x"), IsVar(), IsConstant(), IsSplat(2)}) {
    const auto below = [&random](size_t n) { return random() % n; };
    for (int i = 0; i < num_calls; ++i) {
      const size_t size = nodes.size();
      const size_t form = below(std::size(kOps) + 1);
      // Mostly the last nodes, which have more below them.
      const auto any = [&] {
        return below(2) == 0 ? below(size) : size - 1 - below(3);
      };
      size_t a = any(), b = below(4) == 0 ? a : any();
      nodes.push_back(Node(form, nodes[a], nodes[b]));
      if (below(3) == 0) std::swap(a, b);
      if (below(8) == 0) a = any();
      const P own = Pattern(form, patterns[a], patterns[b]);
      const P other = patterns[below(size)];
      const auto repeated = [&](const P& self) {
        return Pattern(form, self | patterns[a], patterns[b]);
      };
      switch (below(10)) {
        case 0:
          patterns.push_back(Wildcard());
          break;
        case 1:
          patterns.push_back(other | own);
          break;
        case 2:
          patterns.push_back(own | other);
          break;
        case 3:
          patterns.push_back(
              Pattern(below(std::size(kOps)), patterns[a], patterns[b]) | own);
          break;
        case 4:
          patterns.push_back(own.Optional(IsOp("exp")));
          break;
        case 5:
          patterns.push_back(Repeated(repeated));
          break;
        case 6:
          patterns.push_back(
              Dominates(patterns[a], IsOp("exp")(Wildcard()), own | other));
          break;
        case 7:
          patterns.push_back(
              own.Where("any", [](const Expr&) { return true; }));
          break;
        default:
          patterns.push_back(own);
      }
    }
  }

  static constexpr const char* kOps[] = {"add", "multiply", "subtract", "exp",
                                         "nn.relu"};
  static Expr Node(size_t form, const Expr& a, const Expr& b) {
    switch (form) {
      case 0:
        return Add(a, b);
      case 1:
        return Multiply(a, b);
      case 2:
        return Subtract(a, b);
      case 3:
        return Exp(a);
      case 4:
        return nn::Relu(a);
      default:
        return Tuple({a, b});
    }
  }
  static P Pattern(size_t form, const P& a, const P& b) {
    if (form == std::size(kOps)) return IsTuple({a, b});
    return form < 3 ? IsOp(kOps[form])(a, b) : IsOp(kOps[form])(a);
  }

  std::vector<Expr> nodes;
  std::vector<P> patterns;
};

TEST(MatcherTest, FailingEarlyChangesNoMatch) {
  std::mt19937_64 random(testing::TestSetting("BATON_FIRST_SEED", 17));
  const int num_programs = testing::IsLongTest() ? 20'000 : 400;
  int matched = 0, failed = 0, backtracked = 0;
  for (int program = 0; program < num_programs; ++program) {
    const RandomPatterns made(/*num_calls=*/8, random);
    const UseCounts uses(IndexedGraph(made.nodes.back()));
    for (size_t i = 4; i < made.patterns.size(); ++i) {
      const Matcher all(made.patterns[i], Matcher::Ways::kAll);
      const Matcher first(made.patterns[i], Matcher::Ways::kFirst);
      if (!all.status().ok()) continue;
      for (size_t k = 0; k < made.nodes.size(); ++k) {
        std::optional<Bindings> of_all;
        for (const Matcher* matcher : {&all, &first}) {
          const std::optional<Bindings> early =
              BindingsOf(*matcher, made.nodes[k], uses, false);
          ASSERT_EQ(early, BindingsOf(*matcher, made.nodes[k], uses, true))
              << "program " << program << ", node " << k << ", "
              << (matcher == &all ? "all ways" : "first ways") << ": "
              << made.patterns[i].ToString();
          ++(early.has_value() ? matched : failed);
          if (matcher == &all) {
            of_all = early;
          } else if (of_all != early) {
            ++backtracked;
          }
        }
      }
    }
  }
  EXPECT_GT(matched, 10 * num_programs);
  EXPECT_GT(failed, 10 * num_programs);
  // All ways gave another match than the first ways.
  EXPECT_GT(backtracked, num_programs / 200);
}

}  // namespace
}  // namespace baton::relay
