// Infers the types of the few nodes that a rewrite makes, without visiting the
// rest of the program.

#ifndef BATON_RELAY_PATTERN_NODE_TYPES_H_
#define BATON_RELAY_PATTERN_NODE_TYPES_H_

#include "absl/status/statusor.h"
#include "baton/ir/module.h"
#include "baton/ir/span.h"
#include "baton/relay/ir/expr.h"

namespace baton::relay {

// Returns `expr`, whose children have types, with its type. For a call of an
// operator, the type is the result of the operator's type relation. Returns
// `expr` itself if it has a type. A call without a span gets `span`. `module`
// contains the functions to which `expr` refers; it may be null. InferTypeOf()
// (relay/ir/infer_type.h) does the rest.
absl::StatusOr<Expr> WithInferredType(const Expr& expr, const Span& span,
                                      const IRModule* module);

}  // namespace baton::relay

#endif  // BATON_RELAY_PATTERN_NODE_TYPES_H_
