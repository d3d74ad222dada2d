// Runs a subprocess with a deadline and captures its exit status.

#ifndef BATON_TRIAGE_COMMAND_H_
#define BATON_TRIAGE_COMMAND_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace baton {

// The end of a command.
struct CommandResult {
  enum class End {
    kExited,       // with `code`
    kKilled,       // by the signal `code`
    kTimedOut,     // and was killed
    kInterrupted,  // this process received the signal `code`; the command was
                   // killed
  };
  End end = End::kExited;
  int code = 0;
  // The last part of the standard output and error, at most 4096 bytes.
  std::string output;
};

// Runs the program `words[0]` (found in PATH) with the other words as its
// arguments and an empty standard input. After `seconds` of the wall clock (0:
// no limit), or on SIGINT, SIGTERM or SIGHUP, kills it with all processes of
// its group. An error if it could not be run. Call it on the only thread of a
// program: it waits for signals of the process.
absl::StatusOr<CommandResult> RunCommand(const std::vector<std::string>& words,
                                         double seconds);

}  // namespace baton

#endif  // BATON_TRIAGE_COMMAND_H_
