// Finds calls that need no copy: results that are a range of bytes of an input,
// and results that are the bytes of the inputs one after another.

#ifndef BATON_BACKEND_CPU_VIEWS_H_
#define BATON_BACKEND_CPU_VIEWS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "baton/backend/cpu/graph.h"
#include "baton/backend/cpu/rearrangement.h"

namespace baton::cpu {

// A result that is a range of bytes of an input.
struct View {
  int input = 0;       // index in GraphNode::inputs
  int64_t offset = 0;  // in bytes
};

// Returns a view for each result of a call; nullopt if a result must be
// computed. Finds those of reshapes, and of splits and slices along the first
// axis that has several elements. Takes time in proportion to the result,
// unless the node is a reshape: then `moves`, if it is not null, becomes
// RearrangementsOf(node).
std::optional<std::vector<View>> ViewsOf(
    const GraphNode& node, const Graph& graph,
    std::optional<std::vector<Rearrangement>>* moves = nullptr);

// True if the result of a call is the bytes of its inputs, one after another.
bool IsJoin(const GraphNode& node, const Graph& graph);

}  // namespace baton::cpu

#endif  // BATON_BACKEND_CPU_VIEWS_H_
