// Runs baton-opt in a child process, which may crash or hang: --triage and
// --reproducer.

#ifndef BATON_TOOLS_OPT_TRIAGE_H_
#define BATON_TOOLS_OPT_TRIAGE_H_

#include <cstddef>
#include <functional>
#include <memory>

#include "absl/status/status.h"
#include "baton/tools/console.h"
#include "baton/tools/opt.h"
#include "baton/triage/failure.h"
#include "baton/triage/progress_page.h"

namespace baton {

// The observation of a run in another process up to its first failure.
struct ObservedRun {
  std::shared_ptr<ProgressPage> progress;
  Failure failure;
  size_t module_index = 0;  // in OptJob::modules
};

// Calls `run` in a child process. If it fails, crashes or hangs: writes the
// files of --reproducer and --triage, and adds their lines to the error.
absl::Status RunJobInChild(
    const OptOptions& options, const OptJob& job, Console& console,
    const OptStreams& streams,
    const std::function<absl::Status(ObservedRun&)>& run);

}  // namespace baton

#endif  // BATON_TOOLS_OPT_TRIAGE_H_
