// Simplifies the expressions of a table in text.
//
//   variables<TAB>before
//   x: T.int32, y: T.int32<TAB>x + y - x
//
// The first line names the columns, in any order; others than `variables`,
// `before` and `after` are ignored.

#ifndef BATON_TIR_ARITH_SIMPLIFY_TABLE_H_
#define BATON_TIR_ARITH_SIMPLIFY_TABLE_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/tir/ir/expr.h"

namespace baton::tir {

enum class Simplifier { kRewriteSimplify, kCanonicalSimplify, kSimplify };

// Reads `rewrite_simplify`, `canonical_simplify` or `simplify`.
absl::StatusOr<Simplifier> ParseSimplifier(absl::string_view name);

// `e` simplified by a new analyzer, without assumptions.
PrimExpr SimplifyWith(Simplifier simplifier, const PrimExpr& e);

struct SimplifyRow {
  absl::Status status;  // why the row cannot be read
  PrimExpr before;
  PrimExpr after;  // null without such a column
};
absl::StatusOr<std::vector<SimplifyRow>> ReadSimplifyTable(
    absl::string_view text);

// The simplified expressions, a line each; `error: ...` for a row that cannot
// be read.
absl::StatusOr<std::string> SimplifyTable(absl::string_view text,
                                          Simplifier simplifier);

}  // namespace baton::tir

#endif  // BATON_TIR_ARITH_SIMPLIFY_TABLE_H_
