#include "baton/instrument/verify_contracts.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "baton/base/flags.h"
#include "baton/base/status_macros.h"
#include "baton/instrument/instrument_registry.h"
#include "baton/ir/module.h"
#include "baton/transform/contracts.h"
#include "baton/transform/form.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_info.h"
#include "baton/transform/pass_instrument.h"

namespace baton {

absl::Status VerifyContractsInstrument::FormOf(const IRModule& module,
                                               const std::string& form) {
  if (!module.SameAs(state_)) {
    forms_.clear();
    state_ = module;
  }
  const auto it = forms_.find(form);
  if (it != forms_.end()) return it->second;
  const absl::StatusOr<const Form*> found = Forms().Get(form);
  absl::Status status = found.ok() ? (*found)->check(module) : found.status();
  forms_[form] = status;
  return status;
}

absl::Status VerifyContractsInstrument::RunBeforePass(
    const IRModule& module, const PassExecution& pass) {
  if (pass.depth() > 0) return absl::OkStatus();
  return CheckContracts(pass.pass(), module, PassContext::Current());
}

absl::Status VerifyContractsInstrument::RunAfterPass(
    const IRModule& module, const PassExecution& pass) {
  if (pass.info().granularity == PassGranularity::kSequence) {
    return absl::OkStatus();
  }
  ++num_checked_;
  std::vector<std::string> kept;
  for (const std::string& form : Forms().Names()) {
    if (!pass.changed() || absl::c_linear_search(pass.info().destroys, form) ||
        absl::c_linear_search(pass.info().establishes, form)) {
      continue;
    }
    if (FormOf(pass.before(), form).ok()) kept.push_back(form);
  }
  for (const std::string& form : pass.info().establishes) {
    if (const absl::Status status = FormOf(module, form); !status.ok()) {
      return absl::InternalError(
          absl::StrCat(pass.name(), " should establish ", form,
                       ", which its result does not have: ", status.message()));
    }
  }
  for (const std::string& form : kept) {
    if (const absl::Status status = FormOf(module, form); !status.ok()) {
      return absl::InternalError(
          absl::StrCat(pass.name(), " should keep ", form,
                       ", which its result does not have: ", status.message()));
    }
  }
  return absl::OkStatus();
}

absl::Status VerifyContractsInstrument::ExitPassContext() {
  state_ = IRModule();
  forms_.clear();
  return absl::OkStatus();
}

namespace {

struct VerifyContractsFlags {
  bool verify_contracts = false;

  template <typename V>
  static void VisitFields(V& v) {
    v("verify_contracts", &VerifyContractsFlags::verify_contracts,
      FlagSpec{.help = "Checks the properties that passes require, establish "
                       "and keep.",
               .group = kFaultFlags});
  }
};

InstrumentFactory::Made MakeVerifyContracts(const VerifyContractsFlags& flags,
                                            const InstrumentRun& run) {
  if (!flags.verify_contracts) return nullptr;
  auto instrument = std::make_shared<VerifyContractsInstrument>();
  instrument->set_name("--verify_contracts");
  run.checked([instrument] {
    return CheckedLine("verify_contracts", "checked", instrument->num_checked(),
                       "pass", "no pass ran");
  });
  return instrument;
}

BATON_REGISTER_INSTRUMENT("verify_contracts", "Checks the contracts of passes.",
                          MakeVerifyContracts, InstrumentPhase::kCheck);

}  // namespace

}  // namespace baton
