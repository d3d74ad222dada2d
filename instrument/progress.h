// ProgressInstrument: shows the running pass.

#ifndef BATON_INSTRUMENT_PROGRESS_H_
#define BATON_INSTRUMENT_PROGRESS_H_

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "baton/ir/module.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_instrument.h"

namespace baton {

// Calls `show` each time the running pass changes, with
//
//   [3/12] FuseOps > InferType
//
// for the third of the twelve passes that `pipeline` lists, and the pass that
// runs inside it. A `pipeline` that is not a list counts as one pass.
class ProgressInstrument final : public PassInstrument {
 public:
  ProgressInstrument(const Pass& pipeline,
                     std::function<void(std::string)> show);

  bool needs_untyped_modules() const override { return false; }
  absl::Status RunBeforePass(const IRModule& module,
                             const PassExecution& pass) override;
  absl::Status RunAfterPass(const IRModule& module,
                            const PassExecution& pass) override;
  void PassFailed(const IRModule& module, const PassExecution& pass,
                  const absl::Status& error) override;

 private:
  void Show(const PassExecution* pass);

  const std::vector<Pass> listed_;
  const std::function<void(std::string)> show_;
  size_t position_ = 0;  // in listed_, of the last pass that started
};

// A line of a terminal, overwritten with the latest text and the elapsed
// seconds. Writes nothing before `delay` has passed.
class ProgressLine {
 public:
  // `write` must write to a terminal without buffering. A thread of this object
  // calls it, one call at a time, and never after Hide() or the destructor
  // returns.
  explicit ProgressLine(
      std::function<void(absl::string_view)> write,
      std::chrono::milliseconds delay = std::chrono::milliseconds(300));
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  ~ProgressLine();

  void Show(std::string text);
  // Erases the line, if it is visible, until Show is called.
  void Hide();

 private:
  void Run();
  void Erase();

  const std::function<void(absl::string_view)> write_;
  const std::chrono::milliseconds delay_;
  const std::chrono::steady_clock::time_point start_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::string text_;  // empty while hidden
  std::string written_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace baton

#endif  // BATON_INSTRUMENT_PROGRESS_H_
