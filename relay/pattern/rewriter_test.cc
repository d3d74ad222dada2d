#include "baton/relay/pattern/rewriter.h"

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/base/dtype.h"
#include "baton/ir/module.h"
#include "baton/ir/op.h"
#include "baton/ir/structural_equal.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/constant.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/ir/visit.h"
#include "baton/relay/op/builders.h"
#include "baton/relay/pattern/dataflow_pattern.h"
#include "baton/relay/pattern/matcher.h"
#include "baton/relay/pattern/rewrite_rule.h"
#include "baton/testing/small_stack.h"
#include "baton/testing/status_matchers.h"
#include "baton/testing/test_settings.h"
#include "gtest/gtest.h"

namespace baton::relay {
namespace {

using testing::IsOk;
using testing::StatusIs;

using P = DataflowPattern;

RewriteRule Rule(std::string name, const P& pattern,
                 std::function<Expr(const PatternMatch&)> replace) {
  return {.name = std::move(name),
          .pattern = pattern,
          .replace = [replace = std::move(replace)](const PatternMatch& m)
              -> absl::StatusOr<Expr> { return replace(m); }};
}

// A unary operator becomes another.
RewriteRule Becomes(const char* from, const char* to) {
  const P x = Wildcard("x");
  return Rule(
      absl::StrCat(from, "_to_", to), IsOp(from)(x),
      [=](const PatternMatch& m) { return Call(Op::Find(to), {m[x]}); });
}

Function Typed(const Function& function) {
  absl::StatusOr<Expr> typed = InferTypeOf(function);
  EXPECT_THAT(typed, IsOk());
  return Function(typed->As<FunctionNode>());
}

Expr MustRewrite(const std::vector<RewriteRule>& rules, const Expr& expr,
                 const RewriteOptions& options = {}) {
  absl::StatusOr<Expr> result = ApplyRules(rules, expr, options);
  EXPECT_THAT(result, IsOk());
  return result.ok() ? *result : Expr();
}

// True if `result` is the typed form of `expected`.
bool Is(const Expr& result, const Function& expected) {
  return result.defined() && StructuralEqual(result, Typed(expected));
}

bool AllTyped(const Expr& expr) {
  bool all = true;
  PostOrderVisit(expr, [&](const ExprNode* node) {
    all &= node->type().defined() || node->kind() == ExprKind::kOp;
  });
  return all;
}

TEST(RewriterTest, NothingMatches) {
  const Var x("x", {4});
  const Function f = Typed(Function({x}, Exp(Tanh(x))));
  EXPECT_EQ(MustRewrite({}, f), f);
  EXPECT_EQ(MustRewrite({Becomes("nn.relu", "exp")}, f), f);
}

TEST(RewriterTest, RulesSeeWhatRulesMade) {
  const Var x("x", {4});
  const Function f = Typed(Function({x}, Exp(Tanh(Sqrt(x)))));
  // sqrt becomes sin, sin becomes cos, and tanh of cos becomes the argument.
  const P y = Wildcard("y");
  const Expr result =
      MustRewrite({Rule("tanh_of_cos", IsOp("tanh")(IsOp("cos")(y)),
                        [=](const PatternMatch& m) { return m[y]; }),
                   Becomes("sin", "cos"), Becomes("sqrt", "sin")},
                  f);
  EXPECT_TRUE(Is(result, Function({x}, Exp(x))));
  EXPECT_TRUE(AllTyped(result));
}

TEST(RewriterTest, TheFirstRuleOfTheSetWins) {
  const Var x("x", {4});
  const Function f = Typed(Function({x}, Exp(x)));
  EXPECT_TRUE(Is(MustRewrite({Becomes("exp", "sin"), Becomes("exp", "cos")}, f),
                 Function({x}, Sin(x))));
  EXPECT_TRUE(Is(MustRewrite({Becomes("exp", "cos"), Becomes("exp", "sin")}, f),
                 Function({x}, Cos(x))));
}

TEST(RewriterTest, RulesOfAllCallsAndOfOneOperator) {
  const Var x("x", {4});
  const P arg = Wildcard("arg");
  const RewriteRule any =
      Rule("any",
           Wildcard().Where(
               "no copy",
               [](const Expr& op) { return op != Op::Find("copy"); })(arg),
           [=](const PatternMatch& m) { return Copy(m[arg]); });
  const Function f = Typed(Function({x}, Exp(Tanh(x))));
  EXPECT_TRUE(Is(MustRewrite({Becomes("exp", "copy"), any}, f),
                 Function({x}, Copy(Copy(x)))));
  const RewriteRule anything = Rule(
      "anything",
      Wildcard().Where(
          "a call of tanh",
          [](const Expr& e) { return IsCallTo(e, Op::Find("tanh")); }),
      [](const PatternMatch& m) { return m.root().As<CallNode>()->arg(0); });
  EXPECT_TRUE(Is(MustRewrite({Becomes("exp", "sin"), anything}, f),
                 Function({x}, Sin(x))));
}

TEST(RewriterTest, SharingIsKept) {
  const Var x("x", {4});
  const Expr exp = Exp(x);
  const Function f = Typed(Function({x}, Add(exp, Tanh(exp))));
  const Expr sin = Sin(x);
  EXPECT_TRUE(Is(MustRewrite({Becomes("exp", "sin")}, f),
                 Function({x}, Add(sin, Tanh(sin)))));
}

TEST(RewriterTest, WithoutTypes) {
  const Var x("x");
  const Function f({x}, Exp(Tanh(Sqrt(x))));
  const Expr result =
      MustRewrite({Becomes("sqrt", "sin"), Becomes("sin", "cos")}, f);
  EXPECT_TRUE(StructuralEqual(result, Function({x}, Exp(Tanh(Cos(x))))));
  EXPECT_FALSE(result->type().defined());
}

TEST(RewriterTest, NewNodesHaveTheTypesOfTheirOperators) {
  const Var x("x", {4, 8}), w("w", {2, 8});
  const Function f = Typed(Function({x, w}, nn::Dense(x, w)));
  const P a = Wildcard("a"), b = Wildcard("b");
  const Expr result = MustRewrite(
      {Rule("dense_to_matmul", IsOp("nn.dense")(a, b),
            [=](const PatternMatch& m) {
              return Transpose(nn::Matmul(m[b], m[a], {.transpose_b = true}),
                               std::vector<int64_t>{1, 0});
            })},
      f);
  ASSERT_TRUE(AllTyped(result));
  const auto* body = result.As<FunctionNode>()->body().As<CallNode>();
  EXPECT_EQ(body->type().ToString(), "Tensor[(4, 2), float32]");
  EXPECT_EQ(body->arg(0)->type().ToString(), "Tensor[(2, 4), float32]");
  EXPECT_EQ(body->arg(0).As<CallNode>()->arg(1),
            result.As<FunctionNode>()->params()[0]);
}

TEST(RewriterTest, FunctionsThatRulesMakeAreRewrittenToo) {
  const Var x("x", {4});
  const Function f = Typed(Function({x}, Exp(x)));
  const P a = Wildcard("a");
  const Expr result =
      MustRewrite({Rule("outline", IsOp("exp")(a),
                        [=](const PatternMatch& m) {
                          const Var p("p", {4});
                          return Call(Function({p}, Sqrt(p)), {m[a]});
                        }),
                   Becomes("sqrt", "sin")},
                  f);
  const Var p("p", {4});
  EXPECT_TRUE(Is(result, Function({x}, Call(Function({p}, Sin(p)), {x}))));
  EXPECT_TRUE(AllTyped(result));
}

TEST(RewriterTest, UnknownDimensionsMayBecomeKnown) {
  const Var x("x", {Dim::Any(), 4});
  const Function f = Typed(Function({x}, Exp(Tanh(x))));
  const Var y("y", {2, 4});
  const Expr typed_y = Typed(Function({y}, y)).As<FunctionNode>()->params()[0];
  const Expr result =
      MustRewrite({Rule("known", IsOp("tanh")(Wildcard()),
                        [&](const PatternMatch&) { return Sigmoid(typed_y); })},
                  f);
  const auto* function = result.As<FunctionNode>();
  EXPECT_EQ(function->body()->type().ToString(), "Tensor[(2, 4), float32]");
}

// Errors.

TEST(RewriterTest, ATypeMustNotChange) {
  const Var x("x", {4});
  const Function f = Typed(Function({x}, Exp(x)));
  const P a = Wildcard("a");
  EXPECT_THAT(
      ApplyRules({Rule("to_int", IsOp("exp")(a),
                       [=](const PatternMatch& m) {
                         return Cast(m[a], DType::Int(32));
                       })},
                 f),
      StatusIs(absl::StatusCode::kFailedPrecondition,
               "rule to_int replaces a call of exp of type Tensor[(4), "
               "float32] by a call of cast of type Tensor[(4), int32]"));
}

TEST(RewriterTest, WhatRulesMakeMustHaveATypeAtAll) {
  const Var x("x", {4});
  const Function f = Typed(Function({x}, Exp(x)));
  const P a = Wildcard("a");
  EXPECT_THAT(
      ApplyRules(
          {Rule("bad", IsOp("exp")(a),
                [=](const PatternMatch& m) { return nn::Dense(m[a], m[a]); })},
          f),
      StatusIs(absl::StatusCode::kInvalidArgument,
               "rule bad makes an ill-typed program: "));
}

TEST(RewriterTest, ErrorsOfRulesEndIt) {
  const Var x("x", {4});
  EXPECT_THAT(
      ApplyRules({{.name = "fails",
                   .pattern = IsOp("exp")(Wildcard()),
                   .replace = [](const PatternMatch&) -> absl::StatusOr<Expr> {
                     return absl::UnimplementedError("not today");
                   }}},
                 Typed(Function({x}, Exp(x)))),
      StatusIs(absl::StatusCode::kUnimplemented, "not today"));
}

TEST(RewriterTest, RulesThatUndoEachOtherAreNamed) {
  const Var x("x", {4});
  const Function f = Typed(Function({x}, Tanh(Exp(x))));
  EXPECT_THAT(ApplyRules({Becomes("exp", "sin"), Becomes("sin", "cos"),
                          Becomes("sqrt", "tan"), Becomes("cos", "exp")},
                         f),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       "rules exp_to_sin and sin_to_cos and cos_to_exp undo "
                       "each other at a call of exp, without end"));
  // The second rule matches below the root of the result of the first, in a
  // program without types.
  const P a = Wildcard("a");
  const RewriteRule unfold =
      Rule("unfold", IsOp("sin")(a),
           [=](const PatternMatch& m) { return Tanh(Exp(m[a])); });
  EXPECT_THAT(
      ApplyRules({Becomes("exp", "sin"), unfold}, Function({x}, Exp(x))),
      StatusIs(absl::StatusCode::kFailedPrecondition,
               "rules exp_to_sin and unfold undo each other at a call "
               "of exp, without end"));
}

TEST(RewriterTest, ARuleThatUndoesItsOwnWorkIsNamed) {
  const Var x("x", {4}), y("y", {4});
  const P a = Wildcard("a"), b = Wildcard("b");
  const RewriteRule swap =
      Rule("swap", IsOp("subtract")(a, b),
           [=](const PatternMatch& m) { return Subtract(m[b], m[a]); });
  EXPECT_THAT(
      ApplyRules({swap}, Typed(Function({x, y}, Subtract(x, y)))),
      StatusIs(absl::StatusCode::kFailedPrecondition,
               "rule swap undoes its own work at a call of subtract, without "
               "end"));
}

TEST(RewriterTest, ARuleThatMatchesItsResultIsNamed) {
  const Var x("x", {4}), y("y", {4});
  const P a = Wildcard("a"), b = Wildcard("b");
  const RewriteRule exchange =
      Rule("exchange", IsOp("exp")(a),
           [=](const PatternMatch& m) { return Exp(m[a]); });
  EXPECT_THAT(ApplyRules({exchange}, Typed(Function({x}, Exp(x)))),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       "rule exchange makes of a call of exp the same again"));
  const RewriteRule commute =
      Rule("commute", IsOp("subtract")(a, b),
           [=](const PatternMatch& m) { return Subtract(m[b], m[a]); });
  EXPECT_THAT(ApplyRules({commute}, Typed(Function({x, y}, Subtract(x, y)))),
              StatusIs(absl::StatusCode::kFailedPrecondition, "rule commute "));
}

