#include "baton/relay/transform/rewrite_test_util.h"

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "baton/ir/dtype.h"
#include "baton/ir/expr.h"
#include "baton/ir/infer_type.h"
#include "baton/ir/module.h"
#include "baton/ir/structural_equal.h"
#include "baton/ir/tensor.h"
#include "baton/ir/text_printer.h"
#include "baton/ir/type.h"
#include "baton/runtime/evaluator.h"
#include "baton/runtime/value.h"
#include "baton/testing/inputs.h"
#include "baton/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton::relay {
namespace {

using ::baton::testing::IsOk;

// The magnitudes of random inputs, so that square roots are defined.
absl::StatusOr<std::vector<Value>> Inputs(const Function& function) {
  absl::StatusOr<std::vector<Value>> inputs =
      testing::RandomInputs(function, /*seed=*/1);
  if (!inputs.ok()) return inputs;
  for (Value& input : *inputs) {
    if (!input.is_tensor() || input.tensor().dtype() != DType::Float(32)) {
      continue;
    }
    std::vector<float> values;
    for (const float value : input.tensor().span<float>()) {
      values.push_back(std::fabs(value));
    }
    absl::StatusOr<Tensor> tensor =
        Tensor::FromValues<float>(input.tensor().shape(), values);
    if (!tensor.ok()) return tensor.status();
    input = Value(*std::move(tensor));
  }
  return inputs;
}

void ExpectNear(const Value& a, const Value& b) {
  ASSERT_EQ(a.is_tuple(), b.is_tuple());
  if (a.is_tuple()) {
    ASSERT_EQ(a.fields().size(), b.fields().size());
    for (size_t i = 0; i < a.fields().size(); ++i) {
      ExpectNear(a.fields()[i], b.fields()[i]);
    }
  } else if (a.is_tensor()) {
    ASSERT_TRUE(b.is_tensor());
    ASSERT_EQ(a.tensor().shape(), b.tensor().shape());
    for (int64_t i = 0; i < a.tensor().num_elements(); ++i) {
      const double x = a.tensor().AtAsDouble(i);
      const double y = b.tensor().AtAsDouble(i);
      ASSERT_NEAR(x, y, 1e-4 * (1 + std::fabs(x))) << "element " << i;
    }
  }
}

// True if the program cannot be run here: an operator without a kernel, or
// parameters whose shape is not known.
bool CannotRun(const absl::Status& status) {
  return absl::IsUnimplemented(status) || absl::IsInvalidArgument(status) ||
         absl::IsNotFound(status) || absl::IsFailedPrecondition(status);
}

void ExpectSameResults(const Function& before, const Function& after) {
  const absl::StatusOr<std::vector<Value>> inputs = Inputs(before);
  if (!inputs.ok()) return;
  const absl::StatusOr<Value> want =
      EvaluateFunction(IRModule::FromExpr(before), "main", *inputs);
  if (CannotRun(want.status())) return;
  ASSERT_THAT(want, IsOk());
  const absl::StatusOr<Value> got =
      EvaluateFunction(IRModule::FromExpr(after), "main", *inputs);
  ASSERT_THAT(got, IsOk());
  ExpectNear(*want, *got);
}

}  // namespace

Var TensorVar(std::string name, const std::vector<int64_t>& shape,
              DType dtype) {
  return Var(std::move(name), TensorType::Of(shape, dtype));
}

Function Typed(const Function& function) {
  const absl::StatusOr<Expr> typed = InferTypeOf(function);
  EXPECT_THAT(typed, IsOk());
  return typed.ok() ? Function(typed->As<FunctionNode>()) : function;
}

void ExpectRewrites(Rewrite rewrite, const Function& before,
                    const Function& after) {
  const Function input = Typed(before);
  const std::string text = ToText(input);
  const Function output = Typed(Function(rewrite(input).As<FunctionNode>()));
  EXPECT_EQ(FirstDifference(output, Typed(after)), std::nullopt)
      << ToText(output);
  EXPECT_EQ(ToText(input), text);
  ExpectSameResults(input, output);
}

void ExpectUnchanged(Rewrite rewrite, const Function& function) {
  const Function input = Typed(function);
  const Expr output = rewrite(input);
  EXPECT_EQ(output, input) << ToText(output);
}

}  // namespace baton::relay
