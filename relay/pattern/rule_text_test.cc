#include "baton/relay/pattern/rule_text.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "baton/base/dtype.h"
#include "baton/base/tensor.h"
#include "baton/ir/attrs.h"
#include "baton/ir/op.h"
#include "baton/ir/structural_equal.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/constant.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/op/builders.h"
#include "baton/relay/op/tensor/create.h"
#include "baton/relay/pattern/dataflow_pattern.h"
#include "baton/relay/pattern/matcher.h"
#include "baton/relay/pattern/rewrite_rule.h"
#include "baton/relay/pattern/rewriter.h"
#include "baton/relay/pattern/rule_registry.h"
#include "baton/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton::relay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::IsOk;
using testing::StatusIs;

std::vector<RewriteRule> MustParse(absl::string_view text) {
  absl::StatusOr<std::vector<RewriteRule>> rules = ParseRules(text);
  EXPECT_THAT(rules, IsOk());
  return rules.ok() ? *std::move(rules) : std::vector<RewriteRule>();
}

// One rule without a name and doc.
std::string RuleOf(absl::string_view match, absl::string_view replace,
                   absl::string_view rest = "") {
  return absl::StrCat("rule @r \"A rule.\" {\n  match { ", match,
                      " }\n  replace { ", replace, " }\n", rest, "}\n");
}

// The body of a typed function of `params`, rewritten by one rule.
Expr Rewritten(absl::string_view text, std::vector<Var> params,
               const Expr& body) {
  const absl::StatusOr<Expr> typed = InferTypeOf(Function(params, body));
  EXPECT_THAT(typed, IsOk());
  const absl::StatusOr<Expr> result = ApplyRules(MustParse(text), *typed);
  EXPECT_THAT(result, IsOk());
  if (!result.ok()) return {};
  // With the variables of the test.
  return Function(result->As<FunctionNode>());
}

void ExpectBecomes(absl::string_view text, const std::vector<Var>& params,
                   const Expr& body, const Expr& expected) {
  const Expr result = Rewritten(text, params, body);
  const absl::StatusOr<Expr> typed = InferTypeOf(Function(params, expected));
  ASSERT_THAT(typed, IsOk());
  EXPECT_TRUE(StructuralEqual(result, *typed)) << text;
}

constexpr char kHardSwish[] = R"(
rule @hard_swish "x * clip(x + 3, 0, 6) / 6 is x * sigmoid(x), about." {
  match {
    %gate = clip(%x + 3f, a_min=0f, a_max=6f);
    either(%x * %gate / 6f, %x * (%gate / 6f))
  }
  replace { %x * sigmoid(%x) }
  where { dtype(%x) == "float32", elements(%x) >= 4 }
  promise { atol = 1 }
}
)";

TEST(RuleTextTest, MatchesAndReplaces) {
  const Var x("x", {2, 8}), s("s", {2});
  const auto gate = [](const Expr& a) {
    return Clip(Add(Const(3.0f), a), 0, 6);
  };
  const Expr expected = Multiply(x, Sigmoid(x));
  ExpectBecomes(kHardSwish, {x}, Divide(Multiply(gate(x), x), Const(6.0f)),
                expected);
  ExpectBecomes(kHardSwish, {x}, Multiply(Divide(gate(x), Const(6.0f)), x),
                expected);
  const Expr other = Divide(Multiply(gate(x), x), Const(7.0f));
  ExpectBecomes(kHardSwish, {x}, other, other);
  // Too small.
  const Expr small = Divide(Multiply(gate(s), s), Const(6.0f));
  ExpectBecomes(kHardSwish, {s}, small, small);
}