TEST(RewriterTest, ARuleThatGrowsTheProgramIsNamed) {
  const Var x("x", {4});
  const Function f = Typed(Function({x}, Tanh(Exp(x))));
  const P a = Wildcard("a");
  const RewriteRule grows =
      Rule("grows", IsOp("exp")(a),
           [=](const PatternMatch& m) { return Exp(nn::Relu(m[a])); });
  EXPECT_THAT(ApplyRules({grows}, f, {.max_growth = 1000}),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       "the program does not stop growing by rule grows: 1001 "
                       "nodes more after"));
  const RewriteRule counts = Rule(
      "counts", IsOp("exp")(IsOp("add")(a, IsScalar())),
      [=](const PatternMatch& m) {
        const auto* add = m.root().As<CallNode>()->arg(0).As<CallNode>();
        return Exp(Add(
            m[a], Const(static_cast<float>(*ConstantScalar(add->arg(1)) + 1))));
      });
  EXPECT_THAT(
      ApplyRules({counts}, Typed(Function({x}, Exp(Add(x, Const(1.0f))))),
                 {.max_derivation = 1000}),
      StatusIs(absl::StatusCode::kFailedPrecondition,
               "there is no end to rule counts: "));
}

TEST(RewriterTest, WrongSetsOfRules) {
  const Var x("x", {4});
  EXPECT_THAT(ApplyRules({Becomes("exp", "sin"), Becomes("exp", "sin")}, x),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "two rules are called exp_to_sin"));
  EXPECT_THAT(ApplyRules({{.name = "half", .pattern = Wildcard()}}, x),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "rule half has no replacement"));
  EXPECT_THAT(
      ApplyRules({Rule("odd", Repeated([](const P& self) { return self; }),
                       [](const PatternMatch& m) { return m.root(); })},
                 x),
      StatusIs(absl::StatusCode::kInvalidArgument,
               "rule odd: a repetition repeats nothing"));
}

