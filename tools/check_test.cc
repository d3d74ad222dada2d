#include "baton/tools/check.h"

#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/base/source.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// The error when `input` is checked against `checks`; empty if there is none.
std::string Check(absl::string_view checks, absl::string_view input,
                  CheckOptions options = {}) {
  const absl::StatusOr<Checks> parsed =
      Checks::Parse(std::make_shared<const Source>("c", std::string(checks)),
                    std::move(options));
  if (!parsed.ok()) {
    return absl::StrCat("cannot check:\n", parsed.status().message());
  }
  return std::string(
      parsed->Check(std::make_shared<const Source>("in", std::string(input)))
          .message());
}

// --- CHECK

TEST(PlainTest, FindsTextInOrder) {
  EXPECT_EQ(Check("// CHECK: b\n// CHECK: c\n", "a\nb c\n"), "");
  EXPECT_THAT(Check("CHECK: c\nCHECK: b\n", "a\nb c\n"),
              HasSubstr("c:2:1: error: CHECK: not found in the input"));
}

TEST(PlainTest, MatchesDoNotOverlap) {
  EXPECT_EQ(Check("CHECK: aa\nCHECK: aa\n", "aaaa\n"), "");
  EXPECT_NE(Check("CHECK: aa\nCHECK: aa\n", "aaa\n"), "");
}

TEST(PlainTest, BlanksMatchBlanks) {
  EXPECT_EQ(Check("CHECK:  a  b\t c\t\n", "  a \t b c\n"), "");
  EXPECT_NE(Check("CHECK: a b\n", "ab\n"), "");
  EXPECT_NE(Check("CHECK: a  b\n", "a b\n", {.strict_whitespace = true}), "");
  EXPECT_EQ(Check("CHECK: a  b\n", "a  b\n", {.strict_whitespace = true}), "");
}

TEST(PlainTest, CarriageReturnsAreNotSeen) {
  EXPECT_EQ(Check("CHECK: a{{$}}\r\nCHECK-NEXT: b{{$}}\r\n", "a\r\nb\r\n"), "");
}

TEST(PlainTest, ColumnsAreThoseOfTheInput) {
  EXPECT_THAT(Check("CHECK: x\nCHECK-NOT: z\n", "x\ny  \t  z\n"),
              HasSubstr("in:2:7: note: the match\n"
                        "y     z\n"
                        "      ^"));
}

TEST(PlainTest, NothingMatchesAcrossLines) {
  EXPECT_NE(Check("CHECK: a{{.*}}b\n", "a\nb\n"), "");
  EXPECT_NE(Check("CHECK: a{{[^x]*}}b\n", "a\nb\n"), "");
  EXPECT_NE(Check("CHECK: a{{\\s*}}b\n", "a\nb\n"), "");
  EXPECT_NE(Check("CHECK: a{{(.|\\n)*}}b\n", "a\nb\n"), "");
}

TEST(PlainTest, SpecialCharactersAreText) {
  EXPECT_EQ(Check("CHECK: (*)[0, 0] $^.|\\ {a}\n", "(*)[0, 0] $^.|\\ {a}\n"),
            "");
}

TEST(PlainTest, ShowsWhereItLookedAndWhatIsNearest) {
  EXPECT_EQ(Check("// CHECK: def @main\n// CHECK: nn.relu(%7)\n",
                  "def @main(%x) {\n  nn.dense(%x)\n  nn.relu(%x)\n}\n"),
            "c:2:4: error: CHECK: not found in the input\n"
            "// CHECK: nn.relu(%7)\n"
            "   ^~~~~~~~~~~~~~~~~~\n"
            "in:1:10: note: looked for from here\n"
            "def @main(%x) {\n"
            "         ^\n"
            "in:3:3: note: the nearest candidate\n"
            "  nn.relu(%x)\n"
            "  ^~~~~~~~~~~\n"
            "note: matched so far:\n"
            "  c:1: CHECK: def @main\n"
            "    in:1: def @main(%x) {");
}

TEST(PlainTest, ShowsAnEarlierMatch) {
  EXPECT_THAT(Check("CHECK: b\nCHECK: a\n", "a\nb\n"),
              HasSubstr("in:1:1: note: there is a match earlier\na\n^"));
}

