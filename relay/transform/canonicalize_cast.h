// CanonicalizeCast: gives each use of a widening cast a separate cast, so that
// the narrow tensor, not the wide one, passes between fused operators.
//
//   let %y = cast(%x, float32);     exp(cast(%x, float32)),
//   exp(%y), log(%y)                log(cast(%x, float32))
//
// Uses are arguments of element-wise and broadcasting operators. Other users of
// the cast share the cast of the first use.

#ifndef BATON_RELAY_TRANSFORM_CANONICALIZE_CAST_H_
#define BATON_RELAY_TRANSFORM_CANONICALIZE_CAST_H_

#include "baton/transform/pass.h"

namespace baton::relay {

// A function pass of level 3, which requires InferType.
Pass CanonicalizeCast();

}  // namespace baton::relay

#endif  // BATON_RELAY_TRANSFORM_CANONICALIZE_CAST_H_
