// PassInstrument: observes passes, and may refuse to let one run.
//
// For a pass in a context with instruments A, B:
//
//   A.ShouldRun, B.ShouldRun          always both; neither if the context
//   requires the pass A.RunBeforePass, B.RunBeforePass  if both said yes
//   ... the pass, and passes inside it ...
//   A.RunAfterPass, B.RunAfterPass
//
// If something fails, PassFailed is called, last instrument first, on each
// instrument whose RunBeforePass returned OK and whose RunAfterPass was not
// called: every RunBeforePass that succeeded is followed by one RunAfterPass
// or one PassFailed.
//
// The pass manager calls one hook at a time, in an order that does not depend
// on the number of threads, though not always on the same thread. Built-in
// instruments are in `instrument/`.

#ifndef BATON_TRANSFORM_PASS_INSTRUMENT_H_
#define BATON_TRANSFORM_PASS_INSTRUMENT_H_

#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "baton/ir/module.h"
#include "baton/transform/pass_info.h"

namespace baton {

class Pass;
class PassContext;

namespace internal {
class ThreadState;
}

// One execution of a pass, as its instruments see it.
class PassExecution {
 public:
  PassExecution(const PassExecution&) = delete;
  PassExecution& operator=(const PassExecution&) = delete;

  const Pass& pass() const { return pass_; }
  const PassInfo& info() const { return info_; }
  const std::string& name() const { return info_.name; }

  // Executions are numbered from 1 in the order in which they start. Entering a
  // context (outside of a pass) restarts the numbers, and so does every pass
  // that runs outside of any context. In ShouldRun, the number that the pass
  // would get.
  int64_t number() const { return number_; }

  // The execution that this one is nested in; null for the outermost one.
  const PassExecution* parent() const { return parent_; }
  int depth() const { return depth_; }  // 0 at the outermost

  // The module that the pass was given.
  const IRModule& before() const { return *before_; }
  // For RunAfterPass: whether the result is another module. Costs nothing:
  // passes return the same module when they find nothing to do.
  bool changed() const { return changed_; }

 private:
  friend class Pass;
  friend class internal::ThreadState;
  PassExecution(const Pass& pass, const PassInfo& info,
                const PassExecution* parent)
      : pass_(pass),
        info_(info),
        parent_(parent),
        depth_(parent == nullptr ? 0 : parent->depth_ + 1) {}

  const Pass& pass_;
  const PassInfo& info_;
  const PassExecution* parent_;
  const PassContext* context_ = nullptr;
  const IRModule* before_ = nullptr;  // null if there are no instruments
  int64_t number_ = 0;
  int64_t number_base_ = 0;  // see ThreadState
  int depth_;
  bool changed_ = false;
};

class PassInstrument {
 public:
  explicit PassInstrument(std::string name) : name_(std::move(name)) {}
  PassInstrument(const PassInstrument&) = delete;
  PassInstrument& operator=(const PassInstrument&) = delete;
  virtual ~PassInstrument() = default;

  const std::string& name() const { return name_; }

  virtual absl::Status EnterPassContext() { return absl::OkStatus(); }
  virtual absl::Status ExitPassContext() { return absl::OkStatus(); }

  // False keeps the pass from running: the module stays as it is, and neither
  // RunBeforePass nor RunAfterPass is called.
  virtual absl::StatusOr<bool> ShouldRun(const IRModule& /*module*/,
                                         const PassExecution& /*pass*/) {
    return true;
  }
  // An error of RunBeforePass or RunAfterPass is the error of the pass.
  virtual absl::Status RunBeforePass(const IRModule& /*module*/,
                                     const PassExecution& /*pass*/) {
    return absl::OkStatus();
  }
  // `module` is the result of the pass; pass.before() is its argument.
  virtual absl::Status RunAfterPass(const IRModule& /*module*/,
                                    const PassExecution& /*pass*/) {
    return absl::OkStatus();
  }
  // `module` is the argument of the pass.
  virtual void PassFailed(const IRModule& /*module*/,
                          const PassExecution& /*pass*/,
                          const absl::Status& /*error*/) {}

 private:
  std::string name_;
};

}  // namespace baton

#endif  // BATON_TRANSFORM_PASS_INSTRUMENT_H_