TEST(PlainTest, ShowsThatNothingWasMatched) {
  EXPECT_THAT(Check("CHECK: b\n", "a\n"),
              HasSubstr("note: nothing was matched before"));
}

TEST(PlainTest, LongHistoriesAreCut) {
  std::string checks;
  std::string input;
  for (int i = 0; i < 15; ++i) {
    absl::StrAppend(&checks, "CHECK: line", i, ";\n");
    absl::StrAppend(&input, "line", i, ";\n");
  }
  EXPECT_THAT(Check(checks + "CHECK: z\n", input),
              AllOf(HasSubstr("matched so far:\n  (5 more)\n  c:6: CHECK: "
                              "line5;\n    in:6: line5;"),
                    Not(HasSubstr("line4;"))));
}

// --- CHECK-NEXT

TEST(NextTest, IsOnTheNextLine) {
  EXPECT_EQ(Check("CHECK: a\nCHECK-NEXT: b\nCHECK-NEXT: c\n", "a\nb\nxc\n"),
            "");
}

TEST(NextTest, FailsFurtherDown) {
  const std::string message =
      Check("CHECK: a\nCHECK-NEXT: b\n", "xay\nother\nb\n");
  EXPECT_EQ(message,
            "c:2:1: error: CHECK-NEXT: the match is not on the line after the "
            "match before\n"
            "CHECK-NEXT: b\n"
            "^~~~~~~~~~~~~\n"
            "in:3:1: note: the match\n"
            "b\n"
            "^\n"
            "in:1:3: note: the match before ended here\n"
            "xay\n"
            "  ^\n"
            "in:2:1: note: the line after it\n"
            "other\n"
            "^~~~~\n"
            "note: matched so far:\n"
            "  c:1: CHECK: a\n"
            "    in:1: xay");
}

TEST(NextTest, FailsOnTheSameLine) {
  EXPECT_THAT(
      Check("CHECK: a\nCHECK-NEXT: b\n", "a b\n"),
      HasSubstr("the match is on the line of the match before, not on the"));
}

TEST(NextTest, ShowsTheNextLineIfThereIsNoMatch) {
  EXPECT_THAT(Check("CHECK: a\nCHECK-NEXT: b\n", "a\nz\n"),
              AllOf(HasSubstr("CHECK-NEXT: not found in the input"),
                    HasSubstr("in:2:1: note: the next line\nz\n^")));
}

// --- CHECK-SAME

TEST(SameTest, IsOnTheSameLine) {
  EXPECT_EQ(Check("CHECK: a\nCHECK-SAME: b\n", "a x b\n"), "");
  EXPECT_THAT(Check("CHECK: a\nCHECK-SAME: b\n", "a\nb\n"),
              HasSubstr("the match is not on the line of the match before"));
}

TEST(SameTest, CaretIsWhereTheMatchBeforeEnded) {
  EXPECT_EQ(Check("CHECK: a\nCHECK-SAME: {{^}}b\n", "ab\n"), "");
  EXPECT_NE(Check("CHECK: a\nCHECK-SAME: {{^}}b\n", "acb\n"), "");
}

// --- CHECK-EMPTY

TEST(EmptyTest, IsAnEmptyLine) {
  EXPECT_EQ(Check("CHECK: a\nCHECK-EMPTY:\nCHECK-NEXT: b\n", "a\n\nb\n"), "");
  EXPECT_THAT(Check("CHECK: a\nCHECK-EMPTY:\n", "a\nb\n\nc\n"),
              HasSubstr("CHECK-EMPTY: the match is not on the line after"));
  EXPECT_THAT(Check("CHECK: a\nCHECK-EMPTY:\nCHECK: b\n", "a\nb\nc"),
              HasSubstr("CHECK-EMPTY: not found in the input"));
}

TEST(EmptyTest, SeveralInARow) {
  EXPECT_EQ(Check("CHECK: a\nCHECK-EMPTY:\nCHECK-EMPTY:\nCHECK-NEXT: b\n",
                  "a\n\n\nb\n"),
            "");
  EXPECT_NE(Check("CHECK: a\nCHECK-EMPTY:\nCHECK-EMPTY:\nCHECK-NEXT: b\n",
                  "a\n\nb\n"),
            "");
}

// --- CHECK-NOT

