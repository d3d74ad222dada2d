// CanonicalizeOps: fewer ways to say the same.

#ifndef BATON_RELAY_TRANSFORM_CANONICALIZE_OPS_H_
#define BATON_RELAY_TRANSFORM_CANONICALIZE_OPS_H_

#include "absl/types/span.h"
#include "baton/ir/op.h"
#include "baton/relay/ir/expr.h"
#include "baton/transform/pass.h"

namespace baton::relay {

// The canonical form of calls of an operator. `call` is the call before any
// change, for its attributes and types; `args` are its arguments as they are
// now. Null: the call stays.
using CanonicalForm = Expr (*)(const CallNode& call,
                               absl::Span<const Expr> args);
OpAttrMap<CanonicalForm>& CanonicalForms();

// Writes nn.bias_add as add. The bias gets the axes that follow the channels,
// by expand_dims, where there are any.
Pass CanonicalizeOps();

}  // namespace baton::relay

#endif  // BATON_RELAY_TRANSFORM_CANONICALIZE_OPS_H_
