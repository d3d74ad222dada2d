// DecorateDeviceScope: puts the bodies of functions into a scope of the device.
//
//   A[0] = 1      with T.attr(0, "device_scope", 0):
//                     A[0] = 1

#ifndef BATON_TIR_TRANSFORM_DECORATE_DEVICE_SCOPE_H_
#define BATON_TIR_TRANSFORM_DECORATE_DEVICE_SCOPE_H_

#include "baton/transform/pass.h"

namespace baton::tir {

// After this pass and AnnotateDeviceRegions, SplitHostDevice makes a kernel of
// a whole function.
Pass DecorateDeviceScope();

}  // namespace baton::tir

#endif  // BATON_TIR_TRANSFORM_DECORATE_DEVICE_SCOPE_H_
