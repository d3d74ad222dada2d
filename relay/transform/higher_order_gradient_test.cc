#include "baton/relay/transform/higher_order_gradient.h"

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/base/tensor.h"
#include "baton/ir/module.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/ir/module.h"
#include "baton/relay/ir/text_printer.h"
#include "baton/relay/runtime/evaluator.h"
#include "baton/relay/runtime/value.h"
#include "baton/relay/transform/pass_test_util.h"
#include "baton/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton::relay {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::IsOk;
using ::testing::Not;

// Appends the scalars in `value`.
void AppendScalars(const Value& value, std::vector<float>& scalars) {
  if (value.is_tensor()) {
    scalars.push_back(static_cast<float>(value.tensor().AtAsDouble(0)));
    return;
  }
  for (const Value& field : value.fields()) AppendScalars(field, scalars);
}

// The scalars that @main returns for scalars, once it is differentiated: its
// result, then the gradients.
std::vector<float> GradientsAt(const IRModule& module,
                               const std::vector<float>& args) {
  const absl::StatusOr<IRModule> differentiated = HigherOrderGradient()(module);
  EXPECT_THAT(differentiated.status(), IsOk());
  if (!differentiated.ok()) return {};
  std::vector<Value> values;
  for (const float arg : args) values.push_back(Tensor::Scalar<float>(arg));
  const absl::StatusOr<Value> result =
      EvaluateFunction(*differentiated, "main", values);
  EXPECT_THAT(result.status(), IsOk());
  std::vector<float> scalars;
  if (result.ok()) AppendScalars(*result, scalars);
  return scalars;
}

std::vector<float> GradientsAt(absl::string_view text,
                               const std::vector<float>& args) {
  return GradientsAt(ParseTyped(text), args);
}

std::string ErrorOf(absl::string_view text) {
  return std::string(
      HigherOrderGradient()(ParseTyped(text)).status().message());
}

TEST(HigherOrderGradientTest, LooksAsTheReferenceMakesIt) {
  BATON_ASSERT_OK_AND_ASSIGN(
      const IRModule result,
      HigherOrderGradient()(ParseTyped("def @main(%x: float32) { exp(%x) }")));
  EXPECT_EQ(AsText(result, {.version = false, .types = false}),
            R"(def @main(%x: float32) -> (float32, (float32,)) {
  %0 = fn () -> () {
    ()
  };
  let %x_10: ref(fn () -> ()) = ref(%0);
  %1 = zeros_like(%x);
  %2 = ref(%1);
  let %x_11: (float32, ref(float32)) = (%x, %2);
  %6 = fn (%x1: (float32, ref(float32)), %bp: ref(fn () -> ())) -> (float32, ref(float32)) {
    let %x_0: (float32, ref(float32)) = %x1;
    let %x_1: float32 = %x_0.0;
    let %x_2: float32 = exp(%x_1);
    %3 = zeros_like(%x_2);
    %4 = ref(%3);
    let %x_3: (float32, ref(float32)) = (%x_2, %4);
    let %x_4: (float32, ref(float32)) = %x_3;
    let %x_5: fn () -> () = ref_read(%bp);
    %5 = (
      let %x_8: fn () -> () = fn () -> () {
        let %x2: ref(float32) = %x_4.1;
        let %x_6: float32 = ref_read(%x2);
        let %x3: ref(float32) = %x_0.1;
        let %x4: float32 = ref_read(%x3);
        let %x5: float32 = exp(%x_1);
        let %x6: float32 = multiply(%x_6, %x5);
        let %x7: float32 = add(%x4, %x6);
        let %x8: ref(float32) = %x_0.1;
        let %x_7: () = ref_write(%x8, %x7);
        let %x9: () = %x_5();
        let %x10: () = %x9;
        let %x11: () = %x10;
        %x11
      };
      %x_8
    );
    let %x_9: () = ref_write(%bp, %5);
    %x_4
  };
  let %x_12: (float32, ref(float32)) = %6(%x_11, %x_10);
  %7 = %x_12.1;
  %8 = %x_12.0;
  %9 = ones_like(%8);
  let %x_13: () = ref_write(%7, %9);
  %10 = ref_read(%x_10);
  let %x_14: () = %10();
  %11 = %x_11.1;
  %12 = ref_read(%11);
  %13 = %x_12.0;
  %14 = (%12,);
  (%13, %14)
}
)");
}

