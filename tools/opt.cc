#include "baton/tools/opt.h"

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <istream>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "baton/base/fields.h"
#include "baton/base/limits.h"
#include "baton/base/near_names.h"
#include "baton/base/status_macros.h"
#include "baton/instrument/bisect.h"
#include "baton/instrument/check_values.h"
#include "baton/instrument/crash_guard.h"
#include "baton/instrument/dump.h"
#include "baton/instrument/history_file.h"
#include "baton/instrument/history_recorder.h"
#include "baton/instrument/op_differ.h"
#include "baton/instrument/print_ir.h"
#include "baton/instrument/progress.h"
#include "baton/instrument/remarks.h"
#include "baton/instrument/timing.h"
#include "baton/ir/binary_reader.h"
#include "baton/ir/binary_writer.h"
#include "baton/ir/diagnostics.h"
#include "baton/ir/module.h"
#include "baton/ir/module_text.h"
#include "baton/ir/op.h"
#include "baton/relay/bind.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/pattern/rewrite_rule.h"
#include "baton/relay/pattern/rule_text.h"
#include "baton/relay/runtime/code_generator.h"
#include "baton/relay/runtime/kernel.h"
#include "baton/relay/transform/rule_promise.h"
#include "baton/testing/workloads/workload.h"
#include "baton/tools/check_rules.h"
#include "baton/tools/drop_weights.h"
#include "baton/tools/expected_diagnostics.h"
#include "baton/tools/files.h"
#include "baton/tools/flags.h"
#include "baton/tools/input.h"
#include "baton/tools/npy.h"
#include "baton/tools/reproducer.h"
#include "baton/tools/run_options.h"
#include "baton/tools/run_settings.h"
#include "baton/tools/tensor_files.h"
#include "baton/tools/triage_report.h"
#include "baton/tools/why_not.h"
#include "baton/transform/limits_config.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_instrument.h"
#include "baton/transform/pass_registry.h"
#include "baton/transform/pipeline.h"
#include "baton/transform/print_ir.h"
#include "baton/transform/value_promise.h"
#include "baton/triage/child.h"
#include "baton/triage/failure.h"
#include "baton/triage/interrupt.h"
#include "baton/triage/progress_page.h"

namespace baton {
namespace {

constexpr char kStandardStream[] = "-";

absl::StatusOr<IRModule> LoadWorkload(const OptOptions& options) {
  if (!options.bind_params) {
    return testing::GetWorkloadModule(options.workload);
  }
  BATON_ASSIGN_OR_RETURN(testing::Workload workload,
                         testing::GetWorkload(options.workload));
  BATON_ASSIGN_OR_RETURN(
      Function bound,
      relay::BindParamsByName(workload.module.Find<Function>("main"),
                              workload.params));
  workload.module.Set("main", std::move(bound));
  return workload.module;
}

bool IsWorkload(absl::string_view text) {
  const auto workloads = testing::ListWorkloads();
  if (!workloads.ok()) return false;
  for (const testing::WorkloadInfo& info : *workloads) {
    if (text.substr(0, text.find('{')) == info.name) return true;
  }
  return false;
}

// Where reports go, with a line between them that says what is under way, if
// that is wanted.
class Console {
 public:
  Console(std::ostream& reports, bool progress) : reports_(reports) {
    if (!progress) return;
    line_.emplace(
        [&reports](absl::string_view text) { reports << text << std::flush; });
  }

  void Report(absl::string_view text) {
    if (line_.has_value()) line_->Hide();
    reports_ << text << std::flush;
  }
  void Progress(std::string text) {
    if (line_.has_value()) line_->Show(std::move(text));
  }
  bool shows_progress() const { return line_.has_value(); }
  // For what writes while passes run.
  std::ostream& stream() { return reports_; }

 private:
  std::ostream& reports_;
  std::optional<ProgressLine> line_;
};

// The modules to run passes over, and how.
struct Job {
  std::string name;  // of the input, for messages
  std::vector<InputModule> modules;
  RunOptions run;
};

absl::StatusOr<FileContent> MapStream(std::istream& in,
                                      absl::string_view name) {
  BATON_ASSIGN_OR_RETURN(std::string text, ReadStream(in, name));
  return ContentOf(std::move(text));
}

absl::StatusOr<Job> ReadInput(const OptOptions& options, std::istream& in,
                              Console& console) {
  Job job;
  job.run = options.run;
  const bool from_stream = options.input == kStandardStream;
  job.name = from_stream ? "<stdin>" : options.input;
  console.Progress(absl::StrCat("reading ", job.name));
  absl::StatusOr<FileContent> content =
      from_stream ? MapStream(in, job.name) : MapFile(options.input);
  if (absl::IsNotFound(content.status()) && IsWorkload(options.input)) {
    return absl::NotFoundError(
        absl::StrCat("there is no file ", options.input,
                     "; did you mean --workload=", options.input, "?"));
  }
  BATON_RETURN_IF_ERROR(content.status());
  const absl::string_view foreign = ForeignKindOf(content->bytes);
  if (!foreign.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(job.name, " is ", foreign,
                     "; Baton reads text, its own binary files, and ONNX"));
  }
  const InputFormat format = FormatOf(content->bytes, job.name);
  if (format == InputFormat::kOnnx) {
    const ModuleReader* reader = ModuleReaders().Find("onnx");
    if (reader == nullptr) {
      return absl::UnimplementedError(absl::StrCat(
          job.name, " is an ONNX file, which this program cannot read"));
    }
    ModuleReader::Input input;
    input.content = *std::move(content);
    input.name = job.name;
    if (!from_stream) input.path = options.input;
    BATON_ASSIGN_OR_RETURN(input.input_shapes,
                           ParseInputShapes(options.input_shapes));
    BATON_ASSIGN_OR_RETURN(input.input_values,
                           ParseInputValues(options.input_values));
    BATON_ASSIGN_OR_RETURN(IRModule module, reader->read(input));
    job.modules.push_back({.module = std::move(module)});
    return job;
  }
  if (!options.input_shapes.empty() || !options.input_values.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        options.input_shapes.empty() ? "--input_values: " : "--input_shapes: ",
        job.name, " is no ONNX file"));
  }
  const bool is_binary = format == InputFormat::kBinary;
  BinaryContent binary;
  if (is_binary) {
    BATON_ASSIGN_OR_RETURN(binary, ReadBinaryModule(*content, job.name));
  }
  BATON_RETURN_IF_ERROR(
      ReadReproducerHead(is_binary ? binary.comment : content->bytes, job.name,
                         options.given, job.run));
  if (!job.run.check_values) DropValueChecks(options.given, job.run);
  // Beside a reproducer.
  std::error_code ignored;
  for (std::string* file : {&job.run.inputs, &job.run.expect}) {
    const std::filesystem::path beside =
        std::filesystem::path(options.input).parent_path() / *file;
    if (!file->empty() && *file != options.run.inputs &&
        *file != options.run.expect &&
        std::filesystem::exists(beside, ignored)) {
      *file = beside.string();
    }
  }
  Diagnostics diagnostics;
  if (is_binary) {
    job.modules.push_back({.module = std::move(binary.module)});
  } else {
    job.modules = ParseModules(std::string(content->bytes), job.name,
                               options.split_input_file, diagnostics);
  }
  if (!diagnostics.list().empty()) {
    console.Report(diagnostics.ToString() + "\n");
  }
  if (const int n = diagnostics.num_errors(); n > 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(n, n == 1 ? " error" : " errors", " in ", job.name));
  }
  if (job.run.typed_input) {
    for (InputModule& input : job.modules) {
      BATON_ASSIGN_OR_RETURN(input.module, InferTypes(input.module));
    }
  }
  return job;
}

