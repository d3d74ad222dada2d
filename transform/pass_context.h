// PassContext: the settings and the instruments of running passes.
//
// Contexts form a stack for each thread. Passes run in the innermost one:
//
//   auto timing = std::make_shared<PassTimingInstrument>();
//   PassContext context({.opt_level = 3,
//                        .disabled_pass = {"FoldConstant"},
//                        .instruments = {timing}});
//   absl::StatusOr<IRModule> result =
//       context.Run([&] { return pipeline(module); });
//
// or, with a scope that ends where the block does:
//
//   BATON_ASSIGN_OR_RETURN(PassContext::Scope scope, context.Enter());
//   BATON_ASSIGN_OR_RETURN(module, pipeline(module));
//   BATON_RETURN_IF_ERROR(scope.Exit());
//
// Outside any scope passes run in the thread's default context, which never
// exits by itself.

#ifndef BATON_TRANSFORM_PASS_CONTEXT_H_
#define BATON_TRANSFORM_PASS_CONTEXT_H_

#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/base/attr_value.h"
#include "baton/base/limits.h"
#include "baton/base/out_of_memory.h"
#include "baton/base/target.h"
#include "baton/transform/config.h"
#include "baton/transform/pass_info.h"
#include "baton/transform/pass_instrument.h"

namespace baton {

class PassRegistry;

using PassInstruments = std::vector<std::shared_ptr<PassInstrument>>;

struct PassContextOptions {
  // A Sequential runs the passes of this level and below.
  int opt_level = 2;
  // Passes that a Sequential runs even if their level is higher, and that no
  // instrument may refuse.
  std::vector<std::string> required_pass = {};
  // Passes that a Sequential skips, even if required_pass lists them.
  std::vector<std::string> disabled_pass = {};
  // Settings by name; see config.h.
  AttrMap config = {};
  PassInstruments instruments = {};
  // The registry for looking passes up by name; null for
  // PassRegistry::Global(). Must outlive the context.
  const PassRegistry* registry = nullptr;
  // The machine for which the program is compiled; empty if it is not known.
  Target target = {};
};

// Handles are cheap: copies refer to the same context.
class PassContext {
 public:
  class Scope;

  // If the options are wrong, status() and Enter() return the error.
  explicit PassContext(PassContextOptions options = {});

  // The innermost context of this thread.
  static PassContext Current();

  absl::Status status() const;
  int opt_level() const;
  const std::vector<std::string>& required_pass() const;
  const std::vector<std::string>& disabled_pass() const;
  const AttrMap& config() const;
  const PassInstruments& instruments() const;
  const PassRegistry* registry() const;  // null for the global registry
  const Target& target() const;
  // The settings limits.*, which apply on a thread that has entered the
  // context.
  const Limits& limits() const;

  // The value of a setting, or its default.
  template <typename T>
  T Get(const ConfigKey<T>& key) const;

  // True if a Sequential runs the pass: it is not disabled, and it is required
  // or its level is at most that of the context.
  bool PassEnabled(const PassInfo& info) const;

  // Calls EnterPassContext of each instrument, in order, then makes the context
  // the innermost one. If an instrument fails, calls ExitPassContext of the
  // preceding instruments in reverse order, drops all instruments, does not
  // enter the context, and returns the error. Only one thread at a time can be
  // in a context that has instruments.
  absl::StatusOr<Scope> Enter() const;

  // Runs `fn` (which returns a Status or a StatusOr) inside the context. If
  // both `fn` and the exit fail, returns the error of `fn` with a mention of
  // the other one.
  template <typename Fn>
  std::invoke_result_t<Fn&> Run(Fn&& fn) const;

  // Calls ExitPassContext of the old instruments, in order, and then
  // EnterPassContext of the new ones, even if the context is not entered. A
  // failing instrument has the consequences described for Enter and
  // Scope::Exit. An error if a pass is running in this context.
  absl::Status OverrideInstruments(PassInstruments instruments) const;

  friend bool operator==(const PassContext& a, const PassContext& b) {
    return a.state_ == b.state_;
  }

 private:
  friend class internal::ThreadState;
  friend class Pass;
  struct State;

  absl::Status EnterInstruments() const;
  absl::Status ExitInstruments() const;
  const AttrValue* FindConfig(absl::string_view name) const;

  std::shared_ptr<State> state_;
};

// Keeps a context entered during its lifetime.
class PassContext::Scope {
 public:
  Scope(Scope&& other) noexcept;
  Scope& operator=(Scope&& other) = delete;
  // Exits, unless Exit was called; writes an error to standard error.
  ~Scope();

  // Leaves the context, then calls ExitPassContext of its instruments, in
  // order. If an instrument fails, skips the following ones, drops all
  // instruments, and returns the error. Calling it again does nothing.
  absl::Status Exit();

  const PassContext& context() const { return context_; }

 private:
  friend class PassContext;
  Scope(PassContext context, internal::ThreadState* thread, uint64_t id,
        bool counted)
      : context_(std::move(context)),
        thread_(thread),
        id_(id),
        counted_(counted) {}

  PassContext context_;
  internal::ThreadState* thread_;  // null after leaving
  uint64_t id_;
  bool counted_;  // counted among the scopes that bind the context to one
                  // thread
};

// Implementation details below.

namespace internal {

// Converts an exception to an error that names `who` threw it.
absl::Status ExceptionToStatus(absl::string_view who, std::exception_ptr e);

// Calls `fn`, which returns a Status or a StatusOr; converts an exception to an
// error.
template <typename Fn>
std::invoke_result_t<Fn&> CatchExceptions(absl::string_view who, Fn&& fn) {
  try {
    return fn();
  } catch (...) {
    return ExceptionToStatus(who, std::current_exception());
  }
}

// The error of `body`; the error of `exit` if `body` is OK; both if both
// failed.
absl::Status CombineBodyAndExit(absl::Status body, absl::Status exit);

inline absl::Status StatusOf(const absl::Status& status) { return status; }
template <typename T>
absl::Status StatusOf(const absl::StatusOr<T>& result) {
  return result.status();
}

}  // namespace internal

template <typename T>
T PassContext::Get(const ConfigKey<T>& key) const {
  T value = key.default_value();
  if (const AttrValue* given = FindConfig(key.name())) {
    // Checked when the context was made.
    AttrTraits<T>::FromValue(*given, &value).IgnoreError();
  }
  return value;
}

template <typename Fn>
std::invoke_result_t<Fn&> PassContext::Run(Fn&& fn) const {
  using Result = std::invoke_result_t<Fn&>;
  return CatchOutOfMemory("a pass context", [&]() -> Result {
    absl::StatusOr<Scope> scope = Enter();
    if (!scope.ok()) return scope.status();
    Result result =
        internal::CatchExceptions("a function run in a pass context", fn);
    absl::Status status =
        internal::CombineBodyAndExit(internal::StatusOf(result), scope->Exit());
    if (!status.ok()) return status;
    return result;
  });
}

}  // namespace baton

#endif  // BATON_TRANSFORM_PASS_CONTEXT_H_
