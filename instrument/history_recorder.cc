#include "baton/instrument/history_recorder.h"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "baton/instrument/history.h"
#include "baton/ir/expr.h"
#include "baton/ir/module.h"
#include "baton/ir/node.h"
#include "baton/ir/node_map.h"
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
  if (open_.empty()) TakeLog();
  for (size_t i = 0; i < passes_.size(); ++i) {
    HistoryExecution& execution = history_.executions[i];
    if (!execution.text.empty()) continue;
    execution.text = passes_[i].ToString().value_or(execution.pass);
  }
  std::map<std::string, HistoryCount> sorted;
  for (const auto& [statistic, n] : listener_.log().counts) {
    const std::string name =
        absl::StrCat(statistic->pass(), ".", statistic->name());
    sorted[name] = {name, statistic->doc(), n};
  }
  history_.counts.clear();
  for (auto& [name, count] : sorted) {
    history_.counts.push_back(std::move(count));
  }
  return history_;
}

void HistoryRecorder::AddRemark(Remark remark) {
  if (options_.remarks) history_.remarks.push_back(std::move(remark));
}

absl::Status HistoryRecorder::EnterPassContext() {
  if (!open_.empty()) return absl::OkStatus();
  history_ = History();
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
  states.push_back({.module = module, .num_origins = history_.origins.size()});
  return static_cast<int>(states.size()) - 1;
}

absl::Status HistoryRecorder::RunBeforePass(const IRModule& module,
                                            const PassExecution& pass) {
  TakeLog();
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
    began_ = Now();
    next_check_ = options_.max_bytes < kSmallBudget
                      ? 0
                      : PeakMemory() + options_.max_bytes;
  }
  HistoryExecution execution = {
      .number = pass.number(),
      .parent = open_.empty() ? -1 : open_.back(),
      .depth = open_.empty() ? 0 : history_.executions[open_.back()].depth + 1,
      .pass = pass.name(),
      .text = {},
      .before = StateOf(module)};
  open_.push_back(static_cast<int>(history_.executions.size()));
  passes_.push_back(pass.pass());
  history_.executions.push_back(std::move(execution));
  history_.executions.back().start = Now() - began_;
  return absl::OkStatus();
}

void HistoryRecorder::End(const PassExecution& /*pass*/,
                          HistoryExecution::End end) {
  const int64_t now = Now() - began_;
  listener_.After();
  TakeLog();
  HistoryExecution& execution = history_.executions[open_.back()];
  open_.pop_back();
  execution.total = now - execution.start;
  execution.end = end;
}

absl::Status HistoryRecorder::RunAfterPass(const IRModule& module,
                                           const PassExecution& pass) {
  HistoryExecution& execution = history_.executions[open_.back()];
  End(pass, HistoryExecution::End::kDone);
  const size_t num_states = history_.states.size();
  execution.after = pass.changed() ? StateOf(module) : execution.before;
  if (history_.states.size() != num_states) KeepToBudget();
  return absl::OkStatus();
}

void HistoryRecorder::PassFailed(const IRModule& /*module*/,
                                 const PassExecution& pass,
                                 const absl::Status& error) {
  // Which passes it came through is in the history anyway.
  history_.executions[open_.back()].error = OriginalMessage(error);
  End(pass, HistoryExecution::End::kFailed);
}

void HistoryRecorder::TakeLog() {
  PassLog& log = listener_.log();
  if (!log.remarks.empty()) {
    history_.remarks.insert(history_.remarks.end(),
                            std::make_move_iterator(log.remarks.begin()),
                            std::make_move_iterator(log.remarks.end()));
    log.remarks.clear();
  }
  if (!log.origins.empty()) TakeOrigins(log);
}

// Nodes that nobody but the log holds were of use for a moment only: what was
// made from them comes from what they were made from.
void HistoryRecorder::TakeOrigins(PassLog& log) {
  const size_t n = log.origins.size();
  std::vector<History::Origin> told(n);
  for (size_t i = 0; i < n; ++i) {
    auto& [made, from] = log.origins[i];
    told[i] = {made.get(), from.get()};
    from = Expr();
  }
  NodeSet gone;
  for (size_t i = n; i-- > 0;) {  // users first
    Expr& made = log.origins[i].first;
    if (made->unique()) gone.Insert(made.get());
    made = Expr();
  }
  NodeMap<std::vector<const Node*>> from_of_gone;
  for (size_t i = 0; i < n && gone.size() > 0; ++i) {
    if (!gone.Contains(told[i].made)) continue;
    from_of_gone[told[i].made].push_back(told[i].from);
  }
  std::vector<History::Origin>& origins = history_.origins;
  std::vector<const Node*> pending;
  size_t i = 0;
  for (size_t r = 0; r < log.origin_runs.size(); ++r) {
    history_.origin_runs.push_back(
        {log.origin_runs[r].execution, origins.size()});
    const size_t end =
        r + 1 < log.origin_runs.size() ? log.origin_runs[r + 1].begin : n;
    for (; i < end; ++i) {
      if (gone.size() == 0) {
        origins.push_back(told[i]);
        continue;
      }
      if (gone.Contains(told[i].made)) continue;
      NodeSet seen;
      pending = {told[i].from};
      while (!pending.empty()) {
        const Node* from = pending.back();
        pending.pop_back();
        const std::vector<const Node*>* below = from_of_gone.Find(from);
        if (below == nullptr) {
          origins.push_back({told[i].made, from});
        } else if (seen.Insert(from)) {
          pending.insert(pending.end(), below->rbegin(), below->rend());
        }
      }
    }
  }
  log.origins.clear();
  log.origin_runs.clear();
}

// What old states hold cannot be more than the process has grown by, which
// costs nothing to know; only then are nodes counted.
void HistoryRecorder::KeepToBudget() {
  if (next_check_ > 0 && PeakMemory() < next_check_) return;
  std::vector<HistoryState>& states = history_.states;
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
