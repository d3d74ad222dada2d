// CanonicalizeOps: fewer ways to say the same.

#ifndef BATON_RELAY_TRANSFORM_CANONICALIZE_OPS_H_
#define BATON_RELAY_TRANSFORM_CANONICALIZE_OPS_H_

#include "baton/transform/pass.h"

namespace baton::relay {

// Writes nn.bias_add as add. The bias gets the axes that follow the channels,
// by expand_dims, where there are any.
Pass CanonicalizeOps();

}  // namespace baton::relay

#endif  // BATON_RELAY_TRANSFORM_CANONICALIZE_OPS_H_
