// The kernels of all widths of vectors, for tests.

#ifndef BATON_RUNTIME_KERNELS_BLOCKED_KERNELS_TEST_UTIL_H_
#define BATON_RUNTIME_KERNELS_BLOCKED_KERNELS_TEST_UTIL_H_

#include <string>
#include <vector>

#include "baton/runtime/kernels/blocked/kernels.h"

namespace baton::kernels::blocked {

struct TestedKernels {
  std::string name;
  const Kernels* kernels;
};

// The kernels that must give the same bytes, of those that run on this
// processor: those with FMA, also the ones of 512 bits with two vectors of 256
// for each, so that AVX2 suffices to test that width. Without AVX2, the plain
// ones.
std::vector<TestedKernels> KernelsToTest();

}  // namespace baton::kernels::blocked

#endif  // BATON_RUNTIME_KERNELS_BLOCKED_KERNELS_TEST_UTIL_H_