TEST(NotTest, HoldsBetweenTheMatchesAroundIt) {
  constexpr char kChecks[] = "CHECK: a\nCHECK-NOT: x\nCHECK: b\n";
  EXPECT_EQ(Check(kChecks, "x\na\nb\nx\n"), "");
  EXPECT_EQ(Check(kChecks, "a\nx\nb\n"),
            "c:2:1: error: CHECK-NOT: there is a match, and must be none\n"
            "CHECK-NOT: x\n"
            "^~~~~~~~~~~~\n"
            "in:2:1: note: the match\n"
            "x\n"
            "^\n"
            "note: matched so far:\n"
            "  c:1: CHECK: a\n"
            "    in:1: a\n"
            "  c:3: CHECK: b\n"
            "    in:3: b");
}

TEST(NotTest, HoldsFromTheBeginningAndToTheEnd) {
  EXPECT_NE(Check("CHECK-NOT: x\nCHECK: a\n", "x\na\n"), "");
  EXPECT_EQ(Check("CHECK-NOT: x\nCHECK: a\n", "a\nx\n"), "");
  EXPECT_NE(Check("CHECK: a\nCHECK-NOT: x\n", "a\nx\n"), "");
  EXPECT_EQ(Check("CHECK-NOT: x\n", "a\n"), "");
}

TEST(NotTest, UsesVariables) {
  constexpr char kChecks[] = "CHECK: [[X:%[0-9]]]\nCHECK-NOT: relu([[X]])\n";
  EXPECT_EQ(Check(kChecks, "%1\nrelu(%2)\n"), "");
  EXPECT_THAT(Check(kChecks, "%1\nrelu(%1)\n"), HasSubstr("X is \"%1\""));
  EXPECT_THAT(Check("CHECK-NOT: [[X]]\n", "a\n"),
              HasSubstr("variable X has no value here"));
}

TEST(NotTest, ImplicitOnesHoldEverywhere) {
  const CheckOptions options = {.implicit_check_not = {"warn{{ing|ed}}"}};
  EXPECT_EQ(Check("CHECK: 1\nCHECK: 2\n", "1\n2\n", options), "");
  for (const char* input :
       {"warning\n1\n2\n", "1\nwarned\n2\n", "1\n2\nwarning\n"}) {
    EXPECT_THAT(Check("CHECK: 1\nCHECK: 2\n", input, options),
                HasSubstr("implicit_check_not: there is a match"))
        << input;
  }
}

// --- CHECK-DAG

TEST(DagTest, IsInAnyOrder) {
  EXPECT_EQ(Check("CHECK-DAG: a\nCHECK-DAG: b\nCHECK: c\n", "b\na\nc\n"), "");
  EXPECT_NE(Check("CHECK-DAG: a\nCHECK-DAG: b\nCHECK: c\n", "c\nb\na\n"), "");
  EXPECT_THAT(Check("CHECK-DAG: a\nCHECK-DAG: b\n", "a\n"),
              HasSubstr("c:2:1: error: CHECK-DAG: not found in the input"));
}

TEST(DagTest, MatchesDoNotOverlap) {
  EXPECT_EQ(Check("CHECK-DAG: add\nCHECK-DAG: add\n", "add\nadd\n"), "");
  EXPECT_NE(Check("CHECK-DAG: add\nCHECK-DAG: add\n", "add\n"), "");
  EXPECT_EQ(Check("CHECK-DAG: ab\nCHECK-DAG: b\n", "ab\nb\n"), "");
}

TEST(DagTest, SetsVariables) {
  EXPECT_EQ(Check("CHECK-DAG: [[A:%[0-9]]] = add\n"
                  "CHECK-DAG: [[B:%[0-9]]] = mul\n"
                  "CHECK: sub([[A]], [[B]])\n",
                  "%0 = mul\n%1 = add\nsub(%1, %0)\n"),
            "");
}

TEST(DagTest, NotHoldsBetweenGroups) {
  constexpr char kChecks[] =
      "CHECK-DAG: a\nCHECK-DAG: b\nCHECK-NOT: x\nCHECK-DAG: c\n";
  EXPECT_EQ(Check(kChecks, "b\nx\na\nc\nx\n"), "");
  EXPECT_NE(Check(kChecks, "b\na\nx\nc\n"), "");
  // The second group begins after all of the first.
  EXPECT_NE(Check(kChecks, "b\nc\na\n"), "");
}

