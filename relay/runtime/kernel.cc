#include "baton/relay/runtime/kernel.h"

namespace baton::relay {

OpProperty<Kernel>& Kernels() {
  static auto* const kMap = new OpProperty<Kernel>;
  return *kMap;
}

}  // namespace baton::relay