absl::StatusOr<Job> LoadInput(const OptOptions& options, std::istream& in,
                              Console& console) {
  if (options.input.empty() == options.workload.empty()) {
    return absl::InvalidArgumentError(
        options.input.empty()
            ? "nothing to do: give a file, - or --workload=WORKLOAD (see "
              "--help)"
            : absl::StrCat("both ", options.input,
                           " and --workload=", options.workload, " are given"));
  }
  if (!options.input.empty()) {
    if (options.bind_params) {
      return absl::InvalidArgumentError(
          "--bind_params: only workloads have weights to bind");
    }
    return ReadInput(options, in, console);
  }
  console.Progress(absl::StrCat("making ", options.workload));
  BATON_ASSIGN_OR_RETURN(IRModule module, LoadWorkload(options));
  return Job{options.workload, {{.module = std::move(module)}}, options.run};
}

bool PrintsModules(const OptOptions& options) {
  return !options.print_before.empty() || !options.print_after.empty() ||
         options.print_changed != "none";
}

absl::StatusOr<std::shared_ptr<PassInstrument>> CreatePrinter(
    const OptOptions& options, std::ostream& out) {
  using Changed = PrintIrOptions::Changed;
  return PrintIrInstrument::Create(
      {.before = options.print_before,
       .after = options.print_after,
       .changed = options.print_changed == "full"         ? Changed::kFull
                  : options.print_changed == "diff"       ? Changed::kDiff
                  : options.print_changed == "structural" ? Changed::kStructural
                                                          : Changed::kNone,
       .out = &out});
}

// Null if neither remarks nor statistics are asked for. What is for the file
// goes to `json`.
absl::StatusOr<std::shared_ptr<RemarkInstrument>> CreateRemarks(
    const OptOptions& options, Console& console,
    std::shared_ptr<std::string> json) {
  const bool to_file = !options.remarks_file.empty();
  if (options.remarks.empty() && !to_file && !options.statistics) {
    return nullptr;
  }
  auto result = RemarkInstrument::Create(
      {.remarks = options.remarks.empty() && to_file ? "all" : options.remarks,
       .statistics = options.statistics,
       .on_remark = [&console, to_file,
                     json = std::move(json)](const RenderedRemark& remark) {
         if (to_file) {
           absl::StrAppend(json.get(), RemarkJson(remark), "\n");
         } else {
           console.Report(absl::StrCat(RemarkText(remark), "\n"));
         }
       }});
  if (result.ok()) return result;
  return absl::Status(result.status().code(),
                      absl::StrCat("--remarks: ", result.status().message()));
}

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

// Who watches the passes, as the options ask.
class RunInstruments {
 public:
  // `module_number`: among `num_modules`, from 1.
  static absl::StatusOr<RunInstruments> Create(
      const OptOptions& options, const RunOptions& run, const Pass& pipeline,
      size_t module_number, size_t num_modules, Console& console,
      std::shared_ptr<std::string> remarks);

  const PassInstruments& instruments() const { return instruments_; }
  // Adds an instrument that is told before all others.
  void AddFirst(const std::shared_ptr<PassInstrument>& instrument) {
    instruments_.insert(instruments_.begin(), instrument);
    first_ = instrument;
  }

  // True if the passes must run once more, to check values.
  bool checks_values_separately() const {
    return make_value_checks_ != nullptr;
  }
  absl::Status CheckValuesSeparately(const Pass& pipeline,
                                     const IRModule& module,
                                     PassContextOptions context) const;
  // Puts into the history what was measured; the context must not have exited.
  absl::Status RecordMeasurements() const;
  // Writes the history, if it is wanted.
  absl::Status WriteRecord(int signal = 0) const;

  // True if there will be a report.
  bool has_report() const {
    return bisect_ != nullptr || shows_timing_ || shows_diff_ || prints_ ||
           remarks_ != nullptr || has_registered_;
  }

  // The statistics of the passes, also if a pass failed.
  std::string Statistics() const {
    return remarks_ == nullptr ? "" : remarks_->StatisticsText();
  }

  // The report after the passes; the context must not have exited.
  absl::StatusOr<std::string> Report() const;
  // The report for OptOptions::report, which must be set.
  absl::StatusOr<std::string> JsonReport() const;

