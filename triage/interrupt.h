// Ends in order what SIGINT, SIGTERM or SIGHUP would end at once.

#ifndef BATON_TRIAGE_INTERRUPT_H_
#define BATON_TRIAGE_INTERRUPT_H_

#include <array>
#include <csignal>

namespace baton {

// While it lives, the first of these signals is only noted, and ends the waits
// for children (child.h). A second one ends the process. There is one at a
// time.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  // The signal that was noted; 0 if none.
  static int Signal();
  // What a process exits with that fails: 128 and the signal that was noted, as
  // shells say it; 1 if none was.
  static int FailureExitCode();
  // A file that can be read from then on; -1 without a guard.
  static int File();

 private:
  static constexpr std::array<int, 3> kSignals = {SIGINT, SIGTERM, SIGHUP};

  std::array<struct sigaction, kSignals.size()> before_ = {};
};

}  // namespace baton

#endif  // BATON_TRIAGE_INTERRUPT_H_
