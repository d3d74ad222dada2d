#include "baton/relay/transform/defunctionalization.h"

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "baton/ir/module.h"
#include "baton/ir/structural_equal.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/text_printer.h"
#include "baton/relay/ir/visit.h"
#include "baton/relay/transform/pass_test_util.h"
#include "baton/relay/transform/remove_unused_functions.h"
#include "baton/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton::relay {
namespace {

using testing::StatusIs;

// The result of the pass, without what @main does not use. Checks that it
// computes the same, and that no call takes or returns a function.
IRModule FirstOrder(absl::string_view text) {
  const IRModule module =
      RunChecked(RemoveUnusedFunctions(),
                 RunChecked(Defunctionalization(), ParseTyped(text)));
  for (const auto& [var, function] : module.functions<Function>()) {
    PostOrderVisit(function, [&](const ExprNode* node) {
      if (node->kind() != ExprKind::kCall) return;
      EXPECT_FALSE(node->type().Is<FuncTypeNode>()) << ToText(module);
      for (const Expr& arg : static_cast<const CallNode*>(node)->args()) {
        EXPECT_FALSE(arg->type().Is<FuncTypeNode>()) << ToText(module);
      }
    });
  }
  return module;
}

void ExpectMakes(absl::string_view before, absl::string_view after) {
  const IRModule result = FirstOrder(before);
  EXPECT_EQ(FirstDifference(result, ParseTyped(after)), std::nullopt)
      << ToText(result);
}

TEST(DefunctionalizationTest, LiteralsBecomeConstructors) {
  ExpectMakes(R"(
      def @twice[T](%f: fn (T) -> T, %x: T) -> T { %f(%f(%x)) }
      def @main(%y: float32) {
        @twice(fn (%x: float32) { add(%x, %y) }, 1f)
      })",
              R"(
      type Defunc0 { Defunc0_0(float32), }
      def @main(%y: float32) -> float32 {
        @twice_defunc(Defunc0_0(%y), 1f)
      }
      def @twice_defunc(%f: Defunc0, %x: float32) -> float32 {
        @apply0(%f, @apply0(%f, %x))
      }
      def @apply0(%f: Defunc0, %x: float32) -> float32 {
        match (%f) {
          Defunc0_0(%y) => {
            %0 = fn (%z: float32) -> float32 { add(%z, %y) };
            %0(%x)
          },
        }
      })");
}

TEST(DefunctionalizationTest, PolymorphicLiterals) {
  FirstOrder(R"(
      def @simple[A, B](%f: fn (A) -> B, %xs: A) -> B { %f(%xs) }
      def @main(%l: Tensor[(5, 5), float32]) -> Tensor[(5, 5), float32] {
        %0 = fn [A](%x: A) -> A { %x };
        @simple(%0, %l)
      })");
}

constexpr char kMap[] = R"(
      type List[A] { Cons(A, List[A]), Nil, }
      def @id[A](%x: A) -> A { %x }
      def @map[A, B](%f: fn (A) -> B, %xs: List[A]) -> List[B] {
        match (%xs) {
          Cons(%x, %rest) => { Cons(%f(%x), @map(%f, %rest)) },
          Nil => { Nil },
        }
      }
      def @sum(%xs: List[float32]) -> float32 {
        match (%xs) {
          Cons(%x, %rest) => { add(%x, @sum(%rest)) },
          Nil => { 0f },
        }
      }
      def @main(%x: float32) -> float32 {
        %0 = @map(fn (%v: float32) { multiply(%v, %x) },
                  Cons(1f, Cons(%x, Nil)));
        @sum(@map(@id, %0))
      })";

TEST(DefunctionalizationTest, RecursionsAndGlobalFunctions) {
  const IRModule module = FirstOrder(kMap);
  // One copy for both calls.
  EXPECT_TRUE(module.Find("map_defunc").defined());
  EXPECT_FALSE(module.Find("map_defunc_1").defined());
}

TEST(DefunctionalizationTest, ContinuationsAreRecursiveData) {
  FirstOrder(R"(
      type List[A] { Cons(A, List[A]), Nil, }
      def @sum(%f: fn (int32) -> int32, %k: List[int32]) -> int32 {
        match (%k) {
          Cons(%x, %rest) => {
            %0 = fn (%n: int32) -> int32 { add(%x, %f(%n)) };
            @sum(%0, %rest)
          },
          Nil => { %f(0) },
        }
      }
      def @id[A](%x: A) -> A { %x }
      def @main(%y: int32) -> int32 {
        @sum(@id, Cons(%y, Cons(2, Nil)))
      })");
}

TEST(DefunctionalizationTest, LeavesFirstOrderPrograms) {
  ExpectPassLeaves(Defunctionalization(), R"(
      def @id[A](%x: A) -> A { %x }
      def @main(%x: float32) {
        %0 = fn (%y: float32) { add(%y, %x) };
        @id(%0(%x))
      })");
}

TEST(DefunctionalizationTest, RefusesOtherFunctionsAsValues) {
  const auto expect_error = [](absl::string_view text,
                               absl::string_view error) {
    EXPECT_THAT(
        Defunctionalization()(ParseTyped(text)),
        StatusIs(absl::StatusCode::kInvalidArgument, std::string(error)));
  };
  expect_error("def @main(%f: fn (int32) -> int32) { %f(1) }",
               "1:11: error: @main must not have functions as parameters");
  expect_error("def @main() { fn (%x: int32) { %x } }",
               "@main must not return a function");
  expect_error(R"(
      def @f(%x: int32) -> int32 { %x }
      def @main() { @f })",
               "@main must not return a function");
  expect_error(R"(
      type Box { Of(fn (int32) -> int32), }
      def @f(%x: int32) -> int32 { %x }
      def @main() {
        let %b = Of(@f);
        1
      })",
               "the types of this call are not known");
  expect_error(R"(
      def @main() {
        let %f = fn (%x: int32) { %x };
        %f(1)
      })",
               "3:18: error: a function that is no argument of a call cannot "
               "be encoded");
  expect_error(R"(
      def @f(%x: int32) -> fn (int32) -> int32 {
        fn (%y: int32) -> int32 { add(%x, %y) }
      }
      def @main() { @f(1)(2) })",
               "a function that is no argument of a call cannot be encoded");
}

}  // namespace
}  // namespace baton::relay
