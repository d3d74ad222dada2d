// Triage: finds the execution of a pass that causes a failure, and the smallest
// program that shows it.

#ifndef BATON_TRIAGE_TRIAGE_H_
#define BATON_TRIAGE_TRIAGE_H_

#include <cstdint>
#include <functional>

#include "absl/status/statusor.h"
#include "baton/instrument/history.h"
#include "baton/ir/module.h"
#include "baton/transform/pass.h"
#include "baton/triage/failure.h"
#include "baton/triage/reducer.h"

namespace baton {

// The execution that causes a failure.
struct GuiltyExecution {
  int64_t number = 0;
  Pass pass;
  IRModule before;  // its argument
  // The executions up to the failure, with all states, without origins, remarks
  // and texts.
  History history;
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
absl::StatusOr<GuiltyExecution> FindGuilty(const IRModule& module,
                                           const Pass& pipeline,
                                           const PipelineSettings& settings,
                                           const PipelineSettings& replay,
                                           const Failure& failure,
                                           const ChildLimits& limits);

struct TriageOptions {
  ChildLimits limits;
  ReduceOptions reduce;
  // Called before the reduction begins; may be null.
  std::function<void(const GuiltyExecution&)> on_guilty = {};
};

// The result of Triage.
struct TriageResult {
  GuiltyExecution guilty;
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
