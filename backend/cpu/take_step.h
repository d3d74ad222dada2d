// Steps of take: rows of a tensor, in places that indices decide.

#ifndef BATON_BACKEND_CPU_TAKE_STEP_H_
#define BATON_BACKEND_CPU_TAKE_STEP_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "baton/backend/cpu/graph.h"
#include "baton/backend/cpu/kernel_choice.h"

namespace baton::cpu {

// The result is [outer, count, inner] elements of [outer, extent, inner].
struct TakeChoice {
  int64_t axis = 0;
  int64_t outer = 1;
  int64_t extent = 1;
  int64_t inner = 1;
  int64_t count = 1;
  int64_t element_bytes = 4;
  // The places, in [0, extent), if they are constant.
  std::optional<std::vector<int64_t>> places;
  // Otherwise: the indices' type, and how they are brought into that range.
  bool has_wide_indices = false;
  bool wraps = false;
  // An index out of range makes the step fail.
  bool is_checked = false;
};

// The parameters of take without batch dimensions; nullopt for other nodes, and
// for constant indices that are checked and out of range.
std::optional<TakeChoice> TakeOf(const GraphNode& node, const Graph& graph);

// `indices` is not read if the places are constant.
KernelChoice TakeStep(TakeChoice take, int x, int indices, int y);

}  // namespace baton::cpu

#endif  // BATON_BACKEND_CPU_TAKE_STEP_H_