TEST(RuleTextTest, PrintsAndReadsBack) {
  const std::vector<RewriteRule> rules = MustParse(absl::StrCat(kHardSwish,
                                                                R"(
rule @all "Everything there is." {
  match {
    %t = (var(%v), const(%c), const(-2f), _, 3i64, 2.5f16, %a.1);
    either(nn.dense(%t, %v, units=u), dominates(nn.relu(%a), exp(_), tanh(_)))
  }
  replace {
    %y = nn.dense(%v, const(1, %v), units=u, **%t);
    (%y, %y.0, 1.5f, -7, const(shape(%t)))
  }
  where {
    rank(%v) < 3, shape(%v) != [1, 2], dim(%v, -1) in [1, 2], u <= 8,
    type(%v) == type(%c), value(%c) > 0.5f64, uses(%v) == 1
  }
  promise { rtol = 1e-6f, atol = 0.5f, not nan, not inf, %v in [0, 1] }
}
)"));
  ASSERT_EQ(rules.size(), 2u);
  const std::string text = PrintRules(rules);
  const std::vector<RewriteRule> again = MustParse(text);
  EXPECT_EQ(PrintRules(again), text);
  EXPECT_EQ(
      PrintRule(rules[0]),
      R"(rule @hard_swish "x * clip(x + 3, 0, 6) / 6 is x * sigmoid(x), about." {
  match {
    %gate = clip(add(%x, 3f), a_min=0f64, a_max=6f64);
    either(divide(multiply(%x, %gate), 6f), multiply(%x, divide(%gate, 6f)))
  }
  replace {
    multiply(%x, sigmoid(%x))
  }
  where { dtype(%x) == "float32", elements(%x) >= 4 }
  promise { atol = 1f64 }
}
)");
}

TEST(RuleTextTest, PathsOfAnyLength) {
  const Var x("x", {4});
  const std::string relus =
      RuleOf("nn.relu(repeat(%r, nn.relu(either(%r, %x))))", "nn.relu(%x)");
  const std::vector<RewriteRule> rules = MustParse(relus);
  ASSERT_EQ(rules.size(), 1u);
  EXPECT_THAT(PrintRule(rules[0]),
              HasSubstr("nn.relu(repeat(%r, nn.relu(either(%r, %x))))"));
  EXPECT_EQ(PrintRules(MustParse(PrintRule(rules[0]))), PrintRule(rules[0]));
  Expr chain = Exp(x);
  for (int i = 0; i < 5; ++i) chain = nn::Relu(chain);
  ExpectBecomes(relus, {x}, chain, nn::Relu(Exp(x)));
  ExpectBecomes(relus, {x}, nn::Relu(x), nn::Relu(x));
  // A name inside of a repetition means the outermost of several nodes.
  ExpectBecomes(RuleOf("sqrt(repeat(%r, %y - either(%r, exp(_))))", "%y"), {x},
                Sqrt(Subtract(Tanh(x), Subtract(x, Exp(x)))), Tanh(x));
  // All that comes of the parent leads to the child.
  const std::string region =
      RuleOf("dominates(nn.relu(%a), exp(_), tanh(_))", "tanh(%a)");
  ExpectBecomes(region, {x}, Tanh(Exp(Exp(nn::Relu(x)))), Tanh(x));
  const Expr relu = nn::Relu(x);
  const Expr escapes = Tuple({Tanh(Exp(relu)), relu});
  ExpectBecomes(region, {x}, escapes, escapes);
}

TEST(RuleTextTest, AttributesAreCopiedAndNamed) {
  const Var x("x", {4, 4}), w("w", {4, 4});
  ExpectBecomes(RuleOf("nn.relu(expand_dims(%x, axis=a, num_newaxis=1))",
                       "expand_dims(nn.relu(%x), axis=a)"),
                {x}, nn::Relu(ExpandDims(x, 1, 1)),
                ExpandDims(nn::Relu(x), 1, 1));
  ExpectBecomes(RuleOf("%d = nn.dense(%x, %w); nn.relu(%d)",
                       "nn.dense(nn.relu(%x), %w, **%d)"),
                {x, w}, nn::Relu(nn::Dense(x, w)), nn::Dense(nn::Relu(x), w));
}

TEST(RuleTextTest, ConstantsOfAnyElementType) {
  const Var x("x", {4}, DType::Float(16));
  const std::string rule = RuleOf("%x * const(2)", "%x + %x");
  ExpectBecomes(rule, {x}, Multiply(Const(2, DType::Float(16)), x), Add(x, x));
  ExpectBecomes(RuleOf("exp(%x)", "%x - const(1, %x)"), {x}, Exp(x),
                Subtract(x, Const(1, DType::Float(16))));
  const Expr three = Multiply(Const(3, DType::Float(16)), x);
  ExpectBecomes(rule, {x}, three, three);
}

