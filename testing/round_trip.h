// The round-trip laws of the text format and of the binary format, for tests
// and tools.

#ifndef BATON_TESTING_ROUND_TRIP_H_
#define BATON_TESTING_ROUND_TRIP_H_

#include "absl/status/status.h"
#include "baton/ir/module.h"

namespace baton::testing {

// OK if the text of `module` reads back as a structurally equal module that
// prints the same text again; if `module` is typed, it is inferred in between,
// since parsing does not infer; the numbers of computed dimensions
// in the metadata may differ then. The same for the binary format, see
// CheckBinaryRoundTrip. An error tells the first difference.
absl::Status CheckRoundTrip(const IRModule& module, bool typed);

// OK if the binary file of `module` reads back as a structurally equal module
// with the same text, types included, that is written as the same bytes again.
absl::Status CheckBinaryRoundTrip(const IRModule& module);

}  // namespace baton::testing

#endif  // BATON_TESTING_ROUND_TRIP_H_
