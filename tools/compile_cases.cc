#include "baton/tools/compile_cases.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/types/span.h"
#include "baton/backend/cpu/padded_sizes.h"
#include "baton/backend/library/compile_model.h"
#include "baton/backend/library/compiled_test.h"
#include "baton/backend/library/plan_values.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/base/tensor_difference.h"
#include "baton/instrument/tensor_error.h"
#include "baton/ir/module.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/runtime/evaluator.h"
#include "baton/relay/runtime/random_inputs.h"
#include "baton/relay/runtime/value.h"
#include "baton/runtime/io/npy.h"
#include "baton/tools/compile_options.h"
#include "baton/tools/input.h"
#include "baton/tools/tensor_files.h"

namespace baton {
namespace {

using relay::Function;
using relay::Value;

absl::StatusOr<std::vector<Tensor>> Evaluate(const IRModule& module,
                                             absl::Span<const Value> args) {
  BATON_ASSIGN_OR_RETURN(const Value result,
                         relay::EvaluateFunction(module, "main", args));
  std::vector<Tensor> outputs;
  if (result.is_tensor()) {
    outputs.push_back(result.tensor());
    return outputs;
  }
  for (const Value& field : result.fields()) {
    if (!field.is_tensor()) {
      return absl::UnimplementedError("a result in a result");
    }
    outputs.push_back(field.tensor());
  }
  return outputs;
}

// The arguments of `main` among `given`.
absl::StatusOr<std::vector<Value>> GivenInputs(const Function& main,
                                               const CompileModelOptions& model,
                                               const TensorsAtHand& given) {
  const auto is_in = [](absl::Span<const std::string> names,
                        const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  NamedTensors tensors = given.tensors;
  std::erase_if(tensors, [&](const auto& tensor) {
    return is_in(given.values_used, tensor.first);
  });
  const bool has_state = tensors.size() >= model.input_names.size();
  const bool has_names = !tensors.empty() && !tensors[0].first.empty();
  for (size_t i = 0; i < model.input_names.size(); ++i) {
    const std::string& name = model.input_names[i];
    if (has_state || i > tensors.size() || !is_in(given.kept, name)) continue;
    const TensorTypeNode* const type = main->params()[i]->tensor_type();
    BATON_ASSIGN_OR_RETURN(
        Tensor zeros, Tensor::Zeros(type->dtype(), *ConstDims(type->shape())));
    tensors.emplace(tensors.begin() + static_cast<std::ptrdiff_t>(i),
                    has_names ? name : "", std::move(zeros));
  }
  BATON_ASSIGN_OR_RETURN(const std::vector<Tensor> in_order,
                         InOrder(tensors, model.input_names, "inputs"));
  return std::vector<Value>(in_order.begin(), in_order.end());
}

}  // namespace

absl::StatusOr<TestCase> MakeCase(const IRModule& module,
                                  std::vector<int64_t> dims,
                                  const CompileModelOptions& model,
                                  const LibraryOptions& options,
                                  const TensorsAtHand* given) {
  const Function main = module.Find<Function>("main");
  std::vector<Value> values;
  if (given != nullptr) {
    BATON_ASSIGN_OR_RETURN(values, GivenInputs(main, model, *given));
  } else {
    BATON_ASSIGN_OR_RETURN(
        values, relay::RandomInputs(main, static_cast<uint32_t>(options.seed)));
  }
  std::vector<Tensor> inputs;
  for (size_t i = 0; i < values.size(); ++i) {
    const bool is_state = std::any_of(
        model.state.begin(), model.state.end(), [&](const auto& pair) {
          return i < model.input_names.size() &&
                 pair.second == model.input_names[i];
        });
    if (is_state) {
      BATON_ASSIGN_OR_RETURN(Tensor zeros,
                             Tensor::Zeros(values[i].tensor().dtype(),
                                           values[i].tensor().shape()));
      values[i] = Value(std::move(zeros));
    }
    inputs.push_back(values[i].tensor());
  }
  BATON_ASSIGN_OR_RETURN(std::vector<Tensor> outputs, Evaluate(module, values));
  return TestCase{std::move(dims), std::move(inputs), std::move(outputs)};
}

absl::StatusOr<double> AddExactOutputs(const IRModule& module,
                                       TestCase& test_case) {
  const std::vector<Value> args(test_case.inputs.begin(),
                                test_case.inputs.end());
  BATON_ASSIGN_OR_RETURN(const std::vector<Tensor> outputs,
                         Evaluate(module, args));
  if (outputs.size() != test_case.outputs.size()) {
    return absl::InvalidArgumentError("passes changed the number of outputs");
  }
  test_case.exact.resize(outputs.size());
  double largest = 0;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Tensor& exact = outputs[i];
    const Tensor& output = test_case.outputs[i];
    const bool are_comparable =
        exact.dtype() == output.dtype() ||
        (exact.dtype().is_float() && output.dtype().is_float());
    if (exact.shape() != output.shape() || !are_comparable) {
      return absl::InvalidArgumentError(
          absl::StrCat("passes changed the type of output ", i, " from ",
                       exact.TypeToString(), " to ", output.TypeToString()));
    }
    if (exact.dtype() == output.dtype() && HaveSameElements(exact, output)) {
      continue;
    }
    const TensorError error = ErrorOf(exact, output);
    largest = std::max(largest, error.IsSpecial()
                                    ? std::numeric_limits<double>::infinity()
                                    : error.of_largest);
    test_case.exact[i] = exact;
  }
  return largest;
}

double RoundUp(double error) {
  double rounded = 0;
  if (!std::isfinite(error) ||
      !absl::SimpleAtod(absl::StrFormat("%.1e", error), &rounded) ||
      rounded >= error) {
    return rounded;
  }
  const double next = rounded + error / 20;
  return absl::SimpleAtod(absl::StrFormat("%.1e", next), &rounded) ? rounded
                                                                   : next;
}

absl::Status AddPlanValues(const IRModule& module, TestCase& test_case) {
  BATON_ASSIGN_OR_RETURN(PlanValues values, RunPlan(module, test_case.inputs));
  for (size_t i = 0; i < test_case.outputs.size(); ++i) {
    const Tensor& want = test_case.outputs[i];
    // Padding may follow.
    BATON_ASSIGN_OR_RETURN(const Tensor got,
                           Tensor::FromBuffer(want.dtype(), want.shape(),
                                              values.outputs[i].bytes().substr(
                                                  0, want.bytes().size()),
                                              /*owner=*/nullptr));
    if (!HaveSameElements(got, want)) {
      return absl::InternalError(absl::StrCat(
          "output ", i, " of the executor differs from the evaluator's"));
    }
  }
  test_case.operands = std::move(values.operands);
  return absl::OkStatus();
}

absl::Status AddExtents(const cpu::PaddedModule& padded, TestCase& test_case) {
  if (padded.sized_by_values.empty()) return absl::OkStatus();
  const Type& type = padded.module.Find<Function>("main")->body()->type();
  const auto* tuple = type.As<TupleTypeNode>();
  for (const int k : padded.sized_by_values) {
    const auto i = static_cast<size_t>(k);
    const auto* bound = tuple->fields()[i].As<TensorTypeNode>();
    BATON_ASSIGN_OR_RETURN(
        const int64_t elements,
        NumElements(bound->dtype(), *ConstDims(bound->shape())));
    test_case.output_bytes.resize(test_case.outputs.size());
    test_case.output_bytes[i] =
        static_cast<size_t>(elements * bound->dtype().bytes());
    const absl::Span<const int64_t> shape = test_case.outputs[i].shape();
    BATON_ASSIGN_OR_RETURN(Tensor extents,
                           Tensor::FromValues<int64_t>(
                               {static_cast<int64_t>(shape.size())}, shape));
    test_case.outputs.push_back(std::move(extents));
  }
  return absl::OkStatus();
}

}  // namespace baton
