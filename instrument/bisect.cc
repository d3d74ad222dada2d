#include "baton/instrument/bisect.h"

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "baton/base/flags.h"
#include "baton/instrument/instrument_registry.h"
#include "baton/ir/module.h"
#include "baton/transform/pass_info.h"
#include "baton/transform/pass_instrument.h"

namespace baton {
namespace {

bool Counts(const PassInfo& info) { return !info.always_run; }

}  // namespace

absl::Status BisectInstrument::EnterPassContext() {
  executions_ = 0;
  refusals_ = 0;
  last_executed_.clear();
  return absl::OkStatus();
}

absl::StatusOr<bool> BisectInstrument::ShouldRun(const IRModule& /*module*/,
                                                 const PassExecution& pass) {
  if (!Counts(pass.info()) || executions_ < limit_) return true;
  ++refusals_;
  return false;
}

absl::Status BisectInstrument::RunBeforePass(const IRModule& /*module*/,
                                             const PassExecution& pass) {
  if (Counts(pass.info())) {
    ++executions_;
    last_executed_ = absl::StrCat("#", pass.number(), " ", pass.name());
  }
  return absl::OkStatus();
}

std::string BisectInstrument::ToString() const {
  return absl::StrCat("bisect: limit ", limit_, ": ", executions_, " executed",
                      last_executed_.empty() ? "" : ", last ", last_executed_,
                      "; ", refusals_, " refused\n");
}

namespace {

struct BisectFlags {
  int64_t bisect_limit = -1;  // negative for no limit

  template <typename V>
  static void VisitFields(V& v) {
    v("bisect_limit", &BisectFlags::bisect_limit,
      FlagSpec{
          .help = "Number of executions that may change the module; -1: all.",
          .value = "N",
          .group = kPassFlags,
          .least = 0,
          .none = -1});
  }
};

InstrumentFactory::Made MakeBisect(const BisectFlags& flags,
                                   const InstrumentRun& run) {
  if (flags.bisect_limit < 0) return nullptr;
  auto instrument = std::make_shared<BisectInstrument>(flags.bisect_limit);
  instrument->set_name("--bisect_limit");
  run.in_report([instrument] { return instrument->ToString(); });
  return instrument;
}

BATON_REGISTER_INSTRUMENT("bisect",
                          "Refuses passes after a number of executions.",
                          MakeBisect, InstrumentPhase::kSkip);

}  // namespace

}  // namespace baton
