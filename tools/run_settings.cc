#include "baton/tools/run_settings.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/base/attr_value.h"
#include "baton/base/status_macros.h"
#include "baton/base/text_file.h"
#include "baton/base/value_text.h"
#include "baton/instrument/bisect.h"
#include "baton/instrument/check_values.h"
#include "baton/instrument/verify.h"
#include "baton/instrument/verify_contracts.h"
#include "baton/ir/module.h"
#include "baton/relay/pattern/rewrite_rule.h"
#include "baton/relay/pattern/rule_registry.h"
#include "baton/tools/instruments.h"
#include "baton/tools/run_options.h"
#include "baton/transform/contracts.h"
#include "baton/transform/parallel.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"
#include "baton/transform/pipeline.h"
#include "baton/triage/failure.h"

namespace baton {
namespace {

absl::Status CheckPassNames(absl::string_view flag,
                            const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    absl::Status status = PassRegistry::Global().Info(name).status();
    if (!status.ok()) {
      return absl::Status(status.code(),
                          absl::StrCat("--", flag, ": ", status.message()));
    }
  }
  return absl::OkStatus();
}

void Append(PassInstruments more, PassInstruments& instruments) {
  instruments.insert(instruments.end(), std::make_move_iterator(more.begin()),
                     std::make_move_iterator(more.end()));
}

}  // namespace

absl::StatusOr<std::vector<relay::RewriteRule>> LoadRules(
    const std::vector<std::string>& files) {
  for (const std::string& file : files) {
    BATON_ASSIGN_OR_RETURN(const std::string text, ReadTextFile(file));
    relay::RuleRegistry::Global().AddText(file, text);
  }
  return relay::RuleRegistry::Global().Rules();
}

absl::StatusOr<PassContextOptions> ContextOf(const RunOptions& run) {
  BATON_ASSIGN_OR_RETURN(AttrMap config,
                         ParseKeyValues(run.config, "--config"));
  const std::string& threads = ThreadsConfig().name();
  const bool is_set = std::any_of(
      config.begin(), config.end(),
      [&threads](const auto& setting) { return setting.first == threads; });
  if (!is_set) config.emplace_back(threads, run.threads);
  return PassContextOptions{.opt_level = OptLevel(run),
                            .required_pass = run.required_pass,
                            .disabled_pass = run.disabled_pass,
                            .config = std::move(config)};
}

absl::StatusOr<Pass> PipelineOf(const RunOptions& run) {
  BATON_RETURN_IF_ERROR(LoadRules(run.rules).status());
  BATON_RETURN_IF_ERROR(CheckPassNames("disabled_pass", run.disabled_pass));
  BATON_RETURN_IF_ERROR(CheckPassNames("required_pass", run.required_pass));
  BATON_ASSIGN_OR_RETURN(PassContextOptions context, ContextOf(run));
  BATON_RETURN_IF_ERROR(PassContext(std::move(context)).status());
  return ParsePipeline(run.passes, PassRegistry::Global(), "--passes");
}

absl::StatusOr<Pass> CompletePipeline(const Pass& pipeline,
                                      const RunOptions& run,
                                      const IRModule& module) {
  if (!run.insert_required) return pipeline;
  BATON_ASSIGN_OR_RETURN(PassContextOptions context, ContextOf(run));
  return InsertRequired(pipeline, module, PassContext(std::move(context)));
}

absl::StatusOr<PassInstruments> RegisteredInstruments(
    const RunOptions& run, const InstrumentRun& about) {
  PassInstruments instruments;
  BATON_ASSIGN_OR_RETURN(const auto factories, Instruments().List());
  for (const InstrumentFactory* factory : factories) {
    BATON_ASSIGN_OR_RETURN(auto instrument,
                           factory->Make(run.instrument_flags, about));
    if (instrument != nullptr) instruments.push_back(std::move(instrument));
  }
  return instruments;
}

absl::StatusOr<PassInstruments> CheckingInstruments(
    const RunOptions& run, std::function<void(absl::string_view)> report) {
  PassInstruments instruments;
  if (run.verify_each) {
    instruments.push_back(std::make_shared<VerifyInstrument>());
  }
  if (run.verify_contracts) {
    instruments.push_back(std::make_shared<VerifyContractsInstrument>());
  }
  if (run.check_values) {
    instruments.push_back(
        std::make_shared<CheckValuesInstrument>(CheckValuesOptions{
            .seed = static_cast<uint32_t>(run.seed),
            .not_compared = [report =
                                 std::move(report)](absl::string_view line) {
              report(absl::StrCat("--check_values: ", line, "\n"));
            }}));
  }
  return instruments;
}

absl::StatusOr<PipelineSettings> FaultSettings(const RunOptions& run,
                                               const Pass& pipeline,
                                               bool finds_fault) {
  PipelineSettings settings;
  BATON_ASSIGN_OR_RETURN(settings.context, ContextOf(run));
  settings.make_instruments =
      [run, &pipeline, finds_fault]() -> absl::StatusOr<PassInstruments> {
    PassInstruments instruments;
    if (run.bisect_limit >= 0) {
      instruments.push_back(
          std::make_shared<BisectInstrument>(run.bisect_limit));
    }
    if (!finds_fault) return instruments;
    const auto silent = [](absl::string_view /*text*/) {};
    BATON_ASSIGN_OR_RETURN(
        PassInstruments more,
        RegisteredInstruments(run, {.pipeline = pipeline, .report = silent}));
    Append(std::move(more), instruments);
    BATON_ASSIGN_OR_RETURN(more, CheckingInstruments(run, silent));
    Append(std::move(more), instruments);
    return instruments;
  };
  return settings;
}

}  // namespace baton