// Listeners and limits.

TEST(RewriterTest, TellsOfApplications) {
  const Var x("x", {4});
  const Function f = Typed(Function({x}, Exp(Tanh(x))));
  std::vector<std::string> events;
  RewriteOptions options;
  options.on_application = [&](const RewriteRule& rule, const Expr& before,
                               const Expr& after) {
    events.push_back(absl::StrCat(rule.name, ": ", DescribeNode(before.get()),
                                  " -> ", DescribeNode(after.get())));
    EXPECT_TRUE(AllTyped(after));
  };
  options.on_decline = [&](const RewriteRule& rule, const Expr& at,
                           absl::string_view why) {
    events.push_back(
        absl::StrCat(rule.name, " not at ", DescribeNode(at.get()), ": ", why));
  };
  const RewriteRule shy =
      Rule("shy", IsOp("tanh")(Wildcard()), [](const PatternMatch& m) -> Expr {
        return m.Decline("I would rather not");
      });
  MustRewrite({shy, Becomes("exp", "sin"), Becomes("sin", "cos")}, f, options);
  EXPECT_EQ(events, (std::vector<std::string>{
                        "shy not at a call of tanh: I would rather not",
                        "exp_to_sin: a call of exp -> a call of sin",
                        "sin_to_cos: a call of sin -> a call of cos"}));
}