// --- CHECK-LABEL

constexpr char kFunctions[] =
    "def @f {\n  add\n}\ndef @g {\n  mul\n}\ndef @h {\n  sub\n}\n";

TEST(LabelTest, ChecksBetweenLabelsStayThere) {
  EXPECT_EQ(Check("CHECK-LABEL: @f\nCHECK: add\nCHECK-LABEL: @g\nCHECK: mul\n",
                  kFunctions),
            "");
  const std::string message = Check(
      "CHECK-LABEL: @f\nCHECK: mul\nCHECK-LABEL: @g\nCHECK: mul\n", kFunctions);
  EXPECT_THAT(message, AllOf(HasSubstr("c:2:1: error: CHECK: not found"),
                             HasSubstr("in:4:7: note: up to here")));
}

TEST(LabelTest, EachPartHasItsError) {
  const std::string message = Check(
      "CHECK-LABEL: @f\nCHECK: one\nCHECK-LABEL: @g\nCHECK: mul\n"
      "CHECK-LABEL: @h\nCHECK: three\n",
      kFunctions);
  EXPECT_THAT(message,
              AllOf(HasSubstr("c:2:1: error:"), Not(HasSubstr("c:4:1: error:")),
                    HasSubstr("c:6:1: error:")));
}

TEST(LabelTest, NotHoldsUpToTheLabel) {
  EXPECT_EQ(
      Check("CHECK-LABEL: @f\nCHECK-NOT: mul\nCHECK-LABEL: @g\n", kFunctions),
      "");
  EXPECT_NE(
      Check("CHECK-LABEL: @f\nCHECK-NOT: mul\nCHECK-LABEL: @h\n", kFunctions),
      "");
}

TEST(LabelTest, MustBeThereAndHaveNoVariables) {
  EXPECT_THAT(Check("CHECK-LABEL: @k\n", kFunctions),
              HasSubstr("CHECK-LABEL: not found in the input"));
  EXPECT_THAT(Check("CHECK-LABEL: [[F:@.]]\n", kFunctions),
              HasSubstr("c:1:1: error: CHECK-LABEL must not have variables"));
}

// --- CHECK-COUNT-n

TEST(CountTest, MatchesThatOften) {
  EXPECT_EQ(Check("CHECK-COUNT-3: a\n", "a\na a\n"), "");
  EXPECT_EQ(Check("CHECK-COUNT-2: a\nCHECK-NOT: a\n", "a\na\n"), "");
  EXPECT_NE(Check("CHECK-COUNT-2: a\nCHECK-NOT: a\n", "a\na\na\n"), "");
  EXPECT_THAT(Check("CHECK-COUNT-3: a\n", "a\na\n"),
              HasSubstr("CHECK-COUNT-3: found 2 of 3 in the input"));
}

TEST(CountTest, NeedsAPositiveNumber) {
  for (const char* checks : {"CHECK-COUNT: a\n", "CHECK-COUNT-0: a\n",
                             "CHECK-COUNT-x: a\n", "CHECK-COUNT--1: a\n"}) {
    EXPECT_THAT(Check(checks, "a\n"),
                HasSubstr("c:1:1: error: -COUNT needs a positive number"))
        << checks;
  }
}

// --- {{regex}}

TEST(RegexTest, MatchesAPart) {
  EXPECT_EQ(Check("CHECK: add(%{{[0-9]+}}, {{a|b}})\n", "add(%12, b)\n"), "");
  EXPECT_NE(Check("CHECK: add(%{{[0-9]+}}, {{a|b}})\n", "add(%12, c)\n"), "");
}

TEST(RegexTest, AnchorsAreThoseOfLines) {
  EXPECT_EQ(Check("CHECK: {{^}}b{{$}}\n", "ab\nba\nb\n"), "");
  EXPECT_NE(Check("CHECK: {{^}}b{{$}}\n", "ab\nba\n"), "");
}

TEST(RegexTest, TheFirstBracesEndIt) {
  EXPECT_EQ(Check("CHECK: {a:{{[0-9]}}}\n", "{a:1}\n"), "");
  EXPECT_THAT(Check("CHECK: {{(a{2}}})\n", "aa\n"),
              HasSubstr("c:1:8: error: bad regular expression: missing ): "
                        "(a{2 (the first }} ends it)"));
}