 private:
  PassInstruments instruments_;
  // Makes the instruments of a second run that checks values; null if there is
  // none.
  std::function<absl::StatusOr<PassInstruments>()> make_value_checks_;
  std::shared_ptr<PassInstrument> first_;     // null if there is none
  std::shared_ptr<PassInstrument> progress_;  // null if there is none
  std::shared_ptr<BisectInstrument> bisect_;
  std::shared_ptr<PassTimingInstrument> timing_;
  std::shared_ptr<OpDiffer> differ_;
  std::shared_ptr<RemarkInstrument> remarks_;
  std::shared_ptr<HistoryRecorder> recorder_;
  std::string record_;
  bool record_tensors_ = false;
  bool measures_memory_ = false;
  bool shows_timing_ = false;
  bool shows_diff_ = false;
  std::string timing_format_;
  double timing_threshold_ = 0;
  bool trace_to_file_ = false;
  bool prints_ = false;
  bool has_registered_ = false;
};

// The instruments of a run that only checks; `recorder` may be null.
absl::StatusOr<PassInstruments> OnlyChecks(
    const RunOptions& run, const Pass& pipeline,
    const std::shared_ptr<HistoryRecorder>& recorder,
    std::function<void(absl::string_view)> report,
    std::function<void(const AddedError&)> added) {
  BATON_ASSIGN_OR_RETURN(PassInstruments instruments, SkippingInstruments(run));
  if (run.bisect_limit >= 0) {
    instruments.push_back(std::make_shared<BisectInstrument>(run.bisect_limit));
  }
  if (recorder != nullptr) instruments.push_back(recorder);
  // They may keep passes from running.
  BATON_ASSIGN_OR_RETURN(
      PassInstruments more,
      RegisteredInstruments(
          run,
          {.pipeline = pipeline, .report = [](absl::string_view /*text*/) {}}));
  instruments.insert(instruments.end(), more.begin(), more.end());
  BATON_ASSIGN_OR_RETURN(
      more, CheckingInstruments(run, std::move(report), std::move(added)));
  instruments.insert(instruments.end(), more.begin(), more.end());
  return instruments;
}

