#include "baton/relay/transform/to_cps.h"

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/ir/module.h"
#include "baton/ir/structural_equal.h"
#include "baton/relay/ir/text_parser.h"
#include "baton/relay/ir/text_printer.h"
#include "baton/relay/transform/dead_code_elimination.h"
#include "baton/relay/transform/higher_order_gradient.h"
#include "baton/relay/transform/infer_type.h"
#include "baton/relay/transform/partial_eval.h"
#include "baton/relay/transform/pass_test_util.h"
#include "baton/relay/transform/to_a_normal_form.h"
#include "baton/testing/round_trip.h"
#include "baton/testing/status_matchers.h"
#include "baton/transform/pass.h"
#include "baton/transform/sequential.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton::relay {
namespace {

using ::testing::HasSubstr;
using testing::IsOk;
using ::testing::Not;
using testing::StatusIs;

Pass ThereAndBack() {
  return Sequential({ToCPS({.function = "main"}), UnCPS({.function = "main"})});
}

void ExpectMakes(const Pass& pass, absl::string_view before,
                 absl::string_view after) {
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule result, pass(ParseTyped(before)));
  EXPECT_EQ(FirstDifference(result, ParseTyped(after)), std::nullopt)
      << ToText(result);
}

TEST(ToCPSTest, ResultsGoToTheContinuation) {
  ExpectMakes(ToCPS(), "def @main(%x: float32) { %x }", R"(
      def @main[answer](%x: float32, %k: fn (float32) -> answer) -> answer {
        %k(%x)
      })");
}

TEST(ToCPSTest, WhatFollowsACallIsItsContinuation) {
  ExpectMakes(ToCPS(), R"(
      def @main[t](%f: fn (t) -> t, %x: t) -> t { %f(%f(%x)) })",
              R"(
      def @main[t, answer](%f: fn (t, fn (t) -> answer) -> answer, %x: t,
                           %k: fn (t) -> answer) -> answer {
        %1 = fn (%a) {
          %0 = fn (%b) { %k(%b) };
          %f(%a, %0)
        };
        %f(%x, %1)
      })");
}

TEST(ToCPSTest, BranchesCallWhatFollows) {
  ExpectMakes(ToCPS(), R"(
      def @main(%c: bool, %x: float32, %y: float32) {
        add(if (%c) { %x } else { exp(%y) }, %x)
      })",
              R"(
      def @main[answer](%c: bool, %x: float32, %y: float32,
                        %k: fn (float32) -> answer) -> answer {
        let %f = fn (%a) {
          let %b = add(%a, %x);
          %k(%b)
        };
        if (%c) {
          %f(%x)
        } else {
          let %e = exp(%y);
          %f(%e)
        }
      })");
}

TEST(ToCPSTest, ConvertsWhatIsCalled) {
  ExpectMakes(ToCPS({.function = "main"}), R"(
      def @loop(%x: float32) -> float32 { @loop(%x) }
      def @main(%x: float32) -> float32 { @loop(%x) })",
              R"(
      def @loop(%x: float32) -> float32 { @loop(%x) }
      def @loop_cps[answer](%x: float32, %k: fn (float32) -> answer)
          -> answer {
        %0 = fn (%a) { %k(%a) };
        @loop_cps(%x, %0)
      }
      def @main[answer](%x: float32, %k: fn (float32) -> answer) -> answer {
        %0 = fn (%a) { %k(%a) };
        @loop_cps(%x, %0)
      })");
}

TEST(ToCPSTest, FunctionsAsResults) {
  ExpectMakes(ToCPS({.function = "main"}), R"(
      def @f(%x: int32) -> int32 { %x }
      def @main() { @f })",
              R"(
      def @f(%x: int32) -> int32 { %x }
      def @f_cps[answer](%x: int32, %k: fn (int32) -> answer) -> answer {
        %k(%x)
      }
      def @main[answer](%k: fn (fn (int32, fn (int32) -> answer) -> answer)
                            -> answer) -> answer {
        %k(@f_cps)
      })");
}

