#include "baton/relay/transform/partial_eval.h"

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/ir/module.h"
#include "baton/ir/structural_equal.h"
#include "baton/ir/verify.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/ir/text_printer.h"
#include "baton/relay/transform/dead_code_elimination.h"
#include "baton/relay/transform/pass_test_util.h"
#include "baton/relay/transform/to_a_normal_form.h"
#include "baton/testing/status_matchers.h"
#include "baton/transform/pass.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton::relay {
namespace {

using ::testing::HasSubstr;
using testing::IsOk;
using ::testing::Not;
using testing::StatusIs;

// The typed `text` after PartialEval, and the removal of what is dead then.
IRModule Evaluated(absl::string_view text, bool ignore_effects = false) {
  const IRModule module = ParseTyped(text);
  const IRModule result = RunChecked(PartialEval(), module);
  return RunChecked(DeadCodeElimination({.inline_once = true,
                                         .ignore_impurity = ignore_effects}),
                    result);
}

void ExpectMakes(absl::string_view before, absl::string_view after,
                 bool ignore_effects = false) {
  const IRModule result = Evaluated(before, ignore_effects);
  EXPECT_EQ(FirstDifference(result, ParseTyped(after)), std::nullopt)
      << ToText(result);
}

TEST(PartialEvalTest, TakesFieldsOfKnownTuples) {
  ExpectMakes("def @main[T](%x: T) { (4f, %x).1 }",
              "def @main[T](%x: T) -> T { %x }");
}

TEST(PartialEvalTest, InlinesAndComputes) {
  ExpectMakes(R"(
      def @main() {
        let %double = fn (%d: float32) { add(%d, %d) };
        %double(4f)
      })",
              "def @main() { 8f }");
}

TEST(PartialEvalTest, TakesContentsOfKnownReferences) {
  ExpectMakes(R"(
      def @main(%d: float32) {
        let %r = ref(%d);
        let %x = ref_write(%r, multiply(ref_read(%r), ref_read(%r)));
        ref_read(%r)
      })",
              "def @main(%d: float32) { multiply(%d, %d) }",
              /*ignore_effects=*/true);
}

TEST(PartialEvalTest, BranchesForgetWhatReferencesContain) {
  const IRModule result = Evaluated(R"(
      def @main(%d: bool) {
        let %r = ref(1);
        let %update = fn () { ref_write(%r, add(ref_read(%r), ref_read(%r))) };
        let %e = if (%d) { %update() } else { %update() };
        ref_read(%r)
      })");
  EXPECT_THAT(ToText(result), HasSubstr("ref_read("));
}

TEST(PartialEvalTest, CallsOfUnknownFunctionsForgetWhatReferencesContain) {
  const IRModule result = Evaluated(R"(
      def @main(%d: bool) {
        let %r = ref(0);
        let %fetch = fn () { ref_read(%r) };
        let %obscured = if (%d) { %fetch } else { %fetch };
        let %u = ref_write(%r, 1);
        if (%d) { %obscured() } else { %obscured() }
      })");
  EXPECT_THAT(ToText(result), HasSubstr("ref_read("));
}

// The reference takes 1, which %r contained before the call, to be what it
// contains after it.
TEST(PartialEvalTest, CallsThatAreNotInlinedForgetWhatReferencesContain) {
  const IRModule result = Evaluated(R"(
      def @main(%n: int32) {
        let %r = ref(0);
        let %count = fn (%k: int32) -> int32 {
          if (less(%k, 1)) {
            let %u = ref_write(%r, 7);
            0
          } else {
            let %u = ref_write(%r, 1);
            let %v = %count(subtract(%k, 1));
            ref_read(%r)
          }
        };
        %count(%n)
      })");
  EXPECT_THAT(ToText(result), HasSubstr("ref_read("));
}

constexpr char kList[] = R"(
    type List[A] { Cons(A, List[A]), Nil, }
)";

constexpr char kNat[] = R"(
    type nat { Z, S(nat), }
)";

