// What the type parameters of a function stand for in a call of it.

#ifndef BATON_RELAY_TRANSFORM_TYPE_ARGS_H_
#define BATON_RELAY_TRANSFORM_TYPE_ARGS_H_

#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/expr.h"

namespace baton::relay {

// Types nested more deeply than this are not looked into.
inline constexpr int kMaxTypeDepth = 100;

// Calls `fn` for the types that `type`, which is not null, is made of.
void ForEachPart(const Type& type, absl::FunctionRef<void(const Type&)> fn);

// For each type parameter of `callee`, what it stands for where arguments and
// result have these types, which may be null; null where they do not tell.
std::vector<Type> MatchTypeParams(const FuncTypeNode& callee,
                                  absl::Span<const Type> args,
                                  const Type& result);

// The same for `call`, of a function of type `callee`, by the types that it is
// given or has.
std::vector<Type> TypeArgsOf(const FuncTypeNode& callee, const CallNode& call);

}  // namespace baton::relay

#endif  // BATON_RELAY_TRANSFORM_TYPE_ARGS_H_
