#include "baton/relay/op/device/device_placement.h"

#include "baton/ir/op.h"

namespace baton::relay {

OpAttrMap<DevicePlacement>& DevicePlacements() {
  static auto* const kOps = new OpAttrMap<DevicePlacement>;
  return *kOps;
}

}  // namespace baton::relay
