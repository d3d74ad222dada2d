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
  // Also checks that the program has types, and that the types recorded in its
  // expressions are right.
  bool types = true;
};

// Checks the result of each pass (ir/function_verifier.h); an error names the
// pass. Checks the argument of the outermost pass first, so that its errors are
// not attributed to a pass.
//
// Checks a function again only if it is a different node or has a new name, or
// if the module lost or gained functions, changed the type of a function that
// it uses, or changed its data types.
class VerifyInstrument final : public PassInstrument {
 public:
  explicit VerifyInstrument(VerifyOptions options = {})
      : PassInstrument("VerifyInstrument"), options_(options) {}

  bool needs_untyped_modules() const override { return false; }
  absl::Status ExitPassContext() override;
  absl::Status RunBeforePass(const IRModule& module,
                             const PassExecution& pass) override;
  absl::Status RunAfterPass(const IRModule& module,
                            const PassExecution& pass) override;

  // The number of checks of functions so far.
  int64_t num_checked() const { return num_checked_; }

 private:
  absl::Status Check(const IRModule& module, int depth);

  const VerifyOptions options_;
  int64_t num_checked_ = 0;
  // The last verified module for each nesting depth of passes.
  std::vector<IRModule> good_;
};

}  // namespace baton

#endif  // BATON_INSTRUMENT_VERIFY_H_
