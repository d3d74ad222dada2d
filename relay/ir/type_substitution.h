// Visits and replaces the parts of types, and type variables in types.

#ifndef BATON_RELAY_IR_TYPE_SUBSTITUTION_H_
#define BATON_RELAY_IR_TYPE_SUBSTITUTION_H_

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "baton/base/hash_table.h"
#include "baton/ir/type.h"

namespace baton::relay {

// Calls `fn` for the direct parts of `type`, which is not null: fields,
// arguments and then the result of a function, the function and then the
// arguments of a TypeCall, the value of a reference.
void ForEachTypePart(const Type& type, absl::FunctionRef<void(const Type&)> fn);

// Replaces each direct part of `type`, which is not null, by what `fn` returns
// for it. Returns `type` itself if no part changes, and null if `fn` returns
// null for a part.
Type MapTypeParts(const Type& type, absl::FunctionRef<Type(const Type&)> fn);

using TypeVarMap = FlatHashMap<const TypeNode*, Type>;

// Replaces the variables of `values` in `type`, which may be null. Leaves types
// nested more than 1000 deep unchanged; inference does not enter them either.
// If nothing changes, returns `type` itself.
Type SubstituteTypeVars(const Type& type, const TypeVarMap& values);

// A new variable for each of `type_params`, of the same name and kind.
TypeVarMap FreshTypeVars(absl::Span<const TypeVar> type_params);

}  // namespace baton::relay

#endif  // BATON_RELAY_IR_TYPE_SUBSTITUTION_H_
