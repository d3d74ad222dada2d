#include "baton/tools/reduce_tool.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <system_error>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/types/span.h"
#include "baton/base/plural.h"
#include "baton/base/status_macros.h"
#include "baton/instrument/instrument_registry.h"
#include "baton/ir/module.h"
#include "baton/ir/module_text.h"
#include "baton/tools/files.h"
#include "baton/tools/opt.h"
#include "baton/tools/prepared_run.h"
#include "baton/tools/reduced_test.h"
#include "baton/tools/run_options.h"
#include "baton/tools/temporary_folder.h"
#include "baton/transform/pass.h"
#include "baton/transform/pipeline.h"
#include "baton/transform/sequential.h"
#include "baton/triage/child.h"
#include "baton/triage/failure.h"
#include "baton/triage/interrupt.h"
#include "baton/triage/reducer.h"
#include "baton/triage/shrink.h"
#include "baton/triage/triage.h"
#include "re2/re2.h"

namespace baton {
namespace {

// True if the message of an error matches.
class MessageOracle final : public Oracle {
 public:
  MessageOracle(const std::string& pattern, PipelineSettings settings,
                ChildLimits limits)
      : pattern_(pattern), settings_(std::move(settings)), limits_(limits) {}

  bool Matches(const Failure& failure) const {
    return failure.kind == Failure::Kind::kError &&
           RE2::PartialMatch(failure.message, pattern_);
  }
  const RE2& pattern() const { return pattern_; }

  absl::StatusOr<std::unique_ptr<OracleRun>> Start(
      const ReducedCase& reduced) const override {
    BATON_ASSIGN_OR_RETURN(
        PipelineRun run,
        PipelineRun::Start(reduced.module, Sequential(reduced.passes),
                           settings_, limits_));
    return std::make_unique<Run>(this, std::move(run));
  }

 private:
  class Run final : public OracleRun {
   public:
    Run(const MessageOracle* oracle, PipelineRun run)
        : oracle_(oracle), run_(std::move(run)) {}
    bool Wait() override { return oracle_->Matches(run_.Wait()); }

   private:
    const MessageOracle* const oracle_;
    PipelineRun run_;
  };

  const RE2 pattern_;
  const PipelineSettings settings_;
  const ChildLimits limits_;
};

// True if a command exits with 0.
class CommandOracle final : public Oracle {
 public:
  CommandOracle(std::string command, std::string folder, ChildLimits limits)
      : command_(std::move(command)),
        folder_(std::move(folder)),
        limits_(limits) {}

  absl::StatusOr<std::unique_ptr<OracleRun>> Start(
      const ReducedCase& reduced) const override {
    BATON_ASSIGN_OR_RETURN(const std::string pipeline,
                           PipelineToString(Sequential(reduced.passes)));
    const std::string path =
        absl::StrCat(folder_, "/", ++number_, FileEnding(reduced.module));
    BATON_RETURN_IF_ERROR(
        WriteFileAtomically(path, AsText(reduced.module, {.types = false})));
    const std::string command = absl::StrReplaceAll(
        command_, {{"%%", "%"}, {"%s", path}, {"%p", ShellWord(pipeline)}});
    BATON_ASSIGN_OR_RETURN(Child child,
                           Child::Start(
                               [&]() -> std::string {
                                 const int status = std::system(
                                     command.c_str());  // NOLINT(cert-env33-c)
                                 return status == 0 ? "0" : "1";
                               },
                               {.limits = limits_}));
    return std::make_unique<Run>(std::move(child), path);
  }

 private:
  class Run final : public OracleRun {
   public:
    Run(Child child, std::string path)
        : child_(std::move(child)), path_(std::move(path)) {}
    ~Run() override {
      std::error_code ignored;
      std::filesystem::remove(path_, ignored);
    }
    bool Wait() override {
      const ChildResult result = child_.Wait();
      return result.end == ChildResult::End::kReturned && result.output == "0";
    }

   private:
    Child child_;
    const std::string path_;
  };