TEST(RuleTextTest, NumbersOfUses) {
  const Var x("x", {4});
  const std::string rule = RuleOf("%n = negative(%x); negative(%n)", "%x",
                                  "where { uses(%n) == 1 }");
  ExpectBecomes(rule, {x}, Negative(Negative(x)), x);
  const Expr n = Negative(x);
  const Expr shared = Add(Negative(n), n);
  ExpectBecomes(rule, {x}, shared, shared);
}

TEST(RuleTextTest, Branches) {
  const Var p("p", {}, DType::Bool()), x("x", {4});
  ExpectBecomes(RuleOf("if (%c) { %a } else { %a }", "%a"), {p, x},
                If(p, Exp(x), Exp(x)), If(p, Exp(x), Exp(x)));
  const Expr e = Exp(x);
  ExpectBecomes(RuleOf("if (%c) { %a } else { %a }", "%a"), {p, x}, If(p, e, e),
                e);
  ExpectBecomes(
      RuleOf("if (%c) { %s = exp(%a); %s * %s } else { exp(%b) }",
             "%r = if (%c) { %a } else { %z = %b + %b; %z + %z }; exp(%r)"),
      {p, x},
      [&] {
        const Expr s = Exp(Tanh(x));
        return If(p, Multiply(s, s), Exp(x));
      }(),
      [&] {
        const Expr z = Add(x, x);
        return Exp(If(p, Tanh(x), Add(z, z)));
      }());
}

TEST(RuleTextTest, Lets) {
  const Var x("x", {4}), v("v"), w("w");
  const std::string inline_copy =
      RuleOf("let %v = nn.relu(%a); exp(%v)", "let %v = exp(nn.relu(%a)); %v");
  ExpectBecomes(inline_copy, {x}, Let(v, nn::Relu(x), Exp(v)),
                Let(w, Exp(nn::Relu(x)), w));
  // The value is another, or the body does not use it.
  const Expr other = Let(v, Tanh(x), Exp(v));
  ExpectBecomes(inline_copy, {x}, other, other);
  const Expr unused = Let(v, nn::Relu(x), Exp(x));
  ExpectBecomes(inline_copy, {x}, unused, unused);
  // A new variable.
  ExpectBecomes(RuleOf("tanh(%a)", "let %t = exp(%a); %t + %t"), {x}, Tanh(x),
                Let(w, Exp(x), Add(w, w)));
}

TEST(RuleTextTest, Functions) {
  const Var x("x", {4}), a("a", {4}), b("b", {4});
  const Function twice({a}, Negative(Negative(a)));
  ExpectBecomes(RuleOf("fn (%a) { negative(negative(%b)) }", "fn (%a) { %b }"),
                {x}, Call(twice, {x}), Call(Function({a}, a), {x}));
  ExpectBecomes(RuleOf("fn (%a) { %body }(%x)", "let %a = %x; %body"), {x},
                Call(Function({a}, Exp(a)), {Tanh(x)}),
                Let(b, Tanh(x), Exp(b)));
  // Any parameters; attributes.
  const Function primitive =
      Function({a, b}, Add(a, b)).WithAttr("Primitive", AttrValue(1));
  const std::string rule =
      RuleOf("fn (..., Primitive=1) { %s }(...)", "%s", "apply { once }\n");
  EXPECT_THAT(ParseRules(rule), IsOk());
  ExpectBecomes(
      RuleOf("fn (%a, %b, Primitive=1) { %a + %b }(%x, %x)", "%x + %x"), {x},
      Call(primitive, {x, x}), Add(x, x));
  const Expr other = Call(Function({a, b}, Add(a, b)), {x, x});
  ExpectBecomes(
      RuleOf("fn (%a, %b, Primitive=1) { %a + %b }(%x, %x)", "%x + %x"), {x},
      other, other);
  // A new function.
  const Var p("p", {4});
  ExpectBecomes(
      RuleOf("tanh(%x)", "fn (%p: type(%x), Primitive=1) { exp(%p) }(%x)"), {x},
      Tanh(x),
      Call(Function({p}, Exp(p)).WithAttr("Primitive", AttrValue(1)), {x}));
}