TEST(RegexTest, BadOnesAreLocated) {
  EXPECT_EQ(Check("CHECK: a\nCHECK: a {{[}} b\n", "a\n"),
            "cannot check:\n"
            "c:2:10: error: bad regular expression: missing ]: [\n"
            "CHECK: a {{[}} b\n"
            "         ^~~~~");
  EXPECT_THAT(Check("CHECK: a {{b\n", "a\n"),
              HasSubstr("c:1:10: error: {{ without }}"));
  EXPECT_THAT(Check("CHECK: {{a)(b}}\n", "a\n"), HasSubstr("unexpected )"));
}

// --- [[NAME]]

TEST(VariableTest, IsWhatItMatched) {
  constexpr char kChecks[] = "CHECK: [[X:%[0-9]+]] = add\nCHECK: relu([[X]])\n";
  EXPECT_EQ(Check(kChecks, "%1 = add\nrelu(%1)\n"), "");
  EXPECT_THAT(Check(kChecks, "%1 = add\nrelu(%2)\n"),
              AllOf(HasSubstr("c:2:1: error: CHECK: not found"),
                    HasSubstr("note: X is \"%1\"")));
}

TEST(VariableTest, ValuesAreText) {
  EXPECT_EQ(Check("CHECK: a [[X:.*]]\nCHECK: b [[X]]\n", "a (1.)*\nb (1.)*\n"),
            "");
  EXPECT_NE(Check("CHECK: a [[X:.*]]\nCHECK: b [[X]]\n", "a .\nb x\n"), "");
}

TEST(VariableTest, CanBeSetAgain) {
  EXPECT_EQ(Check("CHECK: a [[X:.]]\nCHECK: b [[X:.]]\nCHECK: c [[X]]\n",
                  "a 1\nb 2\nc 2\n"),
            "");
  // The use before the setting, in one line, is of the earlier value.
  EXPECT_EQ(Check("CHECK: a [[X:.]]\nCHECK: b [[X]] [[X:.]]\nCHECK: c [[X]]\n",
                  "a 1\nb 1 2\nc 2\n"),
            "");
}

TEST(VariableTest, CanBeUsedInTheLineThatSetsIt) {
  constexpr char kChecks[] = "CHECK: add([[X:%[0-9]+]], [[X]])\n";
  EXPECT_EQ(Check(kChecks, "add(%1, %1)\n"), "");
  EXPECT_EQ(Check(kChecks, "add(%1, %2); add(%2, %2)\n"), "");
  EXPECT_EQ(Check(kChecks, "add(%1, %2)\nadd(%2, %2)\n"), "");
  EXPECT_NE(Check(kChecks, "add(%1, %2)\nadd(%2, %12)\n"), "");
}

TEST(VariableTest, IsSetSoThatTheLineMatches) {
  EXPECT_EQ(Check("CHECK: [[X:.+]],[[X]];\nCHECK: [[X]]\n", "ab,b;\nb\n"), "");
  EXPECT_EQ(Check("CHECK: <[[X:.*]]>.*<[[X]]>\n", "<a>.*<a>\n"), "");
  EXPECT_EQ(Check("CHECK: <[[X:.*]]>{{.*}}<[[X]]>\n", "<a> <b> <a>\n"), "");
  EXPECT_NE(Check("CHECK: <[[X:.+]]>{{.*}}<[[X]]>\n", "<a> <b> <c>\n"), "");
  EXPECT_EQ(Check("CHECK: [[X:.+]] [[Y:.+]] [[Y]] [[X]]{{$}}\n",
                  "1 a b b 1\na b b a\n"),
            "");
}

TEST(VariableTest, TooManyWaysAreAnError) {
  std::string line;
  for (int i = 0; i < 3000; ++i) absl::StrAppend(&line, i, " ");
  EXPECT_THAT(Check("CHECK: [[X:.+]]={{.*}}[[X]]=\n", "=" + line + "=.=\n"),
              HasSubstr("there are too many ways to set X"));
}

