#include "baton/relay/op/fusion_pattern.h"

namespace baton::relay {

OpProperty<FusionPattern>& FusionPatterns() {
  static auto* const kPatterns = new OpProperty<FusionPattern>;
  return *kPatterns;
}

}  // namespace baton::relay
