#include "baton/backend/library/library_model.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "baton/base/tensor.h"
#include "baton/ir/module.h"
#include "baton/runtime/executor/plan.h"
#include "baton/tir/ir/function.h"

namespace baton {

std::vector<int> ThreadCounts(int most) {
  std::vector<int> counts;
  for (int count = 1; count < most; count *= 2) counts.push_back(count);
  counts.push_back(most);
  return counts;
}

bool HasLoops(const IRModule& module) {
  const auto functions = module.functions<tir::PrimFunc>();
  return functions.begin() != functions.end();
}

bool LibraryModel::IsStateInput(int i) const {
  return std::any_of(state.begin(), state.end(),
                     [i](const State& s) { return s.input == i; });
}

bool LibraryModel::IsStateOutput(int i) const {
  return std::any_of(state.begin(), state.end(),
                     [i](const State& s) { return s.output == i; });
}

int LibraryModel::ConstantIndex(const Tensor& value) {
  std::vector<int>& same = constants_by_start[std::string(
      value.bytes().substr(0, std::min<size_t>(value.bytes().size(), 64)))];
  for (const int i : same) {
    if (constants[static_cast<size_t>(i)].bytes() == value.bytes()) return i;
  }
  constants.push_back(value);
  same.push_back(static_cast<int>(constants.size()) - 1);
  return same.back();
}

std::string DescribeSlot(const LibrarySlot& slot) {
  return absl::StrCat(slot.dtype.ToString(), "[",
                      absl::StrJoin(slot.shape, ","), "]");
}

LibraryModel MergeVariants(std::vector<LibraryModel> models) {
  LibraryModel merged;
  merged.variants.clear();
  merged.plan_variants.clear();
  for (LibraryModel& model : models) {
    const size_t first_step = merged.steps.size();
    merged.variants.push_back(first_step);
    merged.plan_variants.push_back(merged.plan_steps.size());
    for (const auto& [first, last] : model.plan_steps) {
      merged.plan_steps.emplace_back(first_step + first, first_step + last);
    }
    std::vector<int> constant_of;
    for (const Tensor& constant : model.constants) {
      constant_of.push_back(merged.ConstantIndex(constant));
    }
    const int first_function = static_cast<int>(merged.functions.size());
    for (LibraryStep& step : model.steps) {
      if (step.function >= 0) step.function += first_function;
      for (LibrarySlot& slot : step.slots) {
        if (slot.space == LibrarySpace::kConstant) {
          slot.index = constant_of[static_cast<size_t>(slot.index)];
        }
      }
      merged.steps.push_back(std::move(step));
    }
    merged.functions.insert(merged.functions.end(), model.functions.begin(),
                            model.functions.end());
    merged.inputs = std::move(model.inputs);
    merged.outputs = std::move(model.outputs);
    merged.padded = std::move(model.padded);
    merged.arena_bytes = std::max(merged.arena_bytes, model.arena_bytes);
    merged.arena_lower_bound =
        std::max(merged.arena_lower_bound, model.arena_lower_bound);
  }
  return merged;
}

absl::Status PlaceState(const LibraryModelOptions& options,
                        LibraryModel& model) {
  for (const auto& ports : options.state) {
    const int output = ports.first;
    const int input = ports.second;
    if (model.IsStateOutput(output) || model.IsStateInput(input)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "output ", output, " or input ", input, " is state twice"));
    }
    const LibrarySlot& from = model.outputs[static_cast<size_t>(output)];
    const LibrarySlot& to = model.inputs[static_cast<size_t>(input)];
    const std::vector<int>& sized = model.padded.sized_by_values;
    if (std::find(sized.begin(), sized.end(), output) != sized.end()) {
      return absl::InvalidArgumentError(
          absl::StrCat("output ", output,
                       " cannot be state: values decide how large it is"));
    }
    if (to.dtype != from.dtype || to.shape != from.shape) {
      return absl::InvalidArgumentError(
          absl::StrCat("output ", output, " is ", DescribeSlot(from),
                       ", input ", input, " is ", DescribeSlot(to)));
    }
    LibraryModel::State state;
    state.output = output;
    state.input = input;
    state.bytes = to.bytes;
    state.output_offset = executor::AlignUp(model.arena_bytes);
    state.input_offset = executor::AlignUp(state.output_offset + state.bytes);
    model.arena_bytes = executor::AlignUp(state.input_offset + state.bytes);
    model.arena_lower_bound += model.arena_bytes - state.output_offset;
    model.state.push_back(state);
  }
  return absl::OkStatus();
}

}  // namespace baton
