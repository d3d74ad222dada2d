#include "baton/relay/ir/adt.h"

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/ir/diagnostics.h"
#include "baton/ir/module.h"
#include "baton/ir/structural_equal.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/ir/text_parser.h"
#include "baton/relay/ir/text_printer.h"
#include "baton/relay/ir/visit.h"
#include "baton/relay/ir/well_formed.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton::relay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr absl::string_view kList = R"(#[version = "0.0.5"]
type List[A] {
  Cons(A, List[A]),
  Nil,
}

)";

absl::StatusOr<IRModule> ParseAndInfer(absl::string_view text) {
  absl::StatusOr<IRModule> module = ParseModule(text, "test.relay");
  if (!module.ok()) return module;
  return InferTypes(*module);
}

IRModule Parsed(absl::string_view text) {
  absl::StatusOr<IRModule> module = ParseModule(text, "test.relay");
  EXPECT_TRUE(module.ok()) << module.status();
  return module.ok() ? *module : IRModule();
}

std::string ErrorOf(absl::string_view definitions) {
  return std::string(
      ParseAndInfer(absl::StrCat(kList, definitions)).status().message());
}

TEST(AdtTest, TypedTextIsReproduced) {
  const std::string text = absl::StrCat(kList,
                                        R"(type T[A] {
  
}

def @id[A](%x: A /* ty=A */) -> A {
  %x
}

def @main(%l: List[float32] /* ty=List[float32] */) -> List[float32] {
  @map(@id, %l) /* ty=List[float32] */
}

def @map[A, B](%f: fn (A) -> B /* ty=fn (A) -> B */, %xs: List[A] /* ty=List[A] */) -> List[B] {
  match (%xs) {
    Cons(%x1: A /* ty=A */, %rest: List[A] /* ty=List[A] */) => {
      %0 = %f(%x1) /* ty=B */;
      %1 = @map(%f, %rest) /* ty=List[B] */;
      Cons(%0, %1) /* ty=List[B] */
    },
    Nil => {
      Nil /* ty=List[B] */
    },
  }
}

def @pick(%a: (List[()], ()) /* ty=(List[()], ()) */) -> int32 {
  let %r: int32 /* ty=int32 */ = match (%a) {
    (Cons((), _), _) => {
      1 /* ty=int32 */
    },
    _ => {
      2 /* ty=int32 */
    },
  };
  %r
}
)");
  const absl::StatusOr<IRModule> module = ParseAndInfer(text);
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_EQ(AsText(*module), text);
  EXPECT_TRUE(CheckWellFormed(*module).ok()) << CheckWellFormed(*module);
  const IRModule again = Parsed(text);
  EXPECT_EQ(StructuralHash(Parsed(text)), StructuralHash(again));
  EXPECT_EQ(FirstDifference(Parsed(text), again), std::nullopt);
  // A typed module is not typed again.
  EXPECT_TRUE(InferTypes(*module)->SameAs(*module));
}

TEST(AdtTest, ConstructorsAreFunctions) {
  const absl::StatusOr<IRModule> module = ParseAndInfer(
      absl::StrCat(kList,
                   "def @main[A]() -> fn (A, List[A]) -> List[A] { Cons }\n"
                   "def @one(%x: int32) { Cons(%x, Nil) }\n"));
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_THAT(AsText(*module), HasSubstr("  Cons\n"));
  EXPECT_THAT(AsText(*module),
              HasSubstr("  %0 = Nil /* ty=List[int32] */;\n"
                        "  Cons(%x, %0) /* ty=List[int32] */\n"));
}

