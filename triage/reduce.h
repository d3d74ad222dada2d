// From a program and a pipeline that show something to the smallest program and
// the shortest pipeline that still do.

#ifndef BATON_TRIAGE_REDUCE_H_
#define BATON_TRIAGE_REDUCE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "baton/ir/module.h"
#include "baton/transform/pass.h"
#include "baton/triage/failure.h"

namespace baton {

// A program, and the passes that run over it in sequence.
struct ReducedCase {
  IRModule module;  // typed
  std::vector<Pass> passes;
};

// A test of one case that is under way in another process.
class OracleRun {
 public:
  virtual ~OracleRun() = default;
  // Waits. True if the case shows what is looked for. Call it once.
  virtual bool Wait() = 0;
};

// Says whether a case shows what is looked for.
class Oracle {
 public:
  virtual ~Oracle() = default;
  // Begins a test; several may be under way at the same time.
  virtual absl::StatusOr<std::unique_ptr<OracleRun>> Start(
      const ReducedCase& reduced) const = 0;
};

// Whether the passes fail as `failure` says.
std::unique_ptr<Oracle> FailureOracle(Failure failure,
                                      PipelineSettings settings,
                                      ChildLimits limits);

struct ReduceOptions {
  // Tests under way at one time. Changes nothing but the time it takes.
  int jobs = 2;
  // After so much processor time, of this process and of the tests, no more is
  // tried; 0: as long as it takes.
  double seconds = 0;
  // Tests of the start, which must show it; if not all do, it is flaky.
  int start_tests = 3;
  // Is told of the start when it was seen to show what is looked for, and of
  // each better case as soon as there is one.
  std::function<absl::Status(const ReducedCase&)> on_better = {};
};

struct ReduceResult {
  ReducedCase best;
  int64_t tests = 0;   // that were run
  int64_t cached = 0;  // that were not, since an equal case had been
  // More might have been possible: the time was up, or there was a signal
  // (interrupt.h).
  bool timed_out = false;
  bool interrupted = false;
  // The same case was seen to fail and not to fail: nothing here is certain.
  bool flaky = false;
};

// Reduces `start`, which must be typed. The same result for any number of jobs,
// as long as no limit of time is reached. The error is NotFound if `start` does
// not show what is looked for, Cancelled if there was a signal before it did.
absl::StatusOr<ReduceResult> Reduce(const ReducedCase& start,
                                    const Oracle& oracle,
                                    const ReduceOptions& options);

}  // namespace baton

#endif  // BATON_TRIAGE_REDUCE_H_
