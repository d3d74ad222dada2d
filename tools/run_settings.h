// What RunOptions ask of a run: its pipeline, its context, and the instruments
// that may find fault with a pass.

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

// Adds the rules of `files` to those that are linked in, and returns all. An
// error if something is wrong with one of them.
absl::StatusOr<std::vector<relay::RewriteRule>> LoadRules(
    const std::vector<std::string>& files);

// The context that `run` asks for, without instruments.
absl::StatusOr<PassContextOptions> ContextOf(const RunOptions& run);

// The pipeline of `run`, after its rules have been loaded; an error if anything
// else in `run` is wrong.
absl::StatusOr<Pass> PipelineOf(const RunOptions& run);

// `pipeline` as it runs over `module`: with the passes that --insert_required
// adds. Without that flag, an ill-ordered pipeline is an error
// (transform/contracts.h).
absl::StatusOr<Pass> CompletePipeline(const Pass& pipeline,
                                      const RunOptions& run,
                                      const IRModule& module);

// The instruments that libraries add and that the flags of `run` ask for.
absl::StatusOr<PassInstruments> RegisteredInstruments(
    const RunOptions& run, const InstrumentRun& about);

// Those that leave out executions: --skip_execution, --stop_after, `NAME#k` in
// --disabled_pass. The instruments of a run begin with these.
absl::StatusOr<PassInstruments> SkippingInstruments(const RunOptions& run);

// Those that look for mistakes: --verify_each, --verify_contracts,
// --verify_roundtrip, --check_values. Lines that are no errors go to `report`,
// and so do errors that passes added to the results to `added`, if it is there.
// An error if the files of --inputs and --expect cannot be read, or if a flag
// says how to check values that are not checked.
absl::StatusOr<PassInstruments> CheckingInstruments(
    const RunOptions& run, std::function<void(absl::string_view)> report,
    std::function<void(const AddedError&)> added = nullptr);

// Makes `run` one that does not check values: without what only --check_values
// reads, but for the flags of `keep`.
void DropValueChecks(const std::vector<std::string>& keep, RunOptions& run);

// For PipelineSettings::prepare: gives `main` the arguments of --inputs as
// constants. Null without --inputs.
absl::StatusOr<std::function<absl::StatusOr<IRModule>(const IRModule&)>>
InputBinding(const RunOptions& run);

// `run` for a program that has its inputs.
RunOptions WithoutInputs(RunOptions run);

// The context of `run`, and the instruments above that may find fault with a
// pass, after those that leave out executions and --bisect_limit; without
// `finds_fault`, these alone. The pipeline must outlive the result.
absl::StatusOr<PipelineSettings> FaultSettings(const RunOptions& run,
                                               const Pass& pipeline,
                                               bool finds_fault);

}  // namespace baton

#endif  // BATON_TOOLS_RUN_SETTINGS_H_