absl::StatusOr<RunInstruments> RunInstruments::Create(
    const OptOptions& options, const RunOptions& run, const Pass& pipeline,
    size_t module_number, size_t num_modules, Console& console,
    std::shared_ptr<std::string> remarks) {
  const bool several = num_modules > 1;
  RunInstruments instruments;
  const auto add = [&instruments](auto instrument) {
    instruments.instruments_.push_back(instrument);
    return instrument;
  };
  BATON_ASSIGN_OR_RETURN(instruments.instruments_, SkippingInstruments(run));
  if (run.bisect_limit >= 0) {
    instruments.bisect_ =
        add(std::make_shared<BisectInstrument>(run.bisect_limit));
  }
  const bool reports = !options.report.empty();
  instruments.shows_timing_ = options.timing != "none";
  instruments.timing_format_ = options.timing;
  instruments.timing_threshold_ = options.timing_threshold;
  instruments.trace_to_file_ = options.timing == "trace" && reports;
  BATON_ASSIGN_OR_RETURN(const PassTimingInstrument::Options timing,
                         TimingOptions(options, several));
  instruments.measures_memory_ = timing.memory;
  // A history has times without those of instruments, too.
  if (instruments.shows_timing_ || reports || !options.record.empty()) {
    instruments.timing_ = add(std::make_shared<PassTimingInstrument>(timing));
  }
  instruments.shows_diff_ = options.op_diff;
  if (instruments.shows_diff_ || reports) {
    instruments.differ_ = add(std::make_shared<OpDiffer>());
  }
  BATON_ASSIGN_OR_RETURN(instruments.remarks_,
                         CreateRemarks(options, console, std::move(remarks)));
  if (instruments.remarks_ != nullptr) add(instruments.remarks_);
  if (!options.record.empty()) {
    instruments.record_ = several
                              ? absl::StrCat(options.record, ".", module_number)
                              : options.record;
    instruments.record_tensors_ = options.record_tensors;
    instruments.recorder_ = add(std::make_shared<HistoryRecorder>(
        HistoryOptions{.origins = options.record_origins,
                       .clock = [timing = instruments.timing_] {
                         return timing->PassClock();
                       }}));
  }
  if (PrintsModules(options)) {
    BATON_ASSIGN_OR_RETURN(auto printer,
                           CreatePrinter(options, console.stream()));
    add(std::move(printer));
    instruments.prints_ = true;
  }
  if (!options.why_not.empty()) {
    BATON_ASSIGN_OR_RETURN(
        auto why_not, WhyNotInstrument::Create(
                          options.why_not, [&console](absl::string_view text) {
                            console.Report(text);
                          }));
    add(std::move(why_not));
  }
  if (!options.dump_dir.empty()) {
    add(std::make_shared<DumpInstrument>(
        several ? absl::StrCat(options.dump_dir, "/", module_number)
                : options.dump_dir));
  }
  BATON_ASSIGN_OR_RETURN(
      PassInstruments more,
      RegisteredInstruments(
          run, {.pipeline = pipeline,
                .module_number = several ? static_cast<int>(module_number) : 0,
                .report = [&console](absl::string_view text) {
                  console.Report(text);
                }}));
  instruments.has_registered_ = !more.empty();
  for (auto& instrument : more) add(std::move(instrument));
  // Instruments that check come last: the others have then received the result.
  std::function<void(const AddedError&)> added;
  if (instruments.recorder_ != nullptr) {
    added = [recorder = instruments.recorder_](const AddedError& error) {
      recorder->AddRemark(RemarkOf(error));
    };
  }
  const auto report = [&console](absl::string_view text) {
    console.Report(text);
  };
  RunOptions checks = run;
  if (run.check_values && (instruments.shows_timing_ || reports)) {
    // Evaluating leaves nothing of the passes in the caches of the processor.
    // Where passes are measured, they run a second time to be checked, as if
    // nothing were measured. What that run needs is made when it begins: memory
    // that has been in use is faster, too.
    instruments.make_value_checks_ =
        [run, pipeline, recorder = instruments.recorder_, report, added] {
          return OnlyChecks(run, pipeline, recorder, report, added);
        };
    DropValueChecks(/*keep=*/{}, checks);
    if (!run.inputs.empty()) {
      BATON_RETURN_IF_ERROR(instruments.make_value_checks_().status());
    }
  }
  BATON_ASSIGN_OR_RETURN(more,
                         CheckingInstruments(checks, report, std::move(added)));
  for (auto& instrument : more) add(std::move(instrument));
  // Says what is running for as long as the others are busy with it.
  if (console.shows_progress()) {
    instruments.progress_ = add(std::make_shared<ProgressInstrument>(
        pipeline,
        [&console, place = several ? absl::StrCat("module ", module_number, "/",
                                                  num_modules, " ")
                                   : ""](const std::string& text) {
          console.Progress(place + text);
        }));
  }
  if (instruments.timing_ != nullptr) {
    instruments.instruments_ = MeasureInstruments(
        std::move(instruments.instruments_), instruments.timing_);
  }
  return instruments;
}

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
  BATON_ASSIGN_OR_RETURN(context.instruments, make_value_checks_());
  if (first_ != nullptr) {
    context.instruments.insert(context.instruments.begin(), first_);
  }
  if (progress_ != nullptr) context.instruments.push_back(progress_);
  context.config.emplace_back(PrintIrConfig().name(), false);
  // The recorder begins anew: what it then has ends where a mistake is found.
  std::vector<HistoryExecution> measured;
  if (recorder_ != nullptr) measured = recorder_->history().executions;
  absl::Status status;
  timing_->MeasureInstrument("CheckValuesInstrument", [&] {
    status = PassContext(std::move(context))
                 .Run([&] { return pipeline(module); })
                 .status();
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
  if (shows_diff_) report = differ_->ToString();
  if (bisect_ != nullptr) absl::StrAppend(&report, bisect_->ToString());
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
  return absl::StrCat(report, ",\"op_diff\":", differ_->ToJson(), "}\n");
}

// The result of the passes on a module, and the reports about it.
struct Outcome {
  IRModule module;
  std::string report;
  std::string json_report;  // empty if not requested
};

// If a pass fails, `outcome` has the reports up to there.
absl::Status RunPasses(IRModule module, const Pass& pipeline,
                       const OptOptions& options, const RunOptions& run,
                       const RunInstruments& instruments, Outcome* outcome) {
  BATON_ASSIGN_OR_RETURN(const Pass complete,
                         CompletePipeline(pipeline, run, module));
  BATON_ASSIGN_OR_RETURN(PassContextOptions context, ContextOf(run));
  const PassContextOptions apart = context;
  const IRModule given =
      instruments.checks_values_separately() ? module : IRModule();
  context.instruments = instruments.instruments();
  return PassContext(std::move(context)).Run([&]() -> absl::Status {
    absl::StatusOr<IRModule> result = complete(std::move(module));
    absl::Status status;
    if (instruments.checks_values_separately()) {
      // The error of a value precedes the failure of a later pass.
      status = instruments.CheckValuesSeparately(complete, given, apart);
    }
    status.Update(result.status());
    absl::StatusOr<std::string> report = instruments.Report();
    status.Update(instruments.RecordMeasurements());
    if (report.ok()) outcome->report = *std::move(report);
    status.Update(report.status());
    if (!options.report.empty()) {
      absl::StatusOr<std::string> json = instruments.JsonReport();
      if (json.ok()) outcome->json_report = *std::move(json);
      status.Update(json.status());
    }
    if (status.ok()) outcome->module = *std::move(result);
    return status;
  });
}

// A copy of what --inputs or --expect names, beside the reproducer, which says
// its name.
absl::Status KeepTensors(const std::string& path, absl::string_view kind,
                         std::string& source) {
  if (source.empty()) return absl::OkStatus();
  BATON_ASSIGN_OR_RETURN(NamedTensors tensors, ReadTensors(source, kind));
  for (size_t i = 0; i < tensors.size(); ++i) {
    std::string& name = tensors[i].first;
    if (name.empty()) name = absl::StrCat("arr_", i);
  }
  BATON_ASSIGN_OR_RETURN(const std::string bytes, WriteNpz(tensors));
  const std::string copy = absl::StrCat(path, ".", kind, ".npz");
  BATON_RETURN_IF_ERROR(WriteFileAtomically(copy, bytes));
  source = std::filesystem::path(copy).filename().string();
  return absl::OkStatus();
}

// A reproducer that is longer than this many bytes is cut.
constexpr size_t kLongProgram = 10'000;

// `module` without the weights that the failure `error` does not need, and, if
// it is still long, without most of the nodes. They become inputs, so those
// must be random.
absl::StatusOr<IRModule> MinimizeForReproducer(const IRModule& module,
                                               const RunOptions& run,
                                               const absl::Status& error,
                                               const ChildLimits& limits) {
  const Failure failure = FailureOf(error);
  if (!run.inputs.empty() || !failure.failed()) return module;
  BATON_ASSIGN_OR_RETURN(const Pass pipeline, PipelineOf(run));
  BATON_ASSIGN_OR_RETURN(const Pass complete,
                         CompletePipeline(pipeline, run, module));
  BATON_ASSIGN_OR_RETURN(const PipelineSettings settings,
                         FaultSettings(run, complete, true));
  const bool typed = InferTypes(module)->SameAs(module);
  const auto fails = [&](const IRModule& candidate) -> absl::StatusOr<bool> {
    absl::StatusOr<IRModule> given = InferTypes(candidate);
    if (!given.ok()) return false;
    BATON_ASSIGN_OR_RETURN(const Failure now,
                           RunPipelineInChild(typed ? *given : candidate,
                                              complete, settings, limits));
    return now.number == failure.number && SameFailure(failure, now);
  };
  BATON_ASSIGN_OR_RETURN(const IRModule light, DropWeights(module, fails));
  if (AsText(light).size() <= kLongProgram) return light;
  BATON_ASSIGN_OR_RETURN(const IRModule given, InferTypes(light));
  return CutToFailure(given, fails);
}

// Writes a reproducer. Returns a line that says so, or why there is none.
std::string WriteReproducer(const IRModule& module, RunOptions run,
                            const absl::Status& error, const std::string& path,
                            const ChildLimits& limits) {
  absl::Status written = KeepTensors(path, "inputs", run.inputs);
  written.Update(KeepTensors(path, "expect", run.expect));
  if (!written.ok()) return std::string(written.message());
  if (absl::EndsWith(path, ".baton")) {
    const absl::StatusOr<BinaryModule> binary =
        WriteBinary(module, {.comment = ReproducerHead(module, run, error)});
    written = binary.ok() ? WriteFileAtomically(path, binary->pieces())
                          : binary.status();
  } else {
    const IRModule light =
        MinimizeForReproducer(module, run, error, limits).value_or(module);
    written = WriteFileAtomically(path, ReproducerText(light, run, error));
  }
  return written.ok() ? absl::StrCat("reproducer: ", path)
                      : std::string(written.message());
}

// The format of the result.
std::string EmitOf(const OptOptions& options) {
  return options.emit == "text" && absl::EndsWith(options.output, ".onnx")
             ? "onnx"
             : options.emit;
}

// The module in the format of a library.
absl::StatusOr<ModuleWriter::Output> WriteAs(const std::string& format,
                                             const IRModule& module,
                                             const OptOptions& options) {
  const ModuleWriter* writer = ModuleWriters().Find(format);
  if (writer == nullptr) {
    return absl::UnimplementedError(
        absl::StrCat("this program cannot write ", format));
  }
  ModuleWriter::Options write = {.onnx_opset = options.onnx_opset};
  if (options.onnx_external_data) {
    if (options.output.empty() || options.output == kStandardStream) {
      return absl::InvalidArgumentError(
          "--onnx_external_data: needs --output=FILE");
    }
    write.external_data =
        std::filesystem::path(options.output).filename().string() + ".data";
  }
  return writer->write(module, write);
}

// Puts files into `folder`, which is made if it is not there.
absl::Status WriteArtifacts(const std::string& folder,
                            const std::vector<Artifact>& artifacts) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) {
    return absl::UnavailableError(
        absl::StrCat("--artifacts=", folder, ": ", error.message()));
  }
  for (const Artifact& artifact : artifacts) {
    BATON_RETURN_IF_ERROR(WriteFileAtomically(
        absl::StrCat(folder, "/", artifact.name), artifact.bytes));
  }
  return absl::OkStatus();
}