TEST(AdtTest, ErrorsAreLocated) {
  EXPECT_THAT(ErrorOf("def @f(%x: Lst[int32]) { %x }"),
              HasSubstr("test.relay:7:12: error: unknown type `Lst`; did you "
                        "mean \"List\"?"));
  EXPECT_THAT(ErrorOf("def @f(%x: List[int32, bool]) { %x }"),
              HasSubstr("7:8: error: the type List takes 1 argument, found 2"));
  EXPECT_THAT(ErrorOf("def @f(%x: List[bool]) { match (%x) { Con(_) => 1 } }"),
              HasSubstr("unknown constructor `Con`; did you mean \"Cons\"?"));
  EXPECT_THAT(
      ErrorOf("def @f(%x: List[bool]) { match? (%x) { Cons(_) => 1 } }"),
      HasSubstr("7:40: error: constructor Cons takes 2 arguments, the pattern "
                "has 1"));
  EXPECT_THAT(ErrorOf("def @f(%x: bool) { match? (%x) { Nil => 1 } }"),
              HasSubstr("7:34: error: the pattern Nil is for values of another "
                        "type: expected bool, found List["));
  EXPECT_THAT(ErrorOf("def @f(%x: (bool,)) { match? (%x) { (_, _) => 1 } }"),
              HasSubstr("the pattern (_, _) is for values of another type"));
  EXPECT_THAT(
      ErrorOf("def @f(%x: List[bool]) { match (%x) { Nil => 1, _ => true } }"),
      HasSubstr("error: "));
  EXPECT_THAT(
      ErrorOf("def @f(%x: List[bool]) { match (%x) { Nil => 1, _ => True, } }"),
      HasSubstr("clause 1 of the match has another type: expected int32, found "
                "bool"));
  EXPECT_THAT(ErrorOf("def @f(%x: List[bool]) { match (%x) { Nil => 1 } }"),
              HasSubstr("7:26: error: the match does not handle Cons(_, _)"));
  EXPECT_THAT(ErrorOf("type List { }"),
              HasSubstr("7:6: error: type List is defined twice"));
  EXPECT_THAT(ErrorOf("type Other { Nil }"),
              HasSubstr("7:14: error: constructor Nil is defined twice"));
  EXPECT_THAT(ErrorOf("extern type Other { New }"),
              HasSubstr("an extern type has no constructors"));
  EXPECT_THAT(ErrorOf("type Other { New(int3x) }"), HasSubstr("`int3x`"));
  EXPECT_THAT(ErrorOf("def @f(%x: bool) { Cons(%x) }"),
              HasSubstr("the function takes 2 arguments, found 1"));
}

TEST(AdtTest, ManyErrorsInOneRun) {
  const std::string errors = ErrorOf(
      "type { }\n"
      "type B { New(, }\n"
      "def @f(%x: bool) { match (%x) { } ; match }\n"
      "def @g(%x: bool) { %y }\n");
  EXPECT_THAT(errors, HasSubstr("7:6: error: expected the name of a type"));
  EXPECT_THAT(errors, HasSubstr("8:14: error: expected a type"));
  EXPECT_THAT(errors, HasSubstr("9:43: error: expected an expression"));
  EXPECT_THAT(errors, HasSubstr("10:20: error: unknown variable %y"));
}

TEST(AdtTest, SyntaxAndTypeErrorsInOneRun) {
  Diagnostics diagnostics;
  const IRModule module =
      ParseModule(absl::StrCat(kList,
                               "def @f(%x: bool) { match (%x) { } ; match }\n"
                               "def @g(%x: bool) { (@f(%x), %x.0) }\n"
                               "type T { New(int32 }\n"
                               "def @h(%x: T[]) { %x.1 }\n"),
                  "test.relay", diagnostics);
  InferTypes(module, diagnostics);
  EXPECT_EQ(diagnostics.num_errors(), 4) << diagnostics.ToString();
  EXPECT_THAT(diagnostics.ToString(),
              HasSubstr("8:29: error: only a tuple has fields, found bool"));
}

// The definition may precede or follow its caller.
TEST(AdtTest, ResultsOfFunctionsWithoutAnnotationAreFound) {
  for (const char* name : {"before", "zafter"}) {
    const absl::StatusOr<IRModule> module = ParseAndInfer(
        absl::StrCat(kList, "def @", name, "(%x: int32) { Cons(%x, Nil) }\n",
                     "def @main(%x: int32) { @before(%x) }\n", "def @",
                     absl::string_view(name) == "before" ? "zafter" : "before",
                     "(%x: int32) { Cons(%x, Nil) }\n"));
    ASSERT_TRUE(module.ok()) << module.status();
    EXPECT_EQ(module->Find<Function>("main")->result_type().ToString(),
              "List[int32]");
  }
}