TEST(RuleTextTest, CallsOfAnyOperator) {
  const Var x("x", {4, 2});
  const std::string rule =
      RuleOf("%c = %f(%a); nn.relu(%c)", "%f(nn.relu(%a), **%c)",
             "where { op(%c) in [\"expand_dims\", \"transpose\"] }\n");
  ExpectBecomes(rule, {x}, nn::Relu(ExpandDims(x, 1, 1)),
                ExpandDims(nn::Relu(x), 1, 1));
  const Expr other = nn::Relu(Exp(x));
  ExpectBecomes(rule, {x}, other, other);
  ExpectBecomes(RuleOf("%y = nn.relu(...); nn.relu(%y)", "%y"), {x},
                nn::Relu(nn::Relu(x)), nn::Relu(x));
  ExpectBecomes(RuleOf("%t = (...); %t.0", "%t.1"), {x},
                TupleGetItem(Tuple({x, Exp(x)}), 0),
                TupleGetItem(Tuple({x, Exp(x)}), 1));
}

TEST(RuleTextTest, OnceAndExclusive) {
  const Var x("x", {4});
  ExpectBecomes(RuleOf("exp(%x)", "exp(%x) + exp(%x)", "apply { once }"), {x},
                Exp(Exp(x)), [&] {
                  const Expr inner = Add(Exp(x), Exp(x));
                  return Add(Exp(inner), Exp(inner));
                }());
  const std::string exclusive =
      RuleOf("negative(negative(%x))", "%x", "apply { exclusive }");
  const Expr n = Negative(x);
  ExpectBecomes(exclusive, {x}, Negative(n), x);
  ExpectBecomes(exclusive, {x}, Add(Negative(n), n), Add(Negative(n), n));
}

TEST(RuleTextTest, AttributesAreTermsOfTheMatch) {
  const std::string like =
      RuleOf("%y = reshape_like(%x, _); %y", "reshape(%x, newshape=shape(%y))");
  const Var x("x", {2, 3}), y("y", {6}), z("z", {Dim::Any()});
  ExpectBecomes(like, {x, y}, ReshapeLike(x, y, {}), Reshape(x, {6}));
  // The shape is not known.
  ExpectBecomes(like, {x, z}, ReshapeLike(x, z, {}), ReshapeLike(x, z, {}));
  ExpectBecomes(RuleOf("zeros_like(%x)",
                       "full(const(0, %x), shape=[3], dtype=dtype(%x))"),
                {x}, Add(ZerosLike(Var("v", {3})), x),
                Add(Full(Const(0.0f), {3}, DType::Float(32)), x));
}

TEST(RuleTextTest, ShapesAreConstants) {
  const std::string rule = RuleOf(
      "exp(%x)", "collapse_sum_to(%x, const(shape(%x)), shape=shape(%x))");
  const Var x("x", {2, 3}), open("o", {2, Dim::Any()});
  const Expr shape =
      Const(*Tensor::FromValues<int32_t>({2}, std::vector<int32_t>{2, 3}));
  ExpectBecomes(
      rule, {x}, Exp(x),
      Call(BATON_OP("collapse_sum_to"), {x, shape},
           Attrs::Make(InitOpAttrs{.shape = std::vector<int64_t>{2, 3}})));
  ExpectBecomes(rule, {open}, Exp(open), Exp(open));
  // No int32.
  const Var wide("w", {int64_t{1} << 31});
  ExpectBecomes(rule, {wide}, Exp(wide), Exp(wide));
}

