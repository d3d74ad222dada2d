// PassRecorder: records the calls of all hooks, in order.

#ifndef BATON_INSTRUMENT_RECORDER_H_
#define BATON_INSTRUMENT_RECORDER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/ir/module.h"
#include "baton/transform/pass_instrument.h"

namespace baton {

// Records the calls of every hook over the whole lifetime of the object.
class PassRecorder final : public PassInstrument {
 public:
  enum class Hook {
    kEnterPassContext,
    kExitPassContext,
    kShouldRun,
    kRunBeforePass,
    kRunAfterPass,
    kPassFailed,
  };
  struct Event {
    Hook hook;
    // Hooks of contexts leave the following fields empty.
    std::string pass = {};
    int64_t number = 0;
    int depth = 0;
    bool changed = false;  // for kRunAfterPass
  };

  PassRecorder() : PassInstrument("PassRecorder") {}

  const std::vector<Event>& events() const { return events_; }

  // The number of executions of the passes named `pass`, whether or not they
  // failed; of all passes if `pass` is empty.
  int CountRuns(absl::string_view pass = "") const;
  // The number of those executions that returned a changed module.
  int CountChanges(absl::string_view pass = "") const;

  // The passes that ran, in order of start, each indented below the pass in
  // which it ran:
  //   1 sequential
  //     2 FoldConstant *
  //       3 InferType
  // A star marks a pass that changed the module; an exclamation mark marks a
  // pass that failed.
  std::string ToString() const;

  absl::Status EnterPassContext() override;
  absl::Status ExitPassContext() override;
  absl::StatusOr<bool> ShouldRun(const IRModule& module,
                                 const PassExecution& pass) override;
  absl::Status RunBeforePass(const IRModule& module,
                             const PassExecution& pass) override;
  absl::Status RunAfterPass(const IRModule& module,
                            const PassExecution& pass) override;
  void PassFailed(const IRModule& module, const PassExecution& pass,
                  const absl::Status& error) override;

 private:
  void Add(Hook hook, const PassExecution& pass);

  std::vector<Event> events_;
};

}  // namespace baton

#endif  // BATON_INSTRUMENT_RECORDER_H_
