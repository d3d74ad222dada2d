// Runs code in a child process: what crashes, hangs or eats memory there takes
// nothing with it here.

#ifndef BATON_TRIAGE_CHILD_H_
#define BATON_TRIAGE_CHILD_H_

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "absl/status/statusor.h"

namespace baton {

struct ChildLimits {
  // Of processor time, so that a busy machine changes nothing; of the wall
  // clock, ten times as much.
  double seconds = 60;
  // Of private writable memory; 0 for no limit. Sanitizers, whose bookkeeping
  // would count, have none.
  int64_t memory_bytes = 0;
};

struct ChildResult {
  enum class End {
    kReturned,     // `output` is what the body returned
    kCrashed,      // by `signal`, or by leaving the process, then 0
    kTimedOut,     // and was killed
    kInterrupted,  // was killed since this process is to end (interrupt.h)
  };
  End end = End::kCrashed;
  int signal = 0;
  std::string output;
  double seconds = 0;  // of processor time that it took
};

// A copy of this process that runs a function. The copy has this thread only,
// and ends with this process.
class Child {
 public:
  struct Options {
    ChildLimits limits;
    // Whether the copy writes to this process's standard output and error;
    // else nowhere.
    bool keeps_streams = false;
  };

  // Starts it. `body` runs in the copy, and what it returns comes back through
  // a pipe.
  static absl::StatusOr<Child> Start(const std::function<std::string()>& body,
                                     const Options& options);

  Child(Child&& other) noexcept;
  Child& operator=(Child&& other) noexcept;
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  // Kills the copy and what it started.
  ~Child();

  // Waits for the end. Call it once.
  ChildResult Wait();
  // Waits for it at most so long; nullopt if it has not come.
  std::optional<ChildResult> WaitFor(double seconds);

  // Of processor time that it has taken until now, while it has not been waited
  // for.
  double Seconds() const;

 private:
  Child(pid_t pid, int fd, double deadline)
      : pid_(pid), fd_(fd), deadline_(deadline) {}
  void Kill();
  ChildResult Reap();

  pid_t pid_ = -1;  // -1 if it was waited for
  int fd_ = -1;     // what the copy writes
  double deadline_ = 0;
  std::string text_;  // of what it wrote, so far
};

// Start and Wait.
absl::StatusOr<ChildResult> RunInChild(const std::function<std::string()>& body,
                                       const Child::Options& options);

}  // namespace baton

#endif  // BATON_TRIAGE_CHILD_H_
