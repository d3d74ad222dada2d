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
#include "baton/instrument/instrument_registry.h"
#include "baton/ir/module.h"
#include "baton/relay/pattern/rewrite_rule.h"
#include "baton/runtime/io/npy.h"
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
  // The entries `NAME#k` of --disabled_pass, which the context does not have.
  std::vector<std::string> disabled_executions;
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

// Adds the executions to skip and the tensors of `prepared` to `run`.
void AddToRun(const PreparedRun& prepared, InstrumentRun& run);

// Instruments of which some check results.
struct CheckingInstruments {
  PassInstruments instruments;
  std::vector<InstrumentText> checked;  // see InstrumentRun
  std::vector<std::function<absl::Status(const IRModule&)>> before_passes;

  // Checks the argument of the passes; in their context.
  absl::Status BeforePasses(const IRModule& module) const;
  // A line for each check that says how much it has checked.
  std::string Summary() const;
};

// Appends the instruments that check results. `report` receives lines that are
// not errors. An error if a flag for checking values is given without
// --check_values.
absl::Status AddCheckingInstruments(
    const PreparedRun& prepared, const Pass& pipeline,
    std::function<void(absl::string_view)> report,
    CheckingInstruments& instruments);

// The instruments of a run that only looks for faults: those that skip
// executions, `recorder` unless it is null, the registered ones of phase
// kRegistered, and those that check. Only the latter report. `pipeline` is the
// complete one.
absl::StatusOr<CheckingInstruments> MakeFaultInstruments(
    const PreparedRun& prepared, const Pass& pipeline,
    const std::shared_ptr<PassInstrument>& recorder,
    std::function<void(absl::string_view)> report);

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
