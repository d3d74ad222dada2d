#include "baton/instrument/crash_guard.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstddef>
#include <ctime>
#include <functional>
#include <utility>

namespace baton {
namespace {

constexpr size_t kStackBytes = size_t{1} << 20;
constexpr int kSeconds = 10;

std::atomic<CrashGuard*> the_guard = nullptr;

}  // namespace

CrashGuard::CrashGuard(std::function<void(int signal)> body)
    : body_(std::move(body)) {
  CrashGuard* none = nullptr;
  active_ = the_guard.compare_exchange_strong(none, this);
  if (!active_) return;
  stack_ = mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  if (stack_ == MAP_FAILED) stack_ = nullptr;
  stack_t stack = {};
  stack.ss_sp = stack_;
  stack.ss_size = kStackBytes;
  if (stack_ == nullptr || sigaltstack(&stack, &stack_before_) != 0) {
    stack.ss_size = 0;
  }
  for (size_t i = 0; i < kNumSignals; ++i) {
    struct sigaction action = {};
    action.sa_handler = &CrashGuard::Handle;
    action.sa_flags = stack.ss_size > 0 ? SA_ONSTACK : 0;
    sigemptyset(&action.sa_mask);
    sigaction(kSignals[i], &action, &before_[i]);
  }
}

CrashGuard::~CrashGuard() {
  if (!active_) return;
  Restore();
  the_guard = nullptr;
  if (stack_ == nullptr) return;
  sigaltstack(&stack_before_, nullptr);
  munmap(stack_, kStackBytes);
}

void CrashGuard::Restore() {
  for (size_t i = 0; i < kNumSignals; ++i) {
    sigaction(kSignals[i], &before_[i], nullptr);
  }
}

void CrashGuard::Handle(int signal) {
  CrashGuard* const guard = the_guard.exchange(nullptr);
  if (guard != nullptr) {
    guard->Restore();
    // fork() is not used: it runs the handlers of pthread_atfork, which take
    // locks.
    const auto child = static_cast<pid_t>(
        syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr));
    if (child == 0) {
      // The signal that is being handled is blocked.
      sigset_t all;
      sigfillset(&all);
      sigprocmask(SIG_UNBLOCK, &all, nullptr);
      alarm(kSeconds);
      guard->body_(signal);
      _exit(0);
    }
    constexpr long kTick = 5'000'000;  // ns
    for (int i = 0; child > 0 && i < kSeconds * 200; ++i) {
      if (waitpid(child, nullptr, WNOHANG) != 0) break;
      const timespec tick = {.tv_sec = 0, .tv_nsec = kTick};
      nanosleep(&tick, nullptr);
    }
    if (child > 0 && waitpid(child, nullptr, WNOHANG) == 0) {
      kill(child, SIGKILL);
    }
  }
  // Pending until this handler returns.
  raise(signal);
}

}  // namespace baton
