#include "baton/tools/prepared_run.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "baton/base/attr_value.h"
#include "baton/base/hash_table.h"
#include "baton/base/plural.h"
#include "baton/base/status_macros.h"
#include "baton/base/target.h"
#include "baton/base/tensor.h"
#include "baton/base/text_file.h"
#include "baton/base/value_text.h"
#include "baton/instrument/check_values.h"
#include "baton/instrument/instrument_registry.h"
#include "baton/instrument/recorder.h"
#include "baton/instrument/skip.h"
#include "baton/ir/module.h"
#include "baton/ir/type.h"
#include "baton/relay/bind.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/pattern/rewrite_rule.h"
#include "baton/relay/pattern/rule_registry.h"
#include "baton/relay/runtime/value.h"
#include "baton/runtime/io/npy.h"
#include "baton/tools/run_options.h"
#include "baton/tools/schedule_file.h"
#include "baton/tools/tensor_files.h"
#include "baton/transform/contracts.h"
#include "baton/transform/parallel.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"
#include "baton/transform/pipeline.h"
#include "baton/transform/print_ir.h"
#include "baton/triage/child.h"
#include "baton/triage/failure.h"

namespace baton {
namespace {

using relay::Function;

// True for `NAME#k`.
bool IsOneExecution(const std::string& pass) {
  return absl::StrContains(pass, '#');
}

// `status` about the value of `flag`.
absl::Status OfFlag(absl::string_view flag, const absl::Status& status) {
  if (status.ok()) return status;
  return absl::Status(status.code(),
                      absl::StrCat("--", flag, ": ", status.message()));
}

absl::Status CheckPassNames(absl::string_view flag,
                            const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    BATON_RETURN_IF_ERROR(OfFlag(
        flag,
        PassRegistry::Global().Info(name.substr(0, name.find('#'))).status()));
  }
  return absl::OkStatus();
}

// The executions of passes that run inside `pass`, in a copy of this process:
// the pass may crash.
int64_t CountInside(const Pass& pass, const IRModule& module) {
  constexpr double kSeconds = 20;
  const absl::StatusOr<ChildResult> result = RunInChild(
      [&] {
        PassContextOptions options = {
            .opt_level = PassContext::Current().opt_level(),
            .required_pass = PassContext::Current().required_pass(),
            .disabled_pass = PassContext::Current().disabled_pass(),
            .config = PassContext::Current().config(),
            .target = PassContext::Current().target()};
        options.config.emplace_back(PrintIrConfig().name(), false);
        const auto recorder = std::make_shared<PassRecorder>();
        options.instruments = {recorder};
        PassContext(std::move(options))
            .Run([&] { return pass(module); })
            .status()
            .IgnoreError();  // those that ran before the error count
        return absl::StrCat(recorder->CountRuns());
      },
      {.limits = {.seconds = kSeconds}});
  int64_t count = 0;
  if (!result.ok() || !absl::SimpleAtoi(result->output, &count)) return 0;
  return std::max<int64_t>(count - 1, 0);
}

// The arguments of `main` and its results in the order of the function.
absl::StatusOr<GivenValues> InOrderOf(const Function& main,
                                      const NamedTensors& inputs,
                                      const NamedTensors* expected) {
  GivenValues given;
  BATON_ASSIGN_OR_RETURN(std::vector<Tensor> tensors,
                         InOrder(inputs, InputNames(main), "inputs"));
  given.args.assign(tensors.begin(), tensors.end());
  if (expected == nullptr) return given;
  BATON_ASSIGN_OR_RETURN(tensors,
                         InOrder(*expected, OutputNames(main), "results"));
  if (main->body()->type().Is<TupleTypeNode>()) {
    given.expected = relay::Value::MakeTuple({tensors.begin(), tensors.end()});
  } else if (!tensors.empty()) {
    given.expected = tensors[0];
  }
  return given;
}

// The run of the pipeline, for its instruments.
InstrumentRun RunOf(const PreparedRun& prepared, const Pass& pipeline,
                    std::function<void(absl::string_view)> report) {
  InstrumentRun run = {.pipeline = pipeline, .report = std::move(report)};
  AddToRun(prepared, run);
  return run;
}

void Ignore(absl::string_view /*text*/) {}

}  // namespace

