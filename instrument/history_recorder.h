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
  bool origins = true;
  bool remarks = true;
  // Returns the time in nanoseconds; null for the machine's steady clock.
  std::function<int64_t()> clock = nullptr;
};

// Entering a context outside of a pass begins a new history.
class HistoryRecorder final : public PassInstrument {
 public:
  explicit HistoryRecorder(HistoryOptions options = {});

  // The history so far. The reference is valid until the next pass begins.
  // `signal` is the signal that ends the process; 0 if there is none.
  const History& history(int signal = 0);
  // Adds a remark of another instrument about an execution that has ended.
  void AddRemark(Remark remark);
  void SetMemory(int64_t number, const PassMemory& memory);
  // Sets the times of executions to those of the executions with the same
  // numbers in `measured`, a second run of the same passes. An execution that
  // ended differently in `measured` ends with the last execution inside it.
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
  void KeepToBudget();

  const HistoryOptions options_;
  History history_;
  std::vector<Pass> passes_;  // the passes of the executions
  std::vector<int> open_;     // indices of the running executions
  int64_t began_ = 0;
  // While the process is at most this large, in bytes, old states cannot exceed
  // the limit; see KeepToBudget.
  int64_t next_check_ = 0;
  // The number of states at the last call of KeepToBudget.
  size_t num_checked_states_ = 0;
  PassListener listener_;
};

}  // namespace baton

#endif  // BATON_INSTRUMENT_HISTORY_RECORDER_H_