absl::Status Emit(const OptOptions& options,
                  absl::Span<const absl::string_view> pieces,
                  std::ostream& out) {
  if (options.emit == "none") return absl::OkStatus();
  if (!options.output.empty() && options.output != kStandardStream) {
    return WriteFileAtomically(options.output, pieces);
  }
  for (const absl::string_view piece : pieces) {
    out.write(piece.data(), static_cast<std::streamsize>(piece.size()));
  }
  out << std::flush;
  return out ? absl::OkStatus()
             : absl::UnavailableError("cannot write to standard output");
}

}  // namespace

absl::Status ListRules(const std::vector<std::string>& files,
                       std::ostream& out) {
  BATON_ASSIGN_OR_RETURN(const std::vector<relay::RewriteRule> rules,
                         LoadRules(files));
  absl::string_view separator;
  for (const relay::RewriteRule& rule : rules) {
    out << separator << "// " << relay::ValuePromiseText(rule.promise) << "\n"
        << relay::PrintRules({rule});
    separator = "\n";
  }
  return absl::OkStatus();
}

absl::Status CheckRules(const std::vector<std::string>& files,
                        std::ostream& out) {
  BATON_ASSIGN_OR_RETURN(const std::vector<relay::RewriteRule> rules,
                         LoadRules(files));
  int broken = 0;
  for (const RuleReport& report : CheckRules(rules)) {
    out << "@" << report.rule << ": "
        << (report.broken.empty() ? "keeps the laws" : "breaks a law")
        << ", on " << report.programs << " programs, " << report.evaluated
        << " evaluations\n";
    for (const std::string& law : report.broken) out << "  " << law << "\n";
    for (const std::string& overlap : report.overlaps) {
      out << "  note: " << overlap << "\n";
    }
    if (!report.broken.empty()) ++broken;
  }
  if (broken == 0) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat(broken, " of ", rules.size(), " rules break laws"));
}

absl::StatusOr<OptJob> LoadOptJob(const OptOptions& options,
                                  const OptStreams& streams) {
  Console console(streams.reports, options.progress);
  BATON_RETURN_IF_ERROR(PipelineOf(options.run).status());
  BATON_ASSIGN_OR_RETURN(const PassContextOptions context,
                         ContextOf(options.run));
  const Limits limits = LimitsOf(context.config);
  const ScopedLimits scoped_limits(limits);
  BATON_ASSIGN_OR_RETURN(Job job, LoadInput(options, streams.in, console));
  BATON_ASSIGN_OR_RETURN(Pass pipeline, PipelineOf(job.run));
  return OptJob{std::move(job.name), std::move(job.modules), std::move(job.run),
                std::move(pipeline)};
}

