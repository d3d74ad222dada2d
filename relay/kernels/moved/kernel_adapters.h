// Forwards "baton/relay/op/kernel_adapters.h", the path before version 0.2, and
// the names of that version: see docs/compatibility.md. Removed in version 0.3.

#ifndef BATON_RELAY_KERNELS_MOVED_KERNEL_ADAPTERS_H_
#define BATON_RELAY_KERNELS_MOVED_KERNEL_ADAPTERS_H_

#include "baton/relay/kernels/kernel_adapters.h"  // IWYU pragma: export
#include "baton/relay/runtime/kernel.h"           // IWYU pragma: export

namespace baton::relay {

template <auto kFunction>
inline constexpr Kernel Kernel1 = KernelOf<kFunction>;
template <auto kFunction>
inline constexpr Kernel Kernel2 = KernelOf<kFunction>;
template <auto kFunction>
inline constexpr Kernel Kernel3 = KernelOf<kFunction>;
template <typename A, auto kFunction>
inline constexpr Kernel KernelWith = KernelOf<kFunction>;

}  // namespace baton::relay

#endif  // BATON_RELAY_KERNELS_MOVED_KERNEL_ADAPTERS_H_
