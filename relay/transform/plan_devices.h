// PlanDevices: decides where the result of each expression is.
//
//   def @main(%x, %y) {                      def @main(%x {gpu}, %y {cpu})
//   {gpu}
//     %0 = on_device(sigmoid(%y), cpu);        %0 = on_device(sigmoid(%y),
//     cpu); add(%x, %0)                              %1 = device_copy(%0, cpu,
//     gpu);
//   }                                          add(%x, %1)
//                                            }
//
// on_device and device_copy say where expressions must be, and so do the
// devices of functions and of their parameters (relay/ir/virtual_device.h).
// From there on all that must be on one device is: the arguments and the result
// of an operator, a call and the function that it calls, a variable and its
// value. Shapes are on the host (relay/op/device/device_placement.h). What is
// free then goes by default: the results of functions to the default device,
// parameters and variables to the device of the result.
//
// In the result each function says where it and its parameters are, and an
// on_device that fixes both its argument and its result stands around the value
// of each let, and wherever the device of an argument is not that of the call.
// A device_copy stands where an on_device allowed a change of devices, and
// nowhere else: a program that needs one elsewhere is an error. What is in
// primitive functions is on the device of their calls.
//
// Reference behaviour: src/relay/transforms/device_planner.cc of TVM.

#ifndef BATON_RELAY_TRANSFORM_PLAN_DEVICES_H_
#define BATON_RELAY_TRANSFORM_PLAN_DEVICES_H_

#include <string>
#include <vector>

#include "baton/transform/pass.h"

namespace baton::relay {

struct PlanDevicesOptions {
  std::vector<std::string> targets;

  template <typename V>
  static void VisitFields(V& v) {
    v("targets", &PlanDevicesOptions::targets,
      "What is compiled for: a kind and its settings, `cuda -arch=sm_86`, one "
      "for each type of device. If none is given: those that the program "
      "names, or llvm.");
  }
};

// A module pass of level 0, which requires InferType. The default device is
// that of relay.fallback_device_type; or that of the targets, if it is one; or
// a CPU.
Pass PlanDevices(PlanDevicesOptions options = {});

}  // namespace baton::relay

#endif  // BATON_RELAY_TRANSFORM_PLAN_DEVICES_H_
