#include "baton/instrument/verify_with.h"

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "baton/base/flags.h"
#include "baton/base/status_macros.h"
#include "baton/instrument/instrument_registry.h"
#include "baton/ir/module.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_info.h"
#include "baton/transform/pass_instrument.h"
#include "baton/transform/pass_registry.h"
#include "baton/transform/pipeline.h"
#include "baton/transform/run_apart.h"

namespace baton {

const std::vector<absl::Status>& VerifyWithInstrument::Verify(
    const IRModule& module) {
  if (!results_.empty() && module.SameAs(state_)) return results_;
  const PassContext current = PassContext::Current();
  const PassContext context({.opt_level = current.opt_level(),
                             .required_pass = current.required_pass(),
                             .disabled_pass = current.disabled_pass(),
                             .config = current.config(),
                             .registry = current.registry(),
                             .target = current.target()});
  std::vector<absl::Status> results;
  for (const Pass& verifier : verifiers_) {
    results.push_back(RunApart(verifier, module, context).status());
  }
  state_ = module;
  results_ = std::move(results);
  return results_;
}

absl::Status VerifyWithInstrument::RunAfterPass(const IRModule& module,
                                                const PassExecution& pass) {
  if (pass.info().granularity == PassGranularity::kSequence) {
    return absl::OkStatus();
  }
  if (!pass.changed()) return absl::OkStatus();
  ++num_checked_;
  const std::vector<absl::Status> before = Verify(pass.before());
  const std::vector<absl::Status>& after = Verify(module);
  for (size_t i = 0; i < verifiers_.size(); ++i) {
    if (!before[i].ok() || after[i].ok()) continue;
    return absl::Status(after[i].code(),
                        absl::StrCat("after pass ", pass.name(), ", ",
                                     verifiers_[i].info().name,
                                     " fails, which succeeded before it:\n",
                                     after[i].message()));
  }
  return absl::OkStatus();
}

absl::Status VerifyWithInstrument::ExitPassContext() {
  state_ = IRModule();
  results_.clear();
  return absl::OkStatus();
}

namespace {

struct VerifyWithFlags {
  std::string verify_with;

  template <typename V>
  static void VisitFields(V& v) {
    v("verify_with", &VerifyWithFlags::verify_with,
      FlagSpec{.help = "Runs passes that verify after each pass: "
                       "tir.VerifyScopes,tir.VerifySSA.",
               .value = "PASSES",
               .group = kFaultFlags});
  }
};

absl::StatusOr<std::shared_ptr<PassInstrument>> MakeVerifyWith(
    const VerifyWithFlags& flags, const InstrumentRun& run) {
  if (flags.verify_with.empty()) return nullptr;
  BATON_ASSIGN_OR_RETURN(
      const Pass pipeline,
      ParsePipeline(flags.verify_with, PassRegistry::Global(), "--verify_with",
                    NamedPasses::kAtAnyLevel));
  const absl::Span<const Pass> passes = pipeline.impl().listed_passes();
  auto instrument = std::make_shared<VerifyWithInstrument>(
      std::vector<Pass>(passes.begin(), passes.end()));
  instrument->set_name("--verify_with");
  run.checked([instrument] {
    return CheckedLine("verify_with", "checked", instrument->num_checked(),
                       "pass", "no pass changed the module");
  });
  return instrument;
}

BATON_REGISTER_INSTRUMENT("verify_with",
                          "Runs passes that verify after each pass.",
                          MakeVerifyWith, InstrumentPhase::kCheck);

}  // namespace

}  // namespace baton
