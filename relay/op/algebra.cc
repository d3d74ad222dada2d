#include "baton/relay/op/algebra.h"

namespace baton::relay {

OpAttrMap<bool>& CommutativeOps() {
  static auto* const kOps = new OpAttrMap<bool>;
  return *kOps;
}

}  // namespace baton::relay
