#include "baton/instrument/rewrite_filter.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "baton/base/flags.h"
#include "baton/base/plural.h"
#include "baton/base/status_macros.h"
#include "baton/instrument/instrument_registry.h"
#include "baton/ir/module.h"
#include "baton/ir/rewrite_gate.h"
#include "baton/transform/pass_instrument.h"
#include "baton/transform/pass_registry.h"

namespace baton {

// Without a selection, does all.
class RewriteFilter::Gate final : public RewriteGate {
 public:
  explicit Gate(const RewriteSelection* selection) : selection_(selection) {}

  int64_t done() const { return done_; }

 private:
  bool Allows(int64_t number) override {
    const bool allows = selection_ == nullptr || selection_->Includes(number);
    if (allows) ++done_;
    return allows;
  }

  const RewriteSelection* const selection_;
  int64_t done_ = 0;
};

bool RewriteSelection::Includes(int64_t number) const {
  return ranges.empty() ||
         std::any_of(ranges.begin(), ranges.end(), [number](const auto& range) {
           return range.first <= number && number <= range.second;
         });
}

absl::StatusOr<RewriteSelection> ParseRewriteSelection(absl::string_view text) {
  const std::vector<absl::string_view> parts = absl::StrSplit(text, ':');
  const std::vector<absl::string_view> name =
      absl::StrSplit(parts[0], absl::MaxSplits('#', 1));
  RewriteSelection result = {.pass = std::string(name[0]),
                             .text = std::string(text)};
  const auto wrong = [&](absl::string_view what, absl::string_view found) {
    return absl::InvalidArgumentError(
        absl::StrCat(text, ": expected ", what, ", found `", found, "`"));
  };
  if (name.size() > 1 &&
      (!absl::SimpleAtoi(name[1], &result.execution) || result.execution < 1)) {
    return wrong("a number from 1 after #", name[1]);
  }
  for (size_t i = 1; i < parts.size(); ++i) {
    const std::vector<absl::string_view> ends =
        absl::StrSplit(parts[i], absl::MaxSplits('-', 1));
    int64_t first = 0;
    if (!absl::SimpleAtoi(ends[0], &first) || first < 0) {
      return wrong("a range such as 0-12, 7 or 13-", parts[i]);
    }
    int64_t last = first;
    if (ends.size() > 1) {
      last = std::numeric_limits<int64_t>::max();
      if (!ends[1].empty() && (!absl::SimpleAtoi(ends[1], &last) || last < 0)) {
        return wrong("a range such as 0-12, 7 or 13-", parts[i]);
      }
    }
    if (last < first) return wrong("a range that does not fall", parts[i]);
    result.ranges.emplace_back(first, last);
  }
  return result;
}

RewriteFilter::RewriteFilter(std::vector<RewriteSelection> selections,
                             std::function<void(absl::string_view)> report)
    : PassInstrument("--rewrites"),
      selections_(std::move(selections)),
      report_(std::move(report)) {}

RewriteFilter::~RewriteFilter() = default;

int64_t RewriteFilter::CountOf(const std::string& pass) const {
  int64_t count = 0;
  for (const Execution& execution : counts_) {
    if (execution.pass == pass) count += execution.rewrites;
  }
  return count;
}

absl::Status RewriteFilter::EnterPassContext() {
  gates_.clear();
  for (const RewriteSelection& selection : selections_) {
    gates_.push_back(std::make_unique<Gate>(&selection));
  }
  executions_.clear();
  counts_.clear();
  running_.clear();
  return absl::OkStatus();
}

absl::Status RewriteFilter::ExitPassContext() {
  if (selections_.empty()) {
    for (const Execution& execution : counts_) {
      if (execution.rewrites == 0) continue;
      report_(absl::StrCat("--rewrites: #", execution.number, " ",
                           execution.pass, ": ",
                           Plural(execution.rewrites, "rewrite"), "\n"));
    }
    return absl::OkStatus();
  }
  for (size_t i = 0; i < selections_.size(); ++i) {
    const RewriteSelection& selection = selections_[i];
    const auto it = executions_.find(selection.pass);
    const int64_t executions = it == executions_.end() ? 0 : it->second;
    const Gate& gate = *gates_[i];
    report_(absl::StrCat(
        "--rewrites=", selection.text, ": ",
        executions < std::max<int64_t>(selection.execution, 1)
            ? absl::StrCat("this run has ", Plural(executions, "execution"),
                           " of ", selection.pass)
            : absl::StrCat(gate.done(), " of ",
                           Plural(gate.num_requests(), "rewrite"), " done"),
        "\n"));
  }
  return absl::OkStatus();
}

absl::Status RewriteFilter::RunBeforePass(const IRModule& /*module*/,
                                          const PassExecution& pass) {
  const int64_t execution = ++executions_[pass.name()];
  Running running = {.own = nullptr,
                     .gate = nullptr,
                     .outer = internal::rewrite_gate,
                     .requests_before = 0};
  for (size_t i = 0; i < selections_.size(); ++i) {
    const RewriteSelection& selection = selections_[i];
    if (selection.pass == pass.name() &&
        (selection.execution == 0 || selection.execution == execution)) {
      running.gate = gates_[i].get();
    }
  }
  if (selections_.empty() && !pass.info().always_run) {
    running.own = std::make_unique<Gate>(nullptr);
    running.gate = running.own.get();
  }
  if (running.gate != nullptr)
    running.requests_before = running.gate->num_requests();
  internal::rewrite_gate = running.gate;
  running_.push_back(std::move(running));
  return absl::OkStatus();
}

void RewriteFilter::Leave(const PassExecution& pass) {
  if (running_.empty()) return;
  const Running running = std::move(running_.back());
  running_.pop_back();
  internal::rewrite_gate = running.outer;
  if (running.gate == nullptr) return;
  counts_.push_back(
      {.number = pass.number(),
       .pass = pass.name(),
       .rewrites = running.gate->num_requests() - running.requests_before});
}

absl::Status RewriteFilter::RunAfterPass(const IRModule& /*module*/,
                                         const PassExecution& pass) {
  Leave(pass);
  return absl::OkStatus();
}

void RewriteFilter::PassFailed(const IRModule& /*module*/,
                               const PassExecution& pass,
                               const absl::Status& /*error*/) {
  Leave(pass);
}

namespace {

struct RewriteFlags {
  std::vector<std::string> rewrites;