// Texts `RULE at NODE: WHY` of the partial matches that are told.
std::vector<std::string> PartialMatches(const RuleSet& rules,
                                        const Expr& expr) {
  std::vector<std::string> told;
  RewriteOptions options;
  options.on_partial_match = [&](const RewriteRule& rule, const Expr& at,
                                 absl::string_view why) {
    told.push_back(
        absl::StrCat(rule.name, " at ", DescribeNode(at.get()), ": ", why));
  };
  EXPECT_THAT(rules.Rewrite(expr, options), IsOk());
  return told;
}

TEST(RewriterTest, TellsOfTheBestPartialMatch) {
  const Var x("x", {4}), y("y", {4});
  const P a = Wildcard("a");
  const Expr near = Exp(Tanh(Sqrt(y)));
  const Function f = Typed(Function({x, y}, Add(Exp(Tanh(x)), near)));
  // Matches `near` as far as sqrt.
  const RewriteRule deep =
      Rule("deep", IsOp("exp")(IsOp("tanh")(IsOp("sqrt")(IsOp("negative")(a)))),
           [=](const PatternMatch& m) { return m[a]; });
  // Stands at the root of its pattern only.
  const RewriteRule shallow = Rule("shallow", IsOp("exp")(IsOp("sin")(a)),
                                   [=](const PatternMatch& m) { return m[a]; });
  // Match as a whole.
  const RewriteRule declines =
      Rule("declines", IsOp("exp")(IsOp("tanh")(a)),
           [](const PatternMatch& m) -> Expr { return m.Decline("no"); });
  const RewriteRule applies =
      Rule("applies", IsOp("tanh")(IsOp("sqrt")(a)),
           [=](const PatternMatch& m) { return Tanh(m[a]); });
  const std::vector<std::string> deep_only = {
      "deep at a call of exp: matched 3 of 9 parts, then argument 0 of "
      "sqrt must be a call of negative, found the variable %y"};
  for (const RuleOrder order :
       {RuleOrder::kInnermostFirst, RuleOrder::kInTurn}) {
    EXPECT_EQ(PartialMatches(RuleSet({deep, shallow, declines}, order), f),
              deep_only);
    EXPECT_EQ(PartialMatches(RuleSet({shallow, applies}, order), f),
              std::vector<std::string>());
  }
}

