// InterruptGuard: turns SIGINT, SIGTERM and SIGHUP into an orderly end.

#ifndef BATON_TRIAGE_INTERRUPT_H_
#define BATON_TRIAGE_INTERRUPT_H_

#include <array>
#include <csignal>

namespace baton {

// During its lifetime, the first of these signals is only recorded, and ends
// the waits for children (child.h). A second one ends the process. Only one
// guard may exist at a time.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  // The recorded signal; 0 if there is none.
  static int Signal();
  // The exit code of a failing process: 128 plus the recorded signal, as in
  // shells; 1 if there is none.
  static int FailureExitCode();
  // A file descriptor that becomes readable with the first signal; -1 without a
  // guard.
  static int File();

 private:
  static constexpr std::array<int, 3> kSignals = {SIGINT, SIGTERM, SIGHUP};

  std::array<struct sigaction, kSignals.size()> before_ = {};
};

}  // namespace baton

#endif  // BATON_TRIAGE_INTERRUPT_H_
