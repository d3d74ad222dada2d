// Applies and inverts maps of indices.
//
//   lambda i, j: (i // 4, j, i % 4)
//
// maps the indices (9, 2) to (2, 2, 1), and the shape (16, 8) to (4, 8, 4). Its
// inverse is `lambda a, b, c: (a * 4 + c, b)`.

#ifndef BATON_TIR_ARITH_INDEX_MAP_H_
#define BATON_TIR_ARITH_INDEX_MAP_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "baton/tir/arith/analyzer.h"
#include "baton/tir/ir/expr.h"

namespace baton::tir {

// The results are simplified.
absl::StatusOr<std::vector<PrimExpr>> MapIndices(
    const IndexMap& map, absl::Span<const PrimExpr> indices,
    Analyzer& analyzer);
absl::StatusOr<std::vector<PrimExpr>> MapShape(const IndexMap& map,
                                               absl::Span<const PrimExpr> shape,
                                               Analyzer& analyzer);
// The ranges of the results where the indices have `ranges`.
absl::StatusOr<std::vector<Range>> MapRanges(const IndexMap& map,
                                             absl::Span<const Range> ranges,
                                             Analyzer& analyzer);

// True if an access at `mapped` has as many vector lanes, in the last index, as
// the access at `indices`. Otherwise the map has moved the vector to another
// axis.
bool KeepsLanes(absl::Span<const PrimExpr> indices,
                absl::Span<const PrimExpr> mapped);

// The inverse of a map of indices of `shape`.
struct InverseMap {
  IndexMap map;
  // A condition on results of the map: true for padding, that is for results to
  // which the map takes no indices of the shape.
  PrimExpr padding;
};
absl::StatusOr<InverseMap> InvertWithPadding(const IndexMap& map,
                                             absl::Span<const PrimExpr> shape,
                                             Analyzer& analyzer);
// An error if the map is not bijective.
absl::StatusOr<IndexMap> Invert(const IndexMap& map,
                                absl::Span<const PrimExpr> shape,
                                Analyzer& analyzer);

// The map with variables of the types of `args`.
absl::StatusOr<IndexMap> WithTypesOf(const IndexMap& map,
                                     absl::Span<const PrimExpr> args);

}  // namespace baton::tir

#endif  // BATON_TIR_ARITH_INDEX_MAP_H_
