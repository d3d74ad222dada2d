// DefuseOps: undoes FuseOps.
//
// Level 3, a function pass. Replaces a call of a function literal by the body
// of the function, with the arguments in place of the parameters. A function
// that binds variables other than its parameters stays unchanged.

#ifndef BATON_RELAY_TRANSFORM_DEFUSE_OPS_H_
#define BATON_RELAY_TRANSFORM_DEFUSE_OPS_H_

#include "absl/status/statusor.h"
#include "baton/relay/ir/expr.h"
#include "baton/transform/pass.h"

namespace baton::relay {

Pass DefuseOps();

// Runs the pass on one expression.
absl::StatusOr<Expr> DefuseOpsInExpr(const Expr& expr);

}  // namespace baton::relay

#endif  // BATON_RELAY_TRANSFORM_DEFUSE_OPS_H_
