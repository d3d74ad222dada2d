// CrashGuard: runs a function in a copy of the process when the process
// crashes.

#ifndef BATON_INSTRUMENT_CRASH_GUARD_H_
#define BATON_INSTRUMENT_CRASH_GUARD_H_

#include <csignal>
#include <cstddef>
#include <functional>

namespace baton {

// While the guard lives, a signal that reports an error of the program
// (SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT) first runs `body` in a copy of the
// process. The signal handler makes only calls that are safe in a handler: it
// forks, waits, restores the previous handler and raises the signal again.
// `body` may find damaged data. If `body` crashes as well, or takes more than
// ten seconds, only the copy ends. A stack overflow is caught on the thread
// that made the guard.
//
// Only one guard is active at a time; a second one does nothing.
class CrashGuard {
 public:
  explicit CrashGuard(std::function<void(int signal)> body);
  ~CrashGuard();
  CrashGuard(const CrashGuard&) = delete;
  CrashGuard& operator=(const CrashGuard&) = delete;

 private:
  static constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
  static constexpr size_t kNumSignals = sizeof(kSignals) / sizeof(int);

  static void Handle(int signal);
  void Restore();

  const std::function<void(int)> body_;
  bool active_ = false;
  struct sigaction before_[kNumSignals] = {};
  void* stack_ = nullptr;
  stack_t stack_before_ = {};
};

}  // namespace baton

#endif  // BATON_INSTRUMENT_CRASH_GUARD_H_
