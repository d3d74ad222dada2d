// Infers the type arguments of a call of a polymorphic function.

#ifndef BATON_RELAY_TRANSFORM_TYPE_ARGS_H_
#define BATON_RELAY_TRANSFORM_TYPE_ARGS_H_

#include <vector>

#include "absl/types/span.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/expr.h"

namespace baton::relay {

// The limit of the nesting of types; more deeply nested types are ignored.
inline constexpr int kMaxTypeDepth = 100;

// For each type parameter of `callee`, the type that follows from the types of
// the arguments and the result, which may be null; null if nothing follows.
std::vector<Type> MatchTypeParams(const FuncTypeNode& callee,
                                  absl::Span<const Type> args,
                                  const Type& result);

// The type arguments of `call`, of a function of type `callee`: the given ones,
// or those that follow from its types.
std::vector<Type> TypeArgsOf(const FuncTypeNode& callee, const CallNode& call);

}  // namespace baton::relay

#endif  // BATON_RELAY_TRANSFORM_TYPE_ARGS_H_
