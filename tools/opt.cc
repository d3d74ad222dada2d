#include "baton/tools/opt.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <istream>
#include <ostream>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "baton/base/flags.h"
#include "baton/base/limits.h"
#include "baton/base/plural.h"
#include "baton/base/status_macros.h"
#include "baton/instrument/crash_guard.h"
#include "baton/instrument/history.h"
#include "baton/instrument/history_file.h"
#include "baton/instrument/instrument_registry.h"
#include "baton/ir/diagnostics.h"
#include "baton/ir/function_verifier.h"
#include "baton/ir/module.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/tools/console.h"
#include "baton/tools/crash_report.h"
#include "baton/tools/files.h"
#include "baton/tools/input.h"
#include "baton/tools/module_source.h"
#include "baton/tools/opt_flags.h"
#include "baton/tools/opt_instruments.h"
#include "baton/tools/opt_output.h"
#include "baton/tools/opt_triage.h"
#include "baton/tools/prepared_run.h"
#include "baton/tools/reproducer.h"
#include "baton/tools/reproducer_file.h"
#include "baton/tools/resume.h"
#include "baton/tools/run_options.h"
#include "baton/tools/verify_diagnostics.h"
#include "baton/transform/limits_config.h"
#include "baton/transform/pass_context.h"
#include "baton/triage/failure.h"
#include "baton/triage/progress_page.h"

namespace baton {
namespace {

// The options of a reproducer, with those that were given on the command line.
absl::StatusOr<RunOptions> ReproducedOptions(const OptOptions& options,
                                             const ModulesRead& read,
                                             const std::string& name) {
  RunOptions run = options.run;
  BATON_RETURN_IF_ERROR(
      ReadReproducerHead(read.head, name, options.given, run));
  if (!ChecksValues(run)) {
    // The flags that only --check_values reads are those of the reproducer.
    const auto is_given = [&options](absl::string_view flag) {
      return std::find(options.given.begin(), options.given.end(), flag) !=
             options.given.end();
    };
    if (!is_given("expect")) run.expect.clear();
    std::erase_if(run.instrument_flags, [&](const auto& flag) {
      return PhaseOfFlag(flag.first) == InstrumentPhase::kCheckValues &&
             !is_given(flag.first);
    });
  }
  // Files may be beside the reproducer.
  std::error_code ignored;
  for (std::string* file : {&run.inputs, &run.expect}) {
    const std::filesystem::path beside =
        std::filesystem::path(options.input).parent_path() / *file;
    if (!file->empty() && *file != options.run.inputs &&
        *file != options.run.expect &&
        std::filesystem::exists(beside, ignored)) {
      *file = beside.string();
    }
  }
  return run;
}

constexpr size_t kSmallBytes = size_t{32} << 20;

absl::Status ReadInput(const OptOptions& options, std::istream& in,
                       Console& console, OptJob& job) {
  console.Progress(absl::StrCat("reading ", options.input));
  BATON_ASSIGN_OR_RETURN(ModuleSource source, OpenModule(options.input, in));
  source.input_shapes = options.input_shapes;
  source.input_values = options.input_values;
  source.split = options.split_input_file;
  job.name = source.name;
  job.is_small = source.content.bytes.size() <= kSmallBytes;
  Diagnostics diagnostics;
  BATON_ASSIGN_OR_RETURN(ModulesRead read, ReadModules(source, diagnostics));
  if (!diagnostics.list().empty()) {
    console.Report(diagnostics.ToString() + "\n");
  }
  if (const int n = diagnostics.num_errors(); n > 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(Plural(n, "error"), " in ", job.name));
  }
  job.modules = std::move(read.modules);
  job.further_files = std::move(read.further_files);
  if (!IsReproducerHead(read.head)) return absl::OkStatus();
  BATON_ASSIGN_OR_RETURN(RunOptions run,
                         ReproducedOptions(options, read, job.name));
  BATON_ASSIGN_OR_RETURN(job.prepared, Prepare(std::move(run)));
  return absl::OkStatus();
}

absl::Status ReadHistoryInput(const OptOptions& options, Console& console,
                              OptJob& job) {
  console.Progress(absl::StrCat("reading ", options.resume));
  BATON_ASSIGN_OR_RETURN(const FileContent content, MapFile(options.resume));
  BATON_ASSIGN_OR_RETURN(
      const History history,
      ReadHistory(content.bytes, content.owner, options.resume));
  BATON_ASSIGN_OR_RETURN(ResumedRun resumed, ResumeRun(history, options.resume,
                                                       options.start_after));
  job.name = options.resume;
  RunOptions run = options.run;
  if (run.passes.empty()) run.passes = resumed.passes;
  console.Report(absl::StrCat(
      "--resume: after ", resumed.place, ": ",
      run.passes.empty() ? "no passes are left" : run.passes, "\n"));
  job.modules.push_back({.module = std::move(resumed.module)});
  BATON_ASSIGN_OR_RETURN(job.prepared, Prepare(std::move(run)));
  return absl::OkStatus();
}

absl::StatusOr<OptJob> LoadJob(const OptOptions& options, PreparedRun prepared,
                               std::istream& in, Console& console) {
  std::vector<std::string> inputs;
  if (!options.input.empty()) inputs.push_back(options.input);
  if (!options.workload.empty()) {
    inputs.push_back(absl::StrCat("--workload=", options.workload));
  }
  if (!options.resume.empty()) {
    inputs.push_back(absl::StrCat("--resume=", options.resume));
  }
  if (inputs.empty()) {
    return absl::InvalidArgumentError(
        "nothing to do: give a file, - or --workload=WORKLOAD (see --help)");
  }
  if (inputs.size() > 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        "both ", inputs[0], " and ", inputs[1], " are given; give only one"));
  }
  OptJob job;
  job.prepared = std::move(prepared);
  if (!options.input.empty()) {
    BATON_RETURN_IF_ERROR(ReadInput(options, in, console, job));
  } else if (!options.resume.empty()) {
    BATON_RETURN_IF_ERROR(ReadHistoryInput(options, console, job));
  } else {
    console.Progress(absl::StrCat("making ", options.workload));
    job.name = options.workload;
    BATON_ASSIGN_OR_RETURN(IRModule module,
                           MakeWorkload(options.workload, options.bind_params));
    BATON_ASSIGN_OR_RETURN(const auto shapes,
                           ParseInputShapes(options.input_shapes));
    if (!shapes.empty()) {
      BATON_ASSIGN_OR_RETURN(module, WithInputShapes(module, shapes));
    }
    job.modules.push_back({.module = std::move(module)});
  }
  if (job.prepared.run.typed_input) {
    for (InputModule& input : job.modules) {
      BATON_ASSIGN_OR_RETURN(input.module, relay::InferTypes(input.module));
    }
  }
  return job;
}

