// LowerDeviceKernelLaunch: calls functions of other devices through the
// runtime.
//
//   Module.kernel(A.data)       T.call_packed("kernel", A.data, 16)
//
// where the kernel has 16 threads.

#ifndef BATON_TIR_TRANSFORM_LOWER_DEVICE_KERNEL_LAUNCH_H_
#define BATON_TIR_TRANSFORM_LOWER_DEVICE_KERNEL_LAUNCH_H_

#include "baton/transform/pass.h"

namespace baton::tir {

// A module pass. Calls of a function with another target on the same kind of
// device become calls of an external function; on another kind of device,
// launches, with the extents of threads as further arguments. Functions get the
// attributes that code generators need. Each function must have a target.
Pass LowerDeviceKernelLaunch();

}  // namespace baton::tir

#endif  // BATON_TIR_TRANSFORM_LOWER_DEVICE_KERNEL_LAUNCH_H_