TEST(HigherOrderGradientTest, LetsAndSharing) {
  EXPECT_THAT(GradientsAt("def @main(%x: float32) { %x }", {3}),
              ElementsAre(3, 1));
  EXPECT_THAT(GradientsAt(R"(def @main(%x: float32) {
                let %y = add(%x, %x);
                add(%y, %y) })",
                          {3}),
              ElementsAre(12, 4));
  EXPECT_THAT(GradientsAt(R"(def @main(%x: float32) {
                %0 = multiply(%x, %x);
                multiply(%0, %0) })",
                          {3}),
              ElementsAre(81, 108));
  EXPECT_THAT(GradientsAt("def @main(%x: float32) {"
                          "  add(multiply(2f, %x), multiply(2f, 2f)) }",
                          {3}),
              ElementsAre(10, 2));
}

// What is bound is put on the device of the function.
TEST(HigherOrderGradientTest, SharingOnADevice) {
  EXPECT_THAT(GradientsAt(R"(
                  def @main(%x: float32, virtual_device="cpu") {
                    %0 = negative(%x);
                    multiply(%0, %0)
                  })",
                          {3}),
              ElementsAre(9, 6));
}

// So is what has no gradient by itself.
TEST(HigherOrderGradientTest, FunctionsOnADevice) {
  EXPECT_THAT(GradientsAt(R"(
                  def @main(%x: float32, virtual_device="cpu") {
                    %0 = add(%x, %x);
                    let %t = (fn (%y: float32) { add(%y, %0) },
                              fn (%z: float32) { multiply(%z, %0) });
                    add(%t.0(%x), %t.1(%x))
                  })",
                          {3}),
              ElementsAre(27, 15));
  EXPECT_THAT(ErrorOf(R"(
                  def @main(%x: float32, virtual_device="cpu") {
                    %0 = add(%x, %x);
                    (fn (%y: float32) { %0 }, fn (%z: float32) { %0 })
                  })"),
              HasSubstr("a gradient is that of a tensor"));
}

// What stands for an operator, or is for another compiler, becomes a function
// that writes to references: it must not be taken for one without effects.
TEST(HigherOrderGradientTest, OpaqueFunctions) {
  constexpr absl::string_view kText = R"(
      def @other(%a: float32, Compiler="other", global_symbol="other") {
        multiply(%a, %a)
      }
      def @main(%x: float32) {
        %1 = fn (%a: float32, Primitive=1) {
          %0 = add(%a, %a);
          multiply(%0, %0)
        };
        add(%1(%x), @other(%x))
      })";
  EXPECT_THAT(GradientsAt(kText, {3}), ElementsAre(45, 30));
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule result,
                             HigherOrderGradient()(ParseTyped(kText)));
  EXPECT_THAT(AsText(result), Not(HasSubstr("Primitive")));
  EXPECT_TRUE(result.Find<Function>("other_grad").defined());
  EXPECT_TRUE(result.Find<Function>("other_grad")->attrs().entries().empty());
  EXPECT_EQ(result.Find<Function>("other")->attrs().entries().size(), 2);
}

TEST(HigherOrderGradientTest, Tuples) {
  EXPECT_THAT(GradientsAt(R"(
    def @main(%x: float32, %y: float32, %z: float32) {
      let %t = (%x, %y, %z);
      subtract(add(%t.0, %t.1), %t.2) })",
                          {1, 2, 4}),
              ElementsAre(-1, 1, 1, -1));
  // Of a result that is a tuple, the first tensor counts.
  EXPECT_THAT(GradientsAt(R"(def @main(%x: float32) {
                let %y = add(%x, %x);
                ((add(%y, %y), %y), %y) })",
                          {3}),
              ElementsAre(12, 6, 6, 4));
}

TEST(HigherOrderGradientTest, Branches) {
  constexpr absl::string_view kText = R"(def @main(%x: float32) {
    let %c = less_equal(%x, 1f);
    if (%c) { multiply(%x, %x) } else { log(%x) } })";
  EXPECT_THAT(GradientsAt(kText, {0.5f}), ElementsAre(0.25f, 1));
  EXPECT_THAT(GradientsAt(kText, {4}), ElementsAre(::testing::_, 0.25f));
}

