// Groups of rows that a node computes one by one, such as the rows of a softmax
// or of a sum: one function of loops, for a group, is called for each. So loops
// that follow each other find a group in the cache, and threads share the
// groups.

#ifndef BATON_BACKEND_CPU_ROW_GROUPS_H_
#define BATON_BACKEND_CPU_ROW_GROUPS_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "baton/backend/cpu/graph.h"

namespace baton::cpu {

struct RowGroups {
  int64_t count = 1;  // 1: the node is not divided
  // The first axes of all tensors are those of rows, in row-major order.
  int axes = 0;
  int64_t rows = 0;  // of a group

  // The shape of the part of a tensor that belongs to a group.
  std::vector<int64_t> ShapeOfPart(absl::Span<const int64_t> shape) const;
};

// `has_part` is false for operands that all groups read whole: numbers.
RowGroups RowGroupsOf(const Graph& graph, const GraphNode& node,
                      const std::vector<bool>& has_part);

}  // namespace baton::cpu

#endif  // BATON_BACKEND_CPU_ROW_GROUPS_H_
