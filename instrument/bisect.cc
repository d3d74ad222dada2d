#include "baton/instrument/bisect.h"

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
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

}  // namespace baton
