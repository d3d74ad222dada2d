// SplitHostDevice: makes a function of each statement that runs on a device.
//
//   def main(n):                          def main_kernel(n): T.evaluate(n)
//     T.attr(T.target(...), "target", 0)
//     T.evaluate(n)                       def main(n): Module.main_kernel(n)

#ifndef BATON_TIR_TRANSFORM_SPLIT_HOST_DEVICE_H_
#define BATON_TIR_TRANSFORM_SPLIT_HOST_DEVICE_H_

#include "baton/transform/pass.h"

namespace baton::tir {

// A module pass, on the marks of AnnotateDeviceRegions. Parameters of the new
// functions are the variables that the statements use: pointers first, then by
// name. On devices that can return errors the call is checked.
Pass SplitHostDevice();

}  // namespace baton::tir

#endif  // BATON_TIR_TRANSFORM_SPLIT_HOST_DEVICE_H_
