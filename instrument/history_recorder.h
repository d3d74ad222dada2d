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
#include "baton/transform/finished_results.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_instrument.h"

namespace baton {

struct HistoryOptions {
  // The bytes of nodes and tensors that old states alone may hold, that is, all
  // that would be dead without the recorder. If they hold more, the oldest are
  // let go, but never the first. 0: no states but the first and the last.
  int64_t max_bytes = int64_t{4} << 30;
  bool origins = true;
  bool remarks = true;
  // The time now, in nanoseconds; null for the machine's steady clock.
  std::function<int64_t()> clock = nullptr;
};

// Entering a context outside of a pass begins a new history.
class HistoryRecorder final : public PassInstrument,
                              public SeesFinishedResults {
 public:
  explicit HistoryRecorder(HistoryOptions options = {});

  // Up to now. Valid until the next pass begins. `signal`: what ends the
  // process, if anything does.
  const History& history(int signal = 0);
  // What other instruments found out about an execution that has ended.
  void AddRemark(Remark remark);
  void SetMemory(int64_t number, const PassMemory& memory);
  // Gives executions the times of those of the same numbers in `measured`,
  // which are of another run of the same passes. One that ended in another way
  // there ends with the last one inside it.
  void SetTimes(absl::Span<const HistoryExecution> measured);

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
  // Takes over what the passes have told.
  void TakeLog();
  void KeepToBudget();

  const HistoryOptions options_;
  History history_;
  std::vector<Pass> passes_;  // of the executions
  std::vector<int> open_;     // indices of those that run
  int64_t began_ = 0;
  // The largest size of the process in bytes at which old states cannot hold
  // more than they may; see KeepToBudget.
  int64_t next_check_ = 0;
  // How many states there were when KeepToBudget was called.
  size_t num_checked_states_ = 0;
  PassListener listener_;
};

}  // namespace baton

#endif  // BATON_INSTRUMENT_HISTORY_RECORDER_H_
