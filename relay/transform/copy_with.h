// Copies of expressions with variables of their own: what is inlined twice.

#ifndef BATON_RELAY_TRANSFORM_COPY_WITH_H_
#define BATON_RELAY_TRANSFORM_COPY_WITH_H_

#include "absl/status/statusor.h"
#include "baton/base/hash_table.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/type_substitution.h"

namespace baton::relay {

// A variable like `var`.
Var CopyVar(const VarNode* var);

// `expr` with variables replaced by `values`, and new variables for all that
// its lets, functions and patterns bind. It may use no others. Type variables
// are replaced by `types`.
absl::StatusOr<Expr> CopyWith(const Expr& expr,
                              FlatHashMap<const VarNode*, Expr> values,
                              const TypeVarMap& types = {});

}  // namespace baton::relay

#endif  // BATON_RELAY_TRANSFORM_COPY_WITH_H_
