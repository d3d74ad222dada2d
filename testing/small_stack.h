// Runs code on a thread with a small stack, to check that it does not recurse.

#ifndef BATON_TESTING_SMALL_STACK_H_
#define BATON_TESTING_SMALL_STACK_H_

#include <cstddef>

#include "absl/functional/function_ref.h"

namespace baton::testing {

inline constexpr size_t kSmallStackBytes = size_t{256} << 10;

// kSmallStackBytes; 8 MiB in builds with larger frames: without optimization,
// and with the sanitizers that the compiler reports.
size_t SmallStackBytesOfThisBuild();

// Runs `body` on a thread with a stack of `bytes`, and waits for it. Ends the
// program with a message if the thread cannot be created.
void RunWithStack(size_t bytes, absl::FunctionRef<void()> body);

}  // namespace baton::testing

#endif  // BATON_TESTING_SMALL_STACK_H_