// The result must be a program.
absl::Status CheckResult(const IRModule& module) {
  absl::Status status =
      CheckWellFormed(module, [](int /*function*/) { return true; });
  if (status.ok()) status = relay::InferTypes(module).status();
  if (status.ok()) return status;
  return absl::Status(
      status.code(),
      absl::StrCat("the passes broke the module (--verify_each finds the "
                   "guilty one, --noverify_result writes it all the same):\n",
                   status.message()));
}

// Keeps the lines that every module has.
class CommonLines {
 public:
  void Add(const std::vector<std::string>& lines) {
    const std::set<std::string> more(lines.begin(), lines.end());
    if (is_first_) {
      lines_ = lines;
    } else {
      std::erase_if(lines_, [&more](const std::string& line) {
        return more.count(line) == 0;
      });
    }
    is_first_ = false;
  }
  std::string ToString() const {
    return lines_.empty() ? ""
                          : absl::StrCat(absl::StrJoin(lines_, "\n"), "\n");
  }

 private:
  bool is_first_ = true;
  std::vector<std::string> lines_;
};

// Runs the pipeline over the modules, and writes results and reports.
// `observed` is null in the process that the user started.
absl::Status RunJob(const OptOptions& options, OptJob& job, Console& console,
                    const OptStreams& streams, ObservedRun* observed) {
  const std::string separator = absl::StrCat(kModuleSeparator, "\n");
  const size_t num_modules = job.modules.size();
  const bool several = num_modules > 1;
  BATON_ASSIGN_OR_RETURN(OptOutput output,
                         OptOutput::Create(options, num_modules, job.name));
  std::string json_report;
  OutputTexts files;
  std::vector<std::string> errors;
  std::string note;          // on the reproducer
  std::string record_error;  // of the last history that cannot be written
  CommonLines unused;
  for (size_t i = 0; i < num_modules; ++i) {
    InputModule& input = job.modules[i];
    BATON_ASSIGN_OR_RETURN(RunInstruments instruments,
                           RunInstruments::Create(options, job.prepared, i + 1,
                                                  num_modules, console, files));
    if (i > 0 && instruments.has_report()) console.Report(separator);
    if (observed != nullptr) {
      instruments.AddFirst(observed->progress->MakeInstrument());
      observed->progress->set_item(static_cast<int64_t>(i));
    }
    const bool may_reproduce = !options.reproducer.empty() && errors.empty();
    const bool may_be_unchanged = options.verify_result && job.is_small;
    const IRModule before =
        may_reproduce || may_be_unchanged ? input.module : IRModule();
    RunInstruments::Outcome outcome;
    absl::Status error;
    {
      const CrashGuard guard([&](int signal) {
        instruments.WriteFiles(signal).IgnoreError();
        if (observed != nullptr) return;
        streams.reports << CrashReport(options.program, options.command, signal)
                        << std::flush;
      });
      error = instruments.Run(job.prepared, std::move(input.module), &outcome);
    }
    if (const absl::Status recorded = instruments.WriteFiles();
        !recorded.ok()) {
      record_error = std::string(recorded.message());
    }
    console.Report(outcome.report);
    json_report += outcome.json_report;
    if (error.ok() && options.verify_result &&
        !job.prepared.run.passes.empty() &&
        !(may_be_unchanged && outcome.module.SameAs(before))) {
      error = CheckResult(outcome.module);
    }
    if (!error.ok()) {
      const Failure failure = FailureOf(error);
      if (observed != nullptr && errors.empty()) {
        observed->failure = failure;
        observed->module_index = i;
      }
      if (may_reproduce) {
        note = WriteReproducer(before, job.prepared, error, failure,
                               options.reproducer,
                               {.seconds = options.triage_seconds});
      }
      errors.push_back(several ? absl::StrCat("the module at ", job.name, ":",
                                              input.line, ": ", error.message())
                               : std::string(error.message()));
      continue;
    }
    console.Report(outcome.checked);
    unused.Add(outcome.unused);
    if (!errors.empty()) continue;
    console.Progress("writing");
    BATON_RETURN_IF_ERROR(output.Add(outcome.module));
  }
  if (errors.empty()) console.Report(unused.ToString());
  if (errors.empty() && output.lacks_artifacts()) {
    console.Report("--artifacts: no code generator made any\n");
  }
  if (errors.empty()) {
    const absl::Status status =
        CheckArtifactFiles(options, job, output.ArtifactFiles());
    if (!status.ok()) errors.push_back(std::string(status.message()));
  }
  const auto write = [&errors](const std::string& file,
                               const std::string& content) {
    if (file.empty()) return;
    const absl::Status written = WriteFileAtomically(file, content);
    if (!written.ok()) errors.push_back(std::string(written.message()));
  };
  for (const auto& [file, text] : files) write(file, *text);
  if (!record_error.empty()) errors.push_back(record_error);
  write(options.report, json_report);
  if (errors.empty()) return output.Write(streams.out);
  if (!note.empty()) errors.push_back(note);
  return absl::AbortedError(absl::StrJoin(errors, "\n"));
}

}  // namespace