namespace {

// The observation of a run in another process up to its first failure.
struct Observed {
  std::shared_ptr<ProgressPage> progress;
  Failure failure;
  size_t module_index = 0;  // in Job::modules
};

// Runs the pipeline over the modules, and writes results and reports.
absl::Status RunJob(const OptOptions& options, Job& job, const Pass& pipeline,
                    Console& console, const OptStreams& streams,
                    Observed* observed);

int64_t TriageMemory(double gigabytes) {
  if (gigabytes > 0) return static_cast<int64_t>(gigabytes * 0x1p30);
  const auto pages = static_cast<int64_t>(sysconf(_SC_PHYS_PAGES));
  return pages / 4 * 3 * static_cast<int64_t>(sysconf(_SC_PAGE_SIZE));
}

// The end of a run in another process.
struct RunEnd {
  Failure failure;
  size_t module_index = 0;  // in Job::modules
  std::string message;
};

// The end of a run that ended; nullopt if it succeeded.
absl::StatusOr<std::optional<RunEnd>> EndOf(const ChildResult& result,
                                            const ProgressPage& progress) {
  RunEnd end;
  if (result.end != ChildResult::End::kReturned) {
    end.failure = FailureOf(result, progress);
    end.module_index = static_cast<size_t>(progress.item());
    end.message = end.failure.message;
    return end;
  }
  if (result.output.empty()) return std::nullopt;
  const std::vector<absl::string_view> parts =
      absl::StrSplit(result.output, absl::MaxSplits(' ', 2));
  size_t size = 0;
  if (parts.size() != 3 || !absl::SimpleAtoi(parts[0], &end.module_index) ||
      !absl::SimpleAtoi(parts[1], &size) || parts[2].size() < size) {
    return absl::InternalError("the passes' process returned nonsense");
  }
  end.failure = ReadFailure(parts[2].substr(0, size));
  end.failure.seconds = result.seconds;
  end.message = std::string(parts[2].substr(size));
  return end;
}

// Finds out what broke. Returns the lines to show.
absl::StatusOr<std::string> TriageOf(const OptOptions& options, const Job& job,
                                     const Pass& pipeline, const RunEnd& end,
                                     const ChildLimits& limits,
                                     double suspect_seconds) {
  const InterruptGuard guard;
  FailedRun failed = {.name = job.name,
                      .module = job.modules[end.module_index].module,
                      .pipeline = pipeline,
                      .run = job.run,
                      .failure = end.failure};
  // If passes are missing, that is the failure.
  absl::StatusOr<Pass> complete =
      CompletePipeline(pipeline, job.run, failed.module);
  if (complete.ok()) failed.pipeline = *std::move(complete);
  failed.run = WithoutInputs(std::move(failed.run));
  failed.run.insert_required = false;
  BATON_ASSIGN_OR_RETURN(failed.settings,
                         FaultSettings(failed.run, failed.pipeline, true));
  BATON_ASSIGN_OR_RETURN(failed.settings.prepare, InputBinding(job.run));
  BATON_ASSIGN_OR_RETURN(failed.replay,
                         FaultSettings(failed.run, failed.pipeline, false));
  return WriteTriage(failed, {.folder = options.triage,
                              .tool = options.program,
                              .limits = limits,
                              .suspect_seconds = suspect_seconds});
}

// How often a run is looked at, and when it is first suspected not to end; that
// is certain if little is left of the program and takes as long.
constexpr double kLookSeconds = 0.1;
constexpr double kSuspectSeconds = 2;

// Notices that one execution of a pass takes much longer than all before it.
class HangDetector {
 public:
  HangDetector(const Child& child, const ProgressPage& progress)
      : child_(child), progress_(progress) {}

  // The failure if the run seems to be an endless loop; nullopt without
  // suspicion. Suspects an execution only once. Measures wall-clock time as
  // well: on many processors, a second of it is much processor time.
  std::optional<Failure> Poll() {
    const absl::Time now = absl::Now();
    if (progress_.number() != number_) {
      number_ = progress_.number();
      since_ = now;
      suspected_ = false;
    }
    const double before = progress_.seconds();
    if (suspected_ || number_ == 0 ||
        now - since_ < absl::Seconds(kSuspectSeconds) ||
        child_.Seconds() - before <
            std::max(kSuspectSeconds, kSuspectFactor * before)) {
      return std::nullopt;
    }
    suspected_ = true;
    ChildResult as_if;
    as_if.end = ChildResult::End::kTimedOut;
    return FailureOf(as_if, progress_);
  }

 private:
  static constexpr double kSuspectFactor = 10;

  const Child& child_;
  const ProgressPage& progress_;
  int64_t number_ = 0;
  absl::Time since_;
  bool suspected_ = false;
};

// As RunJob, in a child process. If the run fails, finds the cause.
absl::Status RunJobWithTriage(const OptOptions& options, Job& job,
                              const Pass& pipeline, Console& console,
                              const OptStreams& streams) {
  Observed observed;
  BATON_ASSIGN_OR_RETURN(observed.progress, ProgressPage::Create());
  const ChildLimits limits = {
      .seconds = options.triage_seconds,
      .memory_bytes = TriageMemory(options.triage_memory_gb)};
  // Two texts and a number come back: the failure, the module that it is about,
  // and what is said of all. Nothing if all went well.
  std::optional<Child> child;
  BATON_ASSIGN_OR_RETURN(
      child,
      Child::Start(
          [&]() -> std::string {
            const absl::Status status =
                RunJob(options, job, pipeline, console, streams, &observed);
            streams.out << std::flush;
            streams.reports << std::flush;
            if (status.ok()) return "";
            const std::string failure = WriteFailure(observed.failure);
            return absl::StrCat(observed.module_index, " ", failure.size(), " ",
                                failure, status.message());
          },
          {.limits = limits, .keeps_streams = true}));
  HangDetector suspicion(*child, *observed.progress);
  std::optional<ChildResult> result;
  while (true) {
    result = child->WaitFor(kLookSeconds);
    if (result.has_value()) break;
    const std::optional<Failure> loop = suspicion.Poll();
    if (!loop.has_value()) continue;
    // It goes on meanwhile: it may only be slow.
    const absl::StatusOr<std::string> lines = TriageOf(
        options, job, pipeline,
        {.failure = *loop,
         .module_index = static_cast<size_t>(observed.progress->item())},
        limits, kSuspectSeconds);
    if (!lines.ok() && InterruptGuard::Signal() != 0) return lines.status();
    if (!lines.ok()) continue;
    child.reset();
    return absl::AbortedError(absl::StrCat(loop->message, "\n", *lines));
  }
  BATON_ASSIGN_OR_RETURN(const std::optional<RunEnd> end,
                         EndOf(*result, *observed.progress));
  if (!end.has_value()) return absl::OkStatus();
  // That of a file, say, is no failure of the passes.
  if (!end->failure.failed()) return absl::AbortedError(end->message);
  console.Progress("triage");
  const absl::StatusOr<std::string> lines =
      TriageOf(options, job, pipeline, *end, limits, 0);
  return absl::AbortedError(absl::StrCat(
      end->message, "\n",
      lines.ok() ? *lines
                 : absl::StrCat("triage: ", lines.status().message())));
}

// The errors of a module or its run; empty if there are none.
absl::StatusOr<std::string> FaultsOf(
    const std::shared_ptr<const Source>& source, const OptOptions& options,
    const Pass& pipeline) {
  Diagnostics diagnostics;
  const InputModule input = ParseInput(source, diagnostics);
  if (diagnostics.has_errors()) return diagnostics.ToString();
  BATON_ASSIGN_OR_RETURN(const PipelineSettings settings,
                         FaultSettings(options.run, pipeline, true));
  const absl::StatusOr<Pass> complete =
      CompletePipeline(pipeline, options.run, input.module);
  const absl::Status status =
      complete.ok() ? RunPipeline(input.module, *complete, settings).status()
                    : complete.status();
  return absl::StrCat(diagnostics.ToString(), status.message());
}

absl::Status VerifyDiagnostics(const OptOptions& options, std::istream& in) {
  const bool is_stream = options.input == kStandardStream;
  if (options.input.empty()) {
    return absl::InvalidArgumentError("--verify_diagnostics: give a text file");
  }
  const std::string name = is_stream ? "<stdin>" : options.input;
  BATON_ASSIGN_OR_RETURN(std::string text, is_stream ? ReadStream(in, name)
                                                     : ReadFile(options.input));
  if (FormatOf(text, name) != InputFormat::kText) {
    return absl::InvalidArgumentError(
        absl::StrCat("--verify_diagnostics: ", name, " is no text"));
  }
  BATON_ASSIGN_OR_RETURN(const Pass pipeline, PipelineOf(options.run));
  std::vector<std::string> errors;
  for (const std::shared_ptr<const Source>& source :
       SourcesOf(std::move(text), name, options.split_input_file)) {
    const auto expected = ParseExpectedDiagnostics(*source);
    if (!expected.ok()) {
      errors.push_back(std::string(expected.status().message()));
      continue;
    }
    BATON_ASSIGN_OR_RETURN(const std::string faults,
                           FaultsOf(source, options, pipeline));
    const absl::Status same = CompareDiagnostics(
        *source, *expected, ParseSaidDiagnostics(name, faults));
    if (!same.ok()) errors.push_back(std::string(same.message()));
  }
  if (errors.empty()) return absl::OkStatus();
  return absl::AbortedError(
      absl::StrCat("the diagnostics differ\n", absl::StrJoin(errors, "\n")));
}

}  // namespace

