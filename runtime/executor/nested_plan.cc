#include "baton/runtime/executor/nested_plan.h"

#include <cstddef>
#include <cstdint>

#include "baton/runtime/executor/plan.h"

namespace baton::executor {

int64_t NestedBytes(const Plan& plan) {
  // The arena, then the addresses of the operands of one step.
  int64_t most = 0;
  for (const Step& step : plan.steps) {
    const int64_t count = int64_t{step.num_inputs} + step.num_outputs;
    most = count > most ? count : most;
  }
  return AlignUp(plan.arena_bytes) +
         AlignUp(most * static_cast<int64_t>(sizeof(void*)));
}

int RunNested(const Plan& plan, const void* const* inputs, void* const* outputs,
              std::byte* memory, void* user) {
  void** const addresses =
      reinterpret_cast<void**>(memory + AlignUp(plan.arena_bytes));
  for (const Step& step : plan.steps) {
    for (int32_t k = 0; k < step.num_inputs + step.num_outputs; ++k) {
      const Operand& operand =
          plan.operands[static_cast<size_t>(step.first_operand + k)];
      const Value& value = plan.values[static_cast<size_t>(operand.value)];
      const void* base = nullptr;
      switch (value.space) {
        case Space::kArena:
          base = memory + value.offset;
          break;
        case Space::kConstant:
          base = plan.constants[static_cast<size_t>(value.index)].data;
          break;
        case Space::kInput:
          base = inputs[value.index];
          break;
        case Space::kOutput:
          base = outputs[value.index];
          break;
      }
      addresses[k] = const_cast<std::byte*>(
          static_cast<const std::byte*>(base) + operand.offset);
    }
    const int code = step.function(
        {.params = step.params,
         .inputs = addresses,
         .outputs = addresses + step.num_inputs,
         .workspace =
             step.workspace < 0
                 ? nullptr
                 : memory +
                       plan.values[static_cast<size_t>(step.workspace)].offset,
         .begin = 0,
         .end = step.items,
         .user = user});
    if (code != 0) return code;
  }
  return 0;
}

}  // namespace baton::executor
