// PassInstrument: observes passes, and may skip them.
//
// For a pass in a context with instruments A, B:
//
//   A.ShouldRun, B.ShouldRun           always both; neither if the context
//                                      requires the pass
//   A.RunBeforePass, B.RunBeforePass   if both returned true
//   ... the pass, and passes inside it ...
//   A.RunAfterPass, B.RunAfterPass
//
// If one of these calls fails, PassFailed is called, last instrument first, on
// each instrument whose RunBeforePass returned OK and whose RunAfterPass was
// not called. So each successful RunBeforePass is followed by one RunAfterPass
// or one PassFailed.
//
// The pass manager calls one hook at a time, in an order that does not depend
// on the number of threads, but not always on the same thread. Built-in
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

// One execution of a pass, for its instruments.
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
  // will get if it runs.
  int64_t number() const { return number_; }

  // The enclosing execution; null for the outermost one.
  const PassExecution* parent() const { return parent_; }
  int depth() const { return depth_; }  // 0 at the outermost

  // The argument of the pass.
  const IRModule& before() const { return *before_; }
  // For RunAfterPass: true if the result is a different module. Takes O(1):
  // passes without effect return the same module.
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

// The interface of instruments. All hooks do nothing by default.
class PassInstrument {
 public:
  explicit PassInstrument(std::string name) : name_(std::move(name)) {}
  PassInstrument(const PassInstrument&) = delete;
  PassInstrument& operator=(const PassInstrument&) = delete;
  virtual ~PassInstrument() = default;

  const std::string& name() const { return name_; }
  // A tool names an instrument by the flag that enables it: `--verify_each`.
  // Errors and reports then name the flag.
  void set_name(std::string name) { name_ = std::move(name); }

  virtual absl::Status EnterPassContext() { return absl::OkStatus(); }
  virtual absl::Status ExitPassContext() { return absl::OkStatus(); }

  // Returns false to skip the pass: the module stays unchanged, and neither
  // RunBeforePass nor RunAfterPass is called.
  virtual absl::StatusOr<bool> ShouldRun(const IRModule& /*module*/,
                                         const PassExecution& /*pass*/) {
    return true;
  }
  // An error becomes the error of the pass; the same applies to RunAfterPass.
  virtual absl::Status RunBeforePass(const IRModule& /*module*/,
                                     const PassExecution& /*pass*/) {
    return absl::OkStatus();
  }
  // `module` is the result of the pass; pass.before() is its argument.
  virtual absl::Status RunAfterPass(const IRModule& /*module*/,
                                    const PassExecution& /*pass*/) {
    return absl::OkStatus();
  }
  // A function pass leaves expressions without types, and a pass inside it
  // (InferType, for Relay) adds them. An instrument that neither depends on the
  // module in between nor skips the inner pass returns false: if all do, passes
  // may set known types at once, which is faster.
  virtual bool needs_untyped_modules() const { return true; }

  // `module` is the argument of the pass.
  virtual void PassFailed(const IRModule& /*module*/,
                          const PassExecution& /*pass*/,
                          const absl::Status& /*error*/) {}

 private:
  std::string name_;
};

}  // namespace baton

#endif  // BATON_TRANSFORM_PASS_INSTRUMENT_H_
