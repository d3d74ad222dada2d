#include "baton/relay/transform/rewrite_test_util.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/tensor.h"
#include "baton/ir/module.h"
#include "baton/ir/structural_equal.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/ir/module.h"
#include "baton/relay/ir/text_parser.h"
#include "baton/relay/ir/text_printer.h"
#include "baton/relay/runtime/evaluator.h"
#include "baton/relay/runtime/value.h"
#include "baton/testing/inputs.h"
#include "baton/testing/round_trip.h"
#include "baton/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton::relay {
namespace {

using ::baton::testing::IsOk;

// `tensor` with the magnitudes of its elements.
Tensor Magnitudes(const Tensor& tensor) {
  absl::StatusOr<MutableTensor> result =
      MutableTensor::Create(tensor.dtype(), tensor.shape());
  if (!result.ok()) return tensor;
  VisitDType(tensor.dtype(), [&]<typename T>() {
    const absl::Span<const T> from = tensor.span<T>();
    const absl::Span<T> to = result->span<T>();
    for (size_t i = 0; i < from.size(); ++i) {
      to[i] = from[i] < T{0} ? static_cast<T>(-from[i]) : from[i];
    }
  });
  return std::move(*result).Freeze();
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
    ASSERT_EQ(a.tensor().TypeToString(), b.tensor().TypeToString());
    // A few places of float16 and bfloat16, whose results are rounded each.
    const DType dtype = a.tensor().dtype();
    const double tolerance = !dtype.is_float() || dtype.bits() > 16 ? 1e-4
                             : dtype.code() == DType::Code::kFloat  ? 4e-3
                                                                    : 3e-2;
    for (int64_t i = 0; i < a.tensor().num_elements(); ++i) {
      const double x = a.tensor().AtAsDouble(i);
      const double y = b.tensor().AtAsDouble(i);
      ASSERT_NEAR(x, y, tolerance * (1 + std::fabs(x))) << "element " << i;
    }
  }
}

// On the magnitudes of random inputs, so that square roots are defined.
void ExpectSameResults(const Function& before, const Function& after) {
  absl::StatusOr<std::vector<Value>> inputs =
      testing::RandomInputs(before, /*seed=*/1);
  if (!inputs.ok()) return;  // shapes are not known
  for (Value& input : *inputs) {
    if (input.is_tensor()) input = Magnitudes(input.tensor());
  }
  const absl::StatusOr<Value> want =
      EvaluateFunction(ModuleFromExpr(before), "main", *inputs);
  if (absl::IsUnimplemented(want.status())) return;  // no kernel
  ASSERT_THAT(want, IsOk());
  const absl::StatusOr<Value> got =
      EvaluateFunction(ModuleFromExpr(after), "main", *inputs);
  ASSERT_THAT(got, IsOk());
  ExpectNear(*want, *got);
}

Function ParsedMain(absl::string_view text) {
  const absl::StatusOr<IRModule> module = ParseModule(text);
  EXPECT_THAT(module, IsOk());
  if (!module.ok()) return Function({}, Tuple({}));
  return module->Find<Function>("main");
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
  const absl::StatusOr<Expr> rewritten = rewrite(input);
  ASSERT_THAT(rewritten, IsOk());
  const Function output = Typed(Function(rewritten->As<FunctionNode>()));
  EXPECT_EQ(FirstDifference(output, Typed(after)), std::nullopt)
      << ToText(output);
  EXPECT_EQ(ToText(input), text);
  for (const Function& function : {input, output}) {
    EXPECT_THAT(testing::CheckRoundTrip(ModuleFromExpr(function),
                                        /*typed=*/true),
                IsOk());
  }
  ExpectSameResults(input, output);
}

void ExpectUnchanged(Rewrite rewrite, const Function& function) {
  const Function input = Typed(function);
  const absl::StatusOr<Expr> output = rewrite(input);
  ASSERT_THAT(output, IsOk());
  EXPECT_EQ(*output, input) << ToText(*output);
}

void ExpectRewrites(Rewrite rewrite, absl::string_view before,
                    absl::string_view after) {
  ExpectRewrites(rewrite, ParsedMain(before), ParsedMain(after));
}

void ExpectUnchanged(Rewrite rewrite, absl::string_view text) {
  ExpectUnchanged(rewrite, ParsedMain(text));
}

}  // namespace baton::relay
