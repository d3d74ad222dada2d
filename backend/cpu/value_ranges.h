// Ranges of the elements of integer tensors. They bound the sizes of tensors
// that depend on values (padded_rules.h).

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

// The ranges of the expressions of one function. Each is computed once.
class ValueRanges {
 public:
  // A range that contains all elements of `x`, which is typed, has a constant
  // shape, and integers or bools: the range of the type if nothing else is
  // known, or if a result may wrap around. The range of uint64 is always that
  // of int64, although it has larger numbers. Enters at most a few thousand
  // further expressions (4096); any other expression has the range of its type.
  ValueRange Of(const Expr& x);

 private:
  ValueRange Compute(const Expr& x, const std::vector<Expr>& needed) const;
  void Keep(const Expr& x, const ValueRange& range);

  FlatHashMap<const ExprNode*, ValueRange> known_;
  std::vector<Expr> kept_;  // keeps the keys of `known_` alive
};

// The smallest vector or scalar that is known to have an element of a vector, and
// the index of the element in it.
struct VectorPart {
  Expr value;  // typed
  int64_t index = 0;
};
// The part that has element `i` of `vector`: `vector` itself if no smaller one
// is found within 256 operators.
VectorPart PartOf(Expr vector, int64_t i);

}  // namespace baton::cpu

#endif  // BATON_BACKEND_CPU_VALUE_RANGES_H_
