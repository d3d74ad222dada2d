// Runs code in a process that may make no system calls.

#ifndef BATON_TESTING_CONFINED_RUN_H_
#define BATON_TESTING_CONFINED_RUN_H_

#include "absl/functional/function_ref.h"

namespace baton::testing {

// True if the strict mode of seccomp can be entered here and is in force.
bool CanConfine();

// Runs `body` in a copy of this process whose only permitted system calls are
// read, write and exit. Returns the status of wait(2): 0 if `body` returned
// true, and that of SIGKILL if it made another system call.
int RunConfined(absl::FunctionRef<bool()> body);

}  // namespace baton::testing

#endif  // BATON_TESTING_CONFINED_RUN_H_