TEST(ToCPSTest, RefusesWhatIsUsedTwiceOrNotCalled) {
  EXPECT_THAT(ToCPS()(ParseTyped(R"(
      def @main(%x: float32) {
        %0 = add(%x, 1f);
        multiply(%0, %0)
      })")),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "3:14: error: a Call that is used more than once has "
                       "no form with a continuation"));
  EXPECT_THAT(ToCPS({.function = "main"})(ParseTyped(R"(
      def @f_cps(%x: float32) { %x }
      def @f(%x: float32) { %x }
      def @main(%x: float32) { @f(%x) })")),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       "@f_cps is there already"));
  EXPECT_THAT(ToCPS({.function = "other"})(ParseTyped("def @main() { 1 }")),
              StatusIs(absl::StatusCode::kNotFound, "other"));
}

TEST(UnCPSTest, RefusesWhatTakesNoContinuation) {
  EXPECT_THAT(UnCPS()(ParseTyped("def @main(%x: float32) { %x }")),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "the last parameter is no continuation"));
}

TEST(UnCPSTest, WhatIsCalledKeepsItsContinuation) {
  const IRModule module = ParseTyped(R"(
      def @f[answer](%y: float32, %k: fn (float32) -> answer) -> answer {
        %k(%y)
      }
      def @main[answer](%x: float32, %k: fn (float32) -> answer) -> answer {
        %0 = fn (%a: float32) -> answer { %k(%a) };
        @f(%x, %0)
      })");
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule converted, UnCPS()(module));
  EXPECT_THAT(ParseModule(ToText(converted)).status(), IsOk());
  EXPECT_EQ(converted.Find<Function>("f"), module.Find<Function>("f"));
  EXPECT_EQ(converted.Find<Function>("main")->params().size(), 1);
  EXPECT_THAT(UnCPS({.function = "f"})(module),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "2:7: error: @f keeps its continuation: functions of "
                       "the module give it one"));
}

TEST(UnCPSTest, RecursionsComputeTheSame) {
  RunChecked(ThereAndBack(), ParseTyped(R"(
      type nat { Z, S(nat), }
      def @iterate[A](%f: fn (A) -> A, %n: nat) -> fn (A) -> A {
        match (%n) {
          Z => { fn (%x: A) -> A { %x } },
          S(%m) => {
            let %rest = @iterate(%f, %m);
            fn (%x: A) -> A { %f(%rest(%x)) }
          },
        }
      }
      def @main(%i: Tensor[(10, 10), float32]) {
        let %double = fn (%x: Tensor[(10, 10), float32]) { add(%x, %x) };
        let %f = @iterate(%double, S(S(S(Z))));
        %f(%i)
      })"));
}

TEST(UnCPSTest, RandomProgramsComputeTheSame) {
  for (uint32_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    const IRModule module = RunChecked(
        ToANormalForm(),
        relay::RandomProgram(seed, RandomProgramOptions::Mixed(seed)));
    RunChecked(Sequential({ThereAndBack(), PartialEval()}), module);
    if (HasFailure()) {
      ADD_FAILURE() << ToText(module);
      break;
    }
  }
}

// After conversion, PartialEval knows what references contain although
// branches write to them.
void ExpectNoReferencesLeft(IRModule module) {
  const Pass passes[] = {
      ToANormalForm(),
      InferType(),
      ToCPS({.function = "main"}),
      PartialEval(),
      InferType(),
      DeadCodeElimination({.inline_once = true, .ignore_impurity = true})};
  for (const Pass& pass : passes) {
    BATON_ASSERT_OK_AND_ASSIGN(module, pass(module));
  }
  EXPECT_THAT(ToText(module), Not(HasSubstr("ref(")));
}

TEST(ToCPSTest, PartialEvalGoesOnInEachBranch) {
  ExpectNoReferencesLeft(ParseTyped(R"(
      def @main(%cond: bool) {
        let %f_ref = ref(fn () { 0f });
        let %x = if (%cond) {
          ref_write(%f_ref, fn () { 1f })
        } else {
          ref_write(%f_ref, fn () { 2f })
        };
        let %f = ref_read(%f_ref);
        %f()
      })"));
}

TEST(ToCPSTest, GradientsOfBranchesNeedNoReferences) {
  const std::string programs[] = {
      "def @main(%cond: bool) { if (%cond) { 1f } else { 2f } }",
      R"(
      def @main(%cond: bool, %x: Tensor[(1, 16), float32],
                %y: Tensor[(1, 16), float32], %z: Tensor[(1, 16), float32]) {
        add(if (%cond) { %x } else { %y }, %z)
      })"};
  for (const std::string& program : programs) {
    BATON_ASSERT_OK_AND_ASSIGN(const IRModule module,
                               HigherOrderGradient()(ParseTyped(program)));
    ExpectNoReferencesLeft(module);
  }
}

TEST(ToCPSTest, TwiceMakesTwoTypesOfAnswers) {
  IRModule module = ParseTyped("def @main(%x: float32) { negative(%x) }");
  for (int i = 0; i < 2; ++i) {
    BATON_ASSERT_OK_AND_ASSIGN(module, ToCPS()(module));
  }
  EXPECT_THAT(ToText(module), HasSubstr("@main[answer, answer1](%x"));
  EXPECT_THAT(ParseModule(ToText(module)).status(), IsOk());
}

// The function literal that UnCPS leaves has a type of answers, too.
TEST(ToCPSTest, TypesOfAnswersInOneAnotherCanBeRead) {
  IRModule module = ParseTyped("def @main(%x: float32) { negative(%x) }");
  for (const Pass& pass : {ToCPS(), UnCPS(), ToCPS()}) {
    BATON_ASSERT_OK_AND_ASSIGN(module, pass(module));
    EXPECT_THAT(testing::CheckRoundTrip(module, /*typed=*/true), IsOk());
  }
}

}  // namespace
}  // namespace baton::relay
