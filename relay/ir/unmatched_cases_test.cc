#include "baton/relay/ir/unmatched_cases.h"

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/text_parser.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton::relay {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// The unmatched cases of `match? (%x) { CLAUSES }`.
absl::StatusOr<std::vector<std::string>> Cases(absl::string_view clauses) {
  const absl::StatusOr<IRModule> module =
      ParseModule(absl::StrCat("type List[A] { Cons(A, List[A]), Nil }\n"
                               "type Bool { Yes, No }\n"
                               "type Void { }\n"
                               "def @f(%x) { match? (%x) { ",
                               clauses, " } }"));
  if (!module.ok()) return module.status();
  const auto* match = module->Find<Function>("f")->body().As<MatchNode>();
  const absl::StatusOr<std::vector<Pattern>> cases =
      UnmatchedCases(*match, &*module);
  if (!cases.ok()) return cases.status();
  std::vector<std::string> texts;
  for (const Pattern& pattern : *cases) texts.push_back(pattern.ToString());
  return texts;
}

TEST(UnmatchedCasesTest, FindsWhatNoClauseFits) {
  EXPECT_THAT(*Cases(""), ElementsAre("_"));
  EXPECT_THAT(*Cases("_ => 1"), IsEmpty());
  EXPECT_THAT(*Cases("%y => 1"), IsEmpty());
  EXPECT_THAT(*Cases("Nil => 1"), ElementsAre("Cons(_, _)"));
  EXPECT_THAT(*Cases("Cons(_, _) => 1, Nil => 1"), IsEmpty());
  EXPECT_THAT(*Cases("Cons(_, Nil) => 1, Nil => 1"),
              ElementsAre("Cons(_, Cons(_, _))"));
  EXPECT_THAT(*Cases("Cons(_, Cons(_, _)) => 1, Cons(%y, Nil) => 2, Nil => 3"),
              IsEmpty());
  EXPECT_THAT(*Cases("Nil => 1, _ => 2"), IsEmpty());
}

TEST(UnmatchedCasesTest, LooksIntoTuples) {
  EXPECT_THAT(*Cases("(Yes, _) => 1, (_, Yes) => 2"), ElementsAre("(No, No)"));
  EXPECT_THAT(*Cases("(Yes, Yes) => 1, (No, No) => 2"),
              ElementsAre("(Yes, No)", "(No, Yes)"));
  EXPECT_THAT(*Cases("(Yes, _) => 1, (No, Nil) => 2, (_, Cons(_, _)) => 3"),
              IsEmpty());
  EXPECT_THAT(*Cases("() => 1"), IsEmpty());
}

TEST(UnmatchedCasesTest, TellsTenCasesAtMost) {
  EXPECT_EQ(Cases("(Yes, Yes, Yes, Yes, Yes, Yes, Yes, Yes, Yes, Yes, Yes, "
                  "Yes, Yes) => 1")
                ->size(),
            10);
}

TEST(UnmatchedCasesTest, GivesUpOnAnEndlessSearch) {
  // Each of 2^24 tuples is a case of its own, and the last clause fits all.
  std::string clauses;
  constexpr int kWidth = 24;
  for (int i = 0; i < kWidth; ++i) {
    std::string tuple = "(";
    for (int j = 0; j < kWidth; ++j) {
      absl::StrAppend(&tuple, j == 0 ? "" : ", ",
                      j == i                  ? "Yes"
                      : j == (i + 1) % kWidth ? "No"
                                              : "_");
    }
    absl::StrAppend(&clauses, tuple, ") => 1, ");
  }
  std::string all_same = "(";
  for (int j = 0; j < kWidth; ++j) {
    absl::StrAppend(&all_same, j == 0 ? "Yes" : ", Yes");
  }
  const auto cases = Cases(absl::StrCat(clauses, all_same, ") => 1"));
  if (cases.ok()) {
    EXPECT_EQ(cases->size(), 1);
  } else {
    EXPECT_EQ(cases.status().code(), absl::StatusCode::kResourceExhausted);
  }
}

}  // namespace
}  // namespace baton::relay