namespace {

// An error if what is written goes to one file twice, or all but the result to
// the file that is read.
absl::Status CheckFiles(const OptOptions& options) {
  std::vector<std::pair<std::string, std::string>> files = {
      {"--output", options.output},
      {"--report", options.report},
      {"--remarks_file", options.remarks_file},
      {"--record", options.record}};
  if (options.onnx_external_data && !options.output.empty()) {
    files.push_back(
        {"the data of --output", absl::StrCat(options.output, ".data")});
  }
  files.push_back({"--reproducer", options.reproducer});
  BATON_RETURN_IF_ERROR(CheckDifferentFiles(files));
  // A result may take the place of its input, and so may a reproducer.
  files.back() = {};
  files[0] = {"the input", options.input};
  return CheckDifferentFiles(files);
}

}  // namespace

absl::Status Opt(const OptOptions& options, const OptStreams& streams) {
  Console console(streams.reports, options.progress && !PrintsModules(options));
  // Reports errors that can be found at once.
  BATON_RETURN_IF_ERROR(CheckChoices(FlagsOf<OptOptions>(), &options));
  BATON_RETURN_IF_ERROR(CheckChoices(FlagsOf<RunOptions>(), &options.run));
  BATON_RETURN_IF_ERROR(CheckFiles(options));
  BATON_RETURN_IF_ERROR(PipelineOf(options.run).status());
  BATON_RETURN_IF_ERROR(CreatePrinter(options, console.stream()).status());
  BATON_RETURN_IF_ERROR(CreateRemarks(options, console, nullptr).status());
  // The limits of the passes also apply to the readers of their input.
  BATON_ASSIGN_OR_RETURN(const PassContextOptions context,
                         ContextOf(options.run));
  const Limits limits = LimitsOf(context.config);
  const ScopedLimits scoped_limits(limits);

  if (options.verify_diagnostics) {
    return VerifyDiagnostics(options, streams.in);
  }
  BATON_ASSIGN_OR_RETURN(Job job, LoadInput(options, streams.in, console));
  BATON_ASSIGN_OR_RETURN(const Pass pipeline, PipelineOf(job.run));
  BATON_ASSIGN_OR_RETURN(PassContextOptions of_passes, ContextOf(job.run));
  const std::string skipped =
      DescribeSkippedPasses(pipeline, PassContext(std::move(of_passes)));
  if (!skipped.empty()) console.Report(absl::StrCat(skipped, "\n"));
  if (!options.triage.empty()) {
    return RunJobWithTriage(options, job, pipeline, console, streams);
  }
  return RunJob(options, job, pipeline, console, streams, nullptr);
}

