#include "baton/tools/opt_instruments.h"

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
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "baton/base/near_names.h"
#include "baton/base/status_macros.h"
#include "baton/instrument/check_values.h"
#include "baton/instrument/history_file.h"
#include "baton/instrument/history_recorder.h"
#include "baton/instrument/instrument_registry.h"
#include "baton/instrument/progress.h"
#include "baton/instrument/remarks.h"
#include "baton/instrument/skip.h"
#include "baton/instrument/timing.h"
#include "baton/ir/module.h"
#include "baton/tools/console.h"
#include "baton/tools/files.h"
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

absl::StatusOr<PassTimingInstrument::Options> TimingOptions(
    const OptOptions& options, bool several) {
  PassTimingInstrument::Options result = {.trace = options.timing == "trace"};
  if (result.trace && several) {
    return absl::InvalidArgumentError(
        "--timing=trace: the input has several modules");
  }
  const bool recorded =
      !options.record.empty() &&
      std::all_of(options.measure.begin(), options.measure.end(),
                  [](const auto& name) { return name == "memory"; });
  if (!options.measure.empty() && options.timing == "none" &&
      options.report.empty() && !recorded) {
    return absl::InvalidArgumentError(
        "--measure: needs --timing or --report; memory, or --record");
  }
  const std::vector<std::pair<std::string, bool*>> things = {
      {"functions", &result.functions},
      {"memory", &result.memory},
      {"instructions", &result.instructions}};
  for (const std::string& name : options.measure) {
    std::vector<std::string> names;
    bool* asked = nullptr;
    for (const auto& [thing, wanted] : things) {
      names.push_back(thing);
      if (thing == name) asked = wanted;
    }
    if (asked == nullptr) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--measure: nothing is called \"", name, "\"",
          DidYouMean(name, names), "; there are ", absl::StrJoin(names, ", ")));
    }
    *asked = true;
  }
  return result;
}

}  // namespace

absl::Status CheckInstrumentFlags(const OptOptions& options,
                                  const PreparedRun& prepared) {
  const InstrumentRun about = {.pipeline = prepared.pipeline};
  for (const InstrumentPhase phase :
       {InstrumentPhase::kMeasure, InstrumentPhase::kPrint}) {
    BATON_RETURN_IF_ERROR(
        MakeInstruments(phase, options.report_flags, about).status());
  }
  BATON_RETURN_IF_ERROR(MakeInstruments(InstrumentPhase::kSkip,
                                        prepared.run.instrument_flags, about)
                            .status());
  BATON_RETURN_IF_ERROR(TimingOptions(options, /*several=*/false).status());
  return absl::OkStatus();
}

