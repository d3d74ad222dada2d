// VerifyContractsInstrument: finds the pass that breaks its contract.

#ifndef BATON_INSTRUMENT_VERIFY_CONTRACTS_H_
#define BATON_INSTRUMENT_VERIFY_CONTRACTS_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "baton/base/hash_table.h"
#include "baton/ir/module.h"
#include "baton/transform/pass_instrument.h"

namespace baton {

// Checks that passes keep the contracts in their PassInfo: the properties of
// programs (transform/module_property.h) that they require, establish and
// invalidate. Before an outermost pass runs, CheckContracts
// (transform/contracts.h) checks its order: an ill-ordered pipeline is an error
// that says which pass to insert. After each pass that runs no other passes,
// its result must have the properties that the pass establishes, and the
// properties that the program had before and that the pass does not invalidate.
// An error names the pass and the property.
//
// A property is computed for a state of the module when a pass first needs it.
class VerifyContractsInstrument final : public PassInstrument {
 public:
  VerifyContractsInstrument() : PassInstrument("VerifyContractsInstrument") {}

  absl::Status RunBeforePass(const IRModule& module,
                             const PassExecution& pass) override;
  absl::Status RunAfterPass(const IRModule& module,
                            const PassExecution& pass) override;
  absl::Status ExitPassContext() override;

  // The number of executions whose results were checked.
  int64_t num_checked() const { return num_checked_; }

 private:
  // OK if `module` has the property `property`; otherwise the error says why
  // not. The result is cached while `module` stays the same.
  absl::Status CheckProperty(const IRModule& module,
                             const std::string& property);

  // The properties of `state_`, the result of the last checked pass.
  IRModule state_;
  FlatHashMap<std::string, absl::Status> properties_;
  int64_t num_checked_ = 0;
};

}  // namespace baton

#endif  // BATON_INSTRUMENT_VERIFY_CONTRACTS_H_
