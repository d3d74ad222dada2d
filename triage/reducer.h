// Delta-debugs a module and a pipeline against an oracle: finds the smallest
// module and the shortest pipeline for which the oracle is true.

#ifndef BATON_TRIAGE_REDUCER_H_
#define BATON_TRIAGE_REDUCER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "absl/functional/function_ref.h"
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

// A test of one case that is running in another process.
class OracleRun {
 public:
  virtual ~OracleRun() = default;
  // Waits for the end. Returns true if the oracle is true for the case. Call it
  // once.
  virtual bool Wait() = 0;
};

// The condition that a reduction preserves.
class Oracle {
 public:
  virtual ~Oracle() = default;
  // Starts a test; several may run at the same time.
  virtual absl::StatusOr<std::unique_ptr<OracleRun>> Start(
      const ReducedCase& reduced) const = 0;
};

// An oracle that is true if the passes fail like `failure`.
std::unique_ptr<Oracle> FailureOracle(Failure failure,
                                      PipelineSettings settings,
                                      ChildLimits limits);

struct ReduceOptions {
  // The number of concurrent tests. Affects only the run time.
  int jobs = 2;
  // The limit of the processor time of this process and of the tests; 0 for no
  // limit.
  double seconds = 0;
  // The number of times that the oracle tests the initial case. If only some of
  // these tests accept the case, the oracle is flaky; if none does, the
  // reduction fails.
  int start_tests = 3;
  // Called with the start after the oracle accepted it, and with each better
  // case as soon as it is found.
  std::function<absl::Status(const ReducedCase&)> on_better = {};
};

// Two quick steps of a reduction, in a few tests each. They return `module`
// itself if no test of a smaller one is true for `fails`.

// Replaces large constants of `module` by parameters of `main`: all of them,
// otherwise as many as a binary search finds in twelve tests.
absl::StatusOr<IRModule> DropWeights(
    const IRModule& module,
    absl::FunctionRef<absl::StatusOr<bool>(const IRModule&)> fails);

// Returns the typed `module` with a new `main` that returns one of its nodes:
// the first for which `fails` is true. As many other nodes as possible become
// parameters. Two binary searches.
absl::StatusOr<IRModule> CutToFailure(
    const IRModule& module,
    absl::FunctionRef<absl::StatusOr<bool>(const IRModule&)> fails);

// The result of Reduce.
struct ReduceResult {
  ReducedCase best;
  int64_t tests = 0;   // tests that were run
  int64_t cached = 0;  // tests that were not run, since an equal case had been
                       // tested
  // True if the reduction ended early: by the time limit or a signal
  // (interrupt.h).
  bool timed_out = false;
  bool interrupted = false;
  // True if equal cases had different results: the result is not certain.
  bool flaky = false;
};

// Reduces `start`, which must be typed. The result does not depend on the
// number of jobs, unless the time limit is reached. Errors: NotFound if the
// oracle does not accept `start`, Cancelled after a signal before it did.
absl::StatusOr<ReduceResult> Reduce(const ReducedCase& start,
                                    const Oracle& oracle,
                                    const ReduceOptions& options);

}  // namespace baton

#endif  // BATON_TRIAGE_REDUCER_H_
