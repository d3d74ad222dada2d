// Child: runs code in a child process, to contain crashes, hangs and excessive
// use of memory.

#ifndef BATON_TRIAGE_CHILD_H_
#define BATON_TRIAGE_CHILD_H_

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "absl/status/statusor.h"

namespace baton {

// The limits of the resources of a child.
struct ChildLimits {
  // The limit of processor time, which does not depend on the load of the
  // machine. The limit of the wall-clock time is ten times as much.
  double seconds = 60;
  // The limit of private writable memory; 0 for no limit. There is no limit
  // under sanitizers, since their own memory would count.
  int64_t memory_bytes = 0;
};

// The end of a child.
struct ChildResult {
  enum class End {
    kReturned,     // `output` is the result of the body
    kCrashed,      // by `signal`; 0 if the body ended the process
    kTimedOut,     // and was killed
    kInterrupted,  // was killed because this process is ending (interrupt.h)
  };
  End end = End::kCrashed;
  int signal = 0;
  std::string output;
  double seconds = 0;  // the processor time of the child
};

// A copy of this process that runs a function. The copy has only this thread,
// and ends with this process.
class Child {
 public:
  struct Options {
    ChildLimits limits;
    // If true, the copy writes to this process's standard output and error;
    // otherwise its output is discarded.
    bool keeps_streams = false;
  };

  // Starts the child. `body` runs in the copy, and a pipe transfers its result.
  static absl::StatusOr<Child> Start(const std::function<std::string()>& body,
                                     const Options& options);

  Child(Child&& other) noexcept;
  Child& operator=(Child&& other) noexcept;
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  // Kills the copy and its own children.
  ~Child();

  // Waits for the end. Call it once.
  ChildResult Wait();
  // Waits at most `seconds` for the end; nullopt if the child is still running.
  std::optional<ChildResult> WaitFor(double seconds);

  // The processor time of the child so far. Do not call it after Wait(), or
  // after WaitFor() returned a result.
  double Seconds() const;

 private:
  Child(pid_t pid, int fd, double deadline)
      : pid_(pid), fd_(fd), deadline_(deadline) {}
  void Kill();
  ChildResult Reap();

  pid_t pid_ = -1;  // -1 after waiting
  int fd_ = -1;     // the pipe from the child
  double deadline_ = 0;
  std::string text_;  // the output so far
};

// Start and Wait.
absl::StatusOr<ChildResult> RunInChild(const std::function<std::string()>& body,
                                       const Child::Options& options);

}  // namespace baton

#endif  // BATON_TRIAGE_CHILD_H_