TEST(AdtTest, DeepPatternsAreRefused) {
  const auto nested = [](int n) {
    std::string text = "def @f(%x: List[int32]) { match? (%x) { ";
    for (int i = 0; i < n; ++i) absl::StrAppend(&text, "Cons(_, ");
    absl::StrAppend(&text, "_", std::string(n, ')'), " => 1 } }");
    return text;
  };
  EXPECT_EQ(ErrorOf(nested(900)), "");
  EXPECT_THAT(ErrorOf(nested(5000)),
              HasSubstr("patterns are nested too deeply"));
}

TEST(AdtTest, StructuralEqualitySeesPatterns) {
  const auto match = [](absl::string_view clauses) {
    return Parsed(absl::StrCat(
        kList, "def @f(%x: List[int32]) { match? (%x) { ", clauses, " } }"));
  };
  const IRModule a = match("Cons(%a, %b) => %a, Nil => 1");
  EXPECT_TRUE(StructuralEqual(a, match("Cons(%c, %d) => %c, Nil => 1")));
  EXPECT_EQ(StructuralHash(a),
            StructuralHash(match("Cons(%c, %d) => %c, Nil => 1")));
  for (const char* other :
       {"Cons(%a, %b) => %b, Nil => 1", "Cons(%a, _) => %a, Nil => 1",
        "Nil => 1, Cons(%a, %b) => %a", "Cons(%a, %b) => %a",
        "Cons(%a: int32, %b) => %a, Nil => 1"}) {
    EXPECT_FALSE(StructuralEqual(a, match(other))) << other;
    EXPECT_NE(StructuralHash(a), StructuralHash(match(other))) << other;
  }
  EXPECT_FALSE(
      StructuralEqual(Parsed("type A { One }"), Parsed("type A { One, Two }")));
  EXPECT_EQ(FirstDifference(Parsed("type A { One }"), Parsed("type B { One }")),
            "B: only in the second module");
}

class Renamer : public ExprMutator {
 protected:
  Expr VisitVar(const Var& var) override {
    return Var(var->name() + "_", var->annotation());
  }
};

TEST(AdtTest, RewritersReachPatterns) {
  const IRModule module = Parsed(absl::StrCat(
      kList,
      "def @f(%x: List[int32]) { match? (%x) { Cons(%a, (%b)) => %a } }"));
  const Function f = module.Find<Function>("f");
  EXPECT_EQ(*ExprMutator().Mutate(f), f);
  const Function renamed = *Renamer().MutateFunction(f);
  EXPECT_THAT(ToText(renamed), HasSubstr("Cons(%a_, (%b_)) => {\n      %a_"));
  std::vector<std::string> names;
  for (const Var& var : BoundVars(f)) names.push_back(var->name());
  EXPECT_THAT(names, ElementsAre("x", "a", "b"));
  EXPECT_TRUE(FreeVars(f).empty());
}

TEST(AdtTest, VariablesOfPatternsHaveTheirClauseAsScope) {
  const GlobalTypeVar list("List");
  const TypeVar a("A");
  const Constructor cons("Cons", {a, TypeCall(list, {a})}, list, {a});
  const Var head("head");
  const Var x("x");
  const Pattern pattern =
      Pattern::OfConstructor(cons, {Pattern::OfVar(head), Pattern::Wildcard()});
  EXPECT_EQ(pattern.ToString(), "Cons(%head, _)");
  const Expr good = Match(x, {{pattern, head}});
  EXPECT_TRUE(CheckWellFormed(good).ok()) << CheckWellFormed(good);
  const Expr escaped = Match(x, {{pattern, head}, {Pattern::Wildcard(), head}});
  EXPECT_THAT(CheckWellFormed(escaped).message(),
              HasSubstr("%head is used outside of its scope"));
}

}  // namespace
}  // namespace baton::relay
