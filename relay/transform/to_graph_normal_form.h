// ToGraphNormalForm: replaces lets by sharing.
//
//   let %a = add(%x, %x);
//   multiply(%a, %a)
//
// becomes
//
//   %0 = add(%x, %x);
//   multiply(%0, %0)
//
// Level 1, a function pass. The value of a let is dropped if nothing uses it,
// whatever its effects: as in TVM, this is for programs without effects. A
// recursive function keeps its let, `let %f = fn ...; %f`, at each use.

#ifndef BATON_RELAY_TRANSFORM_TO_GRAPH_NORMAL_FORM_H_
#define BATON_RELAY_TRANSFORM_TO_GRAPH_NORMAL_FORM_H_

#include "absl/status/statusor.h"
#include "baton/relay/ir/expr.h"
#include "baton/transform/pass.h"

namespace baton::relay {

Pass ToGraphNormalForm();

// Runs the pass on one expression.
absl::StatusOr<Expr> ToGraphNormalFormInExpr(const Expr& expr);

}  // namespace baton::relay

#endif  // BATON_RELAY_TRANSFORM_TO_GRAPH_NORMAL_FORM_H_
