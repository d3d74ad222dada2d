// Steps that move elements: transpositions, slices, repetitions,
// concatenations.

#ifndef BATON_BACKEND_CPU_REARRANGE_STEP_H_
#define BATON_BACKEND_CPU_REARRANGE_STEP_H_

#include <optional>

#include "baton/backend/cpu/graph.h"
#include "baton/backend/cpu/kernel_choice.h"
#include "baton/backend/cpu/rearrangement.h"
#include "baton/backend/cpu/step_source.h"
#include "baton/runtime/executor/plan.h"

namespace baton::cpu {

// The step that makes tensor `y` of tensor `x` (indices in Graph::tensors) by
// `move`; nullopt for elements of an unusual size.
std::optional<KernelChoice> RearrangeStep(const Graph& graph,
                                          const Rearrangement& move, int x,
                                          int y);

// The step of a padding with a constant; nullopt for other calls.
std::optional<KernelChoice> PadStep(const GraphNode& node, const Graph& graph);

// The C++ source of these steps; nullopt for others.
std::optional<StepSource> RearrangeStepSource(const executor::Step& step);

// The step of a concatenation; nullopt for other calls.
std::optional<KernelChoice> ConcatenateStep(const GraphNode& node,
                                            const Graph& graph);

}  // namespace baton::cpu

#endif  // BATON_BACKEND_CPU_REARRANGE_STEP_H_
