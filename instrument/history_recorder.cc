#include "baton/instrument/history_recorder.h"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iterator>
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
#include "baton/base/write_file.h"
#include "baton/instrument/history.h"
#include "baton/instrument/history_file.h"
#include "baton/instrument/instrument_registry.h"
#include "baton/instrument/timing.h"
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
int64_t PeakBytes() {
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
                      : PeakBytes() + options_.max_bytes;
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
  if (next_check_ > 0 && PeakBytes() < next_check_) return;
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
        PeakBytes() + std::max(options_.max_bytes - bytes, kSmallBudget / 4);
  }
}

namespace {

struct RecordFlags {
  // The file of the history, also after a failure or a crash. If there are
  // several modules, the N-th has the file RECORD.N.
  std::string record;
  // If true, the history contains large tensors; otherwise only their
  // checksums.
  bool record_tensors = false;
  // Recording origins is most of the cost of a history.
  bool record_origins = true;

  template <typename V>
  static void VisitFields(V& v) {
    v("record", &RecordFlags::record,
      FlagSpec{.help = "File for the history of the run, which baton-history "
                       "reads.",
               .value = "FILE",
               .group = kReportFlags});
    v("record_tensors", &RecordFlags::record_tensors,
      FlagSpec{.help = "Writes large tensors to the file of --record, too.",
               .group = kReportFlags});
    v("record_origins", &RecordFlags::record_origins,
      FlagSpec{
          .help = "Records from which nodes each node was made, for blame.",
          .group = kReportFlags});
  }
};

// Adds the measurements of `timing` to the history; the context must not have
// exited.
absl::Status AddMemory(const PassTimingInstrument& timing,
                       HistoryRecorder& recorder) {
  BATON_ASSIGN_OR_RETURN(std::vector<PassProfile> profiles, timing.Profiles());
  while (!profiles.empty()) {
    const PassProfile profile = std::move(profiles.back());
    profiles.pop_back();
    if (profile.memory.has_value()) {
      recorder.SetMemory(profile.number, *profile.memory);
    }
    profiles.insert(profiles.end(), profile.children.begin(),
                    profile.children.end());
  }
  return absl::OkStatus();
}

InstrumentFactory::Made MakeRecorder(const RecordFlags& flags,
                                     const InstrumentRun& run) {
  if (flags.record.empty()) {
    if (!flags.record_tensors && flags.record_origins) return nullptr;
    return absl::InvalidArgumentError(absl::StrCat(
        flags.record_tensors ? "--record_tensors" : "--record_origins",
        ": needs --record"));
  }
  const std::shared_ptr<PassTimingInstrument> timing =
      run.Find<PassTimingInstrument>();
  HistoryOptions options = {.origins = flags.record_origins};
  if (timing != nullptr) {
    options.clock = [timing] { return timing->PassClock(); };
  }
  auto recorder = std::make_shared<HistoryRecorder>(std::move(options));
  recorder->set_name("--record");
  if (timing != nullptr) {
    run.after_passes(
        [timing, recorder] { return AddMemory(*timing, *recorder); });
  }
  const std::string file =
      run.module_number > 0 ? absl::StrCat(flags.record, ".", run.module_number)
                            : flags.record;
  HistoryWriteOptions write;
  if (flags.record_tensors) write.max_tensor_bytes = UINT64_MAX;
  run.at_exit([recorder, file, write](int signal) -> absl::Status {
    BATON_ASSIGN_OR_RETURN(const HistoryBytes bytes,
                           WriteHistory(recorder->history(signal), write));
    return WriteFileAtomically(file, bytes.pieces());
  });
  return recorder;
}

BATON_REGISTER_INSTRUMENT("record", "Records the history of the run.",
                          MakeRecorder, InstrumentPhase::kRecord);

}  // namespace

}  // namespace baton
