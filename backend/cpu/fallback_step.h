// Steps that the evaluator's kernels compute.

#ifndef BATON_BACKEND_CPU_FALLBACK_STEP_H_
#define BATON_BACKEND_CPU_FALLBACK_STEP_H_

#include "absl/status/status.h"
#include "baton/backend/cpu/graph.h"
#include "baton/backend/cpu/kernel_choice.h"

namespace baton::cpu {

// The object to which StepCall::user points in the steps of the CPU backend. A
// fallback step stores its error in it.
struct RunState {
  absl::Status failure;
};

// A step that runs the kernel of the node's operator and copies its results.
// It allocates memory. An error is in RunState::failure.
KernelChoice FallbackStep(const GraphNode& node, const Graph& graph);

}  // namespace baton::cpu

#endif  // BATON_BACKEND_CPU_FALLBACK_STEP_H_
