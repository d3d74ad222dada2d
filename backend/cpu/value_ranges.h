// Between which numbers the elements of an integer tensor are, for the bounds
// of sizes that values decide (padded_rules.h).

#ifndef BATON_BACKEND_CPU_VALUE_RANGES_H_
#define BATON_BACKEND_CPU_VALUE_RANGES_H_

#include <cstdint>
#include <vector>

#include "baton/base/hash_table.h"
#include "baton/relay/ir/expr.h"

namespace baton::cpu {

struct ValueRange {
  int64_t least = 0;
  int64_t most = 0;
};

// The ranges of the values of one function. Those that were asked for are kept,
// and each expression is considered once.
class ValueRanges {
 public:
  // A range in which all elements of `x` are; of `x` as it is computed, in which
  // sums that wrap around have all values. `x` is typed, of constant shape, and
  // has integers or bools; int64 has the range of all numbers if nothing else is
  // known, and uint64, of which nothing is known, has it always. Considers at
  // most a few thousand expressions more.
  ValueRange Of(const Expr& x);

 private:
  ValueRange Compute(const Expr& x, const std::vector<Expr>& needed) const;
  void Keep(const Expr& x, const ValueRange& range);

  FlatHashMap<const ExprNode*, ValueRange> known_;
  std::vector<Expr> kept_;  // those of `known_`
};

// The smallest known vector or scalar that has an element of a vector, and its
// index there.
struct VectorPart {
  Expr value;  // typed
  int64_t index = 0;
};
// That of element `i` of `vector`: `vector` itself if no other is found within a
// few hundred operators.
VectorPart PartOf(Expr vector, int64_t i);

}  // namespace baton::cpu

#endif  // BATON_BACKEND_CPU_VALUE_RANGES_H_
