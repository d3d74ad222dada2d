// Makes the pipeline, the context and the checking instruments of a run from
// RunOptions.

#ifndef BATON_TOOLS_RUN_SETTINGS_H_
#define BATON_TOOLS_RUN_SETTINGS_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/instrument/check_values.h"
#include "baton/ir/module.h"
#include "baton/relay/pattern/rewrite_rule.h"
#include "baton/tools/instruments.h"
#include "baton/tools/run_options.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/triage/failure.h"

namespace baton {

// Adds the rules of `files` to the linked ones, and returns all. An error if a
// rule is wrong.
absl::StatusOr<std::vector<relay::RewriteRule>> LoadRules(
    const std::vector<std::string>& files);

// The context of `run`, without instruments.
absl::StatusOr<PassContextOptions> ContextOf(const RunOptions& run);

// The pipeline of `run`; loads its rules first. An error if anything in `run`
// is wrong.
absl::StatusOr<Pass> PipelineOf(const RunOptions& run);

// Completes `pipeline` for `module`: inserts the passes that --insert_required
// adds. Without that flag, an ill-ordered pipeline is an error
// (transform/contracts.h).
absl::StatusOr<Pass> CompletePipeline(const Pass& pipeline,
                                      const RunOptions& run,
                                      const IRModule& module);

// The registered instruments that the flags of `run` enable.
absl::StatusOr<PassInstruments> RegisteredInstruments(
    const RunOptions& run, const InstrumentRun& about);

// The instruments that skip executions: --skip_execution, --stop_after,
// `NAME#k` in --disabled_pass. They precede all other instruments of a run.
absl::StatusOr<PassInstruments> SkippingInstruments(const RunOptions& run);

// The instruments that check results: --verify_each, --verify_contracts,
// --verify_roundtrip, --check_values. `report` receives lines that are not
// errors. `added`, if not null, receives the errors that passes add to results.
// An error if the files of --inputs and --expect cannot be read, or if a flag
// for checking values is given without --check_values.
absl::StatusOr<PassInstruments> CheckingInstruments(
    const RunOptions& run, std::function<void(absl::string_view)> report,
    std::function<void(const AddedError&)> added = nullptr);

// Disables the checking of values in `run`, including the flags that only
// --check_values reads, except the flags in `keep`.
void DropValueChecks(const std::vector<std::string>& keep, RunOptions& run);

// For PipelineSettings::prepare: binds the parameters of `main` to the
// arguments of --inputs as constants. Null without --inputs.
absl::StatusOr<std::function<absl::StatusOr<IRModule>(const IRModule&)>>
InputBinding(const RunOptions& run);

// Returns `run` for a program whose inputs are bound.
RunOptions WithoutInputs(RunOptions run);

// The context of `run`, with the instruments that skip executions and
// --bisect_limit. If `finds_fault`, also with the instruments that check
// results. The pipeline must outlive the result.
absl::StatusOr<PipelineSettings> FaultSettings(const RunOptions& run,
                                               const Pass& pipeline,
                                               bool finds_fault);

}  // namespace baton

#endif  // BATON_TOOLS_RUN_SETTINGS_H_
