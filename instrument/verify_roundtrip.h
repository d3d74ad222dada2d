// VerifyRoundtripInstrument: finds the pass whose result cannot be written and
// read again.

#ifndef BATON_INSTRUMENT_VERIFY_ROUNDTRIP_H_
#define BATON_INSTRUMENT_VERIFY_ROUNDTRIP_H_

#include <cstdint>

#include "absl/status/status.h"
#include "baton/ir/module.h"
#include "baton/transform/pass_instrument.h"

namespace baton {

// After each pass that changes the module, writes the module as text and as a
// binary file, and reads both. An error names the pass and the first
// difference.
class VerifyRoundtripInstrument final : public PassInstrument {
 public:
  VerifyRoundtripInstrument() : PassInstrument("VerifyRoundtripInstrument") {}

  absl::Status RunAfterPass(const IRModule& module,
                            const PassExecution& pass) override;

  // The number of modules that were written and read.
  int64_t num_checked() const { return num_checked_; }

 private:
  int64_t num_checked_ = 0;
};

}  // namespace baton

#endif  // BATON_INSTRUMENT_VERIFY_ROUNDTRIP_H_
