// VerifyInstrument: finds the pass that breaks the rules of the IR.

#ifndef BATON_INSTRUMENT_VERIFY_H_
#define BATON_INSTRUMENT_VERIFY_H_

#include "absl/status/status.h"
#include "baton/ir/module.h"
#include "baton/transform/pass_instrument.h"

namespace baton {

struct VerifyOptions {
  // Also check that the program has types, and that those which the pass left
  // at its expressions are the right ones.
  bool types = true;
};

// Checks what each pass returns; an error names the pass. The module that the
// outermost pass is given is checked first, so that no pass is blamed for it.
// A module that was just checked is not checked again.
class VerifyInstrument final : public PassInstrument {
 public:
  explicit VerifyInstrument(VerifyOptions options = {})
      : PassInstrument("VerifyInstrument"), options_(options) {}

  absl::Status ExitPassContext() override;
  absl::Status RunBeforePass(const IRModule& module,
                             const PassExecution& pass) override;
  absl::Status RunAfterPass(const IRModule& module,
                            const PassExecution& pass) override;

 private:
  absl::Status Check(const IRModule& module);

  const VerifyOptions options_;
  IRModule good_;  // the last one that was found to be good
};

// OK if the types recorded in `module` are those that inference finds anew.
// Expressions without a type are not compared.
absl::Status CheckTypes(const IRModule& module);

}  // namespace baton

#endif  // BATON_INSTRUMENT_VERIFY_H_
