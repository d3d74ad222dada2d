// Finds values that no clause of a match handles.

#ifndef BATON_RELAY_IR_UNMATCHED_CASES_H_
#define BATON_RELAY_IR_UNMATCHED_CASES_H_

#include <vector>

#include "absl/status/statusor.h"
#include "baton/ir/module.h"
#include "baton/relay/ir/adt.h"

namespace baton::relay {

// Returns patterns of values that no clause of `match` matches, at most ten;
// empty if the clauses handle every value. `module` defines the data types of
// the patterns. Without `module`, or without a definition there, a constructor
// counts as one of several. The patterns must be well-typed. An error if there
// are too many cases to enumerate.
absl::StatusOr<std::vector<Pattern>> UnmatchedCases(const MatchNode& match,
                                                    const IRModule* module);

}  // namespace baton::relay

#endif  // BATON_RELAY_IR_UNMATCHED_CASES_H_
