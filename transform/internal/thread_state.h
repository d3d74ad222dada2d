// ThreadState: the state of the pass manager on one thread.

#ifndef BATON_TRANSFORM_INTERNAL_THREAD_STATE_H_
#define BATON_TRANSFORM_INTERNAL_THREAD_STATE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/base/attr_value.h"
#include "baton/base/limits.h"
#include "baton/ir/module.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_instrument.h"

namespace baton {

class FunctionObserver;
using FunctionWatch =
    std::function<std::unique_ptr<FunctionObserver>(const IRModule& module)>;

namespace internal {

// The turn of one of the bodies that run concurrently. Before a body has an
// observable effect (calls an instrument), it waits for its turn, so that
// observers receive the events as if the bodies ran one after the other.
class CommitOrder {
 public:
  virtual ~CommitOrder() = default;
  // Waits until all earlier bodies have ended, and returns the number of
  // executions of the whole run that had started by then. An error if an
  // earlier body failed: the result of this body is then discarded. May be
  // called more than once, from any thread.
  virtual absl::StatusOr<int64_t> Await() = 0;
};

// The contexts, the running execution and the numbers of one thread.
class ThreadState {
 public:
  // The state of this thread.
  static ThreadState& Get();

  // The state of a helper thread: `context` and `running` are its outermost
  // context and execution.
  ThreadState(PassContext context, const PassExecution* running)
      : base_(std::move(context)), running_(running) {}
  ThreadState(const ThreadState&) = delete;
  ThreadState& operator=(const ThreadState&) = delete;

  // Makes `state` the state of this thread during its lifetime.
  class Adopt {
   public:
    explicit Adopt(ThreadState* state);
    ~Adopt();

   private:
    ThreadState* previous_;
  };

  const PassContext& context() const {
    return scopes_.empty() ? base_ : scopes_.back().context;
  }
  // Allocates memory for the next PushScope, which then cannot fail.
  void ReserveScope();
  void PushScope(const PassContext& context, uint64_t id);
  // Returns false if there is no such scope. Sets `*was_innermost` to true if
  // it was the innermost scope.
  bool PopScope(uint64_t id, bool* was_innermost);

  // The value given for the setting `name` in `context`; null for none.
  static const AttrValue* FindConfig(const PassContext& context,
                                     absl::string_view name);
  // See transform/unread_config.h.
  static std::vector<std::string> UnreadConfig(const PassContext& context);

  // The innermost execution that is running; may be null.
  const PassExecution* running() const { return running_; }
  // True if a pass is running in `context`.
  bool IsRunningIn(const PassContext& context) const;

  // See transform/function_pass.h; null for none. Helper threads have none.
  const FunctionWatch* function_watch() const { return function_watch_; }
  const FunctionWatch* SetFunctionWatch(const FunctionWatch* watch) {
    return std::exchange(function_watch_, watch);
  }

  // Calls Begin() and End() around the hooks and the body of an execution.
  class Running {
   public:
    Running(ThreadState& state, PassExecution& execution)
        : state_(state), execution_(execution) {
      state_.Begin(execution_);
    }
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;
    ~Running() { state_.End(execution_); }

   private:
    ThreadState& state_;
    PassExecution& execution_;
  };
  void Begin(PassExecution& execution) {
    if (running_ == nullptr && scopes_.empty()) executions_ = 0;
    execution.number_base_ = number_base_;
    execution.number_ = number_base_ + executions_ + 1;
    running_ = &execution;
  }
  // Confirms the number of an execution that was not refused.
  void Count() { ++executions_; }
  void End(const PassExecution& execution) { running_ = execution.parent(); }

  // The number of an execution that began in this state; relative to the body
  // until number_base() is known.
  int64_t NumberOf(const PassExecution& execution) const {
    return execution.number_ - execution.number_base_ + number_base_;
  }

  // Waits for the turn of this thread's body. Afterwards the thread may have
  // observable effects. Only code whose result is discarded gets the error.
  absl::Status AwaitPredecessors();
  CommitOrder* turn() const { return turn_; }
  bool is_next() const { return is_next_; }
  void set_turn(CommitOrder* turn) {
    turn_ = turn;
    is_next_ = turn == nullptr;
    number_base_ = 0;
    executions_ = 0;
  }

  // Executions are numbered from number_base() + 1. In a body that runs
  // concurrently with others, the base is 0 until the body's turn.
  int64_t number_base() const { return number_base_; }
  int64_t executions() const { return executions_; }
  void AddExecutions(int64_t n) { executions_ += n; }

 private:
  struct ScopeEntry {
    PassContext context;
    uint64_t id;
    bool restarted;  // restarted the count of executions
    int64_t saved_executions;
  };

  PassContext base_;
  std::vector<ScopeEntry> scopes_;
  const Limits* outer_limits_ = nullptr;  // the limits outside of the outermost
                                          // scope
  const PassExecution* running_;
  const FunctionWatch* function_watch_ = nullptr;
  int64_t executions_ = 0;
  int64_t number_base_ = 0;
  CommitOrder* turn_ = nullptr;
  bool is_next_ = true;
};

// Converts `status` to the error of `execution`, which began in `state`.
// `culprit` names the part that failed if it is not the pass itself.
absl::Status AddExecution(const absl::Status& status,
                          const PassExecution& execution,
                          const ThreadState& state,
                          absl::string_view culprit = "");

}  // namespace internal
}  // namespace baton

#endif  // BATON_TRANSFORM_INTERNAL_THREAD_STATE_H_
