// PreparedRun: a pipeline and all that decides how it runs, made once from
// RunOptions.

#ifndef BATON_TOOLS_PREPARED_RUN_H_
#define BATON_TOOLS_PREPARED_RUN_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/instrument/check_values.h"
#include "baton/instrument/skip.h"
#include "baton/ir/module.h"
#include "baton/relay/pattern/rewrite_rule.h"
#include "baton/tools/npy.h"
#include "baton/tools/run_options.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_instrument.h"
#include "baton/triage/failure.h"

namespace baton {

// Adds the rules of `files` to the linked ones, and returns all rules, first
// the ones that belong to no pass. An error if a rule is wrong, or belongs to a
// pass that applies no rules.
absl::StatusOr<std::vector<relay::RewriteRule>> LoadRules(
    const std::vector<std::string>& files);

struct PreparedRun {
  RunOptions run;
  Pass pipeline;               // of --passes
  PassContextOptions context;  // without instruments
  SkipOptions skip;            // see SkippingInstrument()
  // The tensors of --inputs and --expect, after ReadTensorsOf(); otherwise
  // null.
  std::shared_ptr<const NamedTensors> inputs;
  std::shared_ptr<const NamedTensors> expected;
};

// Loads the rules of `run`, parses its pipeline and makes its context. An error
// if anything in `run` is wrong.
absl::StatusOr<PreparedRun> Prepare(RunOptions run);

// Reads the files of --inputs and --expect.
absl::Status ReadTensorsOf(PreparedRun& prepared);

// Completes the pipeline for `module`: inserts the passes that
// --insert_required adds. Without that flag, an ill-ordered pipeline is an
// error (transform/contracts.h).
absl::StatusOr<Pass> CompletePipeline(const PreparedRun& prepared,
                                      const IRModule& module);

// The instrument that skips executions: --skip_execution, --stop_after,
// `NAME#k` in --disabled_pass. It precedes all other instruments of a run. Null
// without these flags.
std::shared_ptr<SkipInstrument> SkippingInstrument(const PreparedRun& prepared);

// The instruments that check results: the registered ones of phase kCheck, then
// --check_values.
struct CheckingInstruments {
  PassInstruments instruments;
  // Null without --check_values.
  std::shared_ptr<CheckValuesInstrument> values;
  bool has_expected = false;  // --expect
  // A line for each check that says how much it has checked.
  std::function<std::string()> summary;
};

// `report` receives lines that are not errors. `added`, if not null, receives
// the errors that passes add to results. An error if a flag for checking values
// is given without --check_values.
absl::StatusOr<CheckingInstruments> MakeCheckingInstruments(
    const PreparedRun& prepared, std::function<void(absl::string_view)> report,
    std::function<void(const ErrorEntry&)> added = nullptr);

// The instruments of a run that only looks for faults: those that skip
// executions, `recorder` unless it is null, the registered ones of phase
// kRegistered, and those that check. Only the latter report. `pipeline` is the
// complete one.
absl::StatusOr<CheckingInstruments> MakeFaultInstruments(
    const PreparedRun& prepared, const Pass& pipeline,
    const std::shared_ptr<PassInstrument>& recorder,
    std::function<void(absl::string_view)> report,
    std::function<void(const ErrorEntry&)> added = nullptr);

// Disables the checking of values in `run`, including the flags that only
// --check_values reads, except the flags in `keep`.
void DropValueChecks(const std::vector<std::string>& keep, RunOptions& run);

// For PipelineSettings::prepare: binds the parameters of `main` to the
// arguments of --inputs as constants. Null without --inputs.
std::function<absl::StatusOr<IRModule>(const IRModule&)> InputBinding(
    const PreparedRun& prepared);

// Returns `prepared` for a program whose inputs are bound.
PreparedRun WithoutInputs(PreparedRun prepared);

// The context of `prepared`, with the instruments that skip executions. If
// `finds_fault`, also with the registered ones and those that check results.
// `pipeline` is the complete one.
PipelineSettings FaultSettings(const PreparedRun& prepared,
                               const Pass& pipeline, bool finds_fault);

}  // namespace baton

#endif  // BATON_TOOLS_PREPARED_RUN_H_
