// Calls a function overloaded on the class of an expression.
//
//   DispatchExpr(node, Overloaded{
//       [&](const CallNode* call) { ... },
//       [&](const TupleNode* tuple) { ... },
//       ...});
//
// The function must accept every class of BATON_RELAY_EXPRS; otherwise the call
// does not compile. For switches, see ExprKindOf. The form with a second
// function also accepts expressions of other levels, which a module may contain
// beside Relay's:
//
//   DispatchExpr(node, [&](const auto* relay) { ... },
//                [&](const ExprNode* other) { ... });

#ifndef BATON_RELAY_IR_DISPATCH_H_
#define BATON_RELAY_IR_DISPATCH_H_

#include "baton/ir/expr.h"
#include "baton/ir/node.h"
#include "baton/ir/op.h"
#include "baton/relay/ir/adt.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/node_kind.h"

namespace baton::relay {

// A function object that combines the overloads of several function objects.
template <typename... Fns>
struct Overloaded : Fns... {
  using Fns::operator()...;
};
template <typename... Fns>
Overloaded(Fns...) -> Overloaded<Fns...>;

// Returns `fn(node)` with the node as a pointer to its class; `other(node)` if
// the node is not an expression of Relay.
template <typename Fn, typename OtherFn>
decltype(auto) DispatchExpr(const ExprNode* node, Fn&& fn, OtherFn&& other) {
  switch (ExprKindOf(node)) {
#define BATON_DISPATCH(index, Name, sort) \
  case ExprKind::k##Name:                 \
    return fn(static_cast<const Name##Node*>(node));
    BATON_RELAY_EXPRS(BATON_DISPATCH)
#undef BATON_DISPATCH
  }
  return other(node);
}

// As above; `node` must be one of Relay's expressions.
template <typename Fn>
decltype(auto) DispatchExpr(const ExprNode* node, Fn&& fn) {
  using Result = decltype(fn(static_cast<const VarNode*>(nullptr)));
  return DispatchExpr(node, fn, [](const ExprNode* other) -> Result {
    baton::internal::UnknownKind(other);
  });
}

}  // namespace baton::relay

#endif  // BATON_RELAY_IR_DISPATCH_H_
