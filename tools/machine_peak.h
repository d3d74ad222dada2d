// Measures the peak performance of a core of this machine.

#ifndef BATON_TOOLS_MACHINE_PEAK_H_
#define BATON_TOOLS_MACHINE_PEAK_H_

namespace baton {

// One core's limits.
struct MachinePeak {
  double flops_per_second = 0;  // of float32, a fused multiply-add is two
  double bytes_per_second = 0;  // read from memory
};

// The float32 operations a second of independent fused multiply-adds on vectors
// of `vector_bytes` (16, 32 or 64), which the processor must have; 0 for the
// widest. Takes about 20 ms.
double MeasurePeakFlops(int vector_bytes = 0);

// Takes about 40 ms: independent fused multiply-adds with the widest vectors,
// then a sum over memory that no cache holds.
MachinePeak MeasurePeak();

}  // namespace baton

#endif  // BATON_TOOLS_MACHINE_PEAK_H_
