// How many instructions code executes: a figure that other programs on the
// machine do not disturb.

#ifndef BATON_BENCHMARKS_INSTRUCTION_COUNTER_H_
#define BATON_BENCHMARKS_INSTRUCTION_COUNTER_H_

#include <cstdint>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"

namespace baton::benchmarks {

// Counts the calling thread's instructions, not those of the kernel, with the
// processor's own counter (Linux: perf_event_open).
class InstructionCounter {
 public:
  // Unavailable where the machine, or its administrator, does not offer it.
  static absl::StatusOr<InstructionCounter> Create();

  InstructionCounter(InstructionCounter&& other) noexcept
      : fd_(std::exchange(other.fd_, -1)) {}
  InstructionCounter& operator=(InstructionCounter&& other) = delete;
  ~InstructionCounter();

  // An error if others used the counter meanwhile.
  absl::StatusOr<int64_t> Count(absl::FunctionRef<void()> fn) const;

 private:
  explicit InstructionCounter(int fd) : fd_(fd) {}
  int fd_;
};

// Runs `fn` while callgrind collects, if the program runs in it with
// `--instr-atstart=no`. False if Baton was built without Valgrind's headers.
bool CollectInCallgrind(absl::FunctionRef<void()> fn);

}  // namespace baton::benchmarks

#endif  // BATON_BENCHMARKS_INSTRUCTION_COUNTER_H_
