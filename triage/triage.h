// From a failure to the execution of a pass that is guilty of it, and the
// smallest program that shows it.

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

// What a run did up to the failure.
struct PassHistory {
  struct Execution {
    int64_t number = 0;
    int depth = 0;
    Pass pass;
    IRModule before;
    IRModule after;  // of one that ended
    bool ended = false;
    bool changed = false;
  };
  // In order of start.
  std::vector<Execution> executions;

  // A line for each: `  7 FuseOps *`, inside the one that is less indented. A
  // star marks those that changed the module.
  std::string ToString() const;
};

// Runs `pipeline` until execution `number` begins, or fails, or it ends. States
// are pointers: nothing is copied.
PassHistory RecordHistory(const IRModule& module, const Pass& pipeline,
                          const PipelineSettings& settings, int64_t number);

struct Guilty {
  PassHistory::Execution execution;
  PassHistory history;  // up to it
  // What shows the failure, without the passes before it if that is possible;
  // without passes if nothing does. And the settings under which it does.
  ReducedCase shows;
  PipelineSettings settings;
};

// The execution that is guilty of `failure`, a failure of `pipeline` on
// `module`. That is the one that failed or that an instrument blames; of an
// error of type inference, the one that made what has no types, which is found
// by bisection over the states of the run. `replay` are the settings without
// the instruments that find fault.
absl::StatusOr<Guilty> FindGuilty(const IRModule& module, const Pass& pipeline,
                                  const PipelineSettings& settings,
                                  const PipelineSettings& replay,
                                  const Failure& failure,
                                  const ChildLimits& limits);

struct TriageOptions {
  ChildLimits limits;
  ReduceOptions reduce;
  // Is told before the reduction begins; may be null.
  std::function<void(const Guilty&)> on_guilty = {};
};

struct TriageResult {
  Guilty guilty;
  Failure failure;
  // Of what the guilty execution was given; without passes if that alone does
  // not fail.
  ReduceResult reduced;
};

// The guilty execution, and the smallest program on which its pass fails so.
absl::StatusOr<TriageResult> Triage(const IRModule& module,
                                    const Pass& pipeline,
                                    const PipelineSettings& settings,
                                    const PipelineSettings& replay,
                                    const Failure& failure,
                                    const TriageOptions& options);

}  // namespace baton

#endif  // BATON_TRIAGE_TRIAGE_H_
