// VerifyContractsInstrument: finds the pass that breaks its contract.

#ifndef BATON_INSTRUMENT_VERIFY_CONTRACTS_H_
#define BATON_INSTRUMENT_VERIFY_CONTRACTS_H_

#include <string>

#include "absl/status/status.h"
#include "baton/base/hash_table.h"
#include "baton/ir/module.h"
#include "baton/transform/pass_instrument.h"

namespace baton {

// Holds passes to the forms of programs that their PassInfo names (form.h). An
// outermost pass is checked before it runs (CheckContracts, contracts.h): an
// ill-ordered pipeline is an error that says what to insert. After each pass
// that runs no other passes: its result has the forms that the pass
// establishes, and those that the program had before and that the pass does not
// destroy. An error names the pass and the form.
//
// A form is computed for a state of the module when a pass first asks for it.
class VerifyContractsInstrument final : public PassInstrument {
 public:
  VerifyContractsInstrument() : PassInstrument("VerifyContractsInstrument") {}

  absl::Status RunBeforePass(const IRModule& module,
                             const PassExecution& pass) override;
  absl::Status RunAfterPass(const IRModule& module,
                            const PassExecution& pass) override;
  absl::Status ExitPassContext() override;

 private:
  // OK if `module` has the form of that name, else why not. Remembered while
  // `module` is the one asked about.
  absl::Status FormOf(const IRModule& module, const std::string& form);

  // The forms of `state_`: the result of the last pass that was checked.
  IRModule state_;
  FlatHashMap<std::string, absl::Status> forms_;
};

}  // namespace baton

#endif  // BATON_INSTRUMENT_VERIFY_CONTRACTS_H_
