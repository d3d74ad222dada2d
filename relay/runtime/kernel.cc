#include "baton/relay/runtime/kernel.h"

namespace baton {

OpAttrMap<KernelFn>& Kernels() {
  static auto* const kMap = new OpAttrMap<KernelFn>;
  return *kMap;
}

}  // namespace baton
