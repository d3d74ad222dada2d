// ValuePromise: how closely a pass preserves the results of programs.

#ifndef BATON_TRANSFORM_VALUE_PROMISE_H_
#define BATON_TRANSFORM_VALUE_PROMISE_H_

#include <string>

#include "absl/strings/string_view.h"
#include "baton/transform/pass_info.h"

namespace baton {

// The relation of the results after a pass to those before.
enum class ValuePromise {
  // Bit-exact.
  kBitExact,
  // Bit-exact, except for elements that are NaN, infinite or zero before or
  // after.
  kExactButSpecial,
  // Reassociating: the same arithmetic in another order. Results are within
  // PassInfo::tolerance, and within a few roundings of the shortest
  // floating-point dtype. Sums of infinities may be NaN in one order and
  // infinite in another.
  kReassociating,
  // Other dtypes, or approximations. Results are within the tolerance, and
  // integers, which may be quantized, within one step.
  kPrecisionChanging,
  // The meaning or the parameters of the program change.
  kOther,
};

// The promise in the waivers of `info`: `special_values`, `precision` and
// `values` are laws of testing/pass_laws.h.
ValuePromise ValuePromiseOf(const PassInfo& info);

// True if `info` has no waiver for `law`.
bool Keeps(const PassInfo& info, absl::string_view law);

// `bit-exact`, `reassociating`, ...
absl::string_view ToString(ValuePromise promise);

// The promise with its numbers, if there are any: `reassociating, within 1e-05
// of the largest element`.
std::string ValuePromiseText(const PassInfo& info);

}  // namespace baton

#endif  // BATON_TRANSFORM_VALUE_PROMISE_H_