  template <typename V>
  static void VisitFields(V& v) {
    v("rewrites", &RewriteFlags::rewrites,
      FlagSpec{
          .help =
              "The rewrites to do, by pass, numbered from 1; all: counts them.",
          .value = "A:0-12,B#2:3",
          .group = "Passes"});
  }
};

InstrumentFactory::Made MakeRewriteFilter(const RewriteFlags& flags,
                                          const InstrumentRun& run) {
  if (flags.rewrites.empty()) return nullptr;
  std::vector<RewriteSelection> selections;
  for (const std::string& text : flags.rewrites) {
    if (text == "all" && flags.rewrites.size() == 1) break;
    absl::StatusOr<RewriteSelection> selection = ParseRewriteSelection(text);
    absl::Status status = selection.status();
    if (status.ok()) {
      status = PassRegistry::Global().Info(selection->pass).status();
    }
    if (!status.ok()) {
      return absl::Status(status.code(),
                          absl::StrCat("--rewrites: ", status.message()));
    }
    selections.push_back(*std::move(selection));
  }
  return std::make_shared<RewriteFilter>(std::move(selections), run.report);
}

BATON_REGISTER_INSTRUMENT("rewrites",
                          "Does only some rewrites of passes, and counts them.",
                          MakeRewriteFilter, InstrumentPhase::kSkip);

}  // namespace
}  // namespace baton
