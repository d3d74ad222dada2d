#include "baton/tir/arith/iter_map.h"
namespace baton::tir {
std::vector<PrimExpr> IterMapSimplify(absl::Span<const PrimExpr> indices,
                                      const VarRanges& input_iters,
                                      const PrimExpr& predicate,
                                      IterMapLevel level, Analyzer& analyzer,
                                      bool simplify_trivial_iterators) {
  return {indices.begin(), indices.end()};
}
}  // namespace baton::tir
