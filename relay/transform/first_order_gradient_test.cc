#include "baton/relay/transform/first_order_gradient.h"

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/ir/module.h"
#include "baton/ir/op.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/text_printer.h"
#include "baton/relay/ir/visit.h"
#include "baton/relay/transform/pass_test_util.h"
#include "baton/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton::relay {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string GradientOf(absl::string_view text) {
  const absl::StatusOr<IRModule> result =
      FirstOrderGradient()(ParseTyped(text));
  if (!result.ok()) return std::string(result.status().message());
  return AsText(*result, {.version = false, .types = false});
}

// What the reference makes of it.
TEST(FirstOrderGradientTest, Identity) {
  EXPECT_EQ(
      GradientOf("def @main(%x: Tensor[(2, 2), float32]) { %x }"),
      R"(def @main(%x: Tensor[(2, 2), float32]) -> (Tensor[(2, 2), float32], (Tensor[(2, 2), float32],)) {
  let %x_0: Tensor[(2, 2), float32] = %x;
  let %x_1: Tensor[(2, 2), float32] = zeros_like(%x_0);
  %0 = ones_like(%x_0);
  %1 = (%0,);
  (%x_0, %1)
}
)");
}

// What is compiled already is the function as it was.
TEST(FirstOrderGradientTest, OpaqueFunctionsBecomePlainOnes) {
  EXPECT_THAT(GradientOf("def @main(%x: float32, Primitive=1, Inline=1,"
                         " Compiler=\"other\", artifact=\"code\") { %x }"),
              HasSubstr("def @main(%x: float32, Inline=1) -> "));
}

TEST(FirstOrderGradientTest, GradientsAreSummedFromLastToFirst) {
  EXPECT_EQ(
      GradientOf("def @main(%x: float32, %y: float32) {"
                 "  add(exp(%x), %y) }"),
      R"(def @main(%x: float32, %y: float32) -> (float32, (float32, float32)) {
  let %x_0: float32 = %x;
  let %x_1: float32 = zeros_like(%x_0);
  let %x_2: float32 = %y;
  let %x_3: float32 = zeros_like(%x_2);
  let %x_4: float32 = exp(%x_0);
  let %x_5: float32 = zeros_like(%x_4);
  let %x_6: float32 = add(%x_4, %x_2);
  let %x_7: float32 = zeros_like(%x_6);
  %0 = ones_like(%x_6);
  %1 = collapse_sum_like(%0, %x_4);
  %5 = (
    let %x_8: float32 = add(%x_5, %1);
    %2 = collapse_sum_like(%0, %x_2);
    let %x_9: float32 = add(%x_3, %2);
    %3 = exp(%x_0);
    %4 = multiply(%x_8, %3);
    let %x_10: float32 = add(%x_1, %4);
    (%x_10, %x_9)
  );
  (%x_6, %5)
}
)");
}

TEST(FirstOrderGradientTest, Tuples) {
  EXPECT_EQ(
      GradientOf("def @main(%t: (float32, float32)) { (%t.1,) }"),
      R"(def @main(%t: (float32, float32)) -> ((float32,), ((float32, float32),)) {
  let %x_0: (float32, float32) = %t;
  %0 = zeros(shape=[], dtype="float32");
  %1 = zeros(shape=[], dtype="float32");
  let %x_1: (float32, float32) = (%0, %1);
  let %x_2: float32 = %x_0.1;
  let %x_3: float32 = zeros_like(%x_2);
  let %x_4: (float32,) = (%x_2,);
  %2 = zeros(shape=[], dtype="float32");
  let %x_5: (float32,) = (%2,);
  %3 = ones(shape=[], dtype="float32");
  %4 = (%3,);
  %5 = %4.0;
  %8 = (
    let %x_6: float32 = add(%x_3, %5);
    %6 = %x_1.1;
    let %x_7: float32 = add(%6, %x_6);
    %7 = %x_1.0;
    let %x_8: (float32, float32) = (%7, %x_7);
    (%x_8,)
  );
  (%x_4, %8)
}
)");
}

// The argument of a call stands for the parameter.
TEST(FirstOrderGradientTest, CallsOfFunctionLiterals) {
  EXPECT_EQ(GradientOf("def @main(%x: float32) {"
                       "  fn (%a: float32) { exp(%a) }(sin(%x)) }"),
            GradientOf("def @main(%x: float32) { exp(sin(%x)) }"));
}

// What is used several times is computed once.
TEST(FirstOrderGradientTest, DuplicatesNothing) {
  constexpr absl::string_view kText = R"(
    def @main(%x: Tensor[(3, 3), float32], %y: Tensor[(3, 3), float32]) {
      %0 = nn.dense(%x, %y, units=None);
      %1 = (%0, %0);
      sum(subtract(%1.0, sum(%0, keepdims=True))) })";
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule result,
                             FirstOrderGradient()(ParseTyped(kText)));
  int count = 0;
  PostOrderVisit(result.Find<Function>("main"), [&](const ExprNode* node) {
    count += IsCallTo(Expr(node), Op::Find("nn.dense"));
  });
  EXPECT_EQ(count, 3);  // one forward, two backward
}

TEST(FirstOrderGradientTest, SaysAllThatItCannotDifferentiate) {
  EXPECT_THAT(GradientOf(R"(def @main(%x: float32) {
    let %y = erf(%x);
    if (less(%x, 0f)) { ceil(%y) } else { %y } })"),
              AllOf(HasSubstr("a Let has no first-order gradient"),
                    HasSubstr("a If has no first-order gradient"),
                    HasSubstr("3:25: error: ceil has no gradient"),
                    HasSubstr("less has no gradient")));
  EXPECT_THAT(GradientOf("def @f(%x: float32) { %x }"
                         "def @main(%x: float32) { @f(%x) }"),
              HasSubstr("a call of GlobalVar has no first-order gradient"));
  EXPECT_THAT(
      GradientOf(
          "def @main(%x: Tensor[(2, 2, 2), float32],"
          " %w: Tensor[(3, 2), float32]) { nn.dense(%x, %w, units=None) }"),
      HasSubstr("the gradient of nn.dense is not known for operands that are "
                "no matrices"));
}

}  // namespace
}  // namespace baton::relay