TEST(RuleTextTest, ConstantsAreFolded) {
  const std::string rule =
      RuleOf("%x * const(%a) * const(%b)", "%x * fold(%a * %b)",
             "where { kind(%x) != \"constant\" }");
  const Var x("x", {2}), y("y", {2});
  ExpectBecomes(
      rule, {x},
      Multiply(Multiply(Multiply(x, Const(2.0f)), Const(3.0f)), Const(4.0f)),
      Multiply(x, Const(24.0f)));
  const Expr constant =
      Multiply(Multiply(Const(2.0f), Const(3.0f)), Const(4.0f));
  ExpectBecomes(rule, {x}, Add(x, constant), Add(x, constant));
  // It depends on a variable.
  ExpectBecomes(RuleOf("exp(%x)", "fold(tanh(%x))"), {y}, Exp(y), Tanh(y));
  // It overflows, or is too small, where the program need not.
  for (const float c : {1e30f, 1e-30f}) {
    const Expr apart = Multiply(Multiply(x, Const(c)), Const(c));
    ExpectBecomes(rule, {x}, apart, apart);
  }
  // So does a part of it.
  const Expr small = Const(1e-30f), large = Const(1e30f);
  const Expr apart = Multiply(Multiply(Multiply(x, small), small), large);
  ExpectBecomes(RuleOf("%x * const(%a) * const(%b) * const(%c)",
                       "%x * fold(%a * %b * %c)"),
                {x}, apart, apart);
}

TEST(RuleTextTest, KindsOfNodes) {
  const Var x("x", {2});
  const std::string rule =
      RuleOf("exp(%x)", "%x", "where { kind(%x) in [\"variable\"] }");
  ExpectBecomes(rule, {x}, Exp(x), x);
  ExpectBecomes(rule, {x}, Exp(Tanh(x)), Exp(Tanh(x)));
}

TEST(RuleTextTest, TypesAreComparedWithUnknownDimensions) {
  const Var x("x", {Dim::Any(), 3}), y("y", {3});
  const std::string rule = RuleOf("%y = %x + zeros_like(_); %y", "%x",
                                  "where { type(%x) == type(%y) }");
  ExpectBecomes(rule, {x, y}, Add(x, ZerosLike(y)), x);
  ExpectBecomes(rule, {x, y}, Add(y, ZerosLike(x)), Add(y, ZerosLike(x)));
}

TEST(RuleTextTest, RulesBelongToPasses) {
  const std::string text = absl::StrCat(
      "rule @in_cpp of Simplify;\n\n",
      absl::StrReplaceAll(PrintRules(MustParse(RuleOf("exp(%x)", "%x"))),
                          {{"@r", "@r of Simplify, acme.Simplify"}}));
  const std::vector<RewriteRule> rules = MustParse(text);
  ASSERT_EQ(rules.size(), 2u);
  EXPECT_THAT(rules[0].passes, ElementsAre("Simplify"));
  EXPECT_EQ(rules[0].replace, nullptr);
  EXPECT_THAT(rules[1].passes, ElementsAre("Simplify", "acme.Simplify"));
  EXPECT_EQ(PrintRules(rules), text);
}

RewriteRule CancelExpLog() {
  const DataflowPattern x = Wildcard("x");
  return {.name = "exp_of_log",
          .passes = {"P"},
          .pattern = IsOp("exp")(IsOp("log")(x)),
          .replace = [=](const PatternMatch& m) { return m[x]; }};
}

std::vector<std::string> NamesOf(
    const absl::StatusOr<std::vector<RewriteRule>>& rules) {
  EXPECT_THAT(rules, IsOk());
  std::vector<std::string> names;
  if (!rules.ok()) return names;
  for (const RewriteRule& rule : *rules) names.push_back(rule.name);
  return names;
}

