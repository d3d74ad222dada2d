#include "baton/relay/op/op_flags.h"

namespace baton::relay {

OpProperty<bool>& NonComputationalOps() {
  static auto* const kOps = new OpProperty<bool>;
  return *kOps;
}

OpProperty<bool>& StatefulOps() {
  static auto* const kOps = new OpProperty<bool>;
  return *kOps;
}

OpProperty<bool>& ReshapeOps() {
  static auto* const kOps = new OpProperty<bool>;
  return *kOps;
}

OpProperty<bool>& RearrangingOps() {
  static auto* const kOps = new OpProperty<bool>;
  return *kOps;
}

OpProperty<bool>& IndexDependentOps() {
  static auto* const kOps = new OpProperty<bool>;
  return *kOps;
}

OpProperty<bool>& StopFusionOps() {
  static auto* const kOps = new OpProperty<bool>;
  return *kOps;
}

OpProperty<bool>& DeviceCopyOps() {
  static auto* const kOps = new OpProperty<bool>;
  return *kOps;
}

OpProperty<bool>& QuantizedOps() {
  static auto* const kOps = new OpProperty<bool>;
  return *kOps;
}

OpProperty<bool>& DataDependentShapeOps() {
  static auto* const kOps = new OpProperty<bool>;
  return *kOps;
}

OpProperty<ShapeQuery>& ShapeQueries() {
  static auto* const kQueries = new OpProperty<ShapeQuery>;
  return *kQueries;
}

}  // namespace baton::relay
