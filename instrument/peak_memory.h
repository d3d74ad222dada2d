// The most memory that the process has had in a stretch of time.

#ifndef BATON_INSTRUMENT_PEAK_MEMORY_H_
#define BATON_INSTRUMENT_PEAK_MEMORY_H_

#include <cstdint>

namespace baton {

// Bytes of resident memory. Each call takes some tens of microseconds; there is
// one record for the process.
class PeakMemory {
 public:
  PeakMemory();
  ~PeakMemory();
  PeakMemory(const PeakMemory&) = delete;
  PeakMemory& operator=(const PeakMemory&) = delete;

  // The most since the last call; the next stretch begins. -1 where Linux does
  // not tell (/proc/self/clear_refs).
  int64_t Take();

 private:
  int reset_;
  int status_;
};

}  // namespace baton

#endif  // BATON_INSTRUMENT_PEAK_MEMORY_H_