absl::StatusOr<OptJob> LoadOptJob(const OptOptions& options,
                                  const OptStreams& streams) {
  Console console(streams.reports, options.progress);
  BATON_ASSIGN_OR_RETURN(PreparedRun prepared, Prepare(options.run));
  const Limits limits = LimitsOf(prepared.context.config);
  const ScopedLimits scoped_limits(limits);
  BATON_ASSIGN_OR_RETURN(
      OptJob job, LoadJob(options, std::move(prepared), streams.in, console));
  BATON_RETURN_IF_ERROR(ReadTensorsOf(job.prepared));
  return job;
}

absl::Status Opt(const OptOptions& options, const OptStreams& streams) {
  Console console(streams.reports, options.progress);
  // Reports errors that can be found at once.
  BATON_RETURN_IF_ERROR(CheckFlagValues(FlagsOf<OptOptions>(), &options));
  BATON_RETURN_IF_ERROR(CheckFlagValues(FlagsOf<RunOptions>(), &options.run));
  BATON_RETURN_IF_ERROR(CheckFlagsTogether(options));
  BATON_RETURN_IF_ERROR(CheckFiles(options));
  BATON_ASSIGN_OR_RETURN(PreparedRun prepared, Prepare(options.run));
  BATON_RETURN_IF_ERROR(CheckInstrumentFlags(options, prepared));
  // The limits of the passes also apply to the readers of their input.
  const Limits limits = LimitsOf(prepared.context.config);
  const ScopedLimits scoped_limits(limits);

  if (options.verify_diagnostics) {
    BATON_RETURN_IF_ERROR(ReadTensorsOf(prepared));
    return VerifyDiagnostics(options, prepared, streams);
  }
  BATON_ASSIGN_OR_RETURN(
      OptJob job, LoadJob(options, std::move(prepared), streams.in, console));
  BATON_RETURN_IF_ERROR(CheckRunFlags(options, job.prepared));
  BATON_RETURN_IF_ERROR(CheckFurtherFiles(options, job));
  BATON_RETURN_IF_ERROR(ReadTensorsOf(job.prepared));
  const std::string skipped = DescribeSkippedPasses(
      job.prepared.pipeline, PassContext(job.prepared.context));
  if (!skipped.empty()) console.Report(absl::StrCat(skipped, "\n"));
  if (options.triage.empty() && options.reproducer.empty()) {
    return RunJob(options, job, console, streams, nullptr);
  }
  return RunJobInChild(
      options, job, console, streams, [&](ObservedRun& observed) {
        return RunJob(options, job, console, streams, &observed);
      });
}

}  // namespace baton
