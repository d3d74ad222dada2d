// Compares the errors of a run with those that comments expect:
// --verify_diagnostics.

#ifndef BATON_TOOLS_VERIFY_DIAGNOSTICS_H_
#define BATON_TOOLS_VERIFY_DIAGNOSTICS_H_

#include "absl/status/status.h"
#include "baton/tools/opt.h"
#include "baton/tools/prepared_run.h"

namespace baton {

// Runs the pipeline over each module of a text. OK if the errors are those of
// the comments (expected_diagnostics.h); then reports their number.
absl::Status VerifyDiagnostics(const OptOptions& options,
                               const PreparedRun& prepared,
                               const OptStreams& streams);

}  // namespace baton

#endif  // BATON_TOOLS_VERIFY_DIAGNOSTICS_H_
