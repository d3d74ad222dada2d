#include "baton/instrument/history_recorder.h"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "baton/instrument/history.h"
#include "baton/ir/expr.h"
#include "baton/ir/module.h"
#include "baton/ir/node.h"
#include "baton/ir/pass_log.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_error.h"
#include "baton/transform/pass_instrument.h"

namespace baton {
namespace {

// The most memory that the process has had, in bytes.
int64_t PeakMemory() {
  rusage usage = {};
  if (getrusage(RUSAGE_SELF, &usage) != 0) return INT64_MAX;
  return int64_t{usage.ru_maxrss} * 1024;
}

// Smaller budgets are checked after each pass: memory that the process has
// already could hold that much.
constexpr int64_t kSmallBudget = int64_t{64} << 20;

}  // namespace

HistoryRecorder::HistoryRecorder(HistoryOptions options)
    : PassInstrument("HistoryRecorder"), options_(std::move(options)) {}

int64_t HistoryRecorder::Now() const {
  if (options_.clock != nullptr) return options_.clock();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

const History& HistoryRecorder::history(int signal) {
  history_.signal = signal;
  if (open_.empty() || signal != 0) TakeLog();
  // At one time for all: those inside of others take no longer than these.
  const int64_t now = open_.empty() ? 0 : Now() - began_;
  for (const int i : open_) {
    HistoryExecution& execution = history_.executions[i];
    execution.total = now - execution.start;
  }
  for (size_t i = 0; i < passes_.size(); ++i) {
    HistoryExecution& execution = history_.executions[i];
    if (!execution.text.empty()) continue;
    execution.text = passes_[i].ToString().value_or(execution.pass);
  }
  history_.counts.clear();
  for (const auto& [name, count] : listener_.CountsByName()) {
    history_.counts.push_back({name, count.first->doc(), count.second});
  }
  return history_;
}

void HistoryRecorder::AddRemark(Remark remark) {
  if (!options_.remarks) return;
  TakeLog();  // what was told before it
  history_.remarks.push_back(std::move(remark));
}

void HistoryRecorder::SetMemory(int64_t number, const PassMemory& memory) {
  const absl::StatusOr<const HistoryExecution*> execution =
      history_.Find(number);
  if (!execution.ok()) return;
  history_.executions[*execution - history_.executions.data()].memory = memory;
}

void HistoryRecorder::SetTimes(absl::Span<const HistoryExecution> measured) {
  std::vector<HistoryExecution>& executions = history_.executions;
  // For each execution, the time when the last one inside it ended.
  std::vector<int64_t> ends(executions.size());
  auto next = measured.rbegin();
  for (size_t i = executions.size(); i-- > 0;) {
    HistoryExecution& execution = executions[i];
    while (next != measured.rend() && next->number > execution.number) ++next;
    if (next != measured.rend() && next->number == execution.number) {
      execution.start = next->start;
      execution.total = next->end == execution.end || ends[i] == 0
                            ? next->total
                            : ends[i] - next->start;
    }
    if (execution.parent >= 0) {
      int64_t& end = ends[execution.parent];
      end = std::max(end, execution.start + execution.total);
    }
  }
}

absl::Status HistoryRecorder::EnterPassContext() {
  if (!open_.empty()) return absl::OkStatus();
  history_ = History();
  num_checked_states_ = 0;
  passes_.clear();
  listener_.log() = PassLog();
  return absl::OkStatus();
}

int HistoryRecorder::StateOf(const IRModule& module) {
  std::vector<HistoryState>& states = history_.states;
  // It is one of the last few: what a pass was given, or what one inside it
  // returned.
  for (size_t i = states.size(); i-- > 0;) {
    if (states[i].kept && states[i].module.SameAs(module)) {
      return static_cast<int>(i);
    }
    if (states.size() - i > 2 * open_.size() + 2) break;
  }
  states.push_back({.module = module,
                    .num_origins = history_.origins.size() +
                                   listener_.log().origins.size()});
  return static_cast<int>(states.size()) - 1;
}

absl::Status HistoryRecorder::RunBeforePass(const IRModule& module,
                                            const PassExecution& pass) {
  listener_.log().held.clear();
  uint8_t wanted = 0;
  if (options_.origins) wanted |= internal::LogListener::kOrigins;
  if (options_.remarks) {
    wanted |= internal::LogListener::kCounts |
              static_cast<uint8_t>(RemarkKind::kPassed) |
              static_cast<uint8_t>(RemarkKind::kMissed) |
              static_cast<uint8_t>(RemarkKind::kAnalysis);
  }
  listener_.Before(pass, wanted);
  if (history_.executions.empty()) {
    history_.executions.reserve(64);
    passes_.reserve(64);
    began_ = Now();
    next_check_ = options_.max_bytes < kSmallBudget
                      ? 0
                      : PeakMemory() + options_.max_bytes;
  }
  HistoryExecution& execution = history_.executions.emplace_back();
  execution.number = pass.number();
  execution.parent = open_.empty() ? -1 : open_.back();
  execution.depth =
      open_.empty() ? 0 : history_.executions[open_.back()].depth + 1;
  execution.pass = pass.name();
  execution.before = StateOf(module);
  open_.push_back(static_cast<int>(history_.executions.size()) - 1);
  passes_.push_back(pass.pass());
  execution.start = Now() - began_;
  if (pass.number() != options_.stop_before) return absl::OkStatus();
  // A pass that does not begin has no end.
  listener_.After();
  open_.pop_back();
  return absl::CancelledError("the recording ends here");
}

void HistoryRecorder::End(HistoryExecution::End end) {
  const int64_t now = Now() - began_;
  listener_.After();
  listener_.log().held.clear();
  HistoryExecution& execution = history_.executions[open_.back()];
  open_.pop_back();
  execution.total = now - execution.start;
  execution.end = end;
}

absl::Status HistoryRecorder::RunAfterPass(const IRModule& module,
                                           const PassExecution& pass) {
  HistoryExecution& execution = history_.executions[open_.back()];
  End(HistoryExecution::End::kDone);
  execution.after = pass.changed() ? StateOf(module) : execution.before;
  // The state may be one that a pass inside this one was given.
  if (history_.states.size() != num_checked_states_) KeepToBudget();
  return absl::OkStatus();
}

void HistoryRecorder::PassFailed(const IRModule& /*module*/,
                                 const PassExecution& /*pass*/,
                                 const absl::Status& error) {
  // The history has the passes around it already, so the message omits them.
  history_.executions[open_.back()].error = OriginalMessage(error);
  End(HistoryExecution::End::kFailed);
}

void HistoryRecorder::TakeLog() {
  PassLog& log = listener_.log();
  if (history_.remarks.empty()) {
    history_.remarks = std::move(log.remarks);
  } else {
    history_.remarks.insert(history_.remarks.end(),
                            std::make_move_iterator(log.remarks.begin()),
                            std::make_move_iterator(log.remarks.end()));
  }
  log.remarks.clear();
  history_.origins.Append(log.origins.Take());
}

// Old states cannot use more memory than the process has grown by, which is
// cheap to measure; nodes are counted only beyond that.
void HistoryRecorder::KeepToBudget() {
  std::vector<HistoryState>& states = history_.states;
  num_checked_states_ = states.size();
  if (next_check_ > 0 && PeakMemory() < next_check_) return;
  BytesHeld held;
  held.Add(states.back().module);
  const int64_t by_first = held.Add(states.front().module);
  int64_t bytes = by_first;
  size_t i = states.size() - 1;
  for (; i-- > 1;) {
    if (!states[i].kept) break;
    const int64_t added = held.Add(states[i].module);
    if (bytes + added > options_.max_bytes) break;
    bytes += added;
  }
  // State i is the youngest that goes; those before it go as well. The
  // arguments of passes that run stay alive anyway.
  for (; i > 0 && i < states.size() && states[i].kept; --i) {
    states[i].module = IRModule();
    states[i].kept = false;
  }
  if (next_check_ > 0) {
    next_check_ =
        PeakMemory() + std::max(options_.max_bytes - bytes, kSmallBudget / 4);
  }
}

}  // namespace baton
