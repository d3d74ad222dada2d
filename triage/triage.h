// Triage: finds the execution of a pass that causes a failure, and the smallest
// program that shows it.

#ifndef BATON_TRIAGE_TRIAGE_H_
#define BATON_TRIAGE_TRIAGE_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "baton/ir/module.h"
#include "baton/transform/pass.h"
#include "baton/triage/failure.h"
#include "baton/triage/reduce.h"

namespace baton {

// The executions of a run up to the failure.
struct PassHistory {
  struct Execution {
    int64_t number = 0;
    int depth = 0;
    Pass pass;
    IRModule before;
    IRModule after;  // set if the execution ended
    bool ended = false;
    bool changed = false;
  };
  // All executions, in order of start.
  std::vector<Execution> executions;

  // A line for each execution: `  7 FuseOps *`, indented below the enclosing
  // one. A star marks executions that changed the module.
  std::string ToString() const;
};

// Runs `pipeline` until execution `number` begins, a pass fails, or the
// pipeline ends. States are pointers: nothing is copied.
PassHistory RecordHistory(const IRModule& module, const Pass& pipeline,
                          const PipelineSettings& settings, int64_t number);

// The execution that causes a failure.
struct Guilty {
  PassHistory::Execution execution;
  PassHistory history;  // up to the guilty execution
  // A case that shows the failure, and the settings under which it does. It
  // omits the passes before the guilty execution if possible. It has no passes
  // if no case shows the failure.
  ReducedCase shows;
  PipelineSettings settings;
};

// Finds the execution that causes `failure`, a failure of `pipeline` on
// `module`. It is the one that failed or that an instrument reports. For an
// error of type inference, it is the execution that made the ill-typed program,
// found by bisection over the states of the run. `replay` are the settings
// without the instruments that check results.
absl::StatusOr<Guilty> FindGuilty(const IRModule& module, const Pass& pipeline,
                                  const PipelineSettings& settings,
                                  const PipelineSettings& replay,
                                  const Failure& failure,
                                  const ChildLimits& limits);

struct TriageOptions {
  ChildLimits limits;
  ReduceOptions reduce;
  // Called before the reduction begins; may be null.
  std::function<void(const Guilty&)> on_guilty = {};
};

// The result of Triage.
struct TriageResult {
  Guilty guilty;
  Failure failure;
  // The reduced input of the guilty execution; without passes if the execution
  // alone does not fail.
  ReduceResult reduced;
};

// Finds the guilty execution, and the smallest program on which its pass fails
// in the same way.
absl::StatusOr<TriageResult> Triage(const IRModule& module,
                                    const Pass& pipeline,
                                    const PipelineSettings& settings,
                                    const PipelineSettings& replay,
                                    const Failure& failure,
                                    const TriageOptions& options);

}  // namespace baton

#endif  // BATON_TRIAGE_TRIAGE_H_
