// Failure: how a pipeline fails, and if two runs fail in the same way.

#ifndef BATON_TRIAGE_FAILURE_H_
#define BATON_TRIAGE_FAILURE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/ir/module.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/triage/child.h"
#include "baton/triage/progress_page.h"

namespace baton {

// A kind of failure, or none.
struct Failure {
  enum class Kind {
    kNone,
    kError,    // the pipeline returned an error
    kCrash,    // a signal ended the process, or it exited
    kTimeOut,  // the run was killed
  };
  Kind kind = Kind::kNone;
  // The innermost execution of a pass that failed or was running, not counting
  // passes that only finish another pass. 0 if it is unknown.
  int64_t number = 0;
  std::string pass;
  // The whole message of an error.
  std::string message;
  // Errors with equal keys count as the same.
  std::string key;
  // The processor time of the run. If the run timed out, the time until the
  // beginning of the execution that did not end. 0 if it is unknown. Not part
  // of the text of a failure.
  double seconds = 0;

  bool failed() const { return kind != Kind::kNone; }
};

// `an error`, `a crash`, `a time-out`.
absl::string_view KindToString(Failure::Kind kind);

// Converts a failure to text; ReadFailure converts it back.
std::string WriteFailure(const Failure& failure);
Failure ReadFailure(absl::string_view text);

// The failure of a child process whose body returns the text of a failure;
// kNone if the child was interrupted.
Failure FailureOf(const ChildResult& result, const ProgressPage& progress);

// The failure for an error of a pipeline.
Failure FailureOf(const absl::Status& error);

// The words of a message that do not depend on the size of the program: its
// first five words without digits and names.
std::string MessageKey(absl::string_view message);

// True if `now` is the failure `was`: of the same kind and pass, and for errors
// with the same key.
bool SameFailure(const Failure& was, const Failure& now);

// Limits of runs of smaller programs that must reproduce `failure`. They depend
// on the time of the failing run, so that hanging programs do not slow down the
// search.
ChildLimits TestLimits(const Failure& failure, const ChildLimits& limits);

// The settings of a run of passes.
struct PipelineSettings {
  // `instruments` is not used.
  PassContextOptions context = {};
  // Makes the instruments that check results, anew for each run; null for none.
  std::function<absl::StatusOr<PassInstruments>()> make_instruments = {};
  // Converts a program before it is tested alone, for example by binding its
  // parameters to constants. Null leaves it unchanged.
  std::function<absl::StatusOr<IRModule>(const IRModule&)> prepare = {};
};

// Runs `pipeline` on `module`, in this process.
absl::StatusOr<IRModule> RunPipeline(const IRModule& module,
                                     const Pass& pipeline,
                                     const PipelineSettings& settings);

// Runs `pipeline` in a child process, and returns its failure. An error only if
// no process could be created.
absl::StatusOr<Failure> RunPipelineInChild(const IRModule& module,
                                           const Pass& pipeline,
                                           const PipelineSettings& settings,
                                           const ChildLimits& limits);

// A run in a child process that is still in progress.
class PipelineRun {
 public:
  static absl::StatusOr<PipelineRun> Start(const IRModule& module,
                                           const Pass& pipeline,
                                           const PipelineSettings& settings,
                                           const ChildLimits& limits);
  Failure Wait();

 private:
  PipelineRun(Child child, std::shared_ptr<ProgressPage> progress)
      : child_(std::move(child)), progress_(std::move(progress)) {}
  Child child_;
  std::shared_ptr<ProgressPage> progress_;
};

}  // namespace baton

#endif  // BATON_TRIAGE_FAILURE_H_
