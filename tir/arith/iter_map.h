// Iteration maps: indices as sums of splits of iterators.
//
//   DetectIterMap({i // 4, i % 4}, {{i, {0, 16}}}, ...)
//
// gives two sums of one split each: i with lower factor 4 and extent 4, and i
// with lower factor 1 and extent 4.

#ifndef BATON_TIR_ARITH_ITER_MAP_H_
#define BATON_TIR_ARITH_ITER_MAP_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "baton/tir/arith/var_map.h"
#include "baton/tir/ir/expr.h"

namespace baton::tir {

class Analyzer;
struct IterSum;

// An iterator: an expression, mostly a variable, or a sum of splits, with
// values from 0 to extent() - 1. A shared value; null after IterMark().
class IterMark {
 public:
  IterMark() = default;
  IterMark(PrimExpr source, PrimExpr extent);
  IterMark(IterSum source, PrimExpr extent);
  bool defined() const { return node_ != nullptr; }
  // Null if the source is a sum.
  const PrimExpr& expr() const;
  // Null if the source is an expression.
  const IterSum* sum() const;
  const PrimExpr& extent() const;
  // True if both share one value.
  bool same_as(const IterMark& other) const { return node_ == other.node_; }

 private:
  struct Node;
  std::shared_ptr<const Node> node_;
};

// (source // lower_factor) % extent * scale.
struct IterSplit {
  IterMark source;
  PrimExpr lower_factor;
  PrimExpr extent;
  PrimExpr scale;
};

// The sum of the splits and `base`.
struct IterSum {
  std::vector<IterSplit> args;
  PrimExpr base;
};

// The maps that are accepted. kBijective: different values of the iterators
// give different indices, and all indices in their ranges are reached.
// kSurjective: all indices are reached. kNoCheck: no condition.
enum class IterMapLevel { kBijective, kSurjective, kNoCheck };

struct IterMapResult {
  // One sum for each index; empty if the map was not detected.
  std::vector<IterSum> indices;
  std::vector<std::string> errors;
  // True for the values of iterators that padding added.
  PrimExpr padding_predicate;
};

// Detects whether `indices` are a map of the iterators that `level` allows,
// where `predicate` (null: true) holds.
IterMapResult DetectIterMap(absl::Span<const PrimExpr> indices,
                            const VarRanges& input_iters,
                            const PrimExpr& predicate, IterMapLevel level,
                            Analyzer& analyzer,
                            bool simplify_trivial_iterators = true);

// The indices, simplified where a map is detected.
std::vector<PrimExpr> IterMapSimplify(absl::Span<const PrimExpr> indices,
                                      const VarRanges& input_iters,
                                      const PrimExpr& predicate,
                                      IterMapLevel level, Analyzer& analyzer,
                                      bool simplify_trivial_iterators = true);

// The values of the iterators, as expressions of `outputs`, the values of the
// indices of a bijective map.
VarMap<PrimExpr> InverseAffineIterMap(absl::Span<const IterSum> map,
                                      absl::Span<const PrimExpr> outputs);

// The two parts of one binding: see SubspaceDivide.
struct DividedIter {
  IterMark outer;
  IterMark inner;
};
// Divides a map into an outer part and a part that only `sub_iters` determine.
// Returns an element for each binding, and a last one with the predicates of
// both parts; nothing if the map cannot be divided.
std::vector<DividedIter> SubspaceDivide(absl::Span<const PrimExpr> bindings,
                                        const VarRanges& input_iters,
                                        absl::Span<const Var> sub_iters,
                                        const PrimExpr& predicate,
                                        IterMapLevel level, Analyzer& analyzer,
                                        bool simplify_trivial_iterators = true);

// The value as an expression of the iterators' variables.
PrimExpr NormalizeIterMapToExpr(const IterSum& sum);
PrimExpr NormalizeIterMapToExpr(const IterSplit& split);
PrimExpr NormalizeIterMapToExpr(const IterMark& mark);

// Converts `index` to a sum of iterators. The base of the sum has the terms
// that are no iterators.
IterSum NormalizeToIterSum(const PrimExpr& index, const VarRanges& input_iters,
                           Analyzer& analyzer);

}  // namespace baton::tir

#endif  // BATON_TIR_ARITH_ITER_MAP_H_
