// CanonicalizeOps: replaces operators by canonical equivalents.

#ifndef BATON_RELAY_TRANSFORM_CANONICALIZE_OPS_H_
#define BATON_RELAY_TRANSFORM_CANONICALIZE_OPS_H_

#include "absl/types/span.h"
#include "baton/ir/op.h"
#include "baton/relay/ir/expr.h"
#include "baton/transform/pass.h"

namespace baton::relay {

// The canonical form of calls of an operator. `call` is the original call, for
// its attributes and types; `args` are its current arguments. Null keeps the
// call.
using CanonicalForm = Expr (*)(const CallNode& call,
                               absl::Span<const Expr> args);
OpAttrMap<CanonicalForm>& CanonicalForms();

// Writes nn.bias_add as add. An expand_dims gives the bias the axes that follow
// the channels, if there are any.
Pass CanonicalizeOps();

}  // namespace baton::relay

#endif  // BATON_RELAY_TRANSFORM_CANONICALIZE_OPS_H_
