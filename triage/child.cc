#include "baton/triage/child.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <ctime>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "baton/base/status_macros.h"
#include "baton/triage/interrupt.h"

namespace baton {
namespace {

// In a sanitizer's build, its bookkeeping counts as memory of the program.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kHasSanitizer = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
    __has_feature(memory_sanitizer)
constexpr bool kHasSanitizer = true;
#else
constexpr bool kHasSanitizer = false;
#endif
#else
constexpr bool kHasSanitizer = false;
#endif

double Now() {
  return std::chrono::duration<double>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// Seconds of the wall clock for one of processor time.
constexpr double kWallFactor = 10;

// The first byte of a body's result: it distinguishes a copy that ended early
// from one that returned an empty text.
constexpr char kReturned = 'R';

bool WriteAll(int fd, const std::string& text) {
  size_t done = 0;
  while (done < text.size()) {
    const ssize_t n = write(fd, text.data() + done, text.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    done += static_cast<size_t>(n);
  }
  return true;
}

void Silence() {
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (null < 0) return;
  dup2(null, STDIN_FILENO);
  dup2(null, STDOUT_FILENO);
  dup2(null, STDERR_FILENO);
}

// In the copy. Never returns.
[[noreturn]] void RunBody(const std::function<std::string()>& body, int fd,
                          pid_t parent, const Child::Options& options) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  const rlimit no_core = {0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  if (options.limits.memory_bytes > 0 && !kHasSanitizer) {
    const auto bytes = static_cast<rlim_t>(options.limits.memory_bytes);
    const rlimit data = {bytes, bytes};
    setrlimit(RLIMIT_DATA, &data);
  }
  const double seconds = std::min(options.limits.seconds, 1e6);
  itimerval timer = {};
  timer.it_value.tv_sec = static_cast<time_t>(seconds);
  timer.it_value.tv_usec =
      1 + static_cast<suseconds_t>(999'998 * (seconds - std::floor(seconds)));
  signal(SIGPROF, SIG_DFL);
  setitimer(ITIMER_PROF, &timer, nullptr);
  if (!options.keeps_streams) Silence();
  // Crashes are expected; handlers of the parent process must not report them.
  for (const int number :
       {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGINT, SIGTERM, SIGHUP}) {
    signal(number, SIG_DFL);
  }
  try {
    _exit(WriteAll(fd, kReturned + body()) ? 0 : 1);
  } catch (...) {
    abort();
  }
}

}  // namespace

absl::StatusOr<Child> Child::Start(const std::function<std::string()>& body,
                                   const Options& options) {
  std::array<int, 2> ends = {-1, -1};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) {
    return absl::ErrnoToStatus(errno, "cannot make a pipe");
  }
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid < 0) {
    const int code = errno;
    close(ends[0]);
    close(ends[1]);
    return absl::ErrnoToStatus(code, "cannot start a process");
  }
  if (pid == 0) {
    close(ends[0]);
    RunBody(body, ends[1], parent, options);
  }
  close(ends[1]);
  setpgid(pid, pid);  // here as well: it may be killed before it runs
  return Child(pid, ends[0], Now() + kWallFactor * options.limits.seconds);
}

Child::Child(Child&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      fd_(std::exchange(other.fd_, -1)),
      deadline_(other.deadline_),
      text_(std::move(other.text_)) {}

Child& Child::operator=(Child&& other) noexcept {
  if (this != &other) {
    Kill();
    pid_ = std::exchange(other.pid_, -1);
    fd_ = std::exchange(other.fd_, -1);
    deadline_ = other.deadline_;
    text_ = std::move(other.text_);
  }
  return *this;
}

Child::~Child() { Kill(); }

void Child::Kill() {
  if (pid_ > 0) {
    kill(-pid_, SIGKILL);
    kill(pid_, SIGKILL);
    while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  if (fd_ >= 0) close(fd_);
  pid_ = -1;
  fd_ = -1;
}

double Child::Seconds() const {
  clockid_t clock = {};
  timespec time = {};
  if (pid_ <= 0 || clock_getcpuclockid(pid_, &clock) != 0 ||
      clock_gettime(clock, &time) != 0) {
    return 0;
  }
  return static_cast<double>(time.tv_sec) +
         static_cast<double>(time.tv_nsec) * 1e-9;
}

ChildResult Child::Wait() {
  while (true) {
    std::optional<ChildResult> result = WaitFor(deadline_ - Now() + 1);
    if (result.has_value()) return *std::move(result);
  }
}

std::optional<ChildResult> Child::WaitFor(double seconds) {
  const double end = Now() + seconds;
  std::array<char, 4096> buffer;
  while (true) {
    // At most an hour at once, so that the number fits.
    const double left =
        std::clamp(std::min(deadline_, end) - Now(), 0.0, 3600.0);
    std::array<pollfd, 2> entries = {
        {{fd_, POLLIN, 0}, {InterruptGuard::File(), POLLIN, 0}}};
    const int ready =
        poll(entries.data(), entries.size(), static_cast<int>(left * 1000) + 1);
    if (ready < 0 && errno == EINTR) continue;
    if (ready > 0 && entries[1].revents != 0) {
      ChildResult result;
      result.end = ChildResult::End::kInterrupted;
      result.seconds = Seconds();
      Kill();
      return result;
    }
    if (ready == 0) {
      if (Now() >= deadline_) {
        ChildResult result;
        result.end = ChildResult::End::kTimedOut;
        result.seconds = Seconds();
        Kill();
        return result;
      }
      if (Now() >= end) return std::nullopt;
      continue;
    }
    const ssize_t n = read(fd_, buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return Reap();
    text_.append(buffer.data(), static_cast<size_t>(n));
  }
}

ChildResult Child::Reap() {
  ChildResult result;
  int status = 0;
  rusage usage = {};
  while (wait4(pid_, &status, 0, &usage) < 0 && errno == EINTR) {
  }
  for (const timeval& time : {usage.ru_utime, usage.ru_stime}) {
    result.seconds += static_cast<double>(time.tv_sec) +
                      static_cast<double>(time.tv_usec) * 1e-6;
  }
  kill(-pid_, SIGKILL);  // what it left behind
  pid_ = -1;
  close(fd_);
  fd_ = -1;
  if (WIFSIGNALED(status)) {
    result.signal = WTERMSIG(status);
    if (result.signal == SIGPROF) result.end = ChildResult::End::kTimedOut;
  } else if (!text_.empty() && text_[0] == kReturned &&
             WEXITSTATUS(status) == 0) {
    result.end = ChildResult::End::kReturned;
    result.output = text_.substr(1);
  }
  return result;
}

absl::StatusOr<ChildResult> RunInChild(const std::function<std::string()>& body,
                                       const Child::Options& options) {
  BATON_ASSIGN_OR_RETURN(Child child, Child::Start(body, options));
  return child.Wait();
}

}  // namespace baton
