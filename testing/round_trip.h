// Checks the round-trip laws of the text format and of the binary format, for
// tests and tools.

#ifndef BATON_TESTING_ROUND_TRIP_H_
#define BATON_TESTING_ROUND_TRIP_H_

#include "absl/status/status.h"
#include "baton/ir/module.h"

namespace baton::testing {

// OK if parsing the text of `module` gives a structurally equal module that
// prints the same text again. If `typed`, types are inferred in between, since
// parsing does not infer them; then the numbers of computed dimensions in the
// metadata may differ. Also checks the binary format, see CheckBinaryRoundTrip.
// The error shows the first difference.
absl::Status CheckRoundTrip(const IRModule& module, bool typed);

// OK if reading the binary file of `module` gives a structurally equal module
// with the same text, types included, that is written as the same bytes again.
absl::Status CheckBinaryRoundTrip(const IRModule& module);

}  // namespace baton::testing

#endif  // BATON_TESTING_ROUND_TRIP_H_