TEST(PartialEvalTest, DecidesMatchesOfKnownData) {
  ExpectMakes(absl::StrCat(kList, R"(
      def @hd[A](%xs: List[A]) -> A {
        match? (%xs) { Cons(%x, _) => { %x }, }
      }
      def @main[T](%x: T) { @hd(Cons(%x, Nil)) })"),
              absl::StrCat(kList, R"(
      def @hd[A](%xs: List[A]) -> A {
        match? (%xs) { Cons(%x, _) => { %x }, }
      }
      def @main[T](%x: T) -> T { %x })"));
}

TEST(PartialEvalTest, InlinesFunctionsThatAreArguments) {
  const IRModule result = Evaluated(absl::StrCat(kList, R"(
      def @map[A, B](%f: fn (A) -> B, %xs: List[A]) -> List[B] {
        match (%xs) {
          Cons(%x, %rest) => { Cons(%f(%x), @map(%f, %rest)) },
          Nil => { Nil },
        }
      }
      def @f[T](%a: T) -> T { %a }
      def @main() { @map(@f, Cons(1, Cons(2, Nil))) })"));
  EXPECT_THAT(ToText(result), HasSubstr("def @main() -> List[int32]"));
  EXPECT_THAT(ToText(result), HasSubstr("Cons(1"));
  EXPECT_THAT(ToText(result), Not(HasSubstr("@map(@f")));
}

TEST(PartialEvalTest, EndsWhereAProgramDoesNot) {
  ExpectMakes(R"(
      def @loop[T](%x: T) -> T { @loop(%x) }
      def @main() { @loop(1) })",
              R"(
      def @loop[T](%x: T) -> T { @loop(%x) }
      def @main() -> int32 { @loop(1) })");
}

TEST(PartialEvalTest, EndsWhereArgumentsAreSwapped) {
  const std::string text = absl::StrCat(kNat, R"(
      def @loop(%x: nat, %y: nat) -> nat { @loop(%y, %x) }
      def @main() -> nat { @loop(S(Z), S(S(Z))) })");
  const IRModule result = Evaluated(text);
  EXPECT_TRUE(
      StructuralEqual(result.Find("main"), ParseTyped(text).Find("main")))
      << ToText(result);
}

TEST(PartialEvalTest, RecursesOnKnownData) {
  const std::string functions = absl::StrCat(kNat, R"(
      def @double(%x: nat) -> nat {
        match (%x) { Z => { Z }, S(%y) => { S(S(@double(%y))) }, }
      }
      def @difference(%x: nat, %y: nat) -> nat {
        match (%x) {
          Z => { %y },
          S(%p) => {
            match (%y) { Z => { %x }, S(%q) => { @difference(%q, %p) }, }
          },
        }
      })");
  const IRModule result = Evaluated(
      absl::StrCat(functions,
                   "def @main() -> (nat, nat) {"
                   "  (@double(S(S(Z))), @difference(S(S(S(Z))), S(Z)))"
                   "}"));
  const IRModule expected = ParseTyped(absl::StrCat(
      functions, "def @main() -> (nat, nat) { (S(S(S(S(Z)))), S(S(Z))) }"));
  EXPECT_TRUE(StructuralEqual(result.Find("main"), expected.Find("main")))
      << ToText(result);
}

TEST(PartialEvalTest, RecursesOnKnownNumbers) {
  ExpectMakes(R"(
      def @main() -> int32 {
        let %f = fn (%x: int32) -> int32 {
          if (equal(%x, 0)) { 0 } else { add(%x, %f(subtract(%x, 1))) }
        };
        %f(10)
      })",
              "def @main() -> int32 { 55 }");
}

TEST(PartialEvalTest, MatchesTuples) {
  ExpectMakes("def @main() { match ((1, 1)) { (%a, %b) => { add(%a, %b) }, } }",
              "def @main() { 2 }");
}

TEST(PartialEvalTest, KeepsWhatIsUnknown) {
  const std::string text = R"(
      def @main(%x: Tensor[(10), float32], %y: Tensor[(10), float32]) {
        concatenate((%x, %y))
      })";
  ExpectMakes(text, text);
}

