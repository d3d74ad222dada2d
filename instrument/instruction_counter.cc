#include "baton/instrument/instruction_counter.h"

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace baton {
namespace {

// As PERF_FORMAT_TOTAL_TIME_ENABLED and _RUNNING make it.
struct Reading {
  uint64_t value;
  uint64_t time_enabled;
  uint64_t time_running;
};

bool ReadAll(int fd, Reading& reading) {
  return read(fd, &reading, sizeof(reading)) == sizeof(reading);
}

}  // namespace

absl::StatusOr<InstructionCounter> InstructionCounter::Create() {
  perf_event_attr attr = {};
  attr.type = PERF_TYPE_HARDWARE;
  attr.size = sizeof(attr);
  attr.config = PERF_COUNT_HW_INSTRUCTIONS;
  attr.read_format =
      PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  attr.inherit = 1;
  attr.exclude_kernel = 1;
  attr.exclude_hv = 1;
  const auto fd = static_cast<int>(
      syscall(SYS_perf_event_open, &attr, /*pid=*/0, /*cpu=*/-1,
              /*group_fd=*/-1, /*flags=*/PERF_FLAG_FD_CLOEXEC));
  if (fd < 0) {
    return absl::ErrnoToStatus(errno, "perf_event_open: no instruction counts");
  }
  return InstructionCounter(fd);
}

InstructionCounter::~InstructionCounter() {
  if (fd_ >= 0) close(fd_);
}

int64_t InstructionCounter::Read() const {
  Reading reading;
  return ReadAll(fd_, reading) ? static_cast<int64_t>(reading.value) : -1;
}

absl::StatusOr<int64_t> InstructionCounter::Count(
    absl::FunctionRef<void()> fn) const {
  Reading before;
  Reading after;
  const bool begun = ReadAll(fd_, before);
  fn();
  if (!begun || !ReadAll(fd_, after)) {
    return absl::ErrnoToStatus(errno, "reading the instruction counter");
  }
  const uint64_t enabled = after.time_enabled - before.time_enabled;
  const uint64_t running = after.time_running - before.time_running;
  if (running != enabled || after.value == before.value) {
    return absl::UnavailableError(
        "others used the processor's instruction counter");
  }
  return static_cast<int64_t>(after.value - before.value);
}

}  // namespace baton
