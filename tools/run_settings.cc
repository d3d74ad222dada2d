#include "baton/tools/run_settings.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "baton/base/attr_value.h"
#include "baton/base/fields.h"
#include "baton/base/hash_table.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/base/text_file.h"
#include "baton/base/value_text.h"
#include "baton/instrument/bisect.h"
#include "baton/instrument/check_values.h"
#include "baton/instrument/skip.h"
#include "baton/instrument/verify.h"
#include "baton/instrument/verify_contracts.h"
#include "baton/instrument/verify_roundtrip.h"
#include "baton/ir/module.h"
#include "baton/ir/type.h"
#include "baton/relay/bind.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/pattern/rewrite_rule.h"
#include "baton/relay/pattern/rule_registry.h"
#include "baton/relay/runtime/value.h"
#include "baton/tools/instruments.h"
#include "baton/tools/npy.h"
#include "baton/tools/run_options.h"
#include "baton/tools/schedule_file.h"
#include "baton/tools/tensor_files.h"
#include "baton/transform/contracts.h"
#include "baton/transform/parallel.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"
#include "baton/transform/pipeline.h"
#include "baton/triage/failure.h"

namespace baton {
namespace {

// They have no meaning without --check_values. (--inputs has: triage reads it.)
constexpr const char* kFlagsOfValueChecks[] = {"expect", "special_values",
                                               "max_error"};

// True for `NAME#k`.
bool IsOneExecution(const std::string& pass) {
  return absl::StrContains(pass, '#');
}

absl::Status CheckPassNames(absl::string_view flag,
                            const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    absl::Status status =
        PassRegistry::Global().Info(name.substr(0, name.find('#'))).status();
    if (!status.ok()) {
      return absl::Status(status.code(),
                          absl::StrCat("--", flag, ": ", status.message()));
    }
  }
  return absl::OkStatus();
}

// The arguments of `main` and its results in the order of the function.
absl::StatusOr<GivenValues> InOrderOf(
    const Function& main, const NamedTensors& inputs,
    const std::optional<NamedTensors>& expected) {
  GivenValues given;
  BATON_ASSIGN_OR_RETURN(std::vector<Tensor> tensors,
                         InOrder(inputs, InputNames(main), "inputs"));
  given.args.assign(tensors.begin(), tensors.end());
  if (!expected.has_value()) return given;
  BATON_ASSIGN_OR_RETURN(tensors,
                         InOrder(*expected, OutputNames(main), "results"));
  if (main->body()->type().Is<TupleTypeNode>()) {
    given.expected = Value::MakeTuple({tensors.begin(), tensors.end()});
  } else if (!tensors.empty()) {
    given.expected = tensors[0];
  }
  return given;
}

// The options of --check_values about values.
absl::StatusOr<CheckValuesOptions> ValuesOf(const RunOptions& run) {
  CheckValuesOptions check = {.seed = static_cast<uint32_t>(run.seed),
                              .special_values = run.special_values};
  if (run.max_error >= 0) check.max_error = run.max_error;
  if (run.inputs.empty()) return check;
  BATON_ASSIGN_OR_RETURN(const NamedTensors inputs,
                         ReadTensors(run.inputs, "input"));
  std::optional<NamedTensors> expected;
  if (!run.expect.empty()) {
    BATON_ASSIGN_OR_RETURN(expected, ReadTensors(run.expect, "output"));
  }
  check.given = [inputs, expected](const Function& main) {
    return InOrderOf(main, inputs, expected);
  };
  return check;
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
  std::vector<std::string> disabled = run.disabled_pass;
  std::erase_if(disabled, IsOneExecution);
  return PassContextOptions{.opt_level = OptLevel(run),
                            .required_pass = run.required_pass,
                            .disabled_pass = std::move(disabled),
                            .config = std::move(config)};
}

absl::StatusOr<Pass> PipelineOf(const RunOptions& run) {
  if (!run.expect.empty() && run.inputs.empty()) {
    return absl::InvalidArgumentError("--expect: needs --inputs");
  }
  BATON_RETURN_IF_ERROR(LoadRules(run.rules).status());
  BATON_RETURN_IF_ERROR(CheckPassNames("disabled_pass", run.disabled_pass));
  BATON_RETURN_IF_ERROR(SkippingInstruments(run).status());
  BATON_RETURN_IF_ERROR(CheckPassNames("required_pass", run.required_pass));
  BATON_ASSIGN_OR_RETURN(PassContextOptions context, ContextOf(run));
  BATON_RETURN_IF_ERROR(PassContext(std::move(context)).status());
  std::string passes = run.passes;
  if (!run.schedule.empty()) {
    BATON_ASSIGN_OR_RETURN(passes, WithSchedule(passes, run.schedule));
  }
  return ParsePipeline(passes, PassRegistry::Global(), "--passes",
                       NamedPassesFor(run.opt_level));
}

absl::StatusOr<Pass> CompletePipeline(const Pass& pipeline,
                                      const RunOptions& run,
                                      const IRModule& module) {
  BATON_ASSIGN_OR_RETURN(PassContextOptions options, ContextOf(run));
  const PassContext context(std::move(options));
  if (run.insert_required) return InsertRequired(pipeline, module, context);
  BATON_RETURN_IF_ERROR(CheckContracts(pipeline, module, context));
  return pipeline;
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

absl::StatusOr<PassInstruments> SkippingInstruments(const RunOptions& run) {
  SkipOptions skip = {.stop_after = run.stop_after};
  for (const absl::string_view text :
       absl::StrSplit(run.skip_execution, ',', absl::SkipEmpty())) {
    int64_t number = 0;
    if (!absl::SimpleAtoi(text, &number) || number < 1) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--skip_execution: expected numbers from 1, found `", text, "`"));
    }
    skip.numbers.insert(number);
  }
  for (const std::string& pass : run.disabled_pass) {
    const absl::StatusOr<bool> added = AddExecutionOf(pass, skip);
    if (!added.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("--disabled_pass: ", added.status().message()));
    }
  }
  if (skip.numbers.empty() && skip.of_pass.empty() && skip.stop_after < 0) {
    return PassInstruments();
  }
  return PassInstruments{std::make_shared<SkipInstrument>(std::move(skip))};
}

