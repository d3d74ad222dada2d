// How a pipeline fails, and whether it fails in the same way again.

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

// One way of failing, or none.
struct Failure {
  enum class Kind {
    kNone,
    kError,    // the pipeline returned one
    kCrash,    // the process ended by a signal, or left
    kTimeOut,  // it was killed
  };
  Kind kind = Kind::kNone;
  // The innermost execution of a pass that is not only there to finish another
  // one: of the error, or that was under way. 0 if it is not known.
  int64_t number = 0;
  std::string pass;
  // The whole message of an error.
  std::string message;
  // Two errors with the same key are taken to be the same.
  std::string key;
  // Of processor time that the run took; if its time was up, until the
  // execution began that did not end. 0 if it is not known. No part of the text
  // of a failure.
  double seconds = 0;

  bool failed() const { return kind != Kind::kNone; }
};

// `an error`, `a crash`, `a time-out`.
absl::string_view KindToString(Failure::Kind kind);

// The same as text, from which ReadFailure makes it again.
std::string WriteFailure(const Failure& failure);
Failure ReadFailure(absl::string_view text);

// The failure that the end of a child process is that returned the text of one;
// none if it was interrupted.
Failure FailureOf(const ChildResult& result, const ProgressPage& progress);

// The failure that an error of a pipeline is.
Failure FailureOf(const absl::Status& error);

// The words that a message keeps when the program it speaks of gets smaller:
// its first five that have neither digits nor names in them.
std::string MessageKey(absl::string_view message);

// Whether `now` is the failure `was`: of one kind, of the same pass, and if an
// error, with the same key.
bool SameFailure(const Failure& was, const Failure& now);

// Limits of runs that are to show `failure` again, in smaller programs: by how
// long the run took, so that those that hang do not hold up the search.
ChildLimits TestLimits(const Failure& failure, const ChildLimits& limits);

// Under which settings passes run.
struct PipelineSettings {
  // `instruments` is not used.
  PassContextOptions context = {};
  // Makes the instruments that may find fault, anew for each run. Null: none.
  std::function<absl::StatusOr<PassInstruments>()> make_instruments = {};
  // What becomes of a program before the failure is looked for in it alone:
  // arguments become constants of the program, say. Null: it stays.
  std::function<absl::StatusOr<IRModule>(const IRModule&)> prepare = {};
};

// Runs `pipeline` on `module`, in this process.
absl::StatusOr<IRModule> RunPipeline(const IRModule& module,
                                     const Pass& pipeline,
                                     const PipelineSettings& settings);

// Runs it in a child process, and says how it failed. The error is that no
// process could be made.
absl::StatusOr<Failure> RunPipelineInChild(const IRModule& module,
                                           const Pass& pipeline,
                                           const PipelineSettings& settings,
                                           const ChildLimits& limits);

// A run in a child process that is under way.
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
