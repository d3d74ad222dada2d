#include "baton/relay/op/fusion_pattern.h"

namespace baton::relay {

OpAttrMap<FusionPattern>& FusionPatterns() {
  static auto* const kPatterns = new OpAttrMap<FusionPattern>;
  return *kPatterns;
}

}  // namespace baton::relay
