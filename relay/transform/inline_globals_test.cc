#include "baton/relay/transform/inline_globals.h"

#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/ir/module.h"
#include "baton/ir/module_text.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/ir/text_parser.h"  // IWYU pragma: keep
#include "baton/relay/transform/pass_test_util.h"
#include "baton/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton::relay {
namespace {

void ExpectMakes(absl::string_view before, absl::string_view after) {
  ExpectPassMakes(InlineGlobals(), before, after);
  ExpectPassLeaves(InlineGlobals(), after);
}

TEST(InlineGlobalsTest, CallsAcrossSeveralLevels) {
  ExpectMakes(R"(
      def @g11(%x: int32, Inline=1) { %x }
      def @g1(%x: int32, %y: int32, Inline=1) {
        add(add(%x, %y), @g11(%x))
      }
      def @g2(%x: int32, %y: int32) { subtract(%x, @g11(%y)) }
      def @main(%a: int32, %b: int32) { multiply(@g1(%a, %b), @g2(%b, %a)) })",
              R"(
      def @g2(%x: int32, %y: int32) { subtract(%x, %y) }
      def @main(%a: int32, %b: int32) {
        multiply(add(add(%a, %b), %a), @g2(%b, %a))
      })");
}

TEST(InlineGlobalsTest, CallsOfOneFunctionGetVariablesOfTheirOwn) {
  ExpectMakes(R"(
      def @f(%x: int32, Inline=1) {
        let %y = add(%x, 1);
        %0 = fn (%z: int32) { multiply(%z, %y) };
        %0(%x)
      }
      def @other(%a: int32) { @f(%a) }
      def @main(%a: int32) { add(@f(%a), @f(@f(2))) })",
              R"(
      def @other(%a: int32) {
        let %y = add(%a, 1);
        %0 = fn (%z: int32) { multiply(%z, %y) };
        %0(%a)
      }
      def @main(%a: int32) {
        %0 = (
          let %y1 = add(%a, 1);
          %1 = fn (%z1: int32) { multiply(%z1, %y1) };
          %1(%a)
        );
        %2 = (
          let %y2 = add(2, 1);
          %3 = fn (%z2: int32) { multiply(%z2, %y2) };
          %3(2)
        );
        %4 = (
          let %y3 = add(%2, 1);
          %5 = fn (%z3: int32) { multiply(%z3, %y3) };
          %5(%2)
        );
        add(%0, %4)
      })");
}

TEST(InlineGlobalsTest, RecursiveFunctionsStayAndAreInlinedInto) {
  ExpectMakes(R"(
      def @id(%x: int32, Inline=1) { %x }
      def @sum(%i: int32, Inline=1) -> int32 {
        if (equal(%i, 0)) { %i } else {
          add(@sum(subtract(%i, 1)), @id(%i))
        }
      }
      def @even(%i: int32, Inline=1) -> bool {
        if (equal(%i, 0)) { True } else { @odd(subtract(%i, 1)) }
      }
      def @odd(%i: int32, Inline=1) -> bool {
        if (equal(%i, 0)) { False } else { @even(subtract(%i, 1)) }
      }
      def @main() { (@sum(3), @even(3)) })",
              R"(
      def @sum(%i: int32, Inline=1) -> int32 {
        if (equal(%i, 0)) { %i } else { add(@sum(subtract(%i, 1)), %i) }
      }
      def @even(%i: int32, Inline=1) -> bool {
        if (equal(%i, 0)) { True } else { @odd(subtract(%i, 1)) }
      }
      def @odd(%i: int32, Inline=1) -> bool {
        if (equal(%i, 0)) { False } else { @even(subtract(%i, 1)) }
      }
      def @main() { (@sum(3), @even(3)) })");
}

TEST(InlineGlobalsTest, CallersOfFunctionsThatStayStay) {
  ExpectPassLeaves(InlineGlobals(), R"(
      def @f(%x: int32) { %x }
      def @g(%x: int32, Inline=1) { @f(%x) }
      def @main() { @g(1) })");
}

TEST(InlineGlobalsTest, FunctionsThatNothingUsesStay) {
  ExpectPassLeaves(InlineGlobals(), R"(
      def @f(%x: int32, Inline=1) { %x }
      def @main(Inline=1) { 1 })");
}

TEST(InlineGlobalsTest, OtherUsesBecomeLiterals) {
  ExpectMakes(R"(
      def @f(%x: int32, Inline=1) { add(%x, 1) }
      def @main(%c: bool) {
        %0 = if (%c) { @f } else { fn (%x: int32) { %x } };
        (%0(@f(1)), @f)
      })",
              R"(
      def @main(%c: bool) {
        %0 = fn (%x: int32, Inline=1) { add(%x, 1) };
        %1 = if (%c) { %0 } else { fn (%y: int32) { %y } };
        (%1(add(1, 1)), %0)
      })");
}

TEST(InlineGlobalsTest, CalledFunctionsForOtherCompilersAsWell) {
  ExpectMakes(R"(
      def @f(%x: int32, Inline=1, Compiler="a") { add(%x, 1) }
      def @main() { (@f(1), @f(2)) })",
              R"(
      def @main() {
        %0 = fn (%x: int32, Inline=1, Compiler="a") { add(%x, 1) };
        %1 = fn (%y: int32, Inline=1, Compiler="a") { add(%y, 1) };
        (%0(1), %1(2))
      })");
}

TEST(InlineGlobalsTest, GenericFunctionsStay) {
  ExpectPassLeaves(InlineGlobals(), R"(
      def @id[A](%x: A, Inline=1) -> A { %x }
      def @main() { (@id(2), @id((3, 4))) })");
}

TEST(InlineGlobalsTest, EffectsOfArgumentsStayInTheirPlace) {
  ExpectMakes(R"(
      def @f(%x: (), %y: int32, %z: int32, Inline=1) { add(%y, %y) }
      def @main(%r: ref(int32)) {
        @f(ref_write(%r, 2), ref_read(%r), add(1, 1))
      })",
              R"(
      def @main(%r: ref(int32)) {
        let %x = ref_write(%r, 2);
        let %y = ref_read(%r);
        add(%y, %y)
      })");
}

TEST(InlineGlobalsTest, CallsOfCallsAreNotUnfoldedWithoutEnd) {
  std::string text = "#[version = \"0.0.5\"]\n";
  for (int i = 0; i < 40; ++i) {
    absl::StrAppend(&text, "def @f", i, "(%x: int32, Inline=1) -> int32 { @f",
                    i + 1, "(@f", i + 1, "(%x)) }\n");
  }
  absl::StrAppend(&text,
                  "def @f40(%x: int32, Inline=1) -> int32 { add(%x, 1) }\n"
                  "def @main(%x: int32) { @f0(%x) }\n");
  BATON_ASSERT_OK_AND_ASSIGN(IRModule module, ParseModule(text));
  BATON_ASSERT_OK_AND_ASSIGN(module, InferTypes(module));
  EXPECT_THAT(InlineGlobals()(module).status(),
              testing::StatusIs(absl::StatusCode::kResourceExhausted,
                                "limits.max_copied_nodes=1000000"));
}

}  // namespace
}  // namespace baton::relay
