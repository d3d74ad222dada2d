// Sets of integers with symbolic bounds.
//
//   IntSet set = EvalSet(i * 4 + j, {{j, IntSet::FromRange({zero, four})}});
//   set.min();  // i * 4
//   set.max();  // i * 4 + 3

#ifndef BATON_TIR_ARITH_INT_SET_H_
#define BATON_TIR_ARITH_INT_SET_H_

#include <optional>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "baton/tir/arith/var_map.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/stmt.h"

namespace baton::tir {

class Analyzer;

enum class SignType { kPositive, kNegative, kZero, kUnknown };

// The integers from min() to max(), both included; or none.
class IntSet {
 public:
  // The empty set.
  IntSet() = default;
  static IntSet Nothing() { return {}; }
  static IntSet Everything() { return IntSet({}, {}); }
  static IntSet SinglePoint(const PrimExpr& value) { return {value, value}; }
  // The values of the lanes of `vector`.
  static IntSet Vector(const PrimExpr& vector);
  // Nothing if the extent is 0.
  static IntSet FromMinExtent(const PrimExpr& min, const PrimExpr& extent);
  static IntSet FromRange(const Range& range) {
    return FromMinExtent(range.min, range.extent);
  }
  // A null bound is infinite.
  static IntSet Interval(PrimExpr min, PrimExpr max);

  // Null where it is infinite or the set is empty.
  const PrimExpr& min() const { return min_; }
  const PrimExpr& max() const { return max_; }
  bool HasLowerBound() const { return min_.defined(); }
  bool HasUpperBound() const { return max_.defined(); }
  bool IsNothing() const { return empty_; }
  bool IsEverything() const {
    return !empty_ && !min_.defined() && !max_.defined();
  }
  // True if both bounds are one node.
  bool IsSinglePoint() const { return min_.defined() && min_ == max_; }
  bool CanProveSinglePoint(Analyzer& analyzer) const;
  bool CanProvePositive() const;
  bool CanProveNegative() const;
  SignType GetSignType() const;
  // The value of a single point.
  const PrimExpr& PointValue() const { return min_; }
  // The range of this set; `max_range` where a bound is infinite.
  Range CoverRange(const Range& max_range) const;

 private:
  IntSet(PrimExpr min, PrimExpr max)
      : min_(std::move(min)), max_(std::move(max)), empty_(false) {}

  PrimExpr min_;
  PrimExpr max_;
  bool empty_ = true;
};

using Domains = VarMap<IntSet>;

// A set that has all values of `e` where the variables of `domains` have values
// in their sets.
IntSet EvalSet(const PrimExpr& e, const Domains& domains);
IntSet EvalSet(const Range& range, const Domains& domains);
IntSet EvalSet(const IntSet& set, const Domains& domains);
std::vector<IntSet> EvalSet(absl::Span<const Range> region,
                            const Domains& domains);
// The sets of `e` and of each subexpression on the way, outermost last.
std::vector<std::pair<PrimExpr, IntSet>> EvalSetForEachSubExpr(
    const PrimExpr& e, const Domains& domains);

// The sets of ranges.
Domains AsIntSets(const VarRanges& ranges);

// The smallest interval that has all values of all sets.
IntSet Union(absl::Span<const IntSet> sets);
IntSet Union(Analyzer& analyzer, const IntSet& a, const IntSet& b);
// A set that has only values of the sets; Nothing where that is not known.
IntSet UnionLowerBound(absl::Span<const IntSet> sets);
IntSet Intersect(absl::Span<const IntSet> sets);
IntSet Intersect(Analyzer& analyzer, const IntSet& a, const IntSet& b);
// The unions of the sets of each dimension.
std::vector<IntSet> UnionRegion(absl::Span<const std::vector<IntSet>> regions);
std::vector<IntSet> UnionRegionLowerBound(
    absl::Span<const std::vector<IntSet>> regions);

// The sets of indices that `region` covers where the variables have values in
// `domains` and `predicate` is true: exactly (nullopt if they are not found),
// at least (nullopt if none are found), at most.
std::optional<std::vector<IntSet>> EstimateRegionStrictBound(
    absl::Span<const Range> region, const VarRanges& domains,
    const PrimExpr& predicate, Analyzer& analyzer);
std::optional<std::vector<IntSet>> EstimateRegionLowerBound(
    absl::Span<const Range> region, const VarRanges& domains,
    const PrimExpr& predicate, Analyzer& analyzer);
std::vector<IntSet> EstimateRegionUpperBound(absl::Span<const Range> region,
                                             const VarRanges& domains,
                                             const PrimExpr& predicate,
                                             Analyzer& analyzer);

// The region of `buffer` that `body` loads from or stores to.
std::vector<Range> DomainTouched(const Stmt& body, const Buffer& buffer,
                                 bool consider_loads, bool consider_stores);

}  // namespace baton::tir

#endif  // BATON_TIR_ARITH_INT_SET_H_