TEST(HigherOrderGradientTest, References) {
  EXPECT_THAT(GradientsAt(R"(def @main(%x: float32) {
                let %r = ref(%x);
                let %u = ref_write(%r, add(ref_read(%r), ref_read(%r)));
                ref_read(%r) })",
                          {3}),
              ElementsAre(6, 2));
}

TEST(HigherOrderGradientTest, Closures) {
  EXPECT_THAT(GradientsAt(R"(def @main(%x: float32, %y: float32) {
                let %f = fn (%a: float32) { multiply(%a, %y) };
                let %twice = fn (%g: fn (float32) -> float32) {
                  fn (%a: float32) { %g(%g(%a)) } };
                %twice(%f)(%x) })",
                          {3, 5}),
              ElementsAre(75, 25, 30));
}

TEST(HigherOrderGradientTest, FunctionsOfTheModule) {
  EXPECT_THAT(GradientsAt(R"(
    def @double(%x: float32) { add(%x, %x) }
    def @main(%y: float32) { @double(@double(%y)) })",
                          {3}),
              ElementsAre(12, 4));
  // x ** 3, by recursion.
  EXPECT_THAT(GradientsAt(R"(
    def @power(%x: float32, %n: float32) -> float32 {
      if (less_equal(%n, 0f)) { 1f } else {
        multiply(%x, @power(%x, subtract(%n, 1f))) } }
    def @main(%x: float32) { @power(%x, 3f) })",
                          {2}),
              ElementsAre(8, 12));
}

// Reference behaviour: test_pow of tests/python/relay/test_pass_gradient.py.
TEST(HigherOrderGradientTest, DataTypesAndPolymorphism) {
  EXPECT_THAT(GradientsAt(R"(
    type Nat { Z, S(Nat) }
    type Box[A] { Put(A) }
    def @iterate[A](%f: fn (A) -> A, %n: Nat) -> fn (A) -> A {
      match (%n) {
        Z => { fn (%x: A) -> A { %x } },
        S(%m) => { fn (%x: A) -> A { %f(@iterate(%f, %m)(%x)) } },
      } }
    def @main(%i: float32) {
      let %box = Put(%i);
      match (%box) {
        Put(%j) => {
          @iterate(fn (%x: float32) { add(%x, %x) }, S(S(S(Z()))))(%j) },
      } })",
                          {3}),
              ElementsAre(24, 8));
}

TEST(HigherOrderGradientTest, OfTheGradient) {
  BATON_ASSERT_OK_AND_ASSIGN(
      IRModule first,
      HigherOrderGradientInModule(
          ParseTyped("def @square(%x: float32) { multiply(%x, %x) }"),
          {.function = "square"}));
  const Var y("y", {});
  first.Set(
      "main",
      Function(
          {y},
          TupleGetItem(
              TupleGetItem(Call(first.FindGlobalVar("square"), {y}), 1), 0)));
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule module, InferTypes(first));
  EXPECT_THAT(GradientsAt(module, {3}), ElementsAre(6, 2));
}

TEST(HigherOrderGradientTest, LeavesModulesWithoutTheFunction) {
  ExpectPassLeaves(HigherOrderGradient({.function = "f"}),
                   "def @main(%x: float32) { exp(%x) }");
}

TEST(HigherOrderGradientTest, SaysAllThatItCannotDifferentiate) {
  EXPECT_THAT(ErrorOf(R"(def @f(%x: float32) { round(%x) }
                         def @main(%x: float32) { add(@f(%x), ceil(%x)) })"),
              AllOf(HasSubstr("1:23: error: round has no gradient"),
                    HasSubstr("2:63: error: ceil has no gradient")));
  EXPECT_THAT(ErrorOf("def @main(%x: (float32, float32)) { %x.0 }"),
              HasSubstr("%x is not a tensor"));
  EXPECT_THAT(ErrorOf("def @main(%x: float32) { () }"),
              HasSubstr("a gradient is that of a tensor"));
  EXPECT_THAT(ErrorOf("def @f_grad(%x: float32) { %x }"
                      "def @f(%x: float32) { %x }"
                      "def @main(%x: float32) { @f(%x) }"),
              HasSubstr("@f_grad is there already"));
}

}  // namespace
}  // namespace baton::relay
