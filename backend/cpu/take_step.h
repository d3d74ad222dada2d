// Steps of take, which copies the slices of a tensor that indices select along
// one axis.

#ifndef BATON_BACKEND_CPU_TAKE_STEP_H_
#define BATON_BACKEND_CPU_TAKE_STEP_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "baton/backend/cpu/graph.h"
#include "baton/backend/cpu/kernel_choice.h"

namespace baton::cpu {

// A take from a tensor [outer, extent, inner] with `count` indices: the result
// is [outer, count, inner].
struct TakeChoice {
  int64_t axis = 0;
  int64_t outer = 1;
  int64_t extent = 1;
  int64_t inner = 1;
  int64_t count = 1;
  int64_t element_bytes = 4;
  // The indices, in [0, extent), if they are constant.
  std::optional<std::vector<int64_t>> places;
  // The following fields are for indices that are not constant. True for int64,
  // false for int32.
  bool has_wide_indices = false;
  // An index out of range is taken modulo `extent`; otherwise it is clamped.
  bool wraps = false;
  // An index out of range makes the step fail.
  bool is_checked = false;
};

// The parameters of take without batch dimensions; nullopt for other nodes, and
// for constant indices that are checked and out of range.
std::optional<TakeChoice> TakeOf(const GraphNode& node, const Graph& graph);

// `x`, `indices` and `y` are indices in Graph::tensors. Tensor `indices` is not
// read if TakeChoice::places has the indices.
KernelChoice TakeStep(TakeChoice take, int x, int indices, int y);

}  // namespace baton::cpu

#endif  // BATON_BACKEND_CPU_TAKE_STEP_H_
