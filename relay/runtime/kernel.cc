#include "baton/relay/runtime/kernel.h"

namespace baton {

OpAttrMap<KernelFn>& Kernels() {
  static auto* const kMap = new OpAttrMap<KernelFn>;
  return *kMap;
}

OpAttrMap<InPlaceKernelFn>& InPlaceKernels() {
  static auto* const kMap = new OpAttrMap<InPlaceKernelFn>;
  return *kMap;
}

}  // namespace baton
