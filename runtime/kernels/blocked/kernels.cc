#include "baton/runtime/kernels/blocked/kernels.h"

#include "baton/runtime/kernels/blocked/internal/isas.h"

namespace baton::kernels::blocked {

bool IsSupported(Width width) {
#ifdef __x86_64__
  switch (width) {
    case Width::kPlain128:
      return true;
    case Width::k128:
    case Width::k256:
    case Width::kHalves512:
      return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    case Width::k512:
      return __builtin_cpu_supports("avx512f") &&
             __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  }
  return false;
#else
  return width == Width::kPlain128;
#endif
}

Width BestWidth() {
  if (IsSupported(Width::k512)) return Width::k512;
  return IsSupported(Width::k256) ? Width::k256 : Width::kPlain128;
}

const Kernels* KernelsOf(Width width) {
  switch (width) {
    case Width::kPlain128:
      return &plain128::kKernels;
#ifdef __x86_64__
    case Width::k128:
      return &fma128::kKernels;
    case Width::k256:
      return &avx2::kKernels;
    case Width::k512:
      return &avx512::kKernels;
    case Width::kHalves512:
      return &avx2_halves::kKernels;
#endif
    default:
      return nullptr;
  }
}

}  // namespace baton::kernels::blocked