  const std::string command_;
  const std::string folder_;
  const ChildLimits limits_;
  mutable int64_t number_ = 0;  // of files
};

absl::Status CheckOptions(const ReduceToolOptions& options) {
  const int given = (options.wants_error ? 1 : 0) + (options.differs ? 1 : 0) +
                    (options.crashes ? 1 : 0) + (options.test.empty() ? 0 : 1);
  if (given > 1) {
    return absl::InvalidArgumentError(
        "--fails, --differs, --crashes and --test: give one of them");
  }
  if (!options.test.empty() &&
      absl::StrReplaceAll(options.test, {{"%%", ""}}).find("%s") ==
          std::string::npos) {
    return absl::InvalidArgumentError(
        absl::StrCat("--test: there is no %s, the program, in \"", options.test,
                     "\": it would answer the same each time"));
  }
  const RE2 pattern(options.fails, RE2::Quiet);
  if (pattern.ok()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "--fails: regular expression ", options.fails, ": ", pattern.error()));
}

// The failure of the start, under the requested condition.
absl::StatusOr<Failure> FindFailure(const IRModule& module, const OptJob& job,
                                    const ReduceToolOptions& options,
                                    const PipelineSettings& settings,
                                    const ChildLimits& limits) {
  BATON_ASSIGN_OR_RETURN(
      Failure failure,
      RunPipelineInChild(module, job.prepared.pipeline, settings, limits));
  if (!failure.failed()) {
    return absl::NotFoundError(absl::StrCat(
        "nothing is wrong with ", job.name,
        options.differs || options.wants_error || options.crashes
            ? ""
            : ": the condition to preserve is missing (see --help)"));
  }
  const bool is_error = failure.kind == Failure::Kind::kError;
  // A flag is wrong, for example.
  if (is_error && failure.number == 0) {
    return absl::InvalidArgumentError(failure.message);
  }
  if (is_error == options.crashes ||
      (!is_error && (options.differs || options.wants_error))) {
    return absl::NotFoundError(absl::StrCat("what is wrong with ", job.name,
                                            " is ", KindToString(failure.kind),
                                            ": ", failure.message));
  }
  return failure;
}

// The test of the best case so far, which is in the output as soon as there is
// one, unless that is a stream.
class BestTest {
 public:
  BestTest(const ReduceToolOptions& options, std::ostream& reports)
      : output_(options.output == "-" ? "" : options.output),
        reports_(reports) {}

  absl::Status Set(const ReducedCase& best, const ReducedTestOptions& test) {
    if (case_.has_value() && Same(*case_, best)) return absl::OkStatus();
    BATON_ASSIGN_OR_RETURN(text_, ReducedTest(best.module, best.passes, test));
    case_ = best;
    if (output_.empty()) return absl::OkStatus();
    // A program that is too large for the disk may get smaller: the last write
    // counts.
    written_ = WriteFileAtomically(output_, text_);
    if (written_.ok() && !is_told_) {
      reports_ << "the best so far is in " << output_ << "\n" << std::flush;
      is_told_ = true;
    }
    return absl::OkStatus();
  }

  // The best is the last one: it is on `out` if not in a file. The error is
  // that it is not there.
  absl::Status Finish(std::ostream& out) const {
    if (output_.empty()) out << text_;
    return written_;
  }
  // Why the work ended early, and what there is.
  absl::Status Interrupted() const {
    if (!case_.has_value()) {
      return absl::CancelledError(
          "interrupted; nothing had been seen to fail, and nothing is written");
    }
    return absl::CancelledError(absl::StrCat(
        "interrupted; ", output_.empty() ? "this is" : output_ + " has",
        " the best so far: ", SizeText(case_->module), ", ",
        Plural(case_->passes.size(), "pass")));
  }

 private:
  static bool Same(const ReducedCase& a, const ReducedCase& b) {
    return a.module.SameAs(b.module) &&
           std::equal(a.passes.begin(), a.passes.end(), b.passes.begin(),
                      b.passes.end(), [](const Pass& x, const Pass& y) {
                        return &x.impl() == &y.impl();
                      });
  }

