#include "baton/transform/internal/thread_state.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/base/limits.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_error.h"
#include "baton/transform/pass_instrument.h"

namespace baton::internal {
namespace {

// Null for the thread's own state.
thread_local ThreadState* adopted_state = nullptr;

}  // namespace

ThreadState& ThreadState::Get() {
  if (adopted_state != nullptr) return *adopted_state;
  static thread_local ThreadState own(PassContext(), nullptr);
  return own;
}

ThreadState::Adopt::Adopt(ThreadState* state)
    : previous_(std::exchange(adopted_state, state)) {}
ThreadState::Adopt::~Adopt() { adopted_state = previous_; }

void ThreadState::ReserveScope() {
  // One more at a time would copy all of them each time.
  if (scopes_.size() == scopes_.capacity()) {
    scopes_.reserve(2 * scopes_.size() + 1);
  }
}

void ThreadState::PushScope(const PassContext& context, uint64_t id) {
  const bool restarts = running_ == nullptr;
  scopes_.push_back({context, id, restarts, executions_});
  if (restarts) executions_ = 0;
  const Limits* const before = SetCurrentLimits(&context.limits());
  if (scopes_.size() == 1) outer_limits_ = before;
}

bool ThreadState::PopScope(uint64_t id, bool* was_innermost) {
  for (size_t i = scopes_.size(); i-- > 0;) {
    if (scopes_[i].id != id) continue;
    *was_innermost = i + 1 == scopes_.size();
    if (scopes_[i].restarted) executions_ = scopes_[i].saved_executions;
    scopes_.erase(scopes_.begin() + static_cast<std::ptrdiff_t>(i));
    SetCurrentLimits(scopes_.empty() ? outer_limits_
                                     : &scopes_.back().context.limits());
    return true;
  }
  return false;
}

bool ThreadState::IsRunningIn(const PassContext& context) const {
  for (const PassExecution* e = running_; e != nullptr; e = e->parent()) {
    if (*e->context_ == context) return true;
  }
  return false;
}

absl::Status ThreadState::AwaitPredecessors() {
  if (is_next_) return absl::OkStatus();
  absl::StatusOr<int64_t> base = turn_->Await();
  if (!base.ok()) return base.status();
  is_next_ = true;
  number_base_ = *base;
  return absl::OkStatus();
}

absl::Status AddExecution(const absl::Status& status,
                          const PassExecution& execution,
                          const ThreadState& state, absl::string_view culprit) {
  PassError error = GetPassError(status).value_or(
      PassError{.message = std::string(status.message())});
  if (error.culprit.empty()) error.culprit = std::string(culprit);
  // A function pass leaves a frame that names the function only.
  if (error.frames.empty() || !error.frames.front().pass.empty()) {
    error.frames.emplace(error.frames.begin());
  }
  PassError::Frame& frame = error.frames.front();
  frame.pass = execution.name();
  frame.number = state.NumberOf(execution);
  return WithPassError(status, error);
}

}  // namespace baton::internal
