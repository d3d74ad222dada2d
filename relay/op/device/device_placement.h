// DevicePlacement: the arguments of an operator that must be on the host.

#ifndef BATON_RELAY_OP_DEVICE_DEVICE_PLACEMENT_H_
#define BATON_RELAY_OP_DEVICE_DEVICE_PLACEMENT_H_

#include <vector>

#include "baton/ir/op.h"

namespace baton::relay {

// The arguments and the result of most operators are on one device, which may
// be any. Operators with an entry compute with shapes, which are on the host.
struct DevicePlacement {
  enum class Result {
    kWithArguments,  // on the device of the other arguments
    kHost,
    kAttribute,  // given by the attribute virtual_device
  };
  std::vector<int> host_args;
  Result result = Result::kWithArguments;
};
OpProperty<DevicePlacement>& DevicePlacements();

}  // namespace baton::relay

#endif  // BATON_RELAY_OP_DEVICE_DEVICE_PLACEMENT_H_
