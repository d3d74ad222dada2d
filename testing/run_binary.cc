#include "baton/testing/run_binary.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "baton/testing/golden.h"
#include "gtest/gtest.h"

namespace baton::testing {

std::string TempDir() {
  const char* dir = std::getenv("TEST_TMPDIR");
  return dir != nullptr ? dir : ::testing::TempDir();
}

namespace {

// Runs a program; what it writes to standard error goes to `err`.
RunResult Run(absl::string_view path, absl::string_view args,
              absl::string_view err) {
  const std::string out = TempDir() + "/run_binary.out";
  const std::string command = absl::StrCat("'", RunfilePath(path), "' ", args,
                                           " >'", out, "' 2>'", err, "'");
  const int status = std::system(command.c_str());  // NOLINT(cert-env33-c)
  RunResult result;
  if (WIFEXITED(status)) result.exit_code = WEXITSTATUS(status);
  result.out = ReadFileOrFail(out);
  return result;
}

}  // namespace

RunResult RunBinary(absl::string_view path, absl::string_view args) {
  const std::string err = TempDir() + "/run_binary.err";
  RunResult result = Run(path, args, err);
  result.err = ReadFileOrFail(err);
  return result;
}

std::optional<RunResult> RunBinaryOnTerminal(absl::string_view path,
                                             absl::string_view args) {
  const int terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (terminal < 0) return std::nullopt;
  std::optional<RunResult> result;
  const char* name = nullptr;
  if (grantpt(terminal) == 0 && unlockpt(terminal) == 0) {
    name = ptsname(terminal);
  }
  // Held open, so that the terminal outlives the program.
  const int end =
      name == nullptr ? -1 : open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (end >= 0) {
    termios settings = {};
    tcgetattr(end, &settings);
    cfmakeraw(&settings);  // bytes arrive as they were written
    tcsetattr(end, TCSANOW, &settings);
    std::atomic<bool> ended = false;
    std::string written;
    // Reads all the time: a terminal holds few bytes.
    std::thread reader([&] {
      constexpr int kMilliseconds = 20;
      pollfd waiting = {.fd = terminal, .events = POLLIN, .revents = 0};
      char buffer[4096];
      while (true) {
        const bool was_ended = ended;
        if (poll(&waiting, 1, kMilliseconds) > 0) {
          const ssize_t n = read(terminal, buffer, sizeof(buffer));
          if (n > 0) written.append(buffer, static_cast<size_t>(n));
        } else if (was_ended) {
          break;
        }
      }
    });
    result = Run(path, args, name);
    ended = true;
    reader.join();
    result->err = std::move(written);
    close(end);
  }
  close(terminal);
  return result;
}

}  // namespace baton::testing
