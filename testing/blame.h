// Whether the blame of a history (baton-history blame) leads back to what the
// passes were given.

#ifndef BATON_TESTING_BLAME_H_
#define BATON_TESTING_BLAME_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "baton/instrument/history.h"

namespace baton::testing {

struct BlameGaps {
  int nodes = 0;  // of all states but the first; one of several counts in each
  // Those whose blame does not end at nodes of the first state, or has a step
  // that comes from nothing: `after execution 3: %4 = nn.relu`.
  std::vector<std::string> gaps;
};

// If `needs_places`, a source without a place is a gap as well.
absl::StatusOr<BlameGaps> FindBlameGaps(const History& history,
                                        bool needs_places);

// What a file of the history has of it.
absl::StatusOr<History> WrittenAndRead(const History& history);

}  // namespace baton::testing

#endif  // BATON_TESTING_BLAME_H_
