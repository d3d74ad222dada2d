#include "baton/tir/transform/copy_budget.h"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "baton/base/limits.h"
#include "baton/ir/error_at.h"
#include "baton/ir/span.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/functor.h"
#include "baton/tir/ir/node_kind.h"
#include "baton/tir/ir/stmt.h"

namespace baton::tir {
namespace {

// Visits no further nodes once it has counted `most`.
class Counter final : public Visitor {
 public:
  explicit Counter(int64_t most) : most_(most) {}
  int64_t count() const { return count_; }

 protected:
#define BATON_TIR_COUNT(index, Name, sort)            \
  void Visit##Name(const Name##Node* node) override { \
    if (count_ >= most_) return;                      \
    ++count_;                                         \
    Visitor::Visit##Name(node);                       \
  }
  BATON_TIR_EXPRS(BATON_TIR_COUNT)
  BATON_TIR_STMTS(BATON_TIR_COUNT)
#undef BATON_TIR_COUNT

 private:
  const int64_t most_;
  int64_t count_ = 0;
};

}  // namespace

int64_t CountNodes(const Stmt& stmt, int64_t most) {
  Counter counter(most);
  counter.Visit(stmt);
  return counter.count();
}

absl::Status CopyBudget::Take(int64_t nodes, int64_t copies, const Span& span) {
  if (copies <= 0) return absl::OkStatus();
  const int64_t limit = CurrentLimits().max_copied_nodes;
  int64_t added = 0;
  if (!__builtin_mul_overflow(nodes, copies, &added) &&
      !__builtin_add_overflow(taken_, added, &taken_) && taken_ <= limit) {
    return absl::OkStatus();
  }
  taken_ = std::numeric_limits<int64_t>::max();
  return absl::ResourceExhaustedError(
      ErrorAt(span, absl::StrCat(pass_,
                                 " would add more nodes by repeating "
                                 "statements than the limit "
                                 "(limits.max_copied_nodes=",
                                 limit, ")"))
          .message());
}

absl::Status CopyBudget::Take(const Stmt& stmt, int64_t copies,
                              const Span& span) {
  if (copies <= 0) return absl::OkStatus();
  const int64_t limit = std::max<int64_t>(CurrentLimits().max_copied_nodes, 0);
  const int64_t most = limit / copies + 1;  // as many are too many
  return Take(CountNodes(stmt, most), copies, span);
}

absl::Status CopyBudget::TakeGrowth(const Stmt& before, const Stmt& after) {
  if (before == after) return absl::OkStatus();
  const int64_t limit = std::max<int64_t>(CurrentLimits().max_copied_nodes, 0);
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  const int64_t size = CountNodes(before, kMost);
  const int64_t most = limit > kMost - size - 1 ? kMost : size + limit + 1;
  return Take(CountNodes(after, most) - size, 1,
              after->span().defined() ? after->span() : before->span());
}

}  // namespace baton::tir
