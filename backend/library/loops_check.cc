#include "baton/backend/library/loops_check.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/base/tensor_difference.h"
#include "baton/ir/expr.h"
#include "baton/ir/function_evaluator.h"
#include "baton/ir/module.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/runtime/evaluator.h"
#include "baton/relay/runtime/random_inputs.h"
#include "baton/relay/runtime/value.h"
#include "baton/relay/runtime/value_tensors.h"

namespace baton {

using relay::Value;

LoopsCheck::LoopsCheck(uint32_t seed)
    : PassInstrument("LoopsCheck"), seed_(seed) {}

absl::Status LoopsCheck::AddFunction(
    const IRModule& relay, const std::string& name,
    absl::Span<const relay::Constant> constants, const std::string& origin) {
  const relay::Function function = relay.Find<relay::Function>(name);
  functions_.erase(name);  // of another variant
  Expected expected;
  expected.origin = origin.substr(0, origin.find('\n'));
  const absl::StatusOr<std::vector<Value>> values =
      relay::RandomInputs(function, seed_);
  const absl::StatusOr<Value> result =
      values.ok() ? relay::EvaluateFunction(relay, name, *values)
                  : absl::StatusOr<Value>(values.status());
  if (!result.ok()) {
    notes_.push_back(absl::StrCat(
        expected.origin, ": not compared: ", result.status().message()));
    return absl::OkStatus();
  }
  for (const Value& value : *values) {
    for (const Tensor& tensor : relay::TensorsOf(value)) {
      expected.arguments.push_back(tensor);
    }
  }
  for (const relay::Constant& constant : constants) {
    expected.arguments.push_back(constant->value());
  }
  expected.results = relay::TensorsOf(*result);
  for (const Tensor& tensor : expected.results) {
    BATON_ASSIGN_OR_RETURN(Tensor memory,
                           Tensor::Zeros(tensor.dtype(), tensor.shape()));
    expected.arguments.push_back(std::move(memory));
  }
  functions_[name] = std::move(expected);
  return absl::OkStatus();
}

absl::Status LoopsCheck::Check(const IRModule& loops, const std::string& name,
                               absl::string_view step) {
  const auto found = functions_.find(name);
  const BaseFunc function = loops.Find(name);
  if (found == functions_.end() || !function.defined()) return absl::OkStatus();
  Expected& expected = found->second;
  if (expected.is_skipped || expected.checked.get() == function.get()) {
    return absl::OkStatus();
  }
  const FunctionEvaluator* const evaluator =
      FindFunctionEvaluator(function->kind());
  if (evaluator == nullptr) return absl::OkStatus();
  const std::string place =
      absl::StrCat("first wrong step: ", step, " of ", expected.origin,
                   ", function @", name, ": ");
  const absl::StatusOr<std::vector<Tensor>> after = evaluator->Evaluate(
      loops, function, expected.arguments, FunctionEvaluator::kStepsOfCheck);
  if (absl::IsResourceExhausted(after.status())) {
    expected.is_skipped = true;
    notes_.push_back(
        absl::StrCat(expected.origin, ": loops not compared: they take long"));
    return absl::OkStatus();
  }
  if (!after.ok()) {
    return absl::Status(after.status().code(),
                        absl::StrCat(place, after.status().message()));
  }
  const size_t num_inputs = expected.arguments.size() - expected.results.size();
  if (after->size() != expected.arguments.size()) {
    return absl::InternalError(absl::StrCat(place, "it has ", after->size(),
                                            " buffers, not ",
                                            expected.arguments.size()));
  }
  for (size_t i = 0; i < expected.results.size(); ++i) {
    const Tensor& got = (*after)[num_inputs + i];
    const Tensor& want = expected.results[i];
    const std::optional<int64_t> element = FirstDifferentElement(got, want);
    if (!element.has_value()) continue;
    return absl::InternalError(
        absl::StrCat(place, "element ", *element, " of result ", i, " is ",
                     got.AtAsDouble(*element), ", the evaluator has ",
                     want.AtAsDouble(*element)));
  }
  ++num_compared_;
  expected.checked = function;
  return absl::OkStatus();
}

absl::Status LoopsCheck::RunAfterPass(const IRModule& module,
                                      const PassExecution& pass) {
  const std::string step = absl::StrCat("pass ", pass.name());
  for (const auto& [name, expected] : functions_) {
    BATON_RETURN_IF_ERROR(Check(module, name, step));
  }
  return absl::OkStatus();
}

}  // namespace baton
