// What the pass manager knows of each thread.

#ifndef BATON_TRANSFORM_INTERNAL_THREAD_STATE_H_
#define BATON_TRANSFORM_INTERNAL_THREAD_STATE_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/base/limits.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_instrument.h"

namespace baton::internal {

// The place of one body among bodies that run at the same time. Whatever can
// be observed (instruments) waits for its turn: it happens as if the bodies
// ran one after the other.
class Turn {
 public:
  virtual ~Turn() = default;
  // Waits until the bodies before this one have ended, and returns how many
  // executions had started by then in the whole run. An error if one of them
  // failed: this body then does not count. May be called more than once, from
  // any thread.
  virtual absl::StatusOr<int64_t> Await() = 0;
};

class ThreadState {
 public:
  // The state of this thread.
  static ThreadState& Get();

  // A thread that helps another one: its outermost context and execution are
  // those given.
  ThreadState(PassContext context, const PassExecution* running)
      : base_(std::move(context)), running_(running) {}
  ThreadState(const ThreadState&) = delete;
  ThreadState& operator=(const ThreadState&) = delete;

  // Makes a state that of this thread, for as long as this lives.
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
  // So that the next PushScope takes no memory.
  void ReserveScope();
  void PushScope(const PassContext& context, uint64_t id);
  // False if the scope is not there. `was_innermost` tells whether it was last.
  bool PopScope(uint64_t id, bool* was_innermost);

  // The innermost execution that is under way; may be null.
  const PassExecution* running() const { return running_; }
  // True if a pass is running in `context`.
  bool IsRunningIn(const PassContext& context) const;

  // Around the hooks and the body of an execution.
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
  // The execution takes its number.
  void Count() { ++executions_; }
  void End(const PassExecution& execution) { running_ = execution.parent(); }

  // The number of an execution that began in this state, as far as it is known
  // now.
  int64_t NumberOf(const PassExecution& execution) const {
    return execution.number_ - execution.number_base_ + number_base_;
  }

  // Waits until this thread may do what others can observe. The error is only
  // ever seen by code whose result does not count.
  absl::Status TakeTurn();
  Turn* turn() const { return turn_; }
  bool has_turn() const { return has_turn_; }
  void set_turn(Turn* turn) {
    turn_ = turn;
    has_turn_ = turn == nullptr;
    number_base_ = 0;
    executions_ = 0;
  }

  // Executions are numbered number_base + 1 ... In a body that runs beside
  // others the base is 0 until it is the body's turn.
  int64_t number_base() const { return number_base_; }
  int64_t executions() const { return executions_; }
  void AddExecutions(int64_t n) { executions_ += n; }

 private:
  struct ScopeEntry {
    PassContext context;
    uint64_t id;
    bool restarted;  // the count of executions
    int64_t saved_executions;
  };

  PassContext base_;
  std::vector<ScopeEntry> scopes_;
  const Limits* outer_limits_ = nullptr;  // those before the outermost scope
  const PassExecution* running_;
  int64_t executions_ = 0;
  int64_t number_base_ = 0;
  Turn* turn_ = nullptr;
  bool has_turn_ = true;
};

// `status` as the error of `execution`, which began in `state`. If not the pass
// itself failed, `culprit` says who.
absl::Status AddExecution(const absl::Status& status,
                          const PassExecution& execution,
                          const ThreadState& state,
                          absl::string_view culprit = "");

}  // namespace baton::internal

#endif  // BATON_TRANSFORM_INTERNAL_THREAD_STATE_H_