absl::StatusOr<RunInstruments> RunInstruments::Create(
    const OptOptions& options, const PreparedRun& prepared,
    size_t module_number, size_t num_modules, Console& console,
    OutputTexts& files) {
  const RunOptions& run = prepared.run;
  const Pass& pipeline = prepared.pipeline;
  const bool several = num_modules > 1;
  RunInstruments instruments;
  const auto add = [&instruments](auto instrument, const char* flag) {
    if (flag != nullptr) instrument->set_name(flag);
    instruments.instruments_.push_back(instrument);
    return instrument;
  };
  const auto report = [&console](absl::string_view text) {
    console.Report(text);
  };
  const bool reports = !options.report.empty();
  InstrumentRun about = {
      .pipeline = pipeline,
      .module_number = several ? static_cast<int>(module_number) : 0,
      .report = report,
      .at_end =
          [texts = instruments.texts_](InstrumentText lines) {
            texts->at_end.push_back(std::move(lines));
          },
      .in_report =
          [texts = instruments.texts_](InstrumentText lines) {
            texts->report.insert(texts->report.begin(), std::move(lines));
          },
      .output =
          [&files](const std::string& file) {
            std::shared_ptr<std::string>& text = files[file];
            if (text == nullptr) text = std::make_shared<std::string>();
            return text;
          }};
  if (reports) {
    about.in_json = [texts = instruments.texts_](std::string key,
                                                 InstrumentText json) {
      texts->json.emplace_back(std::move(key), std::move(json));
    };
  }
  instruments.skip_ = SkippingInstrument(prepared);
  if (instruments.skip_ != nullptr) add(instruments.skip_, nullptr);
  BATON_ASSIGN_OR_RETURN(
      PassInstruments more,
      MakeInstruments(InstrumentPhase::kSkip, run.instrument_flags, about));
  for (auto& instrument : more) add(std::move(instrument), nullptr);
  instruments.reports_ = reports;
  instruments.prints_ = std::any_of(
      options.report_flags.begin(), options.report_flags.end(),
      [](const auto& flag) { return absl::StartsWith(flag.first, "print_"); });
  instruments.shows_timing_ = options.timing != "none";
  instruments.timing_format_ = options.timing;
  instruments.timing_threshold_ = options.timing_threshold;
  instruments.trace_to_file_ = options.timing == "trace" && reports;
  BATON_ASSIGN_OR_RETURN(const PassTimingInstrument::Options timing,
                         TimingOptions(options, several));
  instruments.measures_memory_ = timing.memory;
  // A history has times without those of instruments, too.
  if (instruments.shows_timing_ || reports || !options.record.empty()) {
    instruments.timing_ =
        add(std::make_shared<PassTimingInstrument>(timing), "--timing");
  }
  BATON_ASSIGN_OR_RETURN(more, MakeInstruments(InstrumentPhase::kMeasure,
                                               options.report_flags, about));
  for (auto& instrument : more) add(std::move(instrument), nullptr);
  if (!options.record.empty()) {
    instruments.record_ = several
                              ? absl::StrCat(options.record, ".", module_number)
                              : options.record;
    instruments.record_tensors_ = options.record_tensors;
    instruments.recorder_ =
        add(std::make_shared<HistoryRecorder>(
                HistoryOptions{.origins = options.record_origins,
                               .clock =
                                   [timing = instruments.timing_] {
                                     return timing->PassClock();
                                   }}),
            "--record");
  }
  BATON_ASSIGN_OR_RETURN(more, MakeInstruments(InstrumentPhase::kPrint,
                                               options.report_flags, about));
  for (auto& instrument : more) add(std::move(instrument), nullptr);
  BATON_ASSIGN_OR_RETURN(more, MakeInstruments(InstrumentPhase::kRegistered,
                                               run.instrument_flags, about));
  instruments.has_registered_ = !more.empty();
  for (auto& instrument : more) add(std::move(instrument), nullptr);
  // Instruments that check come last: the others have then received the result.
  std::function<void(const ErrorEntry&)> added;
  if (instruments.recorder_ != nullptr) {
    added = [recorder = instruments.recorder_](const ErrorEntry& error) {
      recorder->AddRemark(RemarkOf(error));
    };
  }
  PreparedRun checks = prepared;
  if (run.check_values && (instruments.shows_timing_ || reports)) {
    // Evaluating leaves nothing of the passes in the caches of the processor.
    // Where passes are measured, they run a second time to be checked, as if
    // nothing were measured. What that run needs is made when it begins: memory
    // that has been in use is faster, too.
    instruments.make_value_checks_ = [prepared,
                                      recorder = instruments.recorder_, report,
                                      added](const Pass& complete) {
      return MakeFaultInstruments(prepared, complete, recorder, report, added);
    };
    DropValueChecks(/*keep=*/{}, checks.run);
  }
  BATON_ASSIGN_OR_RETURN(
      instruments.checks_,
      MakeCheckingInstruments(checks, report, std::move(added)));
  for (const auto& instrument : instruments.checks_.instruments) {
    add(instrument, nullptr);
  }
  // Says what is running for as long as the others are busy with it.
  if (console.shows_progress()) {
    instruments.progress_ = add(
        std::make_shared<ProgressInstrument>(
            pipeline,
            [&console, place = several ? absl::StrCat("module ", module_number,
                                                      "/", num_modules, " ")
                                       : ""](const std::string& text) {
              console.Progress(place + text);
            }),
        nullptr);
  }
  if (instruments.timing_ != nullptr) {
    instruments.instruments_ = MeasureInstruments(
        std::move(instruments.instruments_), instruments.timing_);
  }
  if (MayHaveUnusedFlags(prepared)) {
    instruments.executed_ = add(std::make_shared<ExecutedPasses>(), nullptr);
  }
  return instruments;
}

