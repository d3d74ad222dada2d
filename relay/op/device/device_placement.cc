#include "baton/relay/op/device/device_placement.h"

#include "baton/ir/op.h"

namespace baton::relay {

OpProperty<DevicePlacement>& DevicePlacements() {
  static auto* const kOps = new OpProperty<DevicePlacement>;
  return *kOps;
}

}  // namespace baton::relay
