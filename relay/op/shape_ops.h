// What other operators share with those that change shapes.

#ifndef BATON_RELAY_OP_SHAPE_OPS_H_
#define BATON_RELAY_OP_SHAPE_OPS_H_

#include "absl/status/statusor.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/type_relation.h"

namespace baton::relay {

// The type relation of concatenate, for a first argument that is a tuple.
absl::StatusOr<Type> ConcatenateRel(TypeRelationContext& context);

}  // namespace baton::relay

#endif  // BATON_RELAY_OP_SHAPE_OPS_H_
