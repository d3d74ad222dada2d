// Bounds on the magnitude of the elements that an expression computes.
//
// A rewrite that divides must make sure that the divisor is not zero and that
// the quotient is finite:
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

// 2^min_log2 <= |x| <= 2^max_log2 for every finite element x. The bounds say
// nothing about NaN and infinity.
struct MagnitudeBounds {
  double min_log2 = -std::numeric_limits<double>::infinity();
  double max_log2 = std::numeric_limits<double>::infinity();

  // True if an element may be zero.
  bool may_be_zero() const {
    return min_log2 == -std::numeric_limits<double>::infinity();
  }
  // True if there is no upper bound.
  bool unbounded() const {
    return max_log2 == std::numeric_limits<double>::infinity();
  }
};

// The bounds of `expr`; the widest bounds if nothing is known. Examines
// constants and a limited number of calls above them, in time linear in the
// elements of the constants. Ignores arithmetic calls without a type.
MagnitudeBounds BoundMagnitude(const Expr& expr);

// The exponent of the smallest power of two that overflows a floating-point
// `dtype`: 128 for float32. Infinity for other dtypes.
double MaxExponent(DType dtype);

// The bounds of a call, computed from the bounds of its arguments. Operators
// that only rearrange elements (IsRearranging) need no rule.
using MagnitudeRule = MagnitudeBounds (*)(
    const CallNode& call, absl::Span<const MagnitudeBounds> args);
OpProperty<MagnitudeRule>& MagnitudeRules();

}  // namespace baton::relay

#endif  // BATON_RELAY_ANALYSIS_MAGNITUDE_H_