// A partial match of a rule that asks for uses, in a program that changed.
TEST(RewriterTest, PartialMatchesKnowTheUses) {
  const Var x("x", {4});
  const P a = Wildcard("a");
  const RewriteRule lonely =
      Rule("lonely", IsOp("exp")(IsOp("tanh")(IsOp("sqrt")(a).HasOneUse())),
           [=](const PatternMatch& m) { return m[a]; });
  const Expr shared = Sqrt(x);
  const Function f = Typed(Function({x}, Add(Exp(Tanh(shared)), Sin(shared))));
  EXPECT_EQ(PartialMatches(RuleSet({lonely, Becomes("sin", "cos")}), f).size(),
            1);
  // The other use goes, and all of it matches.
  const RewriteRule first = Rule("first", IsOp("add")(a, Wildcard()),
                                 [=](const PatternMatch& m) { return m[a]; });
  EXPECT_EQ(PartialMatches(RuleSet({lonely, first}), f),
            std::vector<std::string>());
}

TEST(RewriterTest, ApplicationsCanBeLimited) {
  const Var x("x", {4});
  const Function f = Typed(Function({x}, Exp(Exp(Exp(x)))));
  int left = 2;
  RewriteOptions options;
  options.may_apply = [&](const RewriteRule&) { return left-- > 0; };
  EXPECT_TRUE(Is(MustRewrite({Becomes("exp", "sin")}, f, options),
                 Function({x}, Exp(Sin(Sin(x))))));
}

// Rules that ask who else uses a node.

RewriteRule FoldOnlyUse(bool exclusive) {
  const P a = Wildcard("a");
  const P inner = IsOp("negative")(a);
  RewriteRule rule =
      Rule("double_negative",
           IsOp("negative")(exclusive ? inner : inner.HasOneUse()),
           [=](const PatternMatch& m) { return m[a]; });
  rule.exclusive = exclusive;
  return rule;
}

TEST(RewriterTest, OnlyWhereNobodyElseUsesIt) {
  const Var x("x", {4});
  const Expr inner = Negative(x);
  const Function shared =
      Typed(Function({x}, Add(Negative(inner), Exp(inner))));
  const Function alone = Typed(Function({x}, Exp(Negative(inner))));
  for (const bool exclusive : {false, true}) {
    const RewriteRule rule = FoldOnlyUse(exclusive);
    EXPECT_EQ(MustRewrite({rule}, shared), shared);
    EXPECT_TRUE(Is(MustRewrite({rule}, alone), Function({x}, Exp(x))));
  }
}

TEST(RewriterTest, UsesThatOtherRulesRemoveDoNotCount) {
  const Var x("x", {4});
  const Expr inner = Negative(x);
  const P a = Wildcard("a");
  // `exp(x) - exp(x)` is dropped, with its use of `inner`: before and after the
  // other use is looked at.
  const RewriteRule drop =
      Rule("drop", IsOp("multiply")(IsOp("exp")(Wildcard()), a),
           [=](const PatternMatch& m) { return m[a]; });
  for (const bool exclusive : {false, true}) {
    const RewriteRule fold = FoldOnlyUse(exclusive);
    const Function early =
        Typed(Function({x}, Tuple({Multiply(Exp(inner), x), Negative(inner)})));
    EXPECT_TRUE(
        Is(MustRewrite({drop, fold}, early), Function({x}, Tuple({x, x}))));
    const Function late =
        Typed(Function({x}, Tuple({Negative(inner), Multiply(Exp(inner), x)})));
    EXPECT_TRUE(
        Is(MustRewrite({drop, fold}, late), Function({x}, Tuple({x, x}))));
  }
}

