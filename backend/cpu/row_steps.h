// Joins steps that compute the same rows, such as reductions, normalizations,
// softmax and elementwise steps between them: the joined step computes all of
// them for a group of rows that fits in the cache, then for the next group.

#ifndef BATON_BACKEND_CPU_ROW_STEPS_H_
#define BATON_BACKEND_CPU_ROW_STEPS_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "baton/backend/cpu/kernel_choice.h"

namespace baton::cpu {

// The tensors of a lowering, for JoinRows().
struct RowTensors {
  // The tensor of which `t` is a view, or `t`.
  absl::FunctionRef<int(int t)> root;
  // True if `t` has all bytes of its root.
  absl::FunctionRef<bool(int t)> is_whole;
  absl::FunctionRef<int64_t(int t)> bytes;
  // The last step that reads a root, by number; more than all steps have for
  // outputs of the graph.
  absl::FunctionRef<int64_t(int root)> last_reader;
};

// The step that computes a range of adjacent steps, and how many these are.
struct JoinedRows {
  KernelChoice choice;
  size_t count = 0;
};

// Joins as many of `steps`, from the first one on, as one step can compute:
// each has a RowKernel, reads a result of an earlier one, and all results but
// the last are read by no other step. `first` is the number of the first step.
// Returns nullopt if fewer than two steps can be joined.
std::optional<JoinedRows> JoinRows(absl::Span<const KernelChoice* const> steps,
                                   int64_t first, int max_threads,
                                   const RowTensors& tensors);

}  // namespace baton::cpu

#endif  // BATON_BACKEND_CPU_ROW_STEPS_H_
