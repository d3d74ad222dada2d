// CopyBudget: limits the nodes that a pass adds by repeating statements.
//
//   CopyBudget budget("tir.UnrollLoop");
//   absl::Status status = budget.Take(loop.body(), extent, loop.span());
//
// Nested repetitions multiply, and a single extent may mean a billion copies:
// the setting limits.max_copied_nodes limits the nodes that a pass adds to a
// function.

#ifndef BATON_TIR_TRANSFORM_COPY_BUDGET_H_
#define BATON_TIR_TRANSFORM_COPY_BUDGET_H_

#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "baton/ir/span.h"
#include "baton/tir/ir/stmt.h"

namespace baton::tir {

// The number of nodes of `stmt`; a node that occurs several times counts each
// time. `most` if there are more.
int64_t CountNodes(const Stmt& stmt, int64_t most);

class CopyBudget {
 public:
  // `pass` is named in errors.
  explicit CopyBudget(std::string pass) : pass_(std::move(pass)) {}

  // Counts the nodes of `copies` further copies of `stmt`. A ResourceExhausted
  // error at `span` if the pass would add too many.
  absl::Status Take(const Stmt& stmt, int64_t copies, const Span& span);

  // Counts the nodes that `after` has more than `before`.
  absl::Status TakeGrowth(const Stmt& before, const Stmt& after);

 private:
  absl::Status Take(int64_t nodes, int64_t copies, const Span& span);

  const std::string pass_;
  int64_t taken_ = 0;
};

}  // namespace baton::tir

#endif  // BATON_TIR_TRANSFORM_COPY_BUDGET_H_
