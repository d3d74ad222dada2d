#include "baton/runtime/kernels/blocked/kernels_test_util.h"

#include <vector>

#include "baton/runtime/kernels/blocked/kernels.h"

namespace baton::kernels::blocked {

#ifdef __x86_64__
namespace avx2_halves {
extern const Kernels kKernels;
}
#endif

std::vector<TestedKernels> KernelsToTest() {
  std::vector<TestedKernels> result;
  const auto add = [&result](const char* name, Width width) {
    if (IsSupported(width)) result.push_back({name, KernelsOf(width)});
  };
  add("128", Width::k128);
  add("256", Width::k256);
  add("512", Width::k512);
#ifdef __x86_64__
  if (IsSupported(Width::k256)) {
    result.push_back({"2 * 256", &avx2_halves::kKernels});
  }
#endif
  if (result.empty()) add("plain 128", Width::kPlain128);
  return result;
}

}  // namespace baton::kernels::blocked
