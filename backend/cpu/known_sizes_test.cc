#include "baton/backend/cpu/known_sizes.h"

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "baton/backend/cpu/graph.h"
#include "baton/base/tensor.h"
#include "baton/ir/module.h"
#include "baton/relay/ir/text_printer.h"
#include "baton/relay/runtime/evaluator.h"
#include "baton/relay/runtime/value.h"
#include "baton/relay/runtime/value_tensors.h"
#include "baton/testing/parse_typed.h"
#include "baton/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton::cpu {
namespace {

using relay::Value;

using ::baton::testing::IsOk;
using ::baton::testing::ParseTyped;
using ::baton::testing::StatusIs;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;

class KnownSizesTest : public ::testing::TestWithParam<const char*> {};

// The plan computes exp, which is of a known size, and the rest what depends on
// the number of elements that are not 0.
TEST_P(KnownSizesTest, BothPartsComputeWhatTheModelDoes) {
  const IRModule module =
      ParseTyped(absl::StrCat("#[version = \"0.0.5\"]\n", GetParam()));
  EXPECT_THAT(
      BuildGraph(module, "main").status(),
      StatusIs(absl::StatusCode::kUnimplemented, "a plan has no memory"));
  const absl::StatusOr<SplitModule> split = SplitByKnownSizes(module);
  ASSERT_THAT(split, IsOk());
  EXPECT_THAT(BuildGraph(split->planned, "main").status(), IsOk());
  const std::string planned = relay::AsText(split->planned.Find("main"));
  EXPECT_THAT(planned, AnyOf(HasSubstr("exp("), HasSubstr("@scaled(")));
  EXPECT_THAT(planned, Not(HasSubstr("argwhere(")));
  EXPECT_THAT(relay::AsText(split->rest.Find("main")),
              Not(AnyOf(HasSubstr("exp("), HasSubstr("@scaled("))));

  const Value x =
      *Tensor::FromValues<float>({2, 3}, {1.0f, 0.0f, -1.0f, 0.0f, 0.5f, 2.0f});
  const auto want = relay::EvaluateFunction(module, "main", {x});
  ASSERT_THAT(want, IsOk());
  const auto results = relay::EvaluateFunction(split->planned, "main", {x});
  ASSERT_THAT(results, IsOk());
  std::vector<Value> args(results->fields().begin(), results->fields().end());
  args.push_back(x);
  const auto got = relay::EvaluateFunction(split->rest, "main", args);
  ASSERT_THAT(got, IsOk());
  EXPECT_EQ(relay::TensorsOf(*got), relay::TensorsOf(*want));
}

INSTANTIATE_TEST_SUITE_P(
    Programs, KnownSizesTest,
    ::testing::Values(
        R"(def @main(%x: Tensor[(2, 3), float32]) {
  %0 = exp(%x);
  %1 = argwhere(%x);
  (%0, gather_nd(%0, transpose(%1, axes=[1, 0])), %1, %x)
})",
        // Tuples, of which the rest uses some fields or all.
        R"(def @main(%x: Tensor[(2, 3), float32]) {
  %0 = exp(%x);
  %1 = split(%0, indices_or_sections=3, axis=1);
  %2 = argwhere(%1.1);
  %3 = (%0, %x);
  (%1, %2, concatenate(%3, axis=0), %3.1)
})",
        // Lets, and functions with and without results of unknown sizes.
        R"(def @main(%x: Tensor[(2, 3), float32]) {
  let %a = @scaled(%x);
  let %f = fn (%y: Tensor[(2, 3), float32], Primitive=1) { negative(%y) };
  let %b = %f(%a);
  let %c = fn (%y: Tensor[(2, 3), float32], Primitive=1) {
    sum(argwhere(%y), axis=[0]) }(%b);
  let %d = abs(%b);
  (%c, %d, argwhere(%d))
}
def @scaled(%x: Tensor[(2, 3), float32]) { multiply(exp(%x), 2f) })",
        // A branch that depends on data.
        R"(def @main(%x: Tensor[(2, 3), float32]) {
  let %a = exp(%x);
  let %n = argwhere(%x);
  let %c = if (greater(sum(cast(%n, dtype="float32")), 4f)) { negative(%a) } else { %x };
  (%c, %n)
})",
        // A call that fails in a branch that is not chosen.
        R"(def @main(%x: Tensor[(2, 3), float32]) {
  let %a = exp(%x);
  (argwhere(%x), if (greater(sum(%a), 1000f)) {
    take(%x, 9i64, axis=0, mode="fast")
  } else { mean(%a, axis=[0]) })
})"));

// Functions that call each other nest deeper than the stack would.
TEST(KnownSizesTest, ChainsOfFunctionsAreLeftToTheEvaluator) {
  constexpr int kFunctions = 20'000;
  std::string text = R"(#[version = "0.0.5"]
def @main(%x: Tensor[(2, 3), float32]) { (exp(%x), argwhere(%x), @f0(%x)) }
)";
  for (int i = 0; i < kFunctions; ++i) {
    absl::StrAppend(
        &text, "def @f", i,
        "(%x: Tensor[(2, 3), float32]) -> Tensor[(2, 3), float32] "
        "{ ",
        i + 1 < kFunctions ? absl::StrCat("@f", i + 1, "(%x)") : "negative(%x)",
        " }\n");
  }
  const absl::StatusOr<SplitModule> split = SplitByKnownSizes(ParseTyped(text));
  ASSERT_THAT(split, IsOk());
  EXPECT_THAT(relay::AsText(split->planned.Find("main")),
              AllOf(HasSubstr("exp("), Not(HasSubstr("@f0("))));
  EXPECT_THAT(relay::AsText(split->rest.Find("main")), HasSubstr("@f0("));
}

TEST(KnownSizesTest, NothingIsKnown) {
  const IRModule module = ParseTyped(R"(#[version = "0.0.5"]
def @main(%x: Tensor[(?, 3), float32]) { (exp(%x), argwhere(%x)) })");
  EXPECT_THAT(SplitByKnownSizes(module).status(),
              StatusIs(absl::StatusCode::kNotFound, "no part"));
}

TEST(KnownSizesTest, AMatchHasVariables) {
  const IRModule module = ParseTyped(R"(#[version = "0.0.5"]
def @main(%x: Tensor[(2, 3), float32]) {
  match ((exp(%x), tanh(%x))) { (%a, %b) => { add(%a, %b) } }
})");
  EXPECT_THAT(SplitByKnownSizes(module).status(),
              StatusIs(absl::StatusCode::kNotFound, "a match"));
}

}  // namespace
}  // namespace baton::cpu
