// Measures the peak of the process's resident memory over a period of time.

#ifndef BATON_INSTRUMENT_PEAK_MEMORY_H_
#define BATON_INSTRUMENT_PEAK_MEMORY_H_

#include <cstdint>

namespace baton {

// Each call takes some tens of microseconds. All objects share one record of
// the process.
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
  int reset_;
  int status_;
};

}  // namespace baton

#endif  // BATON_INSTRUMENT_PEAK_MEMORY_H_