TEST(RewriterTest, UsesThatOtherRulesAddCount) {
  const Var x("x", {4});
  const P a = Wildcard("a");
  // exp(a) becomes a * a: now there are two uses of a.
  const RewriteRule twice = Rule(
      "twice", IsOp("exp")(a),
      [=](const PatternMatch& m) { return Multiply(m[a], Negative(m[a])); });
  const Function f = Typed(Function({x}, Exp(Negative(x))));
  const Expr n = Negative(x);
  EXPECT_TRUE(Is(MustRewrite({twice, FoldOnlyUse(false)}, f),
                 Function({x}, Multiply(n, Negative(n)))));
}

// The first look at a program finds whatever a rule may be applied to.

TEST(RewriterTest, RulesOfNodesWithoutChildren) {
  const Var x("x", {4});
  const Function f = Typed(Function({x}, Add(x, Const(2.0f))));
  const RewriteRule three = Rule(
      "three", IsScalar(2), [](const PatternMatch&) { return Const(3.0f); });
  EXPECT_TRUE(Is(MustRewrite({three}, f), Function({x}, Add(x, Const(3.0f)))));
  const Function other = Typed(Function({x}, Add(x, Const(4.0f))));
  EXPECT_EQ(MustRewrite({three}, other), other);
}

TEST(RewriterTest, RulesThatDeclineEverywhereChangeNothing) {
  const Var x("x", {4});
  const Function f = Typed(Function({x}, Exp(Tanh(x))));
  const RewriteRule shy =
      Rule("shy", IsOp("tanh")(Wildcard()),
           [](const PatternMatch& m) -> Expr { return m.Decline("no"); });
  const RewriteRule same = Rule("same", IsOp("exp")(Wildcard()),
                                [](const PatternMatch& m) { return m.root(); });
  EXPECT_EQ(MustRewrite({shy, same}, f), f);
}

TEST(RewriterTest, ARuleThatIsAppliedOnceStandsAlone) {
  const Var x("x", {4});
  const P a = Wildcard("a");
  RewriteRule once = Rule("wrap", IsOp("exp")(a), [=](const PatternMatch& m) {
    return Negative(Exp(m[a]));
  });
  once.once = true;
  const Function f = Typed(Function({x}, Tanh(x)));
  EXPECT_EQ(MustRewrite({once}, f), f);
  EXPECT_TRUE(Is(MustRewrite({once}, Typed(Function({x}, Exp(Tanh(x))))),
                 Function({x}, Negative(Exp(Tanh(x))))));
}

// Operators that look alike to the index of arguments do not match.
TEST(RewriterTest, ArgumentsOfAllOperatorsAreToldApart) {
  const Var x("x", {4});
  const P a = Wildcard("a");
  const RewriteRule rule =
      Rule("r", IsOp("exp")(IsOp("tanh")(a)),
           [=](const PatternMatch& m) { return Sin(m[a]); });
  const RuleSet rules({rule});
  int tried = 0;
  for (const OpNode* op : OpRegistry::Global().List()) {
    if (op->arity() != 1 || op->attrs_type() != nullptr) continue;
    const absl::StatusOr<Expr> f =
        InferTypeOf(Function({x}, Exp(Call(Op(op), {x}))));
    if (!f.ok()) continue;
    ++tried;
    BATON_ASSERT_OK_AND_ASSIGN(const Expr result, rules.Rewrite(*f));
    EXPECT_EQ(result != *f, op->name() == "tanh") << op->name();
  }
  EXPECT_GT(tried, 30);
}

// Size.

TEST(RewriterTest, ManyNodesThatNothingMatches) {
  const int levels = testing::IsLongTest() ? 1'000'000 : 100'000;
  testing::RunWithStack(testing::SmallStackBytesOfThisBuild(), [&] {
    const Var x("x", {4});
    Expr chain = x;
    for (int i = 0; i < levels; ++i) chain = Exp(chain);
    const Function f = Typed(Function({x}, chain));
    chain = Expr();
    const P a = Wildcard("a");
    EXPECT_EQ(MustRewrite({Becomes("sin", "cos"),
                           Rule("r", IsOp("exp")(IsOp("exp")(IsOp("tanh")(a))),
                                [=](const PatternMatch& m) { return m[a]; })},
                          f),
              f);
  });
}

