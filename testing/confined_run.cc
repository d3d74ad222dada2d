#include "baton/testing/confined_run.h"

#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "absl/functional/function_ref.h"

namespace baton::testing {

#if defined(__SANITIZE_THREAD__)
#define BATON_HAS_THREAD_SANITIZER
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define BATON_HAS_THREAD_SANITIZER
#endif
#endif

bool CanConfine() {
#ifdef BATON_HAS_THREAD_SANITIZER
  // It has a thread in each process, which does not end with that of `body`.
  return false;
#endif
  // The mode is in force if another system call ends the process.
  return RunConfined([] { return true; }) == 0 &&
         WIFSIGNALED(RunConfined([] { return syscall(SYS_getppid) != 0; }));
}

int RunConfined(absl::FunctionRef<bool()> body) {
  constexpr int kCannot = 99;
  const pid_t child = fork();
  if (child < 0) return -1;
  if (child == 0) {
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0) {
      syscall(SYS_exit_group, kCannot);
    }
    const bool holds = body();
    syscall(SYS_exit, holds ? 0 : 1);  // The strict mode has no exit_group.
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

}  // namespace baton::testing
