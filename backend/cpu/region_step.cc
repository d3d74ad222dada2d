#include "baton/backend/cpu/region_step.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "baton/backend/cpu/fallback_step.h"
#include "baton/backend/cpu/graph.h"
#include "baton/backend/cpu/kernel_choice.h"
#include "baton/backend/cpu/kernel_costs.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/runtime/executor/nested_plan.h"
#include "baton/runtime/executor/plan.h"
#include "baton/runtime/executor/plan_verifier.h"

namespace baton::cpu {
namespace {

struct Region {
  struct Part {
    executor::Plan plan;
    std::vector<int> inputs;  // those of the step that are its inputs
  };
  std::vector<Part> parts;
  bool continue_value = true;
  std::vector<int64_t> state_bytes;
  // The workspace: plans, then the addresses of inputs and outputs of a plan,
  // then a condition, then two states.
  int64_t plan_bytes = 0;
  int64_t num_addresses = 0;
  int64_t state_total = 0;

  int64_t addresses_at() const { return plan_bytes; }
  int64_t condition_at() const {
    return addresses_at() +
           executor::AlignUp(num_addresses *
                             static_cast<int64_t>(sizeof(void*)));
  }
  int64_t states_at() const { return condition_at() + executor::kAlignment; }
  int64_t workspace_bytes() const { return states_at() + 2 * state_total; }
};

// Runs a plan. `state` replaces the first inputs if it is not null.
int RunPart(const Region& region, const Region::Part& part,
            const executor::StepCall& call, void* const* state,
            void* const* outputs) {
  auto* const memory = static_cast<std::byte*>(call.workspace);
  const void** const inputs =
      reinterpret_cast<const void**>(memory + region.addresses_at());
  const int num_state = static_cast<int>(region.state_bytes.size());
  for (size_t i = 0; i < part.inputs.size(); ++i) {
    const int from = part.inputs[i];
    inputs[i] =
        state != nullptr && from < num_state ? state[from] : call.inputs[from];
  }
  return executor::RunNested(part.plan, inputs, outputs, memory, call.user);
}

bool IsTrue(const void* condition) {
  return *static_cast<const uint8_t*>(condition) != 0;
}

int RunBranch(const executor::StepCall& call) {
  const auto& region = *static_cast<const Region*>(call.params);
  const Region::Part& taken = region.parts[IsTrue(call.inputs[0]) ? 0 : 1];
  return RunPart(region, taken, call, nullptr, call.outputs);
}

int RunLoop(const executor::StepCall& call) {
  const auto& region = *static_cast<const Region*>(call.params);
  auto* const memory = static_cast<std::byte*>(call.workspace);
  const size_t num_state = region.state_bytes.size();
  // After the addresses of inputs: those of both states.
  void** states[2];
  states[0] = reinterpret_cast<void**>(memory + region.addresses_at()) +
              (region.num_addresses - static_cast<int64_t>(2 * num_state));
  states[1] = states[0] + num_state;
  std::byte* at = memory + region.states_at();
  for (void** const state : states) {
    for (size_t i = 0; i < num_state; ++i) {
      state[i] = at;
      at += executor::AlignUp(region.state_bytes[i]);
    }
  }
  for (size_t i = 0; i < num_state; ++i) {
    if (region.state_bytes[i] > 0) {
      std::memcpy(states[0][i], call.inputs[i],
                  static_cast<size_t>(region.state_bytes[i]));
    }
  }
  void* condition = memory + region.condition_at();
  int current = 0;
  while (true) {
    if (const int code =
            RunPart(region, region.parts[0], call, states[current], &condition);
        code != 0) {
      return code;
    }
    if (IsTrue(condition) != region.continue_value) break;
    if (const int code = RunPart(region, region.parts[1], call, states[current],
                                 states[1 - current]);
        code != 0) {
      return code;
    }
    current = 1 - current;
  }
  return RunPart(region, region.parts[2], call, states[current], call.outputs);
}

// True if `t` is one boolean.
bool IsCondition(const Graph& graph, int t) {
  const GraphTensor& tensor = graph.tensors[static_cast<size_t>(t)];
  return tensor.dtype == DType::Bool() && tensor.num_elements() == 1;
}

}  // namespace

absl::StatusOr<KernelChoice> RegionStep(
    const GraphNode& node, const Graph& graph,
    absl::FunctionRef<absl::StatusOr<executor::Plan>(const Graph&)> lower) {
  const GraphRegion& region = *node.region;
  if (region.kind == GraphRegion::Kind::kEvaluate) {
    return FallbackStep(node, graph);
  }
  const bool is_loop = region.kind == GraphRegion::Kind::kLoop;
  if (is_loop ? !IsCondition(region.graphs[0], region.graphs[0].outputs[0])
              : !IsCondition(graph, node.inputs[0])) {
    return absl::InternalError("a condition is no boolean");
  }
  auto params = std::make_shared<Region>();
  KernelChoice choice;
  double longest = 0;
  for (size_t i = 0; i < region.graphs.size(); ++i) {
    Region::Part part;
    BATON_ASSIGN_OR_RETURN(part.plan, lower(region.graphs[i]));
    BATON_RETURN_IF_ERROR(executor::VerifyPlan(part.plan));
    part.inputs = region.inputs[i];
    params->plan_bytes =
        std::max(params->plan_bytes, executor::NestedBytes(part.plan));
    params->num_addresses = std::max(params->num_addresses,
                                     static_cast<int64_t>(part.inputs.size()));
    double cost = 0;
    for (const executor::Step& step : part.plan.steps) cost += step.cost_ns;
    longest = std::max(longest, cost);
    for (const executor::StepNote& note : part.plan.notes) {
      choice.is_fallback = choice.is_fallback || note.is_fallback;
    }
    params->parts.push_back(std::move(part));
  }
  if (is_loop) {
    params->continue_value = region.continue_value;
    params->num_addresses += 2 * region.num_state;
    for (int i = 0; i < region.num_state; ++i) {
      const int64_t bytes =
          graph
              .tensors[static_cast<size_t>(node.inputs[static_cast<size_t>(i)])]
              .bytes();
      params->state_bytes.push_back(bytes);
      params->state_total += executor::AlignUp(bytes);
    }
  }
  choice.work = Work::OfNs(longest);
  choice.function = is_loop ? RunLoop : RunBranch;
  choice.kernel = is_loop ? "loop" : "branch";
  choice.reason = is_loop
                      ? "plans of the condition, of a round and of the result"
                      : "a plan for each branch";
  choice.inputs = node.inputs;
  choice.outputs = node.outputs;
  choice.workspace_bytes = params->workspace_bytes();
  choice.params = std::move(params);
  return choice;
}

}  // namespace baton::cpu
