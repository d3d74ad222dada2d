#include "baton/instrument/skip.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "baton/instrument/pass_listener.h"
#include "baton/ir/module.h"
#include "baton/transform/pass_info.h"
#include "baton/transform/pass_instrument.h"

namespace baton {

absl::Status SkipInstrument::EnterPassContext() {
  left_out_.clear();
  asked_.clear();
  return absl::OkStatus();
}

absl::StatusOr<bool> SkipInstrument::ShouldRun(const IRModule& /*module*/,
                                               const PassExecution& pass) {
  if (options_.stop_after >= 0 && pass.number() > options_.stop_after &&
      PassListener::IsComplete(pass)) {
    return false;
  }
  const auto of_pass = options_.of_pass.find(pass.name());
  if (of_pass != options_.of_pass.end() &&
      of_pass->second.count(++asked_[pass.name()]) > 0) {
    return false;
  }
  // The next execution gets the number of the one that is left out.
  return options_.numbers.count(pass.number()) == 0 ||
         !left_out_.insert(pass.number()).second;
}

absl::StatusOr<bool> AddExecutionOf(absl::string_view text,
                                    SkipOptions& options) {
  const std::vector<absl::string_view> parts =
      absl::StrSplit(text, absl::MaxSplits('#', 1));
  if (parts.size() != 2) return false;
  int64_t number = 0;
  if (!absl::SimpleAtoi(parts[1], &number) || number < 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        text, ": expected a number from 1 after #, found `", parts[1], "`"));
  }
  options.of_pass[std::string(parts[0])].insert(number);
  return true;
}

}  // namespace baton