TEST(RewriterTest, ManyApplications) {
  const int levels = testing::IsLongTest() ? 1'000'000 : 100'000;
  testing::RunWithStack(testing::SmallStackBytesOfThisBuild(), [&] {
    const Var x("x", {4});
    Expr chain = x;
    for (int i = 0; i < levels; ++i) chain = Exp(chain);
    const Function f = Typed(Function({x}, chain));
    chain = Expr();
    int64_t applications = 0;
    RewriteOptions options;
    options.on_application = [&](const RewriteRule&, const Expr&, const Expr&) {
      ++applications;
    };
    const Expr result = MustRewrite({Becomes("exp", "sin")}, f, options);
    EXPECT_EQ(applications, levels);
    const auto* body = result.As<FunctionNode>()->body().As<CallNode>();
    EXPECT_EQ(body->op(), Op::Find("sin"));
    EXPECT_TRUE(body->type().defined());
  });
}

TEST(RewriterTest, ADerivationOfManySteps) {
  const int levels = testing::IsLongTest() ? 1'000'000 : 100'000;
  testing::RunWithStack(testing::SmallStackBytesOfThisBuild(), [&] {
    const Var x("x", {4});
    Expr chain = x;
    for (int i = 0; i < levels; ++i) chain = Exp(chain);
    const Function f = Typed(Function({x}, Negative(chain)));
    chain = Expr();
    // The negation sinks to the bottom.
    const P a = Wildcard("a");
    const Expr result = MustRewrite(
        {Rule("sink", IsOp("negative")(IsOp("exp")(a)),
              [=](const PatternMatch& m) { return Exp(Negative(m[a])); })},
        f);
    int depth = 0;
    Expr at = result.As<FunctionNode>()->body();
    while (IsCallTo(at, Op::Find("exp"))) {
      at = at.As<CallNode>()->arg(0);
      ++depth;
    }
    EXPECT_EQ(depth, levels);
    EXPECT_TRUE(IsCallTo(at, Op::Find("negative")));
  });
}

// Rules in turn.

absl::StatusOr<Expr> InTurn(const std::vector<RewriteRule>& rules,
                            const Expr& expr) {
  return RuleSet(rules, RuleOrder::kInTurn).Rewrite(expr);
}

TEST(RulesInTurnTest, NothingMatches) {
  const Var x("x", {2});
  const Function function = Typed(Function({x}, Exp(x)));
  BATON_ASSERT_OK_AND_ASSIGN(const Expr result,
                             InTurn({Becomes("sqrt", "tanh")}, function));
  EXPECT_EQ(result, function);
}

TEST(RulesInTurnTest, GoOverTheProgramOneAfterTheOther) {
  const Var x("x", {2});
  const auto apply = [&](std::vector<RewriteRule> rules) {
    std::vector<std::string> log;
    RewriteOptions options;
    options.on_application = [&](const RewriteRule& rule, const Expr& /*from*/,
                                 const Expr& /*to*/) {
      log.push_back(rule.name);
    };
    const absl::StatusOr<Expr> result =
        RuleSet(std::move(rules), RuleOrder::kInTurn)
            .Rewrite(Typed(Function({x}, Exp(Sqrt(x)))), options);
    EXPECT_THAT(result, IsOk());
    EXPECT_TRUE(Is(*result, Function({x}, Tanh(Sigmoid(x)))));
    EXPECT_TRUE(AllTyped(*result));
    return log;
  };
  // Children first, sqrt would become tanh before the second rule is asked.
  EXPECT_EQ(apply({Becomes("exp", "tanh"), Becomes("sqrt", "sigmoid")}),
            (std::vector<std::string>{"exp_to_tanh", "sqrt_to_sigmoid"}));
  // The first rule matches only what the second makes: in the next round.
  EXPECT_EQ(apply({Becomes("log", "sigmoid"), Becomes("sqrt", "log"),
                   Becomes("exp", "tanh")}),
            (std::vector<std::string>{"sqrt_to_log", "exp_to_tanh",
                                      "log_to_sigmoid"}));
}

