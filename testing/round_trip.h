// The laws of the text format, for tests and tools.

#ifndef BATON_TESTING_ROUND_TRIP_H_
#define BATON_TESTING_ROUND_TRIP_H_

#include "absl/status/status.h"
#include "baton/ir/module.h"

namespace baton::testing {

// OK if the text of `module` reads back as a structurally equal module that
// prints the same text again; if `module` is typed, it is inferred in between,
// since parsing does not infer. An error tells the first difference.
absl::Status CheckRoundTrip(const IRModule& module, bool typed);

}  // namespace baton::testing

#endif  // BATON_TESTING_ROUND_TRIP_H_
