// Plans the statements that give a value to the padding that a change of a
// buffer's layout introduces.

#ifndef BATON_TIR_SCHEDULE_LAYOUT_PADDING_H_
#define BATON_TIR_SCHEDULE_LAYOUT_PADDING_H_

#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "baton/ir/node.h"
#include "baton/tir/arith/analyzer.h"
#include "baton/tir/arith/index_map.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/stmt.h"

namespace baton::tir {

// At most one of `prologue`, `replacements` and `epilogue` is set.
struct PaddingPlan {
  // The assumption (`T.assume`) that the padding of a buffer that the function
  // only reads has the value.
  Stmt prologue;
  // Pairs of a loop that stores all elements, and of the loop over the new
  // layout that replaces it and stores the padding, too. The replacement still
  // accesses the old buffer.
  std::vector<std::pair<const ForNode*, Stmt>> replacements;
  // Stores the padding after the last statement that stores elements.
  const Node* insert_after = nullptr;
  Stmt epilogue;

  const Stmt* ReplacementOf(const ForNode* loop) const {
    for (const auto& [old_loop, stmt] : replacements) {
      if (old_loop == loop) return &stmt;
    }
    return nullptr;
  }
};

// Returns `pad_value` as a map from the indices of the new layout (the results
// of `map`) to the value of the padding; a constant becomes such a map. An
// error unless it has one result, which has the dtype of `buffer` and loads
// from no other buffer.
absl::StatusOr<IndexMap> CheckPadValue(const IndexMap& pad_value,
                                       const Buffer& buffer,
                                       const IndexMap& map);

// Plans the padding of `new_buffer`, which replaces `old_buffer` in `scope`.
// `inverse` maps indices of the new layout to the old one. Changes nothing; the
// plan is empty if the new layout has no padding.
absl::StatusOr<PaddingPlan> PlanPadding(
    const Block& scope, const Buffer& old_buffer, const Buffer& new_buffer,
    const InverseMap& inverse, const IndexMap& pad_value, Analyzer& analyzer);

}  // namespace baton::tir

#endif  // BATON_TIR_SCHEDULE_LAYOUT_PADDING_H_
