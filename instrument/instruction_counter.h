// Counts executed instructions: a measurement that other programs on the
// machine hardly disturb.

#ifndef BATON_INSTRUMENT_INSTRUCTION_COUNTER_H_
#define BATON_INSTRUMENT_INSTRUCTION_COUNTER_H_

#include <cstdint>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"

namespace baton {

// Uses the processor's counter (Linux: perf_event_open). It counts the
// instructions of the thread that made it and of the threads that this thread
// starts later, without instructions of the kernel.
class InstructionCounter {
 public:
  // An error if the machine or its administrator does not provide the counter.
  static absl::StatusOr<InstructionCounter> Create();

  InstructionCounter(InstructionCounter&& other) noexcept
      : fd_(std::exchange(other.fd_, -1)) {}
  InstructionCounter& operator=(InstructionCounter&& other) = delete;
  ~InstructionCounter();

  // The count so far, for differences. -1 if it cannot be read.
  int64_t Read() const;
  // The instructions of `fn`. An error if other programs used the counter
  // meanwhile.
  absl::StatusOr<int64_t> Count(absl::FunctionRef<void()> fn) const;

 private:
  explicit InstructionCounter(int fd) : fd_(fd) {}
  int fd_;
};

}  // namespace baton

#endif  // BATON_INSTRUMENT_INSTRUCTION_COUNTER_H_
