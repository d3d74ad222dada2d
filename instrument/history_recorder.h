// HistoryRecorder: records the history of a run.
//
//   auto recorder = std::make_shared<HistoryRecorder>();
//   PassContext context({.instruments = {recorder}});
//   absl::StatusOr<IRModule> result =
//       context.Run([&] { return pipeline(module); });
//   const History& history = recorder->history();  // also if it failed
//   absl::StatusOr<IRModule> third = history.ModuleAfter(3);

#ifndef BATON_INSTRUMENT_HISTORY_RECORDER_H_
#define BATON_INSTRUMENT_HISTORY_RECORDER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "baton/instrument/history.h"
#include "baton/instrument/pass_listener.h"
#include "baton/ir/module.h"
#include "baton/ir/pass_log.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_instrument.h"

namespace baton {

struct HistoryOptions {
  // The limit of the bytes of nodes and tensors that only old states keep
  // alive. Over the limit, the recorder drops the oldest states, but never the
  // first. 0 keeps only the first and the last state.
  int64_t max_bytes = int64_t{4} << 30;
  bool origins = true;  // records from which nodes each node was made
  bool remarks = true;  // records the remarks of passes
  // Returns the time in nanoseconds; null for the machine's steady clock.
  std::function<int64_t()> clock = nullptr;
  // If positive, the run ends with a Cancelled error when this execution
  // begins.
  int64_t stop_before = 0;
};

// Entering a context outside of a pass begins a new history.
class HistoryRecorder final : public PassInstrument {
 public:
  explicit HistoryRecorder(HistoryOptions options = {});

  // Returns the history so far, valid until the next pass begins. Sets
  // History::signal to `signal`, the signal that ends the process; 0 for none.
  const History& history(int signal = 0);
  // As history(), and without the texts of passes; the recorder loses it.
  History TakeHistory() { return std::move(history_); }
  // The passes of the executions of history().
  const std::vector<Pass>& passes() const { return passes_; }
  // Adds a remark of another instrument about an execution that has ended.
  void AddRemark(Remark remark);
  // Adds the measured memory of the execution `number`.
  void SetMemory(int64_t number, const PassMemory& memory);
  // Sets the times of executions to those of the executions with the same
  // numbers in `measured`, another run of the same passes. If an execution
  // ended differently in that run, its time ends with the last execution inside
  // it.
  void SetTimes(absl::Span<const HistoryExecution> measured);

  bool needs_untyped_modules() const override { return false; }
  absl::Status EnterPassContext() override;
  absl::Status RunBeforePass(const IRModule& module,
                             const PassExecution& pass) override;
  absl::Status RunAfterPass(const IRModule& module,
                            const PassExecution& pass) override;
  void PassFailed(const IRModule& module, const PassExecution& pass,
                  const absl::Status& error) override;

 private:
  int64_t Now() const;
  int StateOf(const IRModule& module);
  void End(HistoryExecution::End end);
  // Moves the new entries of the log of the passes into the history.
  void TakeLog();
  // Drops the oldest states while all exceed HistoryOptions::max_bytes.
  void KeepToBudget();

  const HistoryOptions options_;
  History history_;
  std::vector<Pass> passes_;  // the passes of the executions
  std::vector<int> open_;     // indices of the running executions
  int64_t began_ = 0;
  // KeepToBudget has nothing to do while the process uses at most this many
  // bytes: it has not grown by enough since the last check.
  int64_t next_check_ = 0;
  // The number of states at the last call of KeepToBudget.
  size_t num_checked_states_ = 0;
  PassListener listener_;
};

}  // namespace baton

#endif  // BATON_INSTRUMENT_HISTORY_RECORDER_H_
