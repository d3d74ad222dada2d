// RunScope: the state of a thread in a run of passes, for its helper threads.

#ifndef BATON_TRANSFORM_INTERNAL_RUN_SCOPE_H_
#define BATON_TRANSFORM_INTERNAL_RUN_SCOPE_H_

#include "baton/base/limits.h"
#include "baton/ir/node_counts.h"
#include "baton/transform/internal/thread_state.h"
#include "baton/transform/pass_context.h"

namespace baton::internal {

// Captures the context, the running execution, the limits and the counters of
// nodes. Construct it on the thread that has helpers.
class RunScope {
 public:
  // `context` must outlive the scope, as must the submitting thread's state.
  explicit RunScope(const PassContext& context)
      : context_(context),
        submitter_(ThreadState::Get()),
        limits_(CurrentLimits()) {}
  RunScope(const RunScope&) = delete;
  RunScope& operator=(const RunScope&) = delete;

  ThreadState& submitter() const { return submitter_; }
  // Call on the submitting thread, when the helpers have ended.
  void Join() { counting_.Join(); }

  // Makes the scope that of this thread during the lifetime of the object.
  class Use {
   public:
    explicit Use(RunScope& scope)
        : state_(scope.context_, scope.submitter_.running()),
          adopt_(&state_),
          limits_(scope.limits_),
          counting_(scope.counting_) {}

    ThreadState& state() { return state_; }

   private:
    ThreadState state_;
    const ThreadState::Adopt adopt_;
    const ScopedLimits limits_;
    const NodeCounting::Helpers::Use counting_;
  };

 private:
  const PassContext& context_;
  ThreadState& submitter_;
  const Limits& limits_;
  NodeCounting::Helpers counting_;
};

}  // namespace baton::internal

#endif  // BATON_TRANSFORM_INTERNAL_RUN_SCOPE_H_
