// CanonicalizeOps: replaces operators by canonical equivalents.

#ifndef BATON_RELAY_TRANSFORM_CANONICALIZE_OPS_H_
#define BATON_RELAY_TRANSFORM_CANONICALIZE_OPS_H_

#include "baton/transform/pass.h"

namespace baton::relay {

// Writes nn.bias_add as add. An expand_dims gives the bias the axes that follow
// the channels, if there are any. Other libraries add rules `of
// CanonicalizeOps` (relay/pattern/rule_text.h).
Pass CanonicalizeOps();

}  // namespace baton::relay

#endif  // BATON_RELAY_TRANSFORM_CANONICALIZE_OPS_H_
