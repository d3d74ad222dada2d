// Lowers a graph to a plan: kernels, aliases, places in the arena.

#ifndef BATON_BACKEND_CPU_LOWER_H_
#define BATON_BACKEND_CPU_LOWER_H_

#include <optional>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/backend/cpu/graph.h"
#include "baton/backend/cpu/packed_constants.h"
#include "baton/backend/cpu/shared_weights.h"
#include "baton/backend/cpu/step_source.h"
#include "baton/runtime/executor/plan.h"
#include "baton/runtime/kernels/blocked/kernels.h"

namespace baton::cpu {

struct LowerOptions {
  int max_threads = 1;
  // False for tests: each operator is a step of the evaluator's kernel.
  bool use_kernels = true;
  bool fuse = true;
  // Receives, or has, what is packed; may be null.
  PackedConstants* packed = nullptr;
  // Has, and receives, the weights that several lowerings share; may be null.
  SharedWeights* shared = nullptr;
  // The bytes of a mapped file: pages of weights in it are released as these are
  // packed.
  absl::string_view mapped_file = {};
  // The vectors of the kernels; the widest that the processor has by default.
  std::optional<kernels::blocked::Width> width = std::nullopt;
  // For libraries: each step is a region, has a source (SourceOf), or is a
  // fallback.
  bool only_sources = false;
};

// The plan of `graph`. Its sources are numbers of nodes of the graph. Weights
// are released as they are packed, and packed in place where nothing but `graph`
// holds them.
absl::StatusOr<executor::Plan> LowerGraph(Graph graph,
                                          const LowerOptions& options);

// A step of a plan of LowerGraph as C++; nullopt for fallbacks and the like.
std::optional<StepSource> SourceOf(const executor::Step& step);

}  // namespace baton::cpu

#endif  // BATON_BACKEND_CPU_LOWER_H_