// A literal that is inlined into itself, by way of the function around it, with
// arguments that make no progress: the reference writes a function that only
// calls itself.
TEST(PartialEvalTest, WritesLiteralsInsideThemselvesAsTheyAre) {
  const IRModule result = Evaluated(R"(
      def @f(%n: int32) -> int32 {
        let %g = fn (%y: int32) -> int32 { @f(subtract(%y, 1)) };
        if (less(%n, 1)) { 0 } else { add(%n, %g(%n)) }
      }
      def @main(%x: int32) { add(@f(3), @f(%x)) })");
  EXPECT_THAT(ToText(result), HasSubstr("def @main"));
}

TEST(PartialEvalTest, PolymorphicFunctionsGetTheTypesOfTheirCalls) {
  const IRModule result = Evaluated(R"(
      def @twice[T](%f: fn (T) -> T, %x: T) -> T {
        let %g = fn (%y: T) -> T { %f(%f(%y)) };
        %g(%x)
      }
      def @main(%x: float32, %h: fn (float32) -> float32) { @twice(%h, %x) })");
  EXPECT_THAT(ToText(result), HasSubstr("def @main"));
}

TEST(PartialEvalTest, PrimitiveFunctionsStay) {
  ExpectMakes(R"(
      def @main(%x: float32) {
        let %f = fn (%a: float32, Primitive=1) { add(%a, %a) };
        %f(%x)
      })",
              R"(
      def @main(%x: float32) {
        %0 = fn (%a: float32, Primitive=1) { add(%a, %a) };
        %0(%x)
      })");
  ExpectMakes(R"(
      def @main() {
        let %f = fn (%a: float32, Primitive=1) { add(%a, %a) };
        %f(2f)
      })",
              "def @main() { 4f }");
}

TEST(PartialEvalTest, PrimitiveFunctionsMayWrite) {
  constexpr absl::string_view kText = R"(
      def @main(%x: float32) {
        let %r = ref(%x);
        let %f = fn (%a: ref(float32), Primitive=1) { ref_write(%a, 2f) };
        let %u = %f(%r);
        ref_read(%r)
      })";
  const IRModule result = Evaluated(kText);
  EXPECT_THAT(ToText(result), HasSubstr("ref_read"));
}

TEST(PartialEvalTest, RefusesWhatIsUsedTwice) {
  const IRModule module = ParseTyped(R"(
      def @main(%x: float32) {
        %0 = add(%x, 1f);
        multiply(%0, %0)
      })");
  EXPECT_THAT(PartialEval()(module),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "3:14: error: a Call that is used more than "
                       "once cannot be partially evaluated; "
                       "ToANormalForm binds it to a variable"));
}

TEST(PartialEvalTest, RefusesMatchesThatNothingFits) {
  const IRModule module = ParseTyped(
      absl::StrCat(kNat, "def @main() { match? (Z) { S(%x) => { %x }, } }"));
  EXPECT_THAT(PartialEval()(module),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "no clause fits what is matched"));
}

TEST(PartialEvalTest, StopsInliningAtTheLimit) {
  const IRModule module = ParseTyped(R"(
      def @main() -> int32 {
        let %f = fn (%x: int32) -> int32 {
          if (equal(%x, 0)) { 0 } else { add(%x, %f(subtract(%x, 1))) }
        };
        %f(1000000000)
      })");
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule result,
                             PartialEval({.max_calls = 100})(module));
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule typed, InferTypes(result));
  EXPECT_THAT(CheckTypes(typed), IsOk());
}

TEST(PartialEvalTest, DoesNotComputeLargeTensors) {
  const std::string text = R"(
      def @main() { broadcast_to(1f, shape=[1000]) })";
  const IRModule module = ParseTyped(text);
  const IRModule result =
      RunChecked(PartialEval({.max_elements = 999}), module);
  EXPECT_THAT(ToText(result), HasSubstr("broadcast_to"));
}

TEST(PartialEvalTest, RandomProgramsComputeTheSame) {
  for (uint32_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    const IRModule module = RunChecked(
        ToANormalForm(),
        relay::RandomProgram(seed, RandomProgramOptions::Mixed(seed)));
    RunChecked(PartialEval(), module);
    if (HasFailure()) {
      ADD_FAILURE() << ToText(module);
      break;
    }
  }
}

}  // namespace
}  // namespace baton::relay