  const std::string output_;
  std::ostream& reports_;
  std::optional<ReducedCase> case_;
  std::string text_;
  bool is_told_ = false;
  absl::Status written_;
};

// All that was given, as a case; nullopt if not all that decided how it ran can
// be said in a test.
std::optional<ReducedCase> WholeCase(const IRModule& module, const OptJob& job,
                                     const PipelineSettings& settings) {
  const RunOptions& run = job.prepared.run;
  if (std::any_of(
          run.instrument_flags.begin(), run.instrument_flags.end(),
          [](const auto& flag) { return IsSkip(PhaseOfFlag(flag.first)); })) {
    return std::nullopt;
  }
  absl::StatusOr<IRModule> prepared = module;
  if (settings.prepare != nullptr) prepared = settings.prepare(module);
  if (!prepared.ok()) return std::nullopt;
  std::optional<IRModule> typed = Typed(*prepared);
  if (!typed.has_value()) return std::nullopt;
  const absl::Span<const Pass> listed =
      job.prepared.pipeline.impl().listed_passes();
  return ReducedCase{*std::move(typed), {listed.begin(), listed.end()}};
}

absl::Status ReduceJob(const OptOptions& input,
                       const ReduceToolOptions& options,
                       const OptStreams& streams, BestTest& best) {
  BATON_RETURN_IF_ERROR(CheckOptions(options));
  BATON_ASSIGN_OR_RETURN(OptJob job, LoadOptJob(input, streams));
  BATON_RETURN_IF_ERROR(
      CheckNotRead({{"--output", options.output}}, job.further_files));
  if (job.modules.size() != 1) {
    return absl::InvalidArgumentError(
        absl::StrCat(job.name, " has ", Plural(job.modules.size(), "module"),
                     "; one is expected"));
  }
  // Each test is a process of its own.
  RunOptions run = job.prepared.run;
  run.threads = 1;
  if (options.differs) SetInstrumentFlag("check_values", true, run);
  BATON_ASSIGN_OR_RETURN(job.prepared, Prepare(std::move(run)));
  BATON_RETURN_IF_ERROR(ReadTensorsOf(job.prepared));
  const IRModule& module = job.modules[0].module;
  BATON_ASSIGN_OR_RETURN(const Pass pipeline,
                         CompletePipeline(job.prepared, module));
  job.prepared.pipeline = pipeline;
  job.prepared.run.insert_required = false;
  const PipelineSettings given = FaultSettings(job.prepared, pipeline, true);
  const auto prepare = InputBinding(job.prepared);
  job.prepared = WithoutInputs(std::move(job.prepared));
  PipelineSettings settings = FaultSettings(job.prepared, pipeline, true);
  settings.prepare = prepare;
  const PipelineSettings replay = FaultSettings(job.prepared, pipeline, false);
  const ChildLimits limits = {.seconds = options.test_seconds,
                              .memory_bytes = static_cast<int64_t>(
                                  options.memory_gb * (int64_t{1} << 30))};

  ReducedTestOptions test = {
      .tool = options.tool, .run = job.prepared.run, .failure = {}};
  ReduceOptions how = {.jobs = options.jobs, .seconds = options.seconds};
  how.on_better = [&](const ReducedCase& better) {
    return best.Set(better, test);
  };

  ReduceResult result;
  if (!options.test.empty()) {
    const std::optional<IRModule> typed = Typed(module);
    if (!typed.has_value()) {
      return absl::InvalidArgumentError(
          absl::StrCat(job.name, " cannot be given types"));
    }
    BATON_ASSIGN_OR_RETURN(const auto folder,
                           TemporaryFolder::Create("baton-reduce"));
    const absl::Span<const Pass> listed = pipeline.impl().listed_passes();
    const ReducedCase start = {*typed, {listed.begin(), listed.end()}};
    test.command = options.test;
    const CommandOracle oracle(options.test, folder->path(), limits);
    BATON_ASSIGN_OR_RETURN(result, Reduce(start, oracle, how));
  } else {
    BATON_ASSIGN_OR_RETURN(test.failure,
                           FindFailure(module, job, options, given, limits));
    const Failure& failure = test.failure;
    const ChildLimits test_limits = TestLimits(failure, limits);
    const bool matches = options.wants_error && !options.fails.empty();
    if (matches) {
      const MessageOracle oracle(options.fails, settings, test_limits);
      if (!oracle.Matches(failure)) {
        return absl::NotFoundError(absl::StrCat(
            "--fails: the message does not match: ", failure.message));
      }
    }
    const std::optional<ReducedCase> whole = WholeCase(module, job, settings);
    if (whole.has_value()) BATON_RETURN_IF_ERROR(how.on_better(*whole));
    BATON_ASSIGN_OR_RETURN(
        const GuiltyExecution guilty,
        FindGuilty(module, pipeline, settings, replay, failure, test_limits));
    streams.reports << "guilty: #" << guilty.number << " " << guilty.pass.name()
                    << "\n"
                    << std::flush;
    if (guilty.shows.passes.empty()) {
      return absl::NotFoundError(
          absl::StrCat("the failure does not occur again: ", failure.message));
    }
    SetOptLevel(guilty.settings.context.opt_level,
                Sequential(guilty.shows.passes), test.run);
    test.run.disabled_pass = guilty.settings.context.disabled_pass;
    BATON_RETURN_IF_ERROR(how.on_better(guilty.shows));
    std::unique_ptr<Oracle> oracle =
        matches ? std::make_unique<MessageOracle>(options.fails,
                                                  guilty.settings, test_limits)
                : FailureOracle(failure, guilty.settings, test_limits);
    BATON_ASSIGN_OR_RETURN(result, Reduce(guilty.shows, *oracle, how));
  }
  if (result.interrupted) return absl::OkStatus();
  BATON_RETURN_IF_ERROR(best.Finish(streams.out));
  streams.reports << "reduced to " << SizeText(result.best.module) << ", "
                  << Plural(result.best.passes.size(), "pass") << ": "
                  << Plural(result.tests, "test") << ", " << result.cached
                  << " more known from equal ones"
                  << (result.timed_out ? "; the time was up" : "")
                  << (result.flaky ? "; flaky: the same program does not "
                                     "always fail"
                                   : "")
                  << "\n"
                  << std::flush;
  return absl::OkStatus();
}

}  // namespace

absl::Status ReduceTool(const OptOptions& input,
                        const ReduceToolOptions& options,
                        const OptStreams& streams) {
  const InterruptGuard guard;
  BestTest best(options, streams.reports);
  const absl::Status status = ReduceJob(input, options, streams, best);
  if (InterruptGuard::Signal() == 0) return status;
  BATON_RETURN_IF_ERROR(best.Finish(streams.out));
  return best.Interrupted();
}

}  // namespace baton
