// Measures the peak of the process's resident memory over a period of time.

#ifndef BATON_INSTRUMENT_PEAK_MEMORY_H_
#define BATON_INSTRUMENT_PEAK_MEMORY_H_

#include <cstdint>

namespace baton {

// Take() costs some tens of microseconds. The kernel keeps one peak for the
// process, which all objects share: use one object at a time.
class PeakMemory {
 public:
  PeakMemory();
  ~PeakMemory();
  PeakMemory(const PeakMemory&) = delete;
  PeakMemory& operator=(const PeakMemory&) = delete;

  // Returns the peak in bytes since the last call and begins a new period.
  // Returns -1 if Linux does not provide it (/proc/self/clear_refs).
  int64_t Take();

 private:
  // File descriptors in /proc/self; negative if they cannot be opened.
  int reset_;   // clear_refs, which resets the peak
  int status_;  // status, which has it
};

}  // namespace baton

#endif  // BATON_INSTRUMENT_PEAK_MEMORY_H_
