// VerifyWithInstrument: finds the pass whose result a verifier, a pass such as
// tir.VerifySSA, refuses.

#ifndef BATON_INSTRUMENT_VERIFY_WITH_H_
#define BATON_INSTRUMENT_VERIFY_WITH_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "baton/ir/module.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_instrument.h"

namespace baton {

// Runs passes such as tir.VerifySSA on the result of each pass. A pass on whose
// argument a verifier succeeds and on whose result it fails is an error, which
// names both. What verifiers return is dropped.
//
// A verifier that fails on the argument too says nothing about the pass:
// tir.VerifyMemory fails until functions have targets.
class VerifyWithInstrument final : public PassInstrument {
 public:
  // Verifiers run in a context with the options of the current one, without
  // instruments.
  explicit VerifyWithInstrument(std::vector<Pass> verifiers)
      : PassInstrument("VerifyWithInstrument"),
        verifiers_(std::move(verifiers)) {}

  absl::Status RunAfterPass(const IRModule& module,
                            const PassExecution& pass) override;
  absl::Status ExitPassContext() override;

  // The number of executions on whose results a verifier ran.
  int64_t num_checked() const { return num_checked_; }

 private:
  // The results of the verifiers for `module`. Those for the last module are
  // kept: it is the argument of the next pass.
  const std::vector<absl::Status>& Verify(const IRModule& module);

  const std::vector<Pass> verifiers_;
  IRModule state_;
  // The results for `state_`; empty if that was not checked.
  std::vector<absl::Status> results_;
  int64_t num_checked_ = 0;
};

}  // namespace baton

#endif  // BATON_INSTRUMENT_VERIFY_WITH_H_
