// Calls whose results are bytes of their arguments, or the reverse.

#ifndef BATON_BACKEND_CPU_VIEWS_H_
#define BATON_BACKEND_CPU_VIEWS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "baton/backend/cpu/graph.h"

namespace baton::cpu {

// A result: adjacent bytes of an input.
struct View {
  int input = 0;
  int64_t offset = 0;  // in bytes
};

// The views that are the results of a call; nullopt if a result is no view. For
// reshapes, and for splits and slices along the first axis that has several
// elements.
std::optional<std::vector<View>> ViewsOf(const GraphNode& node,
                                         const Graph& graph);

// True if the result of a call is the bytes of its inputs, one after another.
bool IsJoin(const GraphNode& node, const Graph& graph);

}  // namespace baton::cpu

#endif  // BATON_BACKEND_CPU_VIEWS_H_
