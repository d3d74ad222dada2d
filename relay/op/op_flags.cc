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

}  // namespace baton::relay
