#include "baton/relay/transform/lambda_lift.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "baton/ir/module.h"
#include "baton/ir/structural_equal.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/ir/text_parser.h"
#include "baton/relay/ir/text_printer.h"
#include "baton/relay/transform/pass_test_util.h"
#include "baton/testing/status_matchers.h"
#include "gtest/gtest.h"

namespace baton::relay {
namespace {

using testing::IsOk;

// Checks that `before` becomes `after`, where new functions are @lifted_0,
// @lifted_1 and so on, in order.
void ExpectMakes(absl::string_view before, absl::string_view after) {
  const IRModule module = ParseTyped(before);
  const IRModule result = RunChecked(LambdaLift(), module);
  std::vector<std::pair<std::string, std::string>> names;
  for (const auto& [var, function] : result.functions<Function>()) {
    if (absl::StartsWith(var->name(), "lifted_name")) {
      names.emplace_back(absl::StrCat("@lifted_", names.size()),
                         absl::StrCat("@", var->name()));
    }
  }
  const IRModule expected = ParseTyped(absl::StrReplaceAll(after, names));
  EXPECT_EQ(FirstDifference(result, expected), std::nullopt) << ToText(result);
  const absl::StatusOr<IRModule> again = LambdaLift()(result);
  EXPECT_TRUE(again.ok() && again->SameAs(result));
}

TEST(LambdaLiftTest, LiteralsThatUseNoVariables) {
  ExpectMakes(R"(
      def @main(%x: int32) {
        %0 = fn (%y: int32) -> int32 { add(%y, 1) };
        let %f = fn (%z: int32) -> int32 { add(%z, 1) };
        (%0(%x), %f(2))
      })",
              R"(
      def @lifted_0(%y: int32) -> int32 { add(%y, 1) }
      def @main(%x: int32) {
        let %f = @lifted_0;
        (@lifted_0(%x), %f(2))
      })");
}

TEST(LambdaLiftTest, ClosuresTakeWhatTheyCapture) {
  ExpectMakes(R"(
      def @main(%x: int32) {
        let %y = add(%x, 1);
        let %f = fn (%z: int32) -> int32 { add(add(%x, %y), %z) };
        %f(2)
      })",
              R"(
      def @lifted_0(%x: int32, %y: int32, Closure=1) -> fn (int32) -> int32 {
        fn (%z: int32) -> int32 { add(add(%x, %y), %z) }
      }
      def @main(%x: int32) {
        let %y = add(%x, 1);
        let %f = @lifted_0(%x, %y);
        %f(2)
      })");
}

TEST(LambdaLiftTest, RecursiveOnesNameThemselves) {
  ExpectMakes(R"(
      def @main(%x: int32) {
        let %f = fn (%n: int32) -> int32 {
          if (equal(%n, 0)) { 0 } else { %f(subtract(%n, 1)) }
        };
        let %g = fn (%n: int32) -> int32 {
          if (equal(%n, 0)) { %x } else { %g(subtract(%n, 1)) }
        };
        (%f(3), %g(3))
      })",
              R"(
      def @lifted_0(%n: int32) -> int32 {
        if (equal(%n, 0)) { 0 } else { @lifted_0(subtract(%n, 1)) }
      }
      def @lifted_1(%x: int32, Closure=1) -> fn (int32) -> int32 {
        fn (%n: int32) -> int32 {
          if (equal(%n, 0)) { %x } else {
            %0 = @lifted_1(%x);
            %0(subtract(%n, 1))
          }
        }
      }
      def @main(%x: int32) {
        let %f = @lifted_0;
        let %g = @lifted_1(%x);
        (%f(3), %g(3))
      })");
}

TEST(LambdaLiftTest, LiteralsInLiterals) {
  // The inner one captures the outer one, which calls itself.
  ExpectMakes(R"(
      def @main(%x: int32) {
        let %f = fn (%n: int32) -> int32 {
          let %g = fn (%m: int32) -> int32 { %f(add(%m, %x)) };
          if (less(%n, 1)) { %n } else { %g(subtract(%n, 10)) }
        };
        %f(3)
      })",
              R"(
      def @lifted_0(%f: fn (int32) -> int32, %x: int32, Closure=1)
          -> fn (int32) -> int32 {
        fn (%m: int32) -> int32 { %f(add(%m, %x)) }
      }
      def @lifted_1(%x: int32, Closure=1) -> fn (int32) -> int32 {
        fn (%n: int32) -> int32 {
          let %g = @lifted_0(@lifted_1(%x), %x);
          if (less(%n, 1)) { %n } else { %g(subtract(%n, 10)) }
        }
      }
      def @main(%x: int32) {
        let %f = @lifted_1(%x);
        %f(3)
      })");
}

TEST(LambdaLiftTest, ParametersHaveTypesIfTheProgramHasNone) {
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule untyped, ParseModule(R"(
      def @main(%x: (float32, float32)) {
        let %y = %x.0;
        fn (%z: float32) -> float32 { maximum(%z, %y) }
      })"));
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule lifted, LambdaLift()(untyped));
  EXPECT_THAT(InferTypes(lifted).status(), IsOk());
}

TEST(LambdaLiftTest, PrimitiveAndGenericFunctionsStay) {
  ExpectPassLeaves(LambdaLift(), R"(
      def @main(%x: int32) {
        %0 = fn (%y: int32, Primitive=1) -> int32 {
          %1 = fn (%z: int32) -> int32 { add(%z, 1) };
          %1(%y)
        };
        let %id = fn [A](%v: A) -> A { %v };
        (%0(%x), %id(%x))
      })");
}

}  // namespace
}  // namespace baton::relay
