#include "baton/instrument/skip.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "baton/base/flags.h"
#include "baton/base/plural.h"
#include "baton/base/status_macros.h"
#include "baton/instrument/instrument_registry.h"
#include "baton/instrument/pass_listener.h"
#include "baton/ir/module.h"
#include "baton/transform/internal/thread_state.h"
#include "baton/transform/pass_instrument.h"

namespace baton {

absl::Status SkipInstrument::EnterPassContext() {
  skipped_.clear();
  required_.clear();
  asked_.clear();
  last_number_ = 0;
  stopped_.reset();
  return absl::OkStatus();
}

absl::StatusOr<bool> SkipInstrument::ShouldRun(const IRModule& module,
                                               const PassExecution& pass) {
  if (options_.stop_after == 0) return false;
  // The body of a function pass runs to its end; its result does not count.
  if (stopped_.has_value()) return !PassListener::IsComplete(pass);
  const auto of_pass = options_.of_pass.find(pass.name());
  const int64_t asked = ++asked_[pass.name()];
  const bool is_of_pass =
      of_pass != options_.of_pass.end() && of_pass->second.count(asked) > 0;
  // Without `count_inside`, the next execution gets the number of a skipped one.
  const bool is_number = options_.numbers.count(pass.number()) > 0 &&
                         skipped_.insert(pass.number()).second;
  if (!is_of_pass && !is_number) return true;
  const int64_t inside = options_.count_inside == nullptr
                             ? 0
                             : options_.count_inside(pass.pass(), module);
  last_number_ = pass.number() + inside;
  if (options_.count_inside != nullptr) {
    internal::ThreadState::Get().AddExecutions(1 + inside);
  }
  return false;
}

absl::Status SkipInstrument::RunBeforePass(const IRModule& /*module*/,
                                           const PassExecution& pass) {
  last_number_ = std::max(last_number_, pass.number());
  if (options_.numbers.count(pass.number()) > 0 &&
      skipped_.count(pass.number()) == 0) {
    required_.insert(pass.number());
  }
  return absl::OkStatus();
}

absl::Status SkipInstrument::RunAfterPass(const IRModule& module,
                                          const PassExecution& pass) {
  if (pass.number() == options_.stop_after) stopped_ = module;
  return absl::OkStatus();
}

std::vector<std::string> SkipInstrument::Unmet() const {
  std::vector<std::string> lines;
  const std::string last =
      last_number_ == 0
          ? std::string("no pass runs")
          : absl::StrCat("the last execution of this run is #", last_number_);
  for (const int64_t number : options_.numbers) {
    if (skipped_.count(number) > 0) continue;
    lines.push_back(
        absl::StrCat("--skip_execution=", number, ": ",
                     required_.count(number) > 0
                         ? "--required_pass names that pass, which ran"
                         : last));
  }
  for (const auto& [name, numbers] : options_.of_pass) {
    const auto it = asked_.find(name);
    const int64_t asked = it == asked_.end() ? 0 : it->second;
    for (const int64_t number : numbers) {
      if (number <= asked) continue;
      lines.push_back(absl::StrCat("--disabled_pass=", name, "#", number,
                                   ": this run has ",
                                   Plural(asked, "execution"), " of ", name));
    }
  }
  if (options_.stop_after > 0 && !stopped_.has_value()) {
    lines.push_back(
        absl::StrCat("--stop_after=", options_.stop_after, ": ", last));
  }
  return lines;
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

namespace {

struct SkipFlags {
  std::string skip_execution;  // numbers, separated by commas
  int64_t stop_after = -1;

  template <typename V>
  static void VisitFields(V& v) {
    v("skip_execution", &SkipFlags::skip_execution,
      FlagSpec{.help = "Executions, by number, that are left out.",
               .value = "N,N",
               .group = kPassFlags});
    v("stop_after", &SkipFlags::stop_after,
      FlagSpec{
          .help = "The number of the last execution of the run; -1: no limit.",
          .value = "N",
          .group = kPassFlags,
          .least = 0,
          .none = -1});
  }
};

InstrumentFactory::Made MakeSkip(const SkipFlags& flags,
                                 const InstrumentRun& run) {
  SkipOptions skip = {.stop_after = flags.stop_after,
                      .count_inside = run.count_inside};
  for (const absl::string_view text :
       absl::StrSplit(flags.skip_execution, ',', absl::SkipEmpty())) {
    int64_t number = 0;
    if (!absl::SimpleAtoi(text, &number) || number < 1) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--skip_execution: expected numbers from 1, found `", text, "`"));
    }
    skip.numbers.insert(number);
  }
  for (const std::string& execution : run.disabled_executions) {
    BATON_RETURN_IF_ERROR(AddExecutionOf(execution, skip).status());
  }
  if (skip.numbers.empty() && skip.of_pass.empty() && skip.stop_after < 0) {
    return nullptr;
  }
  auto instrument = std::make_shared<SkipInstrument>(std::move(skip));
  run.result([instrument] { return instrument->stopped(); });
  run.at_end([instrument] {
    return absl::StrCat(absl::StrJoin(instrument->Unmet(), "\n"), "\n");
  });
  return instrument;
}

BATON_REGISTER_INSTRUMENT("skip", "Skips executions of passes.", MakeSkip,
                          InstrumentPhase::kSkipExecutions);

}  // namespace

}  // namespace baton
