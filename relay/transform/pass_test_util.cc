#include "baton/relay/transform/pass_test_util.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/ir/module.h"
#include "baton/ir/structural_equal.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/ir/text_printer.h"
#include "baton/relay/ir/well_formed.h"
#include "baton/relay/runtime/evaluator.h"
#include "baton/relay/runtime/value.h"
#include "baton/testing/inputs.h"
#include "baton/testing/parse_typed.h"
#include "baton/testing/random_program.h"
#include "baton/testing/round_trip.h"
#include "baton/testing/status_matchers.h"
#include "baton/transform/pass.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton::relay {
namespace {

using ::baton::testing::IsOk;

IRModule TypedOrFail(const IRModule& module) {
  const absl::StatusOr<IRModule> typed = InferTypes(module);
  EXPECT_THAT(typed, IsOk()) << ToText(module);
  return typed.ok() ? *typed : IRModule();
}

}  // namespace

bool SameValue(const Value& a, const Value& b) {
  if (a.is_tensor()) return b.is_tensor() && a.tensor() == b.tensor();
  if (!a.is_tuple()) return !b.is_tensor() && !b.is_tuple();
  if (!b.is_tuple() || a.fields().size() != b.fields().size()) return false;
  for (size_t i = 0; i < a.fields().size(); ++i) {
    if (!SameValue(a.fields()[i], b.fields()[i])) return false;
  }
  return true;
}

IRModule RunChecked(const Pass& pass, const IRModule& module) {
  const std::string before = AsText(module);
  const absl::StatusOr<IRModule> result = pass(module);
  EXPECT_THAT(result, IsOk()) << before;
  if (!result.ok()) return module;
  EXPECT_EQ(AsText(module), before) << "the input was touched";
  EXPECT_THAT(CheckWellFormed(*result), IsOk()) << before << "became\n"
                                                << ToText(*result);
  const IRModule typed = TypedOrFail(*result);
  EXPECT_THAT(testing::CheckRoundTrip(typed, /*typed=*/true), IsOk());
  const Function main = module.Find<Function>("main");
  if (!main.defined() || !HasKernels(main)) return typed;
  const auto inputs = testing::RandomInputs(main, /*seed=*/1);
  if (!inputs.ok()) return typed;
  const EvaluateOptions options = {.max_call_depth = 1000};
  const absl::StatusOr<Value> want =
      EvaluateFunction(module, "main", *inputs, options);
  if (!want.ok()) return typed;
  const absl::StatusOr<Value> got =
      EvaluateFunction(typed, "main", *inputs, options);
  EXPECT_THAT(got, IsOk()) << before << "became\n" << ToText(typed);
  if (got.ok()) {
    EXPECT_TRUE(SameValue(*got, *want)) << before << "became\n"
                                        << ToText(typed);
  }
  return typed;
}

void ExpectPassMakes(const Pass& pass, absl::string_view before,
                     absl::string_view after) {
  const IRModule result = RunChecked(pass, ParseTyped(before));
  EXPECT_EQ(FirstDifference(result, ParseTyped(after)), std::nullopt)
      << ToText(result);
}

void ExpectPassLeaves(const Pass& pass, absl::string_view text) {
  const IRModule module = ParseTyped(text);
  const absl::StatusOr<IRModule> result = pass(module);
  EXPECT_THAT(result, IsOk());
  if (!result.ok()) return;
  EXPECT_TRUE(result->SameAs(module)) << ToText(*result);
}

IRModule RandomProgram(uint32_t seed, const RandomProgramOptions& options) {
  const absl::StatusOr<IRModule> module = testing::RandomProgram(seed, options);
  EXPECT_THAT(module, IsOk());
  return module.ok() ? *module : IRModule();
}

}  // namespace baton::relay
