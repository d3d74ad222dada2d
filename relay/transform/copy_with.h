// Copies expressions with fresh variables, for inlining an expression twice.

#ifndef BATON_RELAY_TRANSFORM_COPY_WITH_H_
#define BATON_RELAY_TRANSFORM_COPY_WITH_H_

#include "absl/status/statusor.h"
#include "baton/base/hash_table.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/type_substitution.h"

namespace baton::relay {

// A fresh variable with the name and type of `var`.
Var CopyVar(const VarNode* var);

// A copy of `expr` with variables replaced by `values`, and fresh variables for
// all variables that its lets, functions and patterns bind. `expr` must not use
// other variables. Type variables are replaced by `types`.
absl::StatusOr<Expr> CopyWith(const Expr& expr,
                              FlatHashMap<const VarNode*, Expr> values,
                              const TypeVarMap& types = {});

}  // namespace baton::relay

#endif  // BATON_RELAY_TRANSFORM_COPY_WITH_H_
