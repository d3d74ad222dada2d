// Describes calls that only move elements, by the strides at which they read.

#ifndef BATON_BACKEND_CPU_REARRANGEMENT_H_
#define BATON_BACKEND_CPU_REARRANGEMENT_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "baton/backend/cpu/graph.h"

namespace baton::cpu {

// Element (i, j, ...) of a result is element base + i * strides[0] + j *
// strides[1] + ... of the call's first argument. Dimensions are merged where
// strides allow it; the last one has the largest extent of adjacent elements.
struct Rearrangement {
  int64_t base = 0;
  absl::InlinedVector<int64_t, 6> dims;
  absl::InlinedVector<int64_t, 6> strides;

  // True if the result is adjacent elements of the argument.
  bool is_contiguous() const {
    return dims.empty() || (dims.size() == 1 && strides[0] == 1);
  }
};

// The rearrangements that compute the results of a call; nullopt if the call
// does more, or depends on values.
std::optional<std::vector<Rearrangement>> RearrangementsOf(
    const GraphNode& node, const Graph& graph);

// As RearrangementsOf(), found by running the operator's kernel on a tensor
// whose elements are their own indices: so no operator needs a rule of its own,
// and all agree with the evaluator. Takes the time of the call. Rules that
// RearrangementsOf() has for common operators give the same.
std::optional<std::vector<Rearrangement>> RearrangementsByKernel(
    const GraphNode& node, const Graph& graph);

}  // namespace baton::cpu

#endif  // BATON_BACKEND_CPU_REARRANGEMENT_H_