TEST(RuleRegistryTest, KnowsTheRulesOfEachPass) {
  const auto rule = [](absl::string_view name) {
    return absl::StrCat("rule @", name,
                        " { match { exp(%x) } replace { %x } }\n");
  };
  RuleRegistry registry;
  registry.AddRule(CancelExpLog);
  registry.AddText(
      "b.rules", absl::StrCat(rule("first of P, Q"), "rule @exp_of_log of P;\n",
                              rule("last of P")));
  registry.AddText("a.rules", absl::StrCat(rule("own"), rule("of_q of Q")));
  EXPECT_THAT(NamesOf(registry.Rules()), ElementsAre("own"));
  EXPECT_THAT(NamesOf(registry.RulesOf("P")),
              ElementsAre("first", "exp_of_log", "last"));
  EXPECT_THAT(NamesOf(registry.RulesOf("Q")), ElementsAre("first", "of_q"));
  EXPECT_THAT(NamesOf(registry.RulesOf("R")), ElementsAre());
  EXPECT_THAT(NamesOf(registry.AllRules()),
              ElementsAre("own", "first", "exp_of_log", "last", "of_q"));
  EXPECT_THAT(NamesOf(registry.Select({})), ElementsAre("own"));
  EXPECT_THAT(NamesOf(registry.Select({"P.last", "own", "of_q"})),
              ElementsAre("last", "own", "of_q"));
  const absl::StatusOr<RuleSet> set =
      registry.SetOf("P", RuleOrder::kInTurn, {"last"});
  ASSERT_THAT(set, IsOk());
  EXPECT_EQ(set->rules().size(), 2u);

  // A rule of one's own may have the name of a pass's.
  registry.AddText("c.rules", absl::StrCat(rule("last"), rule("last of Q")));
  EXPECT_THAT(registry.Select({"Q.last", "last"}), IsOk());
  EXPECT_THAT(registry.Select({"lost"}),
              StatusIs(absl::StatusCode::kNotFound,
                       "there is no rule @lost; did you mean \"last\""));
  // Reading a rule again changes nothing, another of its name is an error.
  registry.AddText("d.rules", rule("own"));
  EXPECT_THAT(NamesOf(registry.Rules()), ElementsAre("own", "last"));
  registry.AddText("e.rules",
                   "rule @own { match { log(%x) } replace { %x } }\n");
  EXPECT_THAT(registry.Rules(), StatusIs(absl::StatusCode::kInvalidArgument,
                                         "there are two rules called @own"));
}

TEST(RuleRegistryTest, MistakesNameThePass) {
  RuleRegistry registry;
  registry.AddText("a.rules", "rule @nowhere of P;");
  EXPECT_THAT(registry.Rules(),
              StatusIs(absl::StatusCode::kNotFound,
                       "a.rules:1:6: no rule @nowhere of P is linked in"));
  RuleRegistry ambiguous;
  ambiguous.AddText("a.rules",
                    "rule @r of P { match { exp(%x) } replace { %x } }\n"
                    "rule @r of Q { match { exp(%x) } replace { %x } }\n");
  EXPECT_THAT(ambiguous.Select({"r"}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "several passes have a rule @r: P.r, Q.r"));
}

TEST(RuleTextTest, AllFormsPrintAndReadBack) {
  const std::string text = R"(rule @forms "Forms." {
  match {
    %f = fn (%a, %b, Primitive=1) { %s = add(%a, %b); multiply(%s, %s) };
    (%f(%x, _), fn (...) { _ }, (let %v = exp(%x); %v), if (%c) { %p = tanh(%x); %p } else { nn.relu(...) }, (...), %g(...), (let %u = %x; %u).0)
  }
  replace {
    fn (%q: type(%x)) { (let %r = %q; add(%r, %r)) }(%g(fold(reshape(%x, newshape=shape(%c))), **%g))
  }
  where { op(%f) != "add", kind(%x) != "call" }
  apply { once, exclusive }
  promise { exact }
}
)";
  EXPECT_EQ(PrintRules(MustParse(text)), text);
}

TEST(RuleTextTest, RulesThatMakeIllTypedProgramsAreLocated) {
  const Var x("x", {4, 2});
  const absl::StatusOr<Expr> f = InferTypeOf(Function({x}, Exp(x)));
  ASSERT_THAT(f, IsOk());
  EXPECT_THAT(
      ApplyRules(MustParse(RuleOf("exp(%x)", "squeeze(%x, axis=[0])")), *f),
      StatusIs(absl::StatusCode::kInvalidArgument,
               "rule r (rules:1:6) makes an ill-typed program: "));
  for (const char* apply : {"", "apply { once }"}) {
    EXPECT_THAT(
        ApplyRules(
            MustParse(RuleOf("exp(%x)", "transpose(%x, axes=[1, 0])", apply)),
            *f),
        StatusIs(absl::StatusCode::kFailedPrecondition,
                 "rule r (rules:1:6) replaces a call of exp of type "
                 "Tensor[(4, 2), float32] by a call of transpose of type "
                 "Tensor[(2, 4), float32]"));
  }
}

// Mistakes.

struct Mistake {
  const char* text;
  const char* error;
};

