// Finds the rewrites of a guilty pass that cause a failure, by bisection.

#ifndef BATON_TOOLS_GUILTY_REWRITES_H_
#define BATON_TOOLS_GUILTY_REWRITES_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "baton/triage/child.h"
#include "baton/triage/failure.h"
#include "baton/triage/triage.h"

namespace baton {

struct GuiltyRewrites {
  // The pass fails with rewrites 1 to `last`, and not with one fewer.
  int64_t last = 0;
  // True if the pass fails with the rewrite `last` alone.
  bool alone = false;
  // The value of --rewrites that shows the failure in the whole run:
  // `FuseOps#2:7` or `FuseOps#2:0-7`.
  std::string selection;
};

// Runs the passes of `guilty.shows` again with fewer rewrites of the guilty
// pass. Nullopt if the failure does not depend on its rewrites.
absl::StatusOr<std::optional<GuiltyRewrites>> FindGuiltyRewrites(
    const GuiltyExecution& guilty, const Failure& failure,
    const ChildLimits& limits);

}  // namespace baton

#endif  // BATON_TOOLS_GUILTY_REWRITES_H_