TEST(VariableTest, OpensBeforeALetterOnly) {
  EXPECT_EQ(Check("CHECK: [[0, 0], [1, 1]]\n", "[[0, 0], [1, 1]]\n"), "");
  EXPECT_EQ(Check("CHECK: [[]] [[%a]] [[\n", "[[]] [[%a]] [[\n"), "");
  EXPECT_EQ(Check("CHECK: [[_a:.]]\nCHECK: <[[_a]]>\n", "x\n<x>\n"), "");
}

TEST(VariableTest, BracketsInItsExpressionNest) {
  EXPECT_EQ(Check("CHECK: [[X:[a-z]]]=\nCHECK: .[[X]].\n", "a=\n.a.\n"), "");
  EXPECT_EQ(Check("CHECK: [[X:[^]]+]]\n", "a\n"), "");
  EXPECT_EQ(Check("CHECK: [[X:\\[\\[.\\]\\]]]\n", "[[1]]\n"), "");
}

TEST(VariableTest, MayHaveGroups) {
  EXPECT_EQ(Check("CHECK: {{(a)(b)}}[[X:(c)|(d)]][[Y:(e)+]] [[X]] [[Y]]\n"
                  "CHECK: [[Y]][[X]]\n",
                  "abdee d ee\need\n"),
            "");
}

TEST(VariableTest, MistakesAreLocated) {
  EXPECT_THAT(Check("CHECK: [[NHWC, HWIO]]\n", ""),
              HasSubstr("c:1:8: error: expected : or ]] after the name of a "
                        "variable; to match the text [[NHWC, write "
                        "{{\\[\\[}}NHWC\nCHECK: [[NHWC, HWIO]]\n       ^"));
  EXPECT_THAT(Check("CHECK: [[X:a\n", ""),
              HasSubstr("c:1:8: error: [[ without ]]"));
  EXPECT_THAT(Check("CHECK: [[X:(]]\n", ""),
              HasSubstr("bad regular expression: missing ): ("));
  EXPECT_THAT(Check("CHECK: [[X:a]] [[X:b]]\n", ""),
              HasSubstr("c:1:16: error: variable X is set twice"));
  EXPECT_THAT(Check("CHECK: a [[X]]\n", "a\n"),
              HasSubstr("c:1:1: error: CHECK: variable X has no value here"));
}

TEST(VariableTest, CanBeGiven) {
  EXPECT_EQ(Check("CHECK: [[X]]1\n", "a1\n", {.variables = {{"X", "a"}}}), "");
}

// --- CHECK{LITERAL}

TEST(LiteralTest, IsText) {
  EXPECT_EQ(Check("CHECK{LITERAL}: [[NHWC, {{a}}]]\n", "[[NHWC, {{a}}]]\n"),
            "");
  EXPECT_EQ(Check("CHECK: a\nCHECK-NEXT{LITERAL}: {{.*}}\n", "a\n{{.*}}\n"),
            "");
  EXPECT_EQ(Check("CHECK-COUNT-2{LITERAL}: [[a\n", "[[a [[a\n"), "");
  EXPECT_NE(Check("CHECK{LITERAL}: {{.*}}\n", "a\n"), "");
  EXPECT_THAT(Check("CHECK{EXACT}: a\n", "a\n"),
              HasSubstr("c:1:1: error: unknown modifier {EXACT}; the one that "
                        "there is is {LITERAL}"));
}

// --- What directives there are

TEST(PrefixTest, CanBeChosen) {
  constexpr char kChecks[] = "CHECK: a\nFOO: b\nFOO-NEXT: c\n";
  EXPECT_EQ(Check(kChecks, "b\nc\n", {.prefixes = {"FOO"}}), "");
  EXPECT_EQ(Check(kChecks, "a\nb\nc\n", {.prefixes = {"FOO", "CHECK"}}), "");
  EXPECT_THAT(Check(kChecks, "a\n", {.prefixes = {"CHECK", "BAR"}}),
              HasSubstr("c: there is no line with BAR:"));
  EXPECT_THAT(Check(kChecks, "a\n", {.prefixes = {"A B"}}),
              HasSubstr("\"A B\" cannot be a prefix"));
  EXPECT_THAT(Check(kChecks, "a\n", {.prefixes = {"CHECK", "CHECK"}}),
              HasSubstr("prefix CHECK is given twice"));
}

