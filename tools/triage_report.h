// Writes the report of `--triage=DIR`: a page that describes the failure, and
// the smallest failing program, as a test.

#ifndef BATON_TOOLS_TRIAGE_REPORT_H_
#define BATON_TOOLS_TRIAGE_REPORT_H_

#include <string>

#include "absl/status/statusor.h"
#include "baton/ir/module.h"
#include "baton/tools/run_options.h"
#include "baton/transform/pass.h"
#include "baton/triage/child.h"
#include "baton/triage/failure.h"

namespace baton {

// A failed run.
struct FailedRun {
  std::string name;  // of the input
  IRModule module;   // the input of the passes
  Pass pipeline;
  RunOptions run;
  Failure failure;
  // With the instruments that check results, and without.
  PipelineSettings settings;
  PipelineSettings replay;
};

struct TriageReportOptions {
  std::string folder;  // created if it does not exist
  std::string tool;    // the program in the RUN lines of the test
  ChildLimits limits;  // of one run
  // If not 0: the run is still in progress and is suspected to hang. The
  // suspicion is confirmed if a program that cannot be reduced further also
  // takes this much processor time. Otherwise nothing is written, and the error
  // is NotFound.
  double suspect_seconds = 0;
  int jobs = 2;
  double seconds = 60;  // of processor time, for the reduction
};

// Writes `report.txt` and `reduced.relay` to the folder. `reduced.relay` is
// always the best program so far, and complete. Returns the lines to show: the
// guilty execution, and the path of the page. An error if a file cannot be
// written, or if the failure cannot be traced; the page also says so.
absl::StatusOr<std::string> WriteTriage(const FailedRun& failed,
                                        const TriageReportOptions& options);

}  // namespace baton

#endif  // BATON_TOOLS_TRIAGE_REPORT_H_
