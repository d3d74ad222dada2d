// Bounds on the magnitude of the elements that an expression computes.
//
// A rewrite that divides must know that the divisor is not zero and that the
// quotient is a number:
//
//   const MagnitudeBounds scale = BoundMagnitude(expr);
//   if (scale.may_be_zero()) return {};

#ifndef BATON_RELAY_ANALYSIS_MAGNITUDE_H_
#define BATON_RELAY_ANALYSIS_MAGNITUDE_H_

#include <limits>

#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/ir/op.h"
#include "baton/relay/ir/expr.h"

namespace baton::relay {

// 2^min_log2 <= |x| <= 2^max_log2 for every element x that is a number other
// than infinity. Nothing is said of NaN and infinity.
struct MagnitudeBounds {
  double min_log2 = -std::numeric_limits<double>::infinity();
  double max_log2 = std::numeric_limits<double>::infinity();

  // True if an element may be zero.
  bool may_be_zero() const {
    return min_log2 == -std::numeric_limits<double>::infinity();
  }
  // True if nothing is known of how large the elements are.
  bool unbounded() const {
    return max_log2 == std::numeric_limits<double>::infinity();
  }
};

// What is known of `expr`; the widest bounds if nothing is. Looks at constants
// and at a limited number of calls above them: O(elements of the constants).
// Does not look into arithmetic calls that have no type.
MagnitudeBounds BoundMagnitude(const Expr& expr);

// The exponent of the smallest power of two that is too large for a
// floating-point `dtype`: 128 for float32. Infinity for other dtypes.
double MaxExponent(DType dtype);

// The bounds of a call from those of its arguments. Operators that only
// rearrange elements (IsRearranging) need no rule.
using MagnitudeRule = MagnitudeBounds (*)(
    const CallNode& call, absl::Span<const MagnitudeBounds> args);
OpAttrMap<MagnitudeRule>& MagnitudeRules();

}  // namespace baton::relay

#endif  // BATON_RELAY_ANALYSIS_MAGNITUDE_H_
