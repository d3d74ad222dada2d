// Walks expressions of any level: Relay's, and those of levels that are known
// by their descriptions alone (ir/node_class.h).
//
// The visitors of relay/ir/visit.h, for passes over Relay, treat a function of
// another level as a node without children.

#ifndef BATON_INSTRUMENT_ANY_LEVEL_H_
#define BATON_INSTRUMENT_ANY_LEVEL_H_

#include "absl/functional/function_ref.h"
#include "baton/ir/expr.h"
#include "baton/ir/node_map.h"

namespace baton {

// Calls `fn` for each child of `node`: of a Relay expression in the order of
// ForEachChild, of another one in the order of its fields.
void ForEachChildAtAnyLevel(const ExprNode* node,
                            absl::FunctionRef<void(const Expr&)> fn);

// Calls `fn` for all nodes that `root` reaches, including itself, children
// first, each node once. Skips the nodes that an earlier call with the same
// `seen` visited; the caller keeps them alive.
void VisitAtAnyLevel(const Expr& root, NodeSet& seen,
                     absl::FunctionRef<void(const ExprNode*)> fn);
void VisitAtAnyLevel(const Expr& root,
                     absl::FunctionRef<void(const ExprNode*)> fn);

// The function that `node` calls; null if it is no call. A node of another
// level calls its first child if that is an operator or a global function.
const ExprNode* CalleeOf(const ExprNode* node);

// True for expressions that belong neither to Relay nor to all levels.
bool IsOfOtherLevel(const ExprNode* node);

}  // namespace baton

#endif  // BATON_INSTRUMENT_ANY_LEVEL_H_
