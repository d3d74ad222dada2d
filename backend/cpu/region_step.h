// Steps of branches and loops: plans inside of a plan.

#ifndef BATON_BACKEND_CPU_REGION_STEP_H_
#define BATON_BACKEND_CPU_REGION_STEP_H_

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "baton/backend/cpu/graph.h"
#include "baton/backend/cpu/kernel_choice.h"
#include "baton/runtime/executor/plan.h"

namespace baton::cpu {

// The step of a node with a region. `lower` makes the plans of the graphs in
// the region. A branch runs one of its plans. A loop runs the plan of its
// condition and the plan of its body in turn; its state alternates between two
// places of the workspace. These steps allocate nothing unless their plans do.
// A region that the evaluator runs becomes a FallbackStep().
absl::StatusOr<KernelChoice> RegionStep(
    const GraphNode& node, const Graph& graph,
    absl::FunctionRef<absl::StatusOr<executor::Plan>(const Graph&)> lower);

}  // namespace baton::cpu

#endif  // BATON_BACKEND_CPU_REGION_STEP_H_
