#include "baton/tools/opt_triage.h"

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "baton/base/status_macros.h"
#include "baton/tools/console.h"
#include "baton/tools/opt.h"
#include "baton/tools/prepared_run.h"
#include "baton/tools/reproducer_file.h"
#include "baton/tools/triage_report.h"
#include "baton/transform/pass.h"
#include "baton/triage/child.h"
#include "baton/triage/failure.h"
#include "baton/triage/interrupt.h"
#include "baton/triage/progress_page.h"

namespace baton {
namespace {

// For a run that only crashes end early.
constexpr double kNoLimitSeconds = 1e9;

int64_t TriageMemory(double gigabytes) {
  if (gigabytes > 0) return static_cast<int64_t>(gigabytes * 0x1p30);
  const auto pages = static_cast<int64_t>(sysconf(_SC_PHYS_PAGES));
  return pages / 4 * 3 * static_cast<int64_t>(sysconf(_SC_PAGE_SIZE));
}

// The end of a run in a child process.
struct RunEnd {
  Failure failure;
  size_t module_index = 0;  // in OptJob::modules
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

// Finds the guilty pass and a small program. Returns the lines to show.
absl::StatusOr<std::string> TriageOf(const OptOptions& options,
                                     const OptJob& job, const RunEnd& end,
                                     const ChildLimits& limits,
                                     double suspect_seconds) {
  const InterruptGuard guard;
  FailedRun failed = {.name = job.name,
                      .module = job.modules[end.module_index].module,
                      .pipeline = job.prepared.pipeline,
                      .failure = end.failure};
  PreparedRun bound = WithoutInputs(job.prepared);
  // If passes are missing, that is the failure.
  absl::StatusOr<Pass> complete = CompletePipeline(bound, failed.module);
  if (complete.ok()) failed.pipeline = *std::move(complete);
  bound.run.insert_required = false;
  failed.run = bound.run;
  failed.settings = FaultSettings(bound, failed.pipeline, true);
  failed.settings.prepare = InputBinding(job.prepared);
  failed.replay = FaultSettings(bound, failed.pipeline, false);
  return WriteTriage(failed, {.folder = options.triage,
                              .tool = options.program,
                              .limits = limits,
                              .suspect_seconds = suspect_seconds});
}

constexpr double kPollSeconds = 0.1;
// When a run is first suspected not to end. The suspicion is confirmed if a
// small program takes as long.
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

}  // namespace

absl::Status RunJobInChild(
    const OptOptions& options, const OptJob& job, Console& console,
    const OptStreams& streams,
    const std::function<absl::Status(ObservedRun&)>& run) {
  ObservedRun observed;
  BATON_ASSIGN_OR_RETURN(observed.progress, ProgressPage::Create());
  const bool has_triage = !options.triage.empty();
  ChildLimits limits;
  limits.seconds = has_triage ? options.triage_seconds : kNoLimitSeconds;
  if (has_triage) limits.memory_bytes = TriageMemory(options.triage_memory_gb);
  // The child returns two texts and a number: the failure, its module, and the
  // message of the run. Nothing after success.
  std::optional<Child> child;
  BATON_ASSIGN_OR_RETURN(
      child, Child::Start(
                 [&]() -> std::string {
                   const absl::Status status = run(observed);
                   streams.out << std::flush;
                   streams.reports << std::flush;
                   if (status.ok()) return "";
                   const std::string failure = WriteFailure(observed.failure);
                   return absl::StrCat(observed.module_index, " ",
                                       failure.size(), " ", failure,
                                       status.message());
                 },
                 {.limits = limits, .keeps_streams = true}));
  HangDetector detector(*child, *observed.progress);
  std::optional<ChildResult> result;
  while (true) {
    result = child->WaitFor(kPollSeconds);
    if (result.has_value()) break;
    if (!has_triage) continue;
    const std::optional<Failure> loop = detector.Poll();
    if (!loop.has_value()) continue;
    // The run goes on meanwhile: it may only be slow.
    const absl::StatusOr<std::string> lines = TriageOf(
        options, job,
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
  std::string message = end->message;
  // The child writes the reproducer of an error.
  if (!options.reproducer.empty() &&
      (end->failure.kind == Failure::Kind::kCrash ||
       end->failure.kind == Failure::Kind::kTimeOut)) {
    absl::StrAppend(
        &message, "\n",
        WriteReproducer(job.modules[end->module_index].module, job.prepared,
                        absl::AbortedError(end->message), end->failure,
                        options.reproducer,
                        {.seconds = options.triage_seconds}));
  }
  // The error of a file, for example, is no failure of the passes.
  if (!has_triage || !end->failure.failed()) return absl::AbortedError(message);
  console.Progress("triage");
  const absl::StatusOr<std::string> lines =
      TriageOf(options, job, *end, limits, 0);
  return absl::AbortedError(absl::StrCat(
      message, "\n",
      lines.ok() ? *lines
                 : absl::StrCat("triage: ", lines.status().message())));
}

}  // namespace baton
