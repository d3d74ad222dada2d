#include "baton/relay/pattern/rule_text.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/base/dtype.h"
#include "baton/base/tensor.h"
#include "baton/ir/structural_equal.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/constant.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/op/builders.h"
#include "baton/relay/pattern/rewrite_rule.h"
#include "baton/relay/pattern/rewriter.h"
#include "baton/testing/status_matchers.h"
#include "gtest/gtest.h"

namespace baton::relay {
namespace {

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
    (%y, %y.0, 1.5f, -7)
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
       "%z stands nowhere in `match`"},
      {"rule @r { match { nn.relu(%x) } replace { clip(%x) } }", "clip: "},
      {"rule @r { match { nn.relu(%x) } replace { _ } }",
       "`_` stands for something in `match` only"},
      {"rule @r { match { nn.relu(%x) } replace { %x } where "
       "{ dtypo(%x) == 1 } }",
       "there is no condition on `dtypo`; did you mean \"dtype\""},
      {"rule @r { match { nn.relu(%x) } replace { %x } where "
       "{ dtype(%y) == 1 } }",
       "%y stands nowhere in `match`"},
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
      rules, StatusIs(absl::StatusCode::kInvalidArgument, "%y stands nowhere"));
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