absl::StatusOr<std::vector<relay::RewriteRule>> LoadRules(
    const std::vector<std::string>& files) {
  relay::RuleRegistry& registry = relay::RuleRegistry::Global();
  for (const std::string& file : files) {
    const absl::StatusOr<std::string> text = ReadTextFile(file);
    BATON_RETURN_IF_ERROR(OfFlag("rules", text.status()));
    registry.AddText(file, *text);
  }
  BATON_ASSIGN_OR_RETURN(std::vector<relay::RewriteRule> rules,
                         registry.AllRules());
  for (const relay::RewriteRule& rule : rules) {
    for (const std::string& pass : rule.passes) {
      // A pass says that it applies rules when it is made.
      BATON_RETURN_IF_ERROR(PassRegistry::Global().Get(pass).status());
      const std::vector<std::string> passes = registry.Passes();
      if (std::find(passes.begin(), passes.end(), pass) == passes.end()) {
        return absl::InvalidArgumentError(
            absl::StrCat(rule.place, ": the pass ", pass,
                         " applies no rules of its own; these do: ",
                         absl::StrJoin(passes, ", ")));
      }
    }
  }
  return rules;
}

absl::StatusOr<PreparedRun> Prepare(RunOptions run) {
  if (!run.expect.empty() && run.inputs.empty()) {
    return absl::InvalidArgumentError("--expect: needs --inputs");
  }
  PreparedRun prepared;
  if (!run.schedule.empty()) {
    BATON_ASSIGN_OR_RETURN(run.passes, WithSchedule(run.passes, run.schedule));
    run.schedule.clear();
  }
  BATON_RETURN_IF_ERROR(LoadRules(run.rules).status());
  BATON_RETURN_IF_ERROR(CheckPassNames("disabled_pass", run.disabled_pass));
  for (const std::string& pass : run.disabled_pass) {
    if (!IsOneExecution(pass)) continue;
    SkipOptions ignored;
    BATON_RETURN_IF_ERROR(
        OfFlag("disabled_pass", AddExecutionOf(pass, ignored).status()));
    prepared.disabled_executions.push_back(pass);
  }
  BATON_RETURN_IF_ERROR(CheckPassNames("required_pass", run.required_pass));
  BATON_ASSIGN_OR_RETURN(
      prepared.pipeline,
      ParsePipeline(run.passes, PassRegistry::Global(), "--passes",
                    NamedPassesFor(run.opt_level)));

  absl::StatusOr<Target> target = Target::Parse(run.target);
  BATON_RETURN_IF_ERROR(OfFlag("target", target.status()));
  BATON_ASSIGN_OR_RETURN(AttrMap config,
                         ParseKeyValues(run.config, "--config"));
  const std::string& threads = ThreadsConfig().name();
  const bool is_set = std::any_of(
      config.begin(), config.end(),
      [&threads](const auto& setting) { return setting.first == threads; });
  if (!is_set) config.emplace_back(threads, run.threads);
  std::vector<std::string> disabled = run.disabled_pass;
  std::erase_if(disabled, IsOneExecution);
  prepared.context = {.opt_level = OptLevel(run.opt_level, prepared.pipeline),
                      .required_pass = run.required_pass,
                      .disabled_pass = std::move(disabled),
                      .config = std::move(config),
                      .target = *std::move(target)};
  if (const absl::Status status = PassContext(prepared.context).status();
      !status.ok()) {
    return absl::Status(
        status.code(),
        absl::StrCat("--config: ",
                     absl::StripPrefix(status.message(), "config ")));
  }
  prepared.run = std::move(run);
  return prepared;
}

absl::Status ReadTensorsOf(PreparedRun& prepared) {
  const RunOptions& run = prepared.run;
  if (!run.inputs.empty() && prepared.inputs == nullptr) {
    absl::StatusOr<NamedTensors> tensors = ReadTensors(run.inputs, "input");
    BATON_RETURN_IF_ERROR(OfFlag("inputs", tensors.status()));
    prepared.inputs = std::make_shared<const NamedTensors>(*std::move(tensors));
  }
  if (!run.expect.empty() && prepared.expected == nullptr) {
    absl::StatusOr<NamedTensors> tensors = ReadTensors(run.expect, "output");
    BATON_RETURN_IF_ERROR(OfFlag("expect", tensors.status()));
    prepared.expected =
        std::make_shared<const NamedTensors>(*std::move(tensors));
  }
  return absl::OkStatus();
}

absl::StatusOr<Pass> CompletePipeline(const PreparedRun& prepared,
                                      const IRModule& module) {
  const PassContext context(prepared.context);
  if (prepared.run.insert_required) {
    return InsertRequired(prepared.pipeline, module, context);
  }
  BATON_RETURN_IF_ERROR(CheckContracts(prepared.pipeline, module, context));
  return prepared.pipeline;
}

