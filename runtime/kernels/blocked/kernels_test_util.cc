#include "baton/runtime/kernels/blocked/kernels_test_util.h"

#include <vector>

#include "baton/runtime/kernels/blocked/kernels.h"

namespace baton::kernels::blocked {

std::vector<TestedKernels> KernelsToTest() {
  std::vector<TestedKernels> result;
  const auto add = [&result](const char* name, Width width) {
    if (IsSupported(width)) result.push_back({name, KernelsOf(width)});
  };
  add("128", Width::k128);
  add("256", Width::k256);
  add("512", Width::k512);
  add("2 * 256", Width::kHalves512);
  if (result.empty()) add("plain 128", Width::kPlain128);
  return result;
}

}  // namespace baton::kernels::blocked
