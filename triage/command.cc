#include "baton/triage/command.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

namespace baton {
namespace {

constexpr size_t kMostOutput = 4096;

// Exit codes by which the copy says that there is no such program, as shells
// do.
constexpr int kNotExecutable = 126;
constexpr int kNotFound = 127;

double Now() {
  return std::chrono::duration<double>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// Signals wait in a file as long as this lives.
class SignalFile {
 public:
  SignalFile() {
    sigset_t set;
    sigemptyset(&set);
    for (const int number : {SIGCHLD, SIGINT, SIGTERM, SIGHUP}) {
      sigaddset(&set, number);
    }
    sigprocmask(SIG_BLOCK, &set, &before_);
    fd_ = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  }
  SignalFile(const SignalFile&) = delete;
  SignalFile& operator=(const SignalFile&) = delete;
  ~SignalFile() {
    if (fd_ >= 0) close(fd_);
    sigprocmask(SIG_SETMASK, &before_, nullptr);
  }

  int fd() const { return fd_; }
  // The mask as it was.
  const sigset_t* before() const { return &before_; }

  // Waits for at most `milliseconds` (negative: for ever). Returns a signal
  // that is to end this process, or 0.
  int Wait(int milliseconds) const {
    pollfd entry = {fd_, POLLIN, 0};
    poll(&entry, 1, milliseconds);
    int ends = 0;
    signalfd_siginfo info = {};
    while (read(fd_, &info, sizeof(info)) == sizeof(info)) {
      if (info.ssi_signo != SIGCHLD) ends = static_cast<int>(info.ssi_signo);
    }
    return ends;
  }

 private:
  sigset_t before_ = {};
  int fd_ = -1;
};

using File = std::unique_ptr<FILE, int (*)(FILE*)>;

std::string TailOf(FILE* file) {
  const off_t size = lseek(fileno(file), 0, SEEK_END);
  const off_t begin = std::max<off_t>(0, size - off_t{kMostOutput});
  std::array<char, kMostOutput> buffer;
  const ssize_t n = pread(fileno(file), buffer.data(), buffer.size(), begin);
  return n > 0 ? std::string(buffer.data(), static_cast<size_t>(n)) : "";
}

// In the copy.
[[noreturn]] void Become(const std::vector<std::string>& words, int output,
                         const sigset_t* mask, pid_t parent) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  sigprocmask(SIG_SETMASK, mask, nullptr);
  const int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (null >= 0) dup2(null, STDIN_FILENO);
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  std::vector<char*> argv;
  for (const std::string& word : words) {
    argv.push_back(const_cast<char*>(word.c_str()));
  }
  argv.push_back(nullptr);
  execvp(argv[0], argv.data());
  _exit(errno == ENOENT ? kNotFound : kNotExecutable);
}

}  // namespace

absl::StatusOr<CommandResult> RunCommand(const std::vector<std::string>& words,
                                         double seconds) {
  if (words.empty()) return absl::InvalidArgumentError("there is no command");
  const File output(std::tmpfile(), &std::fclose);
  if (output == nullptr) {
    return absl::ErrnoToStatus(errno, "cannot make a temporary file");
  }
  const SignalFile signals;
  if (signals.fd() < 0) {
    return absl::ErrnoToStatus(errno, "cannot wait for signals");
  }
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid < 0) return absl::ErrnoToStatus(errno, "cannot start a process");
  if (pid == 0) {
    Become(words, fileno(output.get()), signals.before(), parent);
  }
  setpgid(pid, pid);  // here as well: it may be killed before it runs

  CommandResult result;
  const double deadline = Now() + seconds;
  int status = 0;
  while (true) {
    const pid_t ended = waitpid(pid, &status, WNOHANG);
    if (ended == pid) break;
    if (ended < 0 && errno != EINTR) {
      return absl::ErrnoToStatus(errno, "cannot wait for the command");
    }
    // At most an hour at once, so that the number fits.
    const double left = std::clamp(deadline - Now(), 0.0, 3600.0);
    if (seconds > 0 && left <= 0) {
      result.end = CommandResult::End::kTimedOut;
    } else {
      result.code =
          signals.Wait(seconds > 0 ? static_cast<int>(left * 1000) + 1 : -1);
      if (result.code != 0) result.end = CommandResult::End::kInterrupted;
    }
    if (result.end != CommandResult::End::kExited) {
      kill(-pid, SIGKILL);
      kill(pid, SIGKILL);
      while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
      }
      break;
    }
  }
  kill(-pid, SIGKILL);  // what it left behind
  result.output = TailOf(output.get());
  if (result.end != CommandResult::End::kExited) return result;
  if (WIFSIGNALED(status)) {
    result.end = CommandResult::End::kKilled;
    result.code = WTERMSIG(status);
    return result;
  }
  result.code = WEXITSTATUS(status);
  if (result.code == kNotFound || result.code == kNotExecutable) {
    return absl::NotFoundError(
        absl::StrCat("cannot run ", words[0], ": exit code ", result.code,
                     result.output.empty() ? "" : "\n", result.output));
  }
  return result;
}

}  // namespace baton
