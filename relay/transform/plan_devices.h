// PlanDevices: decides the device of the result of each expression.
//
//   def @main(%x, %y) {
//     %0 = on_device(sigmoid(%y), cpu);
//     add(%x, %0)
//   }
//
// becomes, if the default device is the GPU,
//
//   def @main(%x {gpu}, %y {cpu}) {gpu} {
//     %0 = on_device(sigmoid(%y), cpu);
//     %1 = device_copy(%0, cpu, gpu);
//     add(%x, %1)
//   }
//
// on_device and device_copy determine the devices of expressions, and so do the
// devices of functions and of their parameters (relay/ir/virtual_device.h).
// From these follow all values that must be on the same device: the arguments
// and the result of an operator, a call and the function that it calls, a
// variable and its value. Shapes are on the host
// (relay/op/device/device_placement.h). Unconstrained values get defaults: the
// results of functions are on the default device, parameters and variables on
// the device of the result.
//
// In the result each function has attributes with its device and those of its
// parameters. An on_device that fixes both its argument and its result is
// around the value of each let, and wherever the device of an argument differs
// from that of the call. A device_copy is only inserted where an on_device
// allowed a change of devices: a program that needs one elsewhere is an error.
// The contents of primitive functions are on the device of their calls.
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
      "The targets: a kind and its settings, `cuda -arch=sm_86`, one for each "
      "type of device. If none is given: that of the context and those that "
      "the program names, or llvm.");
  }
};

// A module pass of level 0, which requires InferType. The default device is
// that of relay.fallback_device_type; otherwise that of the targets, if there
// is only one; otherwise a CPU.
Pass PlanDevices(PlanDevicesOptions options = {});

}  // namespace baton::relay

#endif  // BATON_RELAY_TRANSFORM_PLAN_DEVICES_H_
