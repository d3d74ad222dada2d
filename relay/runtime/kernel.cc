#include "baton/relay/runtime/kernel.h"

namespace baton {

OpAttrMap<Kernel>& Kernels() {
  static auto* const kMap = new OpAttrMap<Kernel>;
  return *kMap;
}

}  // namespace baton
