#include "baton/relay/op/algebra.h"

namespace baton::relay {

OpProperty<bool>& CommutativeOps() {
  static auto* const kOps = new OpProperty<bool>;
  return *kOps;
}

}  // namespace baton::relay
