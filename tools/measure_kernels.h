// Measures the table of kernel costs of this machine
// (backend/cpu/kernel_costs.h): the plans of small programs run, each with the
// kernel of a row.

#ifndef BATON_TOOLS_MEASURE_KERNELS_H_
#define BATON_TOOLS_MEASURE_KERNELS_H_

#include <string>

#include "absl/status/statusor.h"
#include "baton/backend/cpu/kernel_costs.h"

namespace baton {

struct MeasureKernelsOptions {
  // The time for which each kernel runs, in seconds; at least once.
  double seconds = 0.015;
};

// Returns the table of this machine, measured on one thread. Widths that the
// processor lacks have the values of the built-in table. Takes some ten
// seconds.
absl::StatusOr<cpu::KernelCosts> MeasureKernels(
    const MeasureKernelsOptions& options);

// The name of the processor, as in /proc/cpuinfo, and its widest vectors.
std::string MachineName();

}  // namespace baton

#endif  // BATON_TOOLS_MEASURE_KERNELS_H_
