#include "baton/transform/pass_context.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <iostream>
#include <memory>
#include <mutex>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/base/attr_value.h"
#include "baton/base/hash_table.h"
#include "baton/base/limits.h"
#include "baton/base/out_of_memory.h"
#include "baton/base/status_macros.h"
#include "baton/base/target.h"
#include "baton/transform/config.h"
#include "baton/transform/internal/thread_state.h"
#include "baton/transform/limits_config.h"
#include "baton/transform/pass_error.h"
#include "baton/transform/unread_config.h"

namespace baton {

struct PassContext::State {
  explicit State(PassContextOptions given)
      : options(std::move(given)),
        limits(LimitsOf(options.config)),
        is_read(options.config.size()) {
    for (const auto& [name, value] : options.config) {
      status = CheckConfig(name, value);
      if (!status.ok()) return;
    }
    for (const auto& instrument : options.instruments) {
      if (instrument == nullptr) {
        status = absl::InvalidArgumentError("an instrument is null");
        return;
      }
    }
  }

  PassContextOptions options;
  const Limits limits;
  // For each setting, whether a pass has read it. Passes read on all threads.
  std::vector<std::atomic<bool>> is_read;
  absl::Status status;

  // The thread on which a context with instruments is entered, and the number
  // of times.
  std::mutex mutex;
  const internal::ThreadState* thread = nullptr;
  int times_entered = 0;
};

namespace {

bool Contains(const std::vector<std::string>& names, absl::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// `status` as the error of a hook of `instrument`.
absl::Status HookError(const absl::Status& status,
                       const PassInstrument& instrument,
                       absl::string_view hook) {
  PassError error = GetPassError(status).value_or(
      PassError{.message = std::string(status.message())});
  if (error.culprit.empty()) {
    error.culprit = absl::StrCat("instrument ", instrument.name(), ", ", hook);
  }
  return WithPassError(status, error);
}

absl::Status CallEnter(PassInstrument& instrument) {
  absl::Status status = internal::CatchExceptions(
      instrument.name(), [&] { return instrument.EnterPassContext(); });
  return status.ok() ? status
                     : HookError(status, instrument, "EnterPassContext");
}

absl::Status CallExit(PassInstrument& instrument) {
  absl::Status status = internal::CatchExceptions(
      instrument.name(), [&] { return instrument.ExitPassContext(); });
  return status.ok() ? status
                     : HookError(status, instrument, "ExitPassContext");
}

}  // namespace

namespace internal {

absl::Status ExceptionToStatus(absl::string_view who, std::exception_ptr e) {
  try {
    std::rethrow_exception(std::move(e));
  } catch (const std::bad_alloc&) {
    return OutOfMemoryError(who);
  } catch (const std::length_error&) {
    return OutOfMemoryError(who);
  } catch (const std::exception& exception) {
    return absl::InternalError(
        absl::StrCat(who, " threw an exception: ", exception.what()));
  } catch (...) {
    return absl::InternalError(
        absl::StrCat(who, " threw something that is not a std::exception"));
  }
}

absl::Status CombineBodyAndExit(absl::Status body, absl::Status exit) {
  if (exit.ok()) return body;
  if (body.ok()) return exit;
  PassError error = GetPassError(body).value_or(
      PassError{.message = std::string(body.message())});
  error.also.push_back(std::string(exit.message()));
  return WithPassError(body, error);
}

}  // namespace internal

PassContext::PassContext(PassContextOptions options)
    : state_(std::make_shared<State>(std::move(options))) {}

const Limits& PassContext::limits() const { return state_->limits; }

PassContext PassContext::Current() {
  return internal::ThreadState::Get().context();
}

absl::Status PassContext::status() const { return state_->status; }
int PassContext::opt_level() const { return state_->options.opt_level; }
const std::vector<std::string>& PassContext::required_pass() const {
  return state_->options.required_pass;
}
const std::vector<std::string>& PassContext::disabled_pass() const {
  return state_->options.disabled_pass;
}
const AttrMap& PassContext::config() const { return state_->options.config; }
const PassInstruments& PassContext::instruments() const {
  return state_->options.instruments;
}
const PassRegistry* PassContext::registry() const {
  return state_->options.registry;
}

const Target& PassContext::target() const { return state_->options.target; }

const AttrValue* PassContext::FindConfig(absl::string_view name) const {
  // The last one counts, as on a command line.
  const AttrMap& config = state_->options.config;
  for (size_t i = config.size(); i-- > 0;) {
    if (config[i].first != name) continue;
    // Threads that read a setting again write nothing.
    std::atomic<bool>& is_read = state_->is_read[i];
    if (!is_read.load(std::memory_order_relaxed)) {
      is_read.store(true, std::memory_order_relaxed);
    }
    return &config[i].second;
  }
  return nullptr;
}

std::vector<std::string> internal::ThreadState::UnreadConfig(
    const PassContext& context) {
  const AttrMap& config = context.config();
  // A pass reads the last of the settings that have the same name.
  FlatHashMap<absl::string_view, bool> is_read;
  for (size_t i = 0; i < config.size(); ++i) {
    is_read[config[i].first] =
        context.state_->is_read[i].load(std::memory_order_relaxed);
  }
  std::vector<std::string> names;
  for (const auto& [name, value] : config) {
    if (IsLimit(name) || std::exchange(is_read[name], true)) continue;
    names.push_back(name);
  }
  return names;
}

const AttrValue* internal::ThreadState::FindConfig(const PassContext& context,
                                                   absl::string_view name) {
  return context.FindConfig(name);
}

std::vector<std::string> UnreadConfig(const PassContext& context) {
  return internal::ThreadState::UnreadConfig(context);
}

bool PassContext::PassEnabled(const PassInfo& info) const {
  if (Contains(disabled_pass(), info.name)) return false;
  return opt_level() >= info.opt_level || Contains(required_pass(), info.name);
}

absl::Status PassContext::EnterInstruments() const {
  const PassInstruments instruments = state_->options.instruments;
  for (size_t i = 0; i < instruments.size(); ++i) {
    absl::Status status = CallEnter(*instruments[i]);
    if (status.ok()) continue;
    while (i-- > 0) {
      status = internal::CombineBodyAndExit(std::move(status),
                                            CallExit(*instruments[i]));
    }
    state_->options.instruments.clear();
    return status;
  }
  return absl::OkStatus();
}

absl::Status PassContext::ExitInstruments() const {
  const PassInstruments instruments = state_->options.instruments;
  for (const auto& instrument : instruments) {
    absl::Status status = CallExit(*instrument);
    if (!status.ok()) {
      state_->options.instruments.clear();
      return status;
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<PassContext::Scope> PassContext::Enter() const {
  static std::atomic<uint64_t> next_id{1};
  BATON_RETURN_IF_ERROR(state_->status);
  internal::ThreadState& thread = internal::ThreadState::Get();
  thread.ReserveScope();
  if (!instruments().empty()) {
    BATON_RETURN_IF_ERROR(thread.AwaitPredecessors());
    const std::lock_guard<std::mutex> lock(state_->mutex);
    if (state_->times_entered > 0 && state_->thread != &thread) {
      return absl::FailedPreconditionError(
          "a pass context that has instruments is entered on two threads");
    }
    state_->thread = &thread;
    ++state_->times_entered;
  }
  const bool counted = !instruments().empty();
  absl::Status status = internal::CatchExceptions(
      "a pass context", [&] { return EnterInstruments(); });
  if (!status.ok()) {
    const std::lock_guard<std::mutex> lock(state_->mutex);
    if (counted) --state_->times_entered;
    return status;
  }
  const uint64_t id = next_id.fetch_add(1, std::memory_order_relaxed);
  thread.PushScope(*this, id);
  return Scope(*this, &thread, id, counted);
}

absl::Status PassContext::OverrideInstruments(
    PassInstruments instruments) const {
  internal::ThreadState& thread = internal::ThreadState::Get();
  if (thread.IsRunningIn(*this)) {
    return absl::FailedPreconditionError(
        "instruments cannot be overridden while a pass is running in the "
        "context");
  }
  for (const auto& instrument : instruments) {
    if (instrument == nullptr) {
      return absl::InvalidArgumentError("an instrument is null");
    }
  }
  BATON_RETURN_IF_ERROR(thread.AwaitPredecessors());
  BATON_RETURN_IF_ERROR(ExitInstruments());
  state_->options.instruments = std::move(instruments);
  return EnterInstruments();
}

PassContext::Scope::Scope(Scope&& other) noexcept
    : context_(other.context_),
      thread_(std::exchange(other.thread_, nullptr)),
      id_(other.id_),
      counted_(other.counted_) {}

PassContext::Scope::~Scope() {
  const absl::Status status = Exit();
  if (!status.ok()) {
    std::cerr << "error: leaving a pass context: " << status.message()
              << std::endl;
  }
}

absl::Status PassContext::Scope::Exit() {
  if (thread_ == nullptr) return absl::OkStatus();
  bool was_innermost = false;
  if (thread_ != &internal::ThreadState::Get() ||
      !thread_->PopScope(id_, &was_innermost)) {
    return absl::FailedPreconditionError(
        "a pass context must be left on the thread that entered it");
  }
  thread_ = nullptr;
  if (counted_) {
    const std::lock_guard<std::mutex> lock(context_.state_->mutex);
    --context_.state_->times_entered;
  }
  absl::Status status = internal::CatchExceptions(
      "a pass context", [&] { return context_.ExitInstruments(); });
  if (!was_innermost) {
    status = internal::CombineBodyAndExit(
        absl::FailedPreconditionError("a pass context was left before one that "
                                      "was entered inside it"),
        std::move(status));
  }
  return status;
}

}  // namespace baton
