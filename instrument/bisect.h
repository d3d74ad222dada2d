// BisectInstrument: stops optimizing after a given number of executions.
//
// If a model is right with limit n and wrong with limit n + 1, the last pass
// that executed with limit n + 1 causes the failure. Bisection finds n.

#ifndef BATON_INSTRUMENT_BISECT_H_
#define BATON_INSTRUMENT_BISECT_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "baton/ir/module.h"
#include "baton/transform/pass_instrument.h"

namespace baton {

// Counts the executions of passes that can change a program, and refuses any
// after the first `limit`. Passes that always run (PassInfo::always_run:
// sequences, InferType, PrintIR) are neither refused nor counted. Passes that
// the context requires cannot be refused, but count. Entering a context resets
// the count.
class BisectInstrument final : public PassInstrument {
 public:
  explicit BisectInstrument(int64_t limit)
      : PassInstrument("BisectInstrument"), limit_(limit) {}

  int64_t limit() const { return limit_; }
  // The number of counted executions.
  int64_t executions() const { return executions_; }
  // The number of refused executions. If it is 0, a higher limit changes
  // nothing.
  int64_t refusals() const { return refusals_; }

  // The last pass that ran: `#7 FuseOps`; empty if no pass ran.
  const std::string& last_executed() const { return last_executed_; }
  // One line with all of the above.
  std::string ToString() const;

  absl::Status EnterPassContext() override;
  absl::StatusOr<bool> ShouldRun(const IRModule& module,
                                 const PassExecution& pass) override;
  absl::Status RunBeforePass(const IRModule& module,
                             const PassExecution& pass) override;

 private:
  const int64_t limit_;
  int64_t executions_ = 0;
  int64_t refusals_ = 0;
  std::string last_executed_;
};

}  // namespace baton

#endif  // BATON_INSTRUMENT_BISECT_H_
