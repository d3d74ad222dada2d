#include "baton/relay/pattern/check_rules.h"

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "baton/relay/pattern/rewrite_rule.h"
#include "baton/relay/pattern/rule_registry.h"
#include "baton/relay/pattern/rule_text.h"
#include "baton/testing/status_matchers.h"
#include "gtest/gtest.h"

namespace baton::relay {
namespace {

std::vector<RuleReport> Check(absl::string_view text) {
  const absl::StatusOr<std::vector<RewriteRule>> rules = ParseRules(text);
  EXPECT_THAT(rules, testing::IsOk());
  return rules.ok() ? CheckRules(*rules) : std::vector<RuleReport>();
}

// Rules of passes in text, but for those for whose operators no programs are
// made.
TEST(CheckRulesTest, RulesOfPassesKeepTheLaws) {
  const absl::StatusOr<std::vector<RewriteRule>> all =
      RuleRegistry::Global().AllRules();
  ASSERT_THAT(all, testing::IsOk());
  std::vector<RewriteRule> rules;
  for (const RewriteRule& rule : *all) {
    if (rule.ast != nullptr && !absl::EndsWith(rule.name, "_of_dequantize")) {
      rules.push_back(rule);
    }
  }
  EXPECT_GT(rules.size(), 12u);
  for (const RuleReport& report : CheckRules(rules)) {
    EXPECT_TRUE(report.broken.empty())
        << report.rule << ": " << absl::StrJoin(report.broken, "\n");
  }
}

TEST(CheckRulesTest, GoodRulesKeepTheLaws) {
  const std::vector<RuleReport> reports = Check(R"(
rule @double_negative "" { match { negative(negative(%x)) } replace { %x } }
rule @relu_twice "" {
  match { %y = nn.relu(_); nn.relu(%y) }
  replace { %y }
}
rule @times_two "" {
  match { %x * 2f }
  replace { %x + %x }
}
rule @same_shape "" {
  match { %y = %x * const(1); %y }
  replace { %x }
  where { type(%x) == type(%y) }
}
rule @square_root "" {
  match { sqrt(%x) * sqrt(%x) }
  replace { %x }
  where { dtype(%x) == "float32" }
  promise { rtol = 1e-5f, atol = 1e-30f64, %x in [0f, 100f] }
}
rule @same_branches "" { match { if (%c) { %a } else { %a } } replace { %a } }
rule @let_of_a_let "" {
  match { let %v = nn.relu(%a); nn.relu(%v) }
  replace { let %v = nn.relu(%a); %v }
}
rule @inline "" {
  match { fn (%a) { %body }(%x) }
  replace { let %a = %x; %body }
}
rule @relus "" {
  match { nn.relu(repeat(%r, nn.relu(either(%r, %x)))) }
  replace { nn.relu(%x) }
}
rule @signs "" {
  match { dominates(negative(%x), negative(_), abs(_)) }
  replace { abs(%x) }
  where { dtype(%x) == "float32" }
}
rule @unary_first "" {
  match { %c = %f(%x); nn.relu(%c) }
  replace { %f(nn.relu(%x), **%c) }
  where { op(%c) in ["expand_dims", "transpose"] }
}
)");
  for (const RuleReport& report : reports) {
    EXPECT_GT(report.programs, 0) << report.rule;
    EXPECT_GT(report.evaluated, 0) << report.rule;
    for (const std::string& law : report.broken) {
      ADD_FAILURE() << report.rule << ": " << law;
    }
  }
}

// Ten kinds of mistakes, each of which is found.
struct Mistake {
  const char* what;
  const char* law;  // that it breaks
  const char* rule;
};

TEST(CheckRulesTest, MistakesAreFound) {
  const std::vector<Mistake> mistakes = {
      {"wrong arithmetic", "values",
       "match { exp(%x) * exp(%x) } replace { exp(%x + %x + %x) } "
       "promise { rtol = 1e-3f }"},
      {"exact only up to rounding", "values",
       "match { %x / 3f } replace { %x * 0.333333343f }"},
      {"wrong for integers: they truncate", "values",
       "match { (%x / const(2)) * const(2) } replace { %x } "
       "where { dtype(%x) == \"int32\", rank(%x) == 2 }"},
      {"wrong for NaN", "values",
       "match { %x - %x } replace { zeros_like(%x) }"},
      {"wrong for infinities", "values",
       "match { (%x + 1f) - %x } replace { ones_like(%x) } "
       "where { dtype(%x) == \"float32\" } promise { atol = 1e31f, not nan }"},
      {"wrong for broadcasting", "types",
       "match { add(%x, const(0)) } replace { %x }"},
      {"wrong for operands exchanged", "values",
       "match { maximum(%x, 0f) } replace { nn.relu(%x) }"},
      {"another element type", "types",
       "match { exp(%x) } replace { cast(exp(%x), dtype=\"float32\") }"},
      {"ill-typed for some shapes", "types",
       "match { transpose(%x) } replace { squeeze(%x, axis=[0]) }"},
      {"matches its own result", "ends",
       "match { %x - %y } replace { %y - %x }"},
      {"grows the program", "ends",
       "match { exp(%x) } replace { exp(%x) * exp(%x) / exp(%x) } "
       "promise { atol = 1e30f }"},
      {"conditions that contradict each other", "applies",
       "match { exp(%x) } replace { tanh(%x) } "
       "where { rank(%x) == 2, rank(%x) == 3 }"},
      {"a variable that nothing binds any more", "well-formed",
       "match { fn (%a) { %e = exp(%a); tanh(%e) }(%x) } replace { %e }"},
      {"the wrong branch", "values",
       "match { if (%c) { exp(%a) } else { tanh(%a) } } "
       "replace { if (%c) { tanh(%a) } else { exp(%a) } }"},
      {"a negative zero", "values",
       "match { %x + 0f } replace { %x } where { rank(%x) == 2 }"},
  };
  for (const Mistake& mistake : mistakes) {
    const std::vector<RuleReport> reports =
        Check(absl::StrCat("rule @wrong \"\" { ", mistake.rule, " }"));
    ASSERT_EQ(reports.size(), 1u) << mistake.what;
    bool found = false;
    for (const std::string& law : reports[0].broken) {
      found |= absl::StartsWith(law, mistake.law);
    }
    EXPECT_TRUE(found) << mistake.what << ": "
                       << (reports[0].broken.empty() ? "no law is broken"
                                                     : reports[0].broken[0]);
  }
}

TEST(CheckRulesTest, RulesThatUndoEachOtherAreFoundTogether) {
  const std::vector<RuleReport> reports = Check(R"(
rule @there "" { match { %x + %x } replace { %x * const(2, %x) } }
rule @back "" { match { %x * const(2) } replace { %x + %x } }
)");
  ASSERT_EQ(reports.size(), 2u);
  bool found = false;
  for (const std::string& law : reports[0].broken) {
    found |= absl::StrContains(law, "ends with the others") &&
             absl::StrContains(law, "there and back undo each other");
  }
  EXPECT_TRUE(found);
}

TEST(CheckRulesTest, OverlapsAreListed) {
  const std::vector<RuleReport> reports = Check(R"(
rule @a "" { match { negative(negative(%x)) } replace { abs(abs(%x)) }
  promise { atol = 100 } }
rule @b "" { match { negative(negative(%x)) } replace { %x } }
)");
  ASSERT_EQ(reports.size(), 2u);
  EXPECT_EQ(reports[0].overlaps,
            (std::vector<std::string>{"@a and @b match the same node, and give "
                                      "different results"}));
}

}  // namespace
}  // namespace baton::relay