TEST(RulesInTurnTest, OutermostMatchesWhichShareNoNodes) {
  // The outer two of three calls become one, and in the next round the last
  // two.
  const P x = Wildcard("x");
  int applications = 0;
  const RewriteRule merge = Rule("merge", IsOp("exp")(IsOp("exp")(x)),
                                 [&applications, x](const PatternMatch& m) {
                                   ++applications;
                                   return Exp(m[x]);
                                 });
  const Var v("v", {2});
  BATON_ASSERT_OK_AND_ASSIGN(
      const Expr result,
      InTurn({merge}, Typed(Function({v}, Exp(Exp(Exp(v)))))));
  EXPECT_TRUE(Is(result, Function({v}, Exp(v))));
  EXPECT_GE(applications, 2);
}

TEST(RulesInTurnTest, EndWhereNothingDiffers) {
  const Var x("x", {2});
  const Function function = Typed(Function({x}, Exp(x)));
  BATON_ASSERT_OK_AND_ASSIGN(const Expr result,
                             InTurn({Becomes("exp", "exp")}, function));
  EXPECT_EQ(result, function);
}

TEST(RulesInTurnTest, WhatIsNeededElsewhereStays) {
  const P x = Wildcard("x");
  const RewriteRule merge =
      Rule("merge", IsOp("exp")(IsOp("sqrt")(x)),
           [x](const PatternMatch& m) { return Tanh(m[x]); });
  const Var v("v", {2});
  const Expr root = Sqrt(v);
  const Function shared = Typed(Function({v}, Tuple({Exp(root), root})));
  BATON_ASSERT_OK_AND_ASSIGN(const Expr result, InTurn({merge}, shared));
  EXPECT_EQ(result, shared);
}

TEST(RulesInTurnTest, RulesThatUndoEachOtherAreAnError) {
  const Var x("x", {2});
  EXPECT_THAT(InTurn({Becomes("exp", "tanh"), Becomes("tanh", "exp")},
                     Typed(Function({x}, Exp(x)))),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       "rewriting does not end: the program is the same again "
                       "after applications of exp_to_tanh and tanh_to_exp"));
}

TEST(RulesInTurnTest, ThatAreAppliedOnceAreAppliedInOneRound) {
  const Var x("x", {2});
  RewriteRule once = Becomes("exp", "tanh");
  once.once = true;
  BATON_ASSERT_OK_AND_ASSIGN(const Expr result,
                             InTurn({once, Becomes("tanh", "exp")},
                                    Typed(Function({x}, Exp(Exp(x))))));
  EXPECT_TRUE(Is(result, Function({x}, Exp(Exp(x)))));
}

TEST(RulesInTurnTest, ResultsOfAnotherTypeAreAnError) {
  const P x = Wildcard("x");
  const Var v("v", {2});
  EXPECT_THAT(InTurn({Rule("drop", IsOp("exp")(x),
                           [](const PatternMatch&) { return Const(1); })},
                     Typed(Function({v}, Exp(v)))),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       "rule drop replaces a call of exp of type "
                       "Tensor[(2), float32]"));
}

TEST(MatcherTest, TriesTheFirstWayOnly) {
  const P x = Wildcard("x"), y = Wildcard("y");
  const P pattern = x * y + x * x;
  const Var a("a"), b("b");
  const Expr sum = Add(Multiply(a, b), Multiply(b, b));
  EXPECT_TRUE(Matcher(pattern).At(sum).has_value());
  const Matcher first(pattern, Matcher::Ways::kFirst);
  EXPECT_FALSE(first.At(sum).has_value());
  EXPECT_TRUE(first.At(Add(Multiply(a, b), Multiply(a, a))).has_value());
  // Arguments are exchanged where one of them does not match.
  EXPECT_TRUE(first.At(Add(Multiply(a, a), Multiply(a, b))).has_value());
}

TEST(RulesInTurnTest, DoNotRecurse) {
  const Var x("x", {2});
  const P in = Wildcard("x");
  // Pairs become one in each round: as many rounds as there are halvings.
  const RewriteRule merge =
      Rule("merge", IsOp("exp")(IsOp("exp")(in)),
           [in](const PatternMatch& m) { return Exp(m[in]); });
  testing::RunWithStack(testing::SmallStackBytesOfThisBuild(), [&] {
    Expr expr = x;
    for (int i = 0; i < 20'000; ++i) expr = Exp(expr);
    BATON_ASSERT_OK_AND_ASSIGN(const Expr result,
                               InTurn({merge}, Typed(Function({x}, expr))));
    EXPECT_TRUE(Is(result, Function({x}, Exp(x))));
  });
}

}  // namespace
}  // namespace baton::relay
