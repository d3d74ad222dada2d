#include "baton/backend/library/plan_values.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/backend/cpu/executable.h"
#include "baton/backend/cpu/graph.h"
#include "baton/backend/cpu/shadow.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/module.h"
#include "baton/onnx/listing.h"
#include "baton/runtime/executor/plan.h"
#include "baton/runtime/executor/runtime_instrument.h"

namespace baton {
namespace {

class Recorder final : public executor::RuntimeInstrument {
 public:
  explicit Recorder(const Executable& executable)
      : plan_(executable.plan()), graph_(executable.graph()) {}

  void BeforeStep(const StepEvent& event) override {
    for (size_t k = 0; k < event.inputs.size(); ++k) {
      Add(event, static_cast<int32_t>(k), false, event.inputs[k]);
    }
  }
  void AfterStep(const StepEvent& event) override {
    for (size_t k = 0; k < event.outputs.size(); ++k) {
      Add(event, event.step.num_inputs + static_cast<int32_t>(k), true,
          event.outputs[k]);
    }
  }

  std::vector<OperandValue> Values() && { return std::move(values_); }

 private:
  void Add(const StepEvent& event, int32_t k, bool is_result,
           const void* data) {
    const executor::Operand& operand =
        plan_.operands[static_cast<size_t>(event.step.first_operand + k)];
    const FloatFormat format = FormatOf(event.note, k);
    values_.push_back({event.number, k, is_result, format,
                       HashOfBytes({static_cast<const char*>(data),
                                    static_cast<size_t>(operand.bytes)},
                                   format)});
  }

  FloatFormat FormatOf(const executor::StepNote& note, int32_t k) const {
    const auto i = static_cast<size_t>(k);
    if (graph_ == nullptr || i >= note.tensors.size() ||
        note.tensors[i].number < 0) {
      return {};
    }
    const auto tensor = static_cast<size_t>(note.tensors[i].number);
    return FloatFormatOf(graph_->tensors[tensor].dtype);
  }

  const executor::Plan& plan_;
  const cpu::Graph* const graph_;
  std::vector<OperandValue> values_;
};

// Removes up to eight bytes and returns them; a NaN has all bits.
uint64_t NextWord(absl::string_view& bytes, const FloatFormat& format) {
  const size_t count = bytes.size() < 8 ? bytes.size() : 8;
  uint64_t word = 0;
  std::memcpy(&word, bytes.data(), count);
  bytes.remove_prefix(count);
  if (format.infinity == 0) return word;
  const uint64_t all = ~uint64_t{0} >> (64 - format.bits);
  for (uint64_t shift = 0; shift < 64; shift += format.bits) {
    if (((word >> shift) & (all >> 1)) > format.infinity) word |= all << shift;
  }
  return word;
}

}  // namespace

FloatFormat FloatFormatOf(DType dtype) {
  if (dtype == DType::Float(16)) return {0x7c00, 16};
  if (dtype == DType::BFloat(16)) return {0x7f80, 16};
  if (dtype == DType::Float(32)) return {0x7f800000, 32};
  if (dtype == DType::Float(64)) return {0x7ff0000000000000, 64};
  return {};
}

uint64_t HashOfBytes(absl::string_view bytes, const FloatFormat& format) {
  uint64_t hash = bytes.size();
  while (!bytes.empty()) {
    hash = (hash ^ NextWord(bytes, format)) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 29;
  }
  return hash;
}

absl::StatusOr<PlanValues> RunPlan(const IRModule& module,
                                   absl::Span<const Tensor> inputs) {
  CompileOptions options;
  options.pipeline = "";
  options.keep_graph = true;
  options.only_sources = true;
  BATON_ASSIGN_OR_RETURN(const Executable executable, Compile(module, options));
  BATON_ASSIGN_OR_RETURN(const std::unique_ptr<Session> session,
                         Session::Create(executable));
  Recorder recorder(executable);
  StepChecker shadow(executable, /*every=*/1);
  executor::RuntimeInstruments instruments({&recorder, &shadow});
  PlanValues values;
  BATON_ASSIGN_OR_RETURN(values.outputs,
                         session->Run(inputs, nullptr, &instruments));
  if (shadow.first_difference().has_value()) {
    const StepChecker::Difference& difference = *shadow.first_difference();
    return absl::InternalError(absl::StrCat(
        "first wrong step: ", difference.step, " of the executor's plan, ",
        difference.kernel, " of ", difference.source.op_name, " ",
        onnx::OriginName(difference.source.span), ": ", difference.text));
  }
  values.operands = std::move(recorder).Values();
  return values;
}

}  // namespace baton
