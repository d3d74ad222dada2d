// Runs of a model of `baton-run`: results, times, profiles.

#ifndef BATON_TOOLS_MODEL_RUNS_H_
#define BATON_TOOLS_MODEL_RUNS_H_

#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "baton/base/tensor.h"
#include "baton/relay/runtime/value.h"
#include "baton/runtime/io/npy.h"
#include "baton/tools/run_model_options.h"
#include "baton/tools/runnable_model.h"

namespace baton {

// The results of the nodes of a model, by the names of the nodes. If a node
// became several calls, the last one counts, since it has the node's result.
using NodeResults = std::vector<std::pair<std::string, Tensor>>;

// Runs the model, with the executor if it has a plan. `nodes`, unless null,
// receives the results of all nodes, which the evaluator computes.
absl::StatusOr<NamedTensors> ComputeResults(const RunnableModel& model,
                                            absl::Span<const relay::Value> args,
                                            const RunModelOptions& options,
                                            NodeResults* nodes = nullptr);

// Runs the model --bench times, and prints the line of times.
absl::Status MeasureRuns(const RunnableModel& model,
                         absl::Span<const relay::Value> args,
                         const RunModelOptions& options, std::ostream& out);

// Runs the model, and writes the profile in the format of --profile to the file
// of --report, or to `out`. `step_us` receives the time of each step of the
// executor's plan.
absl::Status ProfileRun(const RunnableModel& model,
                        absl::Span<const relay::Value> args,
                        const RunModelOptions& options, std::ostream& out,
                        std::vector<double>& step_us);

}  // namespace baton

#endif  // BATON_TOOLS_MODEL_RUNS_H_