TEST(RuleTextTest, MistakesAreFoundWhenTheTextIsRead) {
  const std::vector<Mistake> mistakes = {
      {"rule hard { }", "rules:1:6: error: expected `@` and a name"},
      {"rule @r { match { %x } }", "rule @r has no `replace`"},
      {"rule @r { replace { %x } }", "error"},
      {"rule @r { match { nn.rely(%x) } replace { %x } }",
       "did you mean \"nn.relu\""},
      {"rule @r { match { nn.relu(%x, %y) } replace { %x } }",
       "nn.relu takes 1 argument, found 2"},
      {"rule @r { match { clip(%x, a_mim=0f) } replace { %x } }",
       "clip has no attribute `a_mim`; did you mean \"a_min\""},
      {"rule @r { match { clip(%x, a_min=\"no\") } replace { %x } }",
       "attribute `a_min` of clip: "},
      {"rule @r { match { nn.relu(%x) } replace { exp(%z) } }",
       "%z does not occur in `match`"},
      {"rule @r { match { tanh(%v) } replace { let %v = exp(%v); %v } }",
       "%v is already a name of `match`; a new variable needs another name"},
      {"rule @r { match { nn.relu(%x) } replace { clip(%x) } }", "clip: "},
      {"rule @r { match { nn.relu(%x) } replace { _ } }",
       "`_` is allowed in `match` only"},
      {"rule @r { match { nn.relu(%x) } replace { %x } where "
       "{ dtypo(%x) == 1 } }",
       "there is no condition on `dtypo`; did you mean \"dtype\""},
      {"rule @r { match { nn.relu(%x) } replace { %x } where "
       "{ dtype(%y) == 1 } }",
       "%y does not occur in `match`"},
      {"rule @r { match { nn.relu(%x) } replace { %x } where "
       "{ uses(%x) < 2 } }",
       "a condition on uses is `uses(%x) == N`"},
      {"rule @r { match { nn.relu(%x) } replace { %x } promise { sure } }",
       "expected `exact`"},
      {"rule @r { match { nn.relu(%x) } replace { %x } promise "
       "{ rtol = -1 } }",
       "a tolerance is a number from 0 on"},
      {"rule @r { match { nn.relu(%x) + 70000i16 } replace { %x } }",
       "this number does not fit in 16 bits"},
      {"rule @r { match { %y = exp(%x); %y = exp(%y); %y } replace { %x } }",
       "%y is bound twice"},
      {"rule @r { match { exp(%x) } replace { %x } }\n"
       "rule @r { match { tanh(%x) } replace { %x } }",
       "there is a rule @r in this text already"},
      {"rule @r { match { exp(%x) } replace { %x } ", "expected"},
      {"nonsense", "expected a rule, found `nonsense`"},
      {"rule @r { match { fn (%a) { exp(%a) } } replace { %a } }",
       "nothing binds the variable %a here, as it is bound in `match`"},
      {"rule @r { match { (fn (%a) { exp(%a) }, %a) } replace { %r } }",
       "%a is bound inside of what ends before this"},
      {"rule @r { match { exp(%x) } replace { (let %v = %x; %v) + %v } }",
       "%v is bound inside of what ends before this"},
      {"rule @r { match { (%a, fn (%a) { %a }) } replace { %r } }",
       "%a is used before it is bound"},
      {"rule @r { match { fn (%a, %a) { %a } } replace { %r } }",
       "%a is bound twice"},
      {"rule @r { match { fn (%a, ...) { %a } } replace { %r } }",
       "parameters or `...`"},
      {"rule @r { match { exp(%x) } replace { fn (%p) { %p }(%x) } }",
       "the parameter %p is new and has no type"},
      {"rule @r { match { fn (%a) { %b } } replace "
       "{ fn (%a: type(%b)) { %b } } }",
       "%a is bound in `match`, with its type"},
      {"rule @r { match { fn (3) { _ } } replace { %r } }",
       "expected the name of a variable"},
      {"rule @r { match { if (%c) { %a } } replace { %a } }",
       "expected `else`"},
      {"rule @r { match { let %v = exp(%x) } replace { %x } }", "expected `;`"},
      {"rule @r { match { nn.relu(%x) } replace { nn.relu(...) } }",
       "`...` is allowed in `match` only"},
      {"rule @r { match { nn.relu(%x, ...) } replace { %x } }",
       "a call has arguments or `...`, not both"},
      {"rule @r { match { %f(%x, axis=1) } replace { %x } }",
       "attributes are allowed in calls of named operators only"},
      {"rule @r { match { (7 .1, %x) } replace { %x } }",
       "a number has no fields"},
      {"rule @r { match { repeat(exp(%x)) } replace { %x } }",
       "expected the name that stands for the repetition"},
      {"rule @r { match { repeat(%r, exp(%x)) } replace { %x } }",
       "%r is not used in its repetition"},
      {"rule @r { match { repeat(%r, either(%r, exp(%x))) } replace { %x } }",
       "a repetition repeats nothing"},
      {"rule @r { match { repeat(%r, exp(either(%r, %x))) } replace { %r } }",
       "%r does not occur in `match`"},
      {"rule @r { match { exp(%r) + repeat(%r, exp(%r)) } replace { 1f } }",
       "%r is used before it is bound"},
      {"rule @r { match { (repeat(%r, exp(%r)), %r) } replace { 1f } }",
       "%r is bound inside of what ends before this"},
      {"rule @r { match { exp(%x) } replace { repeat(%r, exp(%r)) } }",
       "`repeat` is allowed in `match` only"},
      {"rule @r { match { exp(%x) } replace { %x } apply { twice } }",
       "expected `once` or `exclusive`"},
      {"rule @r of { match { exp(%x) } replace { %x } }",
       "expected the name of a pass"},
      {"rule @r; rule @s { match { exp(%x) } replace { %x } }", "expected `{`"},
      {"rule @r { match { fold(%x) } replace { %x } }",
       "`fold` computes a constant in `replace` only"},
      {"rule @r { match { exp(const(shape(%x))) } replace { %x } }",
       "expected `)`, found `shape`"},
      {"rule @r { match { exp(%x) } replace { const(shape(%y)) } }",
       "%y does not occur in `match`"},
      {"rule @r { match { exp(%x) } replace { const(shape(3)) } }",
       "expected a name: `%x`"},
      {"rule @r { match { exp(%x) } replace { const(shape(%x))(%x) } }",
       "expected"},
      {"rule @r { match { exp(%x) } replace { fold(%x, %x) } }",
       "`fold` takes one part"},
      {"rule @r { match { squeeze(%x, axis=shape(%x)) } replace { %x } }",
       "in `match`, an attribute has a value or gets a name"},
      {"rule @r { match { exp(%x) } replace { squeeze(%x, axis=shape(%y)) } }",
       "%y does not occur in `match`"},
      {"rule @r { match { exp(%x) } replace { squeeze(%x, axis=uses(%x)) } }",
       "the value of an attribute cannot be a number of uses"},
  };
  for (const Mistake& mistake : mistakes) {
    EXPECT_THAT(ParseRules(mistake.text),
                StatusIs(absl::StatusCode::kInvalidArgument, mistake.error))
        << mistake.text;
  }
}

TEST(RuleTextTest, AllMistakesAreFoundInOneRun) {
  const absl::StatusOr<std::vector<RewriteRule>> rules = ParseRules(
      "rule @a { match { nn.rely(%x) } replace { %x } }\n"
      "rule @b { match { exp(%x) } replace { %y } }\n");
  EXPECT_THAT(rules, StatusIs(absl::StatusCode::kInvalidArgument, "nn.rely"));
  EXPECT_THAT(
      rules, StatusIs(absl::StatusCode::kInvalidArgument, "%y does not occur"));
}

TEST(RuleTextTest, DeepTextIsAnError) {
  std::string match;
  for (int i = 0; i < 100'000; ++i) match += "exp(";
  EXPECT_THAT(ParseRules(RuleOf(match, "%x")),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "this is nested too deeply"));
  // Large but not deep.
  std::string sum = "%x";
  for (int i = 0; i < 10'000; ++i) sum += " + _";
  EXPECT_THAT(ParseRules(RuleOf(sum, "%x")), IsOk());
}

}  // namespace
}  // namespace baton::relay
