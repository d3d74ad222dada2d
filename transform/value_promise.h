// The classes of passes by what they do to the results of programs.

#ifndef BATON_TRANSFORM_VALUE_PROMISE_H_
#define BATON_TRANSFORM_VALUE_PROMISE_H_

#include <string>

#include "absl/strings/string_view.h"
#include "baton/transform/pass_info.h"

namespace baton {

// How results after a pass compare with those before.
enum class ValuePromise {
  // The same bits.
  kBitExact,
  // The same bits, but of elements that are NaN, infinite or zero, before or
  // after.
  kExactButSpecial,
  // The same arithmetic in another order: within PassInfo::tolerance, and
  // within a few roundings of the shortest floating-point dtype. Sums of
  // infinities may be NaN in one order and infinite in another.
  kReassociating,
  // Other dtypes, or approximations: within the tolerance, and within one step
  // of integers, which may be quantized.
  kPrecisionChanging,
  // The program computes something else, or has other parameters.
  kOther,
};

// The class that the promises and waivers of `info` say: `special_values`,
// `precision` and `values` are laws of testing/pass_laws.h.
ValuePromise ValuePromiseOf(const PassInfo& info);

// Whether `info` has no waiver for `law`.
bool Keeps(const PassInfo& info, absl::string_view law);

// `bit-exact`, `reassociating`, ...
absl::string_view ToString(ValuePromise promise);

// The class, and what it means in numbers if these are promised:
// `reassociating, within 1e-05 of the largest element`.
std::string ValuePromiseText(const PassInfo& info);

}  // namespace baton

#endif  // BATON_TRANSFORM_VALUE_PROMISE_H_