void AddToRun(const PreparedRun& prepared, InstrumentRun& run) {
  run.disabled_executions = prepared.disabled_executions;
  run.count_inside = CountInside;
  if (prepared.inputs == nullptr) return;
  run.given_values = [inputs = prepared.inputs,
                      expected = prepared.expected](const Function& main) {
    return InOrderOf(main, *inputs, expected.get());
  };
  run.has_expected_values = prepared.expected != nullptr;
}

std::function<absl::StatusOr<IRModule>(const IRModule&)> InputBinding(
    const PreparedRun& prepared) {
  if (prepared.inputs == nullptr) return nullptr;
  return [inputs = prepared.inputs](
             const IRModule& module) -> absl::StatusOr<IRModule> {
    BATON_ASSIGN_OR_RETURN(const Function main,
                           module.Lookup<Function>("main"));
    BATON_ASSIGN_OR_RETURN(const std::vector<Tensor> tensors,
                           InOrder(*inputs, InputNames(main), "inputs"));
    if (tensors.size() != main->params().size()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--inputs: ", Plural(tensors.size(), "tensor"), " for ",
          Plural(main->params().size(), "parameter"), " of @main"));
    }
    FlatHashMap<const relay::VarNode*, Expr> values;
    for (size_t i = 0; i < tensors.size(); ++i) {
      values[main->params()[i].get()] = relay::Constant(tensors[i]);
    }
    IRModule bound = module;
    bound.Set("main", relay::Bind(main, values));
    return bound;
  };
}

PreparedRun WithoutInputs(PreparedRun prepared) {
  prepared.run.inputs.clear();
  prepared.run.expect.clear();
  prepared.inputs = nullptr;
  prepared.expected = nullptr;
  return prepared;
}

absl::Status CheckingInstruments::BeforePasses(const IRModule& module) const {
  for (const auto& check : before_passes) {
    BATON_RETURN_IF_ERROR(check(module));
  }
  return absl::OkStatus();
}

std::string CheckingInstruments::Summary() const {
  std::string text;
  for (const InstrumentText& lines : checked) text += lines();
  return text;
}

absl::Status AddCheckingInstruments(
    const PreparedRun& prepared, const Pass& pipeline,
    std::function<void(absl::string_view)> report,
    CheckingInstruments& instruments) {
  InstrumentRun run = RunOf(prepared, pipeline, std::move(report));
  run.checked = [&instruments](InstrumentText lines) {
    instruments.checked.push_back(std::move(lines));
  };
  run.before_passes =
      [&instruments](std::function<absl::Status(const IRModule&)> check) {
        instruments.before_passes.push_back(std::move(check));
      };
  return AddInstruments(
      {InstrumentPhase::kCheck, InstrumentPhase::kCheckValues},
      prepared.run.instrument_flags, std::move(run), instruments.instruments);
}

absl::StatusOr<CheckingInstruments> MakeFaultInstruments(
    const PreparedRun& prepared, const Pass& pipeline,
    const std::shared_ptr<PassInstrument>& recorder,
    std::function<void(absl::string_view)> report) {
  const AttrMap& flags = prepared.run.instrument_flags;
  CheckingInstruments result;
  BATON_RETURN_IF_ERROR(AddInstruments(
      {InstrumentPhase::kSkipExecutions, InstrumentPhase::kSkip}, flags,
      RunOf(prepared, pipeline, Ignore), result.instruments));
  if (recorder != nullptr) result.instruments.push_back(recorder);
  // They may keep passes from running.
  BATON_RETURN_IF_ERROR(AddInstruments({InstrumentPhase::kRegistered}, flags,
                                       RunOf(prepared, pipeline, Ignore),
                                       result.instruments));
  BATON_RETURN_IF_ERROR(
      AddCheckingInstruments(prepared, pipeline, std::move(report), result));
  return result;
}

PipelineSettings FaultSettings(const PreparedRun& prepared,
                               const Pass& pipeline, bool finds_fault) {
  PipelineSettings settings;
  settings.context = prepared.context;
  settings.make_instruments =
      [prepared, pipeline, finds_fault]() -> absl::StatusOr<PassInstruments> {
    if (finds_fault) {
      BATON_ASSIGN_OR_RETURN(
          CheckingInstruments checks,
          MakeFaultInstruments(prepared, pipeline, /*recorder=*/nullptr,
                               Ignore));
      return std::move(checks.instruments);
    }
    PassInstruments instruments;
    BATON_RETURN_IF_ERROR(AddInstruments(
        {InstrumentPhase::kSkipExecutions, InstrumentPhase::kSkip},
        prepared.run.instrument_flags, RunOf(prepared, pipeline, Ignore),
        instruments));
    return instruments;
  };
  return settings;
}

}  // namespace baton
