// Between which numbers the elements of an integer tensor are, for the bounds
// of sizes that values decide (padded_rules.h).

#ifndef BATON_BACKEND_CPU_VALUE_RANGES_H_
#define BATON_BACKEND_CPU_VALUE_RANGES_H_

#include <cstdint>

#include "baton/relay/ir/expr.h"

namespace baton::cpu {

struct ValueRange {
  int64_t least = 0;
  int64_t most = 0;
};

// A range in which all elements of `x` are; of `x` as it is computed, in which
// sums that wrap around have all values. `x` is typed, of constant shape, and
// has integers or bools; int64 has the range of all numbers if nothing else is
// known. Considers at most a few thousand expressions.
ValueRange RangeOf(const Expr& x);

// Element `i` of a vector: an expression that has it as its only element, and
// that is a part of `vector` where it can be. Typed, of any shape with one
// element.
struct VectorPart {
  Expr value;
  int64_t index = 0;  // in `value`, a vector or a scalar
};
VectorPart PartOf(Expr vector, int64_t i);

}  // namespace baton::cpu

#endif  // BATON_BACKEND_CPU_VALUE_RANGES_H_