absl::StatusOr<PassInstruments> CheckingInstruments(
    const RunOptions& run, std::function<void(absl::string_view)> report,
    std::function<void(const AddedError&)> added) {
  PassInstruments instruments;
  if (run.verify_each) {
    instruments.push_back(std::make_shared<VerifyInstrument>());
  }
  if (run.verify_contracts) {
    instruments.push_back(std::make_shared<VerifyContractsInstrument>());
  }
  if (run.verify_roundtrip) {
    instruments.push_back(std::make_shared<VerifyRoundtripInstrument>());
  }
  if (run.check_values) {
    BATON_ASSIGN_OR_RETURN(CheckValuesOptions check, ValuesOf(run));
    if (run.max_error >= 0) check.ledger = report;
    check.added = std::move(added);
    check.not_compared = [report = std::move(report)](absl::string_view line) {
      report(absl::StrCat("--check_values: ", line, "\n"));
    };
    instruments.push_back(
        std::make_shared<CheckValuesInstrument>(std::move(check)));
    return instruments;
  }
  const FieldList& fields = FieldsOf<RunOptions>();
  for (const char* flag : kFlagsOfValueChecks) {
    if (!fields.IsDefault(*fields.Find(flag), &run)) {
      return absl::InvalidArgumentError(
          absl::StrCat("--", flag, ": needs --check_values"));
    }
  }
  return instruments;
}

void DropValueChecks(const std::vector<std::string>& keep, RunOptions& run) {
  run.check_values = false;
  const RunOptions none;
  const FieldList& fields = FieldsOf<RunOptions>();
  for (const char* flag : kFlagsOfValueChecks) {
    if (std::find(keep.begin(), keep.end(), flag) != keep.end()) continue;
    const Field* field = fields.Find(flag);
    field->Set(&run, field->Get(&none)).IgnoreError();  // is of its type
  }
}

absl::StatusOr<std::function<absl::StatusOr<IRModule>(const IRModule&)>>
InputBinding(const RunOptions& run) {
  if (run.inputs.empty()) return nullptr;
  BATON_ASSIGN_OR_RETURN(const NamedTensors inputs,
                         ReadTensors(run.inputs, "input"));
  return [inputs](const IRModule& module) -> absl::StatusOr<IRModule> {
    BATON_ASSIGN_OR_RETURN(const Function main,
                           module.Lookup<Function>("main"));
    BATON_ASSIGN_OR_RETURN(const std::vector<Tensor> tensors,
                           InOrder(inputs, InputNames(main), "inputs"));
    if (tensors.size() != main->params().size()) {
      return absl::InvalidArgumentError(
          absl::StrCat("--inputs: ", tensors.size(), " tensors for ",
                       main->params().size(), " parameters of @main"));
    }
    FlatHashMap<const VarNode*, Expr> values;
    for (size_t i = 0; i < tensors.size(); ++i) {
      values[main->params()[i].get()] = Constant(tensors[i]);
    }
    IRModule bound = module;
    bound.Set("main", relay::Bind(main, values));
    return bound;
  };
}

RunOptions WithoutInputs(RunOptions run) {
  run.inputs.clear();
  run.expect.clear();
  return run;
}

absl::StatusOr<PipelineSettings> FaultSettings(const RunOptions& run,
                                               const Pass& pipeline,
                                               bool finds_fault) {
  PipelineSettings settings;
  BATON_ASSIGN_OR_RETURN(settings.context, ContextOf(run));
  settings.make_instruments =
      [run, &pipeline, finds_fault]() -> absl::StatusOr<PassInstruments> {
    BATON_ASSIGN_OR_RETURN(PassInstruments instruments,
                           SkippingInstruments(run));
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
