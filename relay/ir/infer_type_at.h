// Infers the types of expressions that an importer makes of one node of a file.

#ifndef BATON_RELAY_IR_INFER_TYPE_AT_H_
#define BATON_RELAY_IR_INFER_TYPE_AT_H_

#include "absl/status/statusor.h"
#include "baton/ir/module.h"
#include "baton/ir/span.h"
#include "baton/relay/ir/expr.h"

namespace baton::relay {

// InferTypeOf(expr, module), but nodes with neither a type nor a span get
// `span`, and errors show `span`.
absl::StatusOr<Expr> InferTypeAt(const Expr& expr, const Span& span,
                                 const IRModule* module = nullptr);

}  // namespace baton::relay

#endif  // BATON_RELAY_IR_INFER_TYPE_AT_H_
