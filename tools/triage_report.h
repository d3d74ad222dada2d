// What `--triage=DIR` leaves: a page that says what broke, and the smallest
// program that shows it, as a test.

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

// A run that failed.
struct FailedRun {
  std::string name;  // of the input
  IRModule module;   // as the passes were given it
  Pass pipeline;
  RunOptions run;
  Failure failure;
  // With the instruments that find fault, and without.
  PipelineSettings settings;
  PipelineSettings replay;
};

struct TriageReportOptions {
  std::string folder;  // is made if it is not there
  std::string tool;    // the program that the test's RUN lines call
  ChildLimits limits;  // of one run
  // If not 0: the run is still under way, and what failed is only suspected not
  // to end. That is certain if a program that could not be made smaller takes
  // so much processor time as well; else nothing is written, and the error is
  // NotFound.
  double suspect_seconds = 0;
  int jobs = 2;
  double seconds = 60;  // of processor time, for the reduction
};

// Writes `report.txt` and `reduced.relay` to the folder. The latter is always
// the best so far, and whole. Returns the lines to show: which execution is
// guilty, and where the page is. The error is that a file cannot be written, or
// that the failure cannot be traced; the page says so, too.
absl::StatusOr<std::string> WriteTriage(const FailedRun& failed,
                                        const TriageReportOptions& options);

}  // namespace baton

#endif  // BATON_TOOLS_TRIAGE_REPORT_H_
