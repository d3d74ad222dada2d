#include "baton/runtime/executor/dataflow_digest.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "baton/base/stable_hash.h"
#include "baton/runtime/executor/plan.h"

namespace baton::executor {
namespace {

// A part of a value and the term that a step wrote there. `offset` is the part's
// place in the value.
struct Write {
  int64_t offset = 0;
  int64_t bytes = 0;
  uint64_t term = 0;
};

class Digest {
 public:
  explicit Digest(const Plan& plan)
      : plan_(plan), writes_(plan.values.size()) {}

  uint64_t Run() {
    for (const Step& step : plan_.steps) AddStep(step);
    StableHash hash(plan_.output_bytes.size());
    for (size_t i = 0; i < plan_.values.size(); ++i) {
      const Value& value = plan_.values[i];
      if (value.space != Space::kOutput) continue;
      // The order of values does not count.
      StableHash output(static_cast<uint64_t>(value.index));
      output.Add(static_cast<uint64_t>(value.bytes));
      output.Add(TermOf({static_cast<int32_t>(i), 0, value.bytes}));
      sum_ += output.value();
    }
    hash.Add(sum_);
    return hash.value();
  }

 private:
  bool IsValue(int32_t value) const {
    return value >= 0 && static_cast<size_t>(value) < plan_.values.size();
  }

  uint64_t TermOf(const Operand& operand) const {
    if (!IsValue(operand.value)) return 0;
    const Value& value = plan_.values[static_cast<size_t>(operand.value)];
    StableHash hash(static_cast<uint64_t>(operand.bytes));
    if (value.space == Space::kConstant || value.space == Space::kInput) {
      hash.Add(static_cast<uint64_t>(value.space));
      hash.Add(static_cast<uint64_t>(value.index));
      hash.Add(static_cast<uint64_t>(operand.offset));
      return hash.value();
    }
    // Parts that different steps wrote have no order.
    uint64_t sum = 0;
    for (const Write& write : writes_[static_cast<size_t>(operand.value)]) {
      if (write.offset >= operand.offset + operand.bytes ||
          operand.offset >= write.offset + write.bytes) {
        continue;
      }
      StableHash part(write.term);
      part.Add(static_cast<uint64_t>(write.offset - operand.offset));
      part.Add(static_cast<uint64_t>(write.bytes));
      sum += part.value();
    }
    hash.Add(sum);
    return hash.value();
  }

  void AddStep(const Step& step) {
    const int64_t count = int64_t{step.num_inputs} + step.num_outputs;
    if (step.num_inputs < 0 || step.num_outputs < 0 || step.first_operand < 0 ||
        step.first_operand + count >
            static_cast<int64_t>(plan_.operands.size())) {
      return;
    }
    const Operand* const operands = plan_.operands.data() + step.first_operand;
    StableHash hash(reinterpret_cast<uintptr_t>(step.function));
    hash.Add(reinterpret_cast<uintptr_t>(step.params));
    hash.Add(static_cast<uint64_t>(step.items));
    hash.Add(static_cast<uint64_t>(step.workspace_bytes));
    hash.Add(static_cast<uint64_t>(step.num_inputs));
    for (int32_t k = 0; k < step.num_inputs; ++k) hash.Add(TermOf(operands[k]));
    const uint64_t term = hash.value();
    for (int32_t k = 0; k < step.num_outputs; ++k) {
      const Operand& output = operands[step.num_inputs + k];
      if (!IsValue(output.value)) continue;
      StableHash result(term);
      result.Add(static_cast<uint64_t>(k));
      result.Add(static_cast<uint64_t>(output.bytes));
      std::vector<Write>& writes = writes_[static_cast<size_t>(output.value)];
      // Only the last write of the same bytes counts.
      writes.erase(std::remove_if(writes.begin(), writes.end(),
                                  [&](const Write& write) {
                                    return write.offset >= output.offset &&
                                           write.offset + write.bytes <=
                                               output.offset + output.bytes;
                                  }),
                   writes.end());
      writes.push_back({output.offset, output.bytes, result.value()});
    }
  }

  const Plan& plan_;
  std::vector<std::vector<Write>> writes_;  // of values
  uint64_t sum_ = 0;
};

}  // namespace

uint64_t DataflowDigest(const Plan& plan) { return Digest(plan).Run(); }

}  // namespace baton::executor
