// Lowers a graph to a plan: kernels, aliases, places in the arena.

#ifndef BATON_BACKEND_CPU_LOWER_H_
#define BATON_BACKEND_CPU_LOWER_H_

#include "absl/status/statusor.h"
#include "baton/backend/cpu/graph.h"
#include "baton/backend/cpu/packed_constants.h"
#include "baton/runtime/executor/plan.h"

namespace baton::cpu {

struct LowerOptions {
  int max_threads = 1;
  // False for tests: each operator is a step of the evaluator's kernel.
  bool use_kernels = true;
  bool fuse = true;
  // Receives, or has, what is packed; may be null.
  PackedConstants* packed = nullptr;
};

// The plan of `graph`. Its sources are numbers of nodes of the graph. Constants
// of the graph must outlive the plan, or be owned by it.
absl::StatusOr<executor::Plan> LowerGraph(const Graph& graph,
                                          const LowerOptions& options);

}  // namespace baton::cpu

#endif  // BATON_BACKEND_CPU_LOWER_H_
