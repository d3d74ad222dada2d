// Resumes a recorded run: the module after one of its executions, and the rest
// of its pipeline.

#ifndef BATON_TOOLS_RESUME_H_
#define BATON_TOOLS_RESUME_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "baton/instrument/history.h"
#include "baton/ir/module.h"

namespace baton {

struct ResumedRun {
  IRModule module;
  std::string passes;  // as text; may be empty
  // The execution after which the run resumes: `#4 FuseOps`, or `the start`.
  std::string place;
};

// Resumes the run of `history`, which `file` contains, after execution
// `start_after`; 0 is the start. If negative: after the last execution before
// the one that failed or did not end. Errors: there is no such execution; it
// runs inside a pass that is no sequence; tensors of the module are not in the
// file.
absl::StatusOr<ResumedRun> ResumeRun(const History& history,
                                     const std::string& file,
                                     int64_t start_after);

}  // namespace baton

#endif  // BATON_TOOLS_RESUME_H_
