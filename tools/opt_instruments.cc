#include "baton/tools/opt_instruments.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "baton/base/attr_value.h"
#include "baton/base/status_macros.h"
#include "baton/instrument/history_recorder.h"
#include "baton/instrument/instrument_registry.h"
#include "baton/instrument/timing.h"
#include "baton/ir/module.h"
#include "baton/tools/console.h"
#include "baton/tools/opt.h"
#include "baton/tools/prepared_run.h"
#include "baton/tools/run_options.h"
#include "baton/tools/unused_flags.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_instrument.h"
#include "baton/transform/pipeline.h"
#include "baton/transform/print_ir.h"

namespace baton {
namespace {

// The flags of all instruments.
AttrMap InstrumentFlags(const OptOptions& options, const RunOptions& run) {
  AttrMap flags = options.report_flags;
  flags.insert(flags.end(), run.instrument_flags.begin(),
               run.instrument_flags.end());
  return flags;
}

}  // namespace

absl::Status CheckInstrumentFlags(const OptOptions& options,
                                  const PreparedRun& prepared) {
  InstrumentRun about = {.pipeline = prepared.pipeline};
  if (!options.report.empty())
    about.in_json = [](std::string, InstrumentText) {};
  PassInstruments ignored;
  return AddInstruments(
      {InstrumentPhase::kTime, InstrumentPhase::kMeasure,
       InstrumentPhase::kRecord, InstrumentPhase::kPrint,
       InstrumentPhase::kSkipExecutions, InstrumentPhase::kSkip},
      InstrumentFlags(options, prepared.run), std::move(about), ignored);
}

absl::StatusOr<RunInstruments> RunInstruments::Create(
    const OptOptions& options, const PreparedRun& prepared,
    size_t module_number, size_t num_modules, Console& console,
    OutputTexts& files) {
  const bool several = num_modules > 1;
  RunInstruments result;
  const std::shared_ptr<Texts> texts = result.texts_;
  const auto report = [&console](absl::string_view text) {
    console.Report(text);
  };
  InstrumentRun run = {
      .pipeline = prepared.pipeline,
      .module_number = several ? static_cast<int>(module_number) : 0,
      .report = report,
      .at_end =
          [texts](InstrumentText lines) {
            texts->at_end.push_back(std::move(lines));
          },
      .in_report =
          [texts](InstrumentReport lines) {
            texts->report.insert(texts->report.begin(), std::move(lines));
          },
      .output =
          [&files](const std::string& file) {
            std::shared_ptr<std::string>& text = files[file];
            if (text == nullptr) text = std::make_shared<std::string>();
            return text;
          },
      .after_passes =
          [texts](std::function<absl::Status()> fn) {
            texts->after_passes.push_back(std::move(fn));
          },
      .result =
          [texts](std::function<std::optional<IRModule>()> fn) {
            texts->result = std::move(fn);
          },
      .at_exit =
          [texts](std::function<absl::Status(int)> fn) {
            texts->at_exit.push_back(std::move(fn));
          }};
  AddToRun(prepared, run);
  result.reports_ = !options.report.empty();
  if (result.reports_) {
    run.in_json = [texts](std::string key, InstrumentText json) {
      texts->json.emplace_back(std::move(key), std::move(json));
    };
  }
  if (console.shows_progress()) {
    const std::string place =
        several ? absl::StrCat("module ", module_number, "/", num_modules, " ")
                : "";
    run.show_progress = [&console, place](const std::string& text) {
      console.Progress(place + text);
    };
  }
  result.prints_ = std::any_of(
      options.report_flags.begin(), options.report_flags.end(),
      [](const auto& flag) { return absl::StartsWith(flag.first, "print_"); });

  const AttrMap flags = InstrumentFlags(options, prepared.run);
  PassInstruments& made = result.checks_.instruments;
  BATON_RETURN_IF_ERROR(
      AddInstruments({InstrumentPhase::kSkipExecutions}, flags, run, made));
  // Lines about executions follow those of the other instruments.
  std::vector<InstrumentText> about_executions =
      std::exchange(texts->at_end, {});
  BATON_RETURN_IF_ERROR(
      AddInstruments({InstrumentPhase::kSkip, InstrumentPhase::kTime,
                      InstrumentPhase::kMeasure, InstrumentPhase::kRecord,
                      InstrumentPhase::kPrint},
                     flags, run, made));
  const size_t num_built_in = made.size();
  BATON_RETURN_IF_ERROR(
      AddInstruments({InstrumentPhase::kRegistered}, flags, run, made));
  result.has_registered_ = made.size() > num_built_in;
  texts->at_end.insert(texts->at_end.end(), about_executions.begin(),
                       about_executions.end());
  result.timing_ = FindInstrument<PassTimingInstrument>(made);
  result.recorder_ = FindInstrument<HistoryRecorder>(made);
  // Instruments that check come last: the others have then received the result.
  PreparedRun checked = prepared;
  run.flags = &flags;
  const std::string timing = run.FlagText("timing");
  const bool shows_timing = !timing.empty() && timing != "none";
  if (ChecksValues(prepared.run) && (result.reports_ || shows_timing)) {
    // Evaluating leaves nothing of the passes in the caches of the processor.
    // Where passes are measured, they run a second time to be checked, as if
    // nothing were measured. What that run needs is made when it begins: memory
    // that has been in use is faster, too.
    result.make_value_checks_ = [prepared, recorder = result.recorder_,
                                 report](const Pass& complete) {
      return MakeFaultInstruments(prepared, complete, recorder, report);
    };
    std::erase_if(checked.run.instrument_flags, [](const auto& flag) {
      return PhaseOfFlag(flag.first) == InstrumentPhase::kCheckValues;
    });
  }
  BATON_RETURN_IF_ERROR(AddCheckingInstruments(checked, prepared.pipeline,
                                               report, result.checks_));
  const size_t num_made = made.size();
  BATON_RETURN_IF_ERROR(
      AddInstruments({InstrumentPhase::kProgress}, flags, run, made));
  if (made.size() > num_made) result.progress_ = made.back();
  result.instruments_ = std::move(made);
  if (result.timing_ != nullptr) {
    result.instruments_ =
        MeasureInstruments(std::move(result.instruments_), result.timing_);
  }
  if (MayHaveUnusedFlags(prepared)) {
    result.executed_ = std::make_shared<ExecutedPasses>();
    result.instruments_.push_back(result.executed_);
  }
  return result;
}

absl::Status RunInstruments::CheckValuesSeparately(
    const Pass& pipeline, const IRModule& module,
    PassContextOptions context) const {
  BATON_ASSIGN_OR_RETURN(checks_, make_value_checks_(pipeline));
  context.instruments = checks_.instruments;
  if (first_ != nullptr) {
    context.instruments.insert(context.instruments.begin(), first_);
  }
  if (progress_ != nullptr) context.instruments.push_back(progress_);
  context.config.emplace_back(PrintIrConfig().name(), false);
  // The recorder begins anew: what it then has ends where a mistake is found.
  std::vector<HistoryExecution> measured;
  if (recorder_ != nullptr) measured = recorder_->history().executions;
  absl::Status status;
  timing_->MeasureInstrument("--check_values", [&] {
    status = PassContext(std::move(context)).Run([&]() -> absl::Status {
      BATON_RETURN_IF_ERROR(checks_.BeforePasses(module));
      return pipeline(module).status();
    });
  });
  if (recorder_ != nullptr) recorder_->SetTimes(measured);
  return status;
}

absl::Status RunInstruments::WriteFiles(int signal) const {
  absl::Status status;
  for (const auto& write : texts_->at_exit) status.Update(write(signal));
  return status;
}

absl::StatusOr<std::string> RunInstruments::JsonReport() const {
  if (timing_->keeps_trace()) return timing_->RenderTrace();
  BATON_ASSIGN_OR_RETURN(std::string report, timing_->RenderJson());
  report.resize(report.rfind('}'));
  for (const auto& [key, json] : texts_->json) {
    absl::StrAppend(&report, ",\"", key, "\":", json());
  }
  return absl::StrCat(report, "}\n");
}

absl::Status RunInstruments::Run(const PreparedRun& prepared, IRModule module,
                                 Outcome* outcome) const {
  BATON_ASSIGN_OR_RETURN(const Pass complete,
                         CompletePipeline(prepared, module));
  PassContextOptions context = prepared.context;
  context.instruments = instruments_;
  const IRModule given = make_value_checks_ != nullptr ? module : IRModule();
  const PassContext pass_context(std::move(context));
  BATON_RETURN_IF_ERROR(pass_context.Run([&]() -> absl::Status {
    BATON_RETURN_IF_ERROR(checks_.BeforePasses(module));
    absl::StatusOr<IRModule> result = complete(std::move(module));
    absl::Status status;
    if (make_value_checks_ != nullptr) {
      // The error of a value precedes the failure of a later pass.
      status = CheckValuesSeparately(complete, given, prepared.context);
    }
    status.Update(result.status());
    for (const InstrumentReport& report : texts_->report) {
      const absl::StatusOr<std::string> text = report();
      if (text.ok()) outcome->report += *text;
      status.Update(text.status());
    }
    for (const auto& fn : texts_->after_passes) status.Update(fn());
    if (reports_) {
      absl::StatusOr<std::string> json = JsonReport();
      if (json.ok()) outcome->json_report = *std::move(json);
      status.Update(json.status());
    }
    if (!status.ok()) return status;
    std::optional<IRModule> other;
    if (texts_->result != nullptr) other = texts_->result();
    outcome->module =
        other.has_value() ? *std::move(other) : *std::move(result);
    return status;
  }));
  outcome->checked = checks_.Summary();
  for (const InstrumentText& lines : texts_->at_end) {
    for (const absl::string_view line :
         absl::StrSplit(lines(), '\n', absl::SkipEmpty())) {
      outcome->unused.emplace_back(line);
    }
  }
  const auto unused = [outcome](std::string line) {
    outcome->unused.push_back(std::move(line));
  };
  for (std::string& line : NothingLowered(complete, outcome->module)) {
    unused(std::move(line));
  }
  if (prepared.run.insert_required) {
    const absl::StatusOr<std::string> text = PipelineToString(complete);
    const absl::StatusOr<std::string> given =
        PipelineToString(prepared.pipeline);
    unused(!text.ok() || !given.ok() || *text == *given
               ? "--insert_required: no pass is missing"
               : absl::StrCat("--insert_required: ", *text));
  }
  if (executed_ != nullptr) {
    for (std::string& line :
         UnusedFlags(prepared, complete, executed_->names())) {
      outcome->unused.push_back(std::move(line));
    }
  }
  for (std::string& line : UnreadSettings(prepared.run.config, pass_context)) {
    unused(std::move(line));
  }
  return absl::OkStatus();
}

}  // namespace baton
