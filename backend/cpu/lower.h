// Lowers a graph to a plan of steps: chooses the kernel of each step, the
// tensors that share memory, and the place of each tensor in the arena.

#ifndef BATON_BACKEND_CPU_LOWER_H_
#define BATON_BACKEND_CPU_LOWER_H_

#include <optional>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/backend/cpu/graph.h"
#include "baton/backend/cpu/kernel_costs.h"
#include "baton/backend/cpu/packed_constants.h"
#include "baton/backend/cpu/shared_weights.h"
#include "baton/backend/cpu/step_source.h"
#include "baton/runtime/executor/plan.h"
#include "baton/runtime/kernels/blocked/kernels.h"

namespace baton::cpu {

struct LowerOptions {
  int max_threads = 1;
  // If false, each operator is a step that calls the evaluator's kernel. For
  // tests.
  bool use_kernels = true;
  // A recorder of the packed constants of this lowering, or a replayer of those
  // of an earlier one; may be null.
  PackedConstants* packed = nullptr;
  // If not null, provides and receives the packed weights that several
  // lowerings share.
  SharedWeights* shared = nullptr;
  // The bytes of a mapped file. Pages of the file that have weights are
  // released as the weights are packed. Mapped until LowerGraph returns.
  absl::string_view mapped_file = {};
  // See CompileOptions.
  std::optional<kernels::blocked::Width> width = std::nullopt;
  // See CompileOptions. Null: the built-in table.
  const KernelCosts* costs = nullptr;
  std::optional<kernels::blocked::Width> costs_width = std::nullopt;
  // See CompileOptions.
  bool use_amx = true;
  // Uses only kernels that SourceOf() can write as C++, for models that are
  // compiled to C++ libraries. All other steps are regions and fallbacks (calls
  // of the evaluator).
  bool only_sources = false;
};

// The plan of `graph`. StepNote::sources of its steps are numbers of nodes of
// the graph. Weights are released as they are packed; weights to which only
// `graph` refers are packed in place.
absl::StatusOr<executor::Plan> LowerGraph(Graph graph,
                                          const LowerOptions& options);

// The C++ source of a step of a plan that LowerGraph() made, in the items that
// `threads` threads need; nullopt for steps without one, such as fallbacks.
std::optional<StepSource> SourceOf(const executor::Step& step, int threads);

}  // namespace baton::cpu

#endif  // BATON_BACKEND_CPU_LOWER_H_