namespace {

absl::Status RunJob(const OptOptions& options, Job& job, const Pass& pipeline,
                    Console& console, const OptStreams& streams,
                    Observed* observed) {
  const std::string separator = absl::StrCat(kModuleSeparator, "\n");
  const size_t num_modules = job.modules.size();
  const bool several = num_modules > 1;
  const std::string emit = EmitOf(options);
  if (several && (emit == "binary" || emit == "onnx")) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--emit=", emit, ": ", emit == "onnx" ? "an ONNX" : "a binary",
        " file holds one module, but there are ", num_modules, " in ",
        job.name));
  }
  std::string text;
  BinaryModule binary;
  ModuleWriter::Output written;
  std::vector<std::vector<Artifact>> artifacts;  // by module
  std::string json_report;
  const auto remarks = std::make_shared<std::string>();
  std::vector<std::string> errors;
  std::string note;          // on the reproducer
  std::string record_error;  // of the last history that cannot be written
  for (size_t i = 0; i < num_modules; ++i) {
    InputModule& input = job.modules[i];
    BATON_ASSIGN_OR_RETURN(
        RunInstruments instruments,
        RunInstruments::Create(options, job.run, pipeline, i + 1, num_modules,
                               console, remarks));
    if (i > 0) text += separator;
    if (i > 0 && instruments.has_report()) console.Report(separator);
    if (observed != nullptr) {
      instruments.AddFirst(observed->progress->MakeInstrument());
      observed->progress->set_item(static_cast<int64_t>(i));
    }
    const bool may_reproduce = !options.reproducer.empty() && errors.empty();
    const IRModule before = may_reproduce ? input.module : IRModule();
    std::optional<CrashGuard> guard;
    if (!options.record.empty()) {
      guard.emplace([&instruments](int signal) {
        instruments.WriteRecord(signal).IgnoreError();
      });
    }
    Outcome outcome;
    const absl::Status error =
        RunPasses(std::move(input.module), pipeline, options, job.run,
                  instruments, &outcome);
    guard.reset();
    if (const absl::Status recorded = instruments.WriteRecord();
        !recorded.ok()) {
      record_error = std::string(recorded.message());
    }
    console.Report(instruments.Statistics());
    console.Report(outcome.report);
    json_report += outcome.json_report;
    if (!error.ok()) {
      if (observed != nullptr && errors.empty()) {
        observed->failure = FailureOf(error);
        observed->module_index = i;
      }
      if (may_reproduce) {
        note = WriteReproducer(before, job.run, error, options.reproducer,
                               {.seconds = options.triage_seconds});
      }
      errors.push_back(several ? absl::StrCat("the module at ", job.name, ":",
                                              input.line, ": ", error.message())
                               : std::string(error.message()));
      continue;
    }
    if (!options.artifacts.empty()) {
      BATON_ASSIGN_OR_RETURN(artifacts.emplace_back(),
                             ArtifactsOf(outcome.module));
    }
    if (options.emit == "none" || !errors.empty()) continue;
    console.Progress("writing");
    if (emit == "binary") {
      BATON_ASSIGN_OR_RETURN(binary, WriteBinary(outcome.module));
      continue;
    }
    if (emit == "onnx") {
      BATON_ASSIGN_OR_RETURN(written, WriteAs(emit, outcome.module, options));
      continue;
    }
    text += AsText(outcome.module, {.metadata = options.emit == "text"});
    if (text.empty() || text.back() != '\n') text += '\n';
  }
  if (!options.remarks_file.empty()) {
    const absl::Status written =
        WriteFileAtomically(options.remarks_file, *remarks);
    if (!written.ok()) errors.push_back(std::string(written.message()));
  }
  if (!record_error.empty()) errors.push_back(record_error);
  if (!options.report.empty()) {
    const absl::Status reported =
        WriteFileAtomically(options.report, json_report);
    if (!reported.ok()) errors.push_back(std::string(reported.message()));
  }
  if (!errors.empty()) {
    if (!note.empty()) errors.push_back(note);
    return absl::AbortedError(absl::StrJoin(errors, "\n"));
  }
  for (size_t i = 0; i < artifacts.size(); ++i) {
    BATON_RETURN_IF_ERROR(
        WriteArtifacts(several ? absl::StrCat(options.artifacts, "/", i + 1)
                               : options.artifacts,
                       artifacts[i]));
  }
  if (!written.external_pieces.empty()) {
    BATON_RETURN_IF_ERROR(
        WriteFileAtomically(options.output + ".data", written.external_pieces));
  }
  const absl::string_view whole = text;
  return Emit(options,
              emit == "binary" ? binary.pieces()
              : emit == "onnx" ? written.pieces
                               : absl::MakeConstSpan(&whole, 1),
              streams.out);
}

std::string FieldsToString(const FieldList* fields) {
  if (fields == nullptr) return "";
  std::string result;
  for (const Field& field : fields->fields()) {
    absl::StrAppend(&result, result.empty() ? "" : ",", field.name(), "=",
                    field.required()
                        ? absl::StrCat("<", field.type_name(), ">")
                        : field.Get(fields->default_object()).ToString());
  }
  return absl::StrCat("{", result, "}");
}

}  // namespace

void ListPasses(std::ostream& out) {
  const PassRegistry& registry = PassRegistry::Global();
  for (const std::string& name : registry.Names()) {
    const absl::StatusOr<PassInfo> info = registry.Info(name);
    const absl::StatusOr<PassFactory> factory = registry.Factory(name);
    if (!info.ok() || !factory.ok()) {
      out << name << "  " << info.status().message() << "\n";
      continue;
    }
    // The first line says what it does.
    const std::string doc = info->doc.substr(0, info->doc.find('\n'));
    out << absl::StrFormat("%-26s level %d  %s %s\n", name, info->opt_level,
                           doc, FieldsToString(factory->options()));
    out << absl::StrFormat("%-26s %s\n", "", ValuePromiseText(*info));
    for (const PassException& exception : info->exceptions) {
      out << absl::StrFormat("%-26s does not keep the law `%s`: %s\n", "",
                             exception.law, exception.reason);
    }
  }
}

void ListOps(std::ostream& out) {
  for (const OpNode* op : OpRegistry::Global().List()) {
    // Intrinsics of loops are not operators of Relay.
    if (absl::StartsWith(op->name(), "tir.")) continue;
    out << absl::StrFormat("%-34s %s%s\n", op->name(), op->doc(),
                           Kernels().Get(*op) == nullptr ? " (no kernel)" : "");
  }
}

void ListPipelines(std::ostream& out) {
  for (const std::string& name : NamedPipelines().Names()) {
    const auto pipeline = NamedPipelines().Get(name);
    if (!pipeline.ok()) {
      out << name << "  " << pipeline.status().message() << "\n";
      continue;
    }
    out << absl::StrFormat("%-12s level %d  %s\n", name, (*pipeline)->opt_level,
                           (*pipeline)->doc);
    for (const PipelineStep& step : (*pipeline)->steps) {
      out << absl::StrFormat("  %-34s %s\n", step.items, step.reason);
    }
  }
}

void ListWorkloads(std::ostream& out) {
  const auto workloads = testing::ListWorkloads();
  if (!workloads.ok()) {
    out << "error: " << workloads.status().message() << "\n";
    return;
  }
  for (const testing::WorkloadInfo& info : *workloads) {
    out << absl::StrFormat("%-12s %s\n", info.name, info.doc);
    for (const Field& field : info.options->fields()) {
      out << absl::StrFormat(
          "  %s=%s  %s\n", field.name(),
          field.Get(info.options->default_object()).ToString(), field.doc());
    }
  }
}

}  // namespace baton
