// VerifyInstrument: finds the pass that breaks the rules of the IR.

#ifndef BATON_INSTRUMENT_VERIFY_H_
#define BATON_INSTRUMENT_VERIFY_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "baton/ir/module.h"
#include "baton/transform/pass_instrument.h"

namespace baton {

struct VerifyOptions {
  // Also check that the program has types, and that those which the pass left
  // at its expressions are the right ones.
  bool types = true;
};

// Checks what each pass returns (ir/verify.h); an error names the pass. The
// module that the outermost pass is given is checked first, so that no pass is
// blamed for it.
//
// A function is checked once: it is not checked again as long as it stays the
// same node of the same name, the module keeps its other functions, the types
// of those that it uses, and its data types.
class VerifyInstrument final : public PassInstrument {
 public:
  explicit VerifyInstrument(VerifyOptions options = {})
      : PassInstrument("VerifyInstrument"), options_(options) {}

  absl::Status ExitPassContext() override;
  absl::Status RunBeforePass(const IRModule& module,
                             const PassExecution& pass) override;
  absl::Status RunAfterPass(const IRModule& module,
                            const PassExecution& pass) override;

  // How many functions were checked so far, each time counted.
  int64_t num_checked() const { return num_checked_; }

 private:
  absl::Status Check(const IRModule& module, int depth);

  const VerifyOptions options_;
  int64_t num_checked_ = 0;
  // By depth of passes: the last module that was found to be good.
  std::vector<IRModule> good_;
};

}  // namespace baton

#endif  // BATON_INSTRUMENT_VERIFY_H_
