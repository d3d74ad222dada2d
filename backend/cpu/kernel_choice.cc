#include "baton/backend/cpu/kernel_choice.h"

#include "baton/ir/op.h"

namespace baton::cpu {

OpProperty<CpuKernel>& CpuKernels() {
  static auto* const kernels = new OpProperty<CpuKernel>;
  return *kernels;
}

}  // namespace baton::cpu
