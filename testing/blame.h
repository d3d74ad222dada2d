// Checks that the blame of a history (baton-history blame) leads back to the
// input of the passes.

#ifndef BATON_TESTING_BLAME_H_
#define BATON_TESTING_BLAME_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "baton/instrument/history.h"

namespace baton::testing {

// The result of FindBlameGaps.
struct BlameGaps {
  int nodes = 0;  // nodes of all states but the first; a shared node counts in
                  // each
  // Nodes whose blame does not end at nodes of the first state, or has a step
  // without origins: `after execution 3: %4 = nn.relu`.
  std::vector<std::string> gaps;
};

// If `needs_places`, a source without a place is a gap as well.
absl::StatusOr<BlameGaps> FindBlameGaps(const History& history,
                                        bool needs_places);

// Writes the history to a file and reads it back.
absl::StatusOr<History> WrittenAndRead(const History& history);

}  // namespace baton::testing

#endif  // BATON_TESTING_BLAME_H_
