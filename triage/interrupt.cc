#include "baton/triage/interrupt.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>

namespace baton {
namespace {

volatile std::sig_atomic_t the_signal = 0;
// A pipe that has something to read once there is a signal.
std::array<int, 2> the_pipe = {-1, -1};

void Note(int signal) {
  const int code = errno;
  the_signal = signal;
  [[maybe_unused]] const ssize_t n = write(the_pipe[1], "", 1);
  errno = code;
}

}  // namespace

InterruptGuard::InterruptGuard() {
  the_signal = 0;
  // Without a pipe, a wait ends with its child.
  if (pipe2(the_pipe.data(), O_CLOEXEC | O_NONBLOCK) != 0) the_pipe = {-1, -1};
  for (size_t i = 0; i < kSignals.size(); ++i) {
    struct sigaction action = {};
    action.sa_handler = &Note;
    action.sa_flags = SA_RESETHAND;
    sigemptyset(&action.sa_mask);
    sigaction(kSignals[i], &action, &before_[i]);
    // Whoever ignores a signal (nohup) goes on doing so.
    if (before_[i].sa_handler == SIG_IGN) {
      sigaction(kSignals[i], &before_[i], nullptr);
    }
  }
}

InterruptGuard::~InterruptGuard() {
  for (size_t i = 0; i < kSignals.size(); ++i) {
    sigaction(kSignals[i], &before_[i], nullptr);
  }
  for (int& end : the_pipe) {
    if (end >= 0) close(end);
    end = -1;
  }
}

int InterruptGuard::Signal() { return the_signal; }
int InterruptGuard::FailureExitCode() {
  return the_signal == 0 ? 1 : 128 + the_signal;
}
int InterruptGuard::File() { return the_pipe[0]; }

}  // namespace baton
