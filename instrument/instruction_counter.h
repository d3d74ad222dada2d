// How many instructions code executes: a figure that other programs on the
// machine hardly disturb.

#ifndef BATON_INSTRUMENT_INSTRUCTION_COUNTER_H_
#define BATON_INSTRUMENT_INSTRUCTION_COUNTER_H_

#include <cstdint>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"

namespace baton {

// Counts with the processor's own counter (Linux: perf_event_open): the
// instructions of the thread that made it, and of those that it starts later,
// without those of the kernel.
class InstructionCounter {
 public:
  // An error where the machine, or its administrator, does not offer it.
  static absl::StatusOr<InstructionCounter> Create();

  InstructionCounter(InstructionCounter&& other) noexcept
      : fd_(std::exchange(other.fd_, -1)) {}
  InstructionCounter& operator=(InstructionCounter&& other) = delete;
  ~InstructionCounter();

  // So far: for differences. -1 if it cannot be read.
  int64_t Read() const;
  // Of `fn`. An error if others used the counter meanwhile.
  absl::StatusOr<int64_t> Count(absl::FunctionRef<void()> fn) const;

 private:
  explicit InstructionCounter(int fd) : fd_(fd) {}
  int fd_;
};

}  // namespace baton

#endif  // BATON_INSTRUMENT_INSTRUCTION_COUNTER_H_
