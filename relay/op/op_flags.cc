#include "baton/relay/op/op_flags.h"

namespace baton::relay {

OpAttrMap<bool>& NonComputationalOps() {
  static auto* const kOps = new OpAttrMap<bool>;
  return *kOps;
}

OpAttrMap<bool>& StatefulOps() {
  static auto* const kOps = new OpAttrMap<bool>;
  return *kOps;
}

OpAttrMap<bool>& ReshapeOps() {
  static auto* const kOps = new OpAttrMap<bool>;
  return *kOps;
}

OpAttrMap<bool>& RearrangingOps() {
  static auto* const kOps = new OpAttrMap<bool>;
  return *kOps;
}

OpAttrMap<bool>& IndexDependentOps() {
  static auto* const kOps = new OpAttrMap<bool>;
  return *kOps;
}

OpAttrMap<bool>& StopFusionOps() {
  static auto* const kOps = new OpAttrMap<bool>;
  return *kOps;
}

OpAttrMap<bool>& DeviceCopyOps() {
  static auto* const kOps = new OpAttrMap<bool>;
  return *kOps;
}

OpAttrMap<bool>& QuantizedOps() {
  static auto* const kOps = new OpAttrMap<bool>;
  return *kOps;
}

OpAttrMap<bool>& DataDependentShapeOps() {
  static auto* const kOps = new OpAttrMap<bool>;
  return *kOps;
}

OpAttrMap<ShapeQuery>& ShapeQueries() {
  static auto* const kQueries = new OpAttrMap<ShapeQuery>;
  return *kQueries;
}

}  // namespace baton::relay
