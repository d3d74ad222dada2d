#include "baton/backend/cpu/kernel_choice.h"

#include "baton/ir/op.h"

namespace baton::cpu {

OpAttrMap<CpuKernel>& CpuKernels() {
  static auto* const kernels = new OpAttrMap<CpuKernel>;
  return *kernels;
}

}  // namespace baton::cpu
