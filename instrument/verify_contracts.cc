#include "baton/instrument/verify_contracts.h"

#include <memory>
#include <string>
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
#include "baton/transform/module_property.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_info.h"
#include "baton/transform/pass_instrument.h"

namespace baton {

absl::Status VerifyContractsInstrument::CheckProperty(
    const IRModule& module, const std::string& property) {
  if (!module.SameAs(state_)) {
    properties_.clear();
    state_ = module;
  }
  const auto it = properties_.find(property);
  if (it != properties_.end()) return it->second;
  const absl::StatusOr<const ModuleProperty*> found =
      ModuleProperties().Get(property);
  absl::Status status = found.ok() ? (*found)->check(module) : found.status();
  properties_[property] = status;
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
  for (const std::string& property : ModuleProperties().Names()) {
    if (!pass.changed() ||
        absl::c_linear_search(pass.info().invalidates, property) ||
        absl::c_linear_search(pass.info().establishes, property)) {
      continue;
    }
    if (CheckProperty(pass.before(), property).ok()) kept.push_back(property);
  }
  for (const std::string& property : pass.info().establishes) {
    if (const absl::Status status = CheckProperty(module, property);
        !status.ok()) {
      return absl::InternalError(
          absl::StrCat(pass.name(), " should establish ", property,
                       ", which its result does not have: ", status.message()));
    }
  }
  for (const std::string& property : kept) {
    if (const absl::Status status = CheckProperty(module, property);
        !status.ok()) {
      return absl::InternalError(
          absl::StrCat(pass.name(), " should keep ", property,
                       ", which its result does not have: ", status.message()));
    }
  }
  return absl::OkStatus();
}

absl::Status VerifyContractsInstrument::ExitPassContext() {
  state_ = IRModule();
  properties_.clear();
  return absl::OkStatus();
}

namespace {

struct VerifyContractsFlags {
  bool verify_contracts = false;

  template <typename V>
  static void VisitFields(V& v) {
    v("verify_contracts", &VerifyContractsFlags::verify_contracts,
      FlagSpec{.help = "Checks the properties that passes require, establish "
                       "and invalidate.",
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