TEST(PrefixTest, MayBeTheBeginningOfAnother) {
  constexpr char kChecks[] = "CHECK: a\nCHECK-OPT: b\nCHECK-OPT-NOT: c\n";
  EXPECT_EQ(Check(kChecks, "a\n"), "");
  EXPECT_EQ(Check(kChecks, "a\nb\n", {.prefixes = {"CHECK", "CHECK-OPT"}}), "");
  EXPECT_NE(Check(kChecks, "a\nb\nc\n", {.prefixes = {"CHECK", "CHECK-OPT"}}),
            "");
}

TEST(PrefixTest, IsAWord) {
  EXPECT_THAT(Check("XCHECK: a\nMY-CHECK: b\nMY_CHECK: c\n", "a\n"),
              HasSubstr("c: there is no line with CHECK:"));
  EXPECT_EQ(Check("%CHECK: a\n", "a\n"), "");
}

TEST(PrefixTest, CommentsAndRunLinesHaveNone) {
  EXPECT_EQ(
      Check("RUN: x --check_prefix=CHECK: y\nCOM: CHECK: z\nCHECK: a\n", "a\n"),
      "");
}

TEST(DirectiveTest, MisspelledOnesAreErrors) {
  EXPECT_THAT(
      Check("CHECK: a\nCHECK-NETX: b\n", "a\n"),
      HasSubstr("c:2:1: error: unknown directive -NETX; did you mean "
                "\"NEXT\"? (a prefix of its own must be given as one)"));
  EXPECT_THAT(Check("CHECK_NOT: a\n", "a\n"),
              HasSubstr("unknown directive _NOT; did you mean -NOT?"));
  EXPECT_THAT(Check("CHECK: a\nCHECK-NEXT : b\n", "a\n"),
              HasSubstr("there is a blank before the colon"));
  EXPECT_THAT(Check("CHECK-NEXT-NOT: a\n", "a\n"),
              HasSubstr("-NEXT and -NOT cannot be used together"));
}

TEST(DirectiveTest, MistakesAreErrors) {
  EXPECT_THAT(Check("// CHECK:\n", "a\n"),
              HasSubstr("c:1:4: error: CHECK has no pattern"));
  EXPECT_THAT(Check("CHECK: a\nCHECK-EMPTY: b\n", "a\n"),
              HasSubstr("c:2:1: error: CHECK-EMPTY must have no pattern"));
  for (const char* name : {"CHECK-NEXT: a", "CHECK-SAME: a", "CHECK-EMPTY:"}) {
    EXPECT_THAT(Check(absl::StrCat("CHECK-NOT: b\n", name, "\n"), "a\n"),
                HasSubstr("has no positive directive before it"));
  }
  EXPECT_THAT(Check("nothing\n", "a\n"),
              HasSubstr("c: there is no line with CHECK:"));
}

TEST(DirectiveTest, AllMistakesAreSaidAtOnce) {
  EXPECT_THAT(Check("CHECK: {{\nCHECK:\n", "a\n"),
              AllOf(HasSubstr("c:1:8: error"), HasSubstr("c:2:1: error")));
}

TEST(OptionsTest, EmptyInput) {
  EXPECT_THAT(Check("CHECK-NOT: a\n", ""), "in: error: the input is empty");
  EXPECT_EQ(Check("CHECK-NOT: a\n", "", {.allow_empty = true}), "");
}

TEST(OptionsTest, FullLines) {
  const CheckOptions options = {.match_full_lines = true};
  EXPECT_EQ(Check("CHECK: a {{.}}\n", "xa b\na bc\n  a b \n", options), "");
  EXPECT_NE(Check("CHECK: a\n", "ab\n", options), "");
  EXPECT_NE(Check("CHECK: b\nCHECK-NOT: a\n", "b\nxax\n", options), "");
}

// --- Size

TEST(SizeTest, TimeGrowsWithTheInput) {
  constexpr int kLines = 5000;
  std::string checks = "CHECK: begin\n";
  std::string input = "begin\n";
  for (int i = 0; i < kLines; ++i) {
    absl::StrAppend(&checks, "CHECK-NEXT: [[V:%[0-9]+]] = f(", i, ")\n",
                    "CHECK-SAME: , [[V]]\n");
    absl::StrAppend(&input, "%", i, " = f(", i, "), %", i, "\n");
  }
  EXPECT_EQ(Check(checks, input), "");
}

}  // namespace
}  // namespace baton