namespace {

// With --expect: compares the results of `module`, the argument of the passes.
absl::Status CheckExpected(const CheckingInstruments& checks,
                           const IRModule& module) {
  if (checks.values == nullptr || !checks.has_expected) return absl::OkStatus();
  const absl::Status status = checks.values->CheckInput(module);
  if (status.ok()) return status;
  return absl::Status(status.code(),
                      absl::StrCat("--expect: ", status.message()));
}

}  // namespace

absl::Status RunInstruments::RecordMeasurements() const {
  if (recorder_ == nullptr || !measures_memory_) return absl::OkStatus();
  BATON_ASSIGN_OR_RETURN(std::vector<PassProfile> profiles,
                         timing_->Profiles());
  while (!profiles.empty()) {
    const PassProfile profile = std::move(profiles.back());
    profiles.pop_back();
    recorder_->SetMemory(profile.number, *profile.memory);
    profiles.insert(profiles.end(), profile.children.begin(),
                    profile.children.end());
  }
  return absl::OkStatus();
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
      BATON_RETURN_IF_ERROR(CheckExpected(checks_, module));
      return pipeline(module).status();
    });
  });
  if (recorder_ != nullptr) recorder_->SetTimes(measured);
  return status;
}

absl::Status RunInstruments::WriteRecord(int signal) const {
  if (recorder_ == nullptr) return absl::OkStatus();
  BATON_ASSIGN_OR_RETURN(
      const HistoryBytes bytes,
      WriteHistory(
          recorder_->history(signal),
          {.max_tensor_bytes = record_tensors_
                                   ? UINT64_MAX
                                   : HistoryWriteOptions().max_tensor_bytes}));
  return WriteFileAtomically(record_, bytes.pieces());
}

absl::StatusOr<std::string> RunInstruments::Report() const {
  std::string report;
  for (const InstrumentText& text : texts_->report) report += text();
  if (shows_timing_ && !trace_to_file_) {
    BATON_ASSIGN_OR_RETURN(const std::string profile,
                           timing_format_ == "json"    ? timing_->RenderJson()
                           : timing_format_ == "trace" ? timing_->RenderTrace()
                           : timing_format_ == "sums"
                               ? timing_->RenderSums(timing_threshold_)
                               : timing_->Render());
    report += profile;
  }
  return report;
}

absl::StatusOr<std::string> RunInstruments::JsonReport() const {
  if (timing_format_ == "trace") return timing_->RenderTrace();
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
    BATON_RETURN_IF_ERROR(CheckExpected(checks_, module));
    absl::StatusOr<IRModule> result = complete(std::move(module));
    absl::Status status;
    if (make_value_checks_ != nullptr) {
      // The error of a value precedes the failure of a later pass.
      status = CheckValuesSeparately(complete, given, prepared.context);
    }
    status.Update(result.status());
    absl::StatusOr<std::string> report = Report();
    status.Update(RecordMeasurements());
    if (report.ok()) outcome->report = *std::move(report);
    status.Update(report.status());
    if (reports_) {
      absl::StatusOr<std::string> json = JsonReport();
      if (json.ok()) outcome->json_report = *std::move(json);
      status.Update(json.status());
    }
    if (!status.ok()) return status;
    outcome->module = skip_ != nullptr && skip_->stopped().has_value()
                          ? *skip_->stopped()
                          : *std::move(result);
    return status;
  }));
  outcome->checked = checks_.summary();
  for (const InstrumentText& lines : texts_->at_end) {
    for (const absl::string_view line :
         absl::StrSplit(lines(), '\n', absl::SkipEmpty())) {
      outcome->unused.emplace_back(line);
    }
  }
  if (skip_ != nullptr) {
    for (std::string& line : skip_->Unmet()) {
      outcome->unused.push_back(std::move(line));
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
