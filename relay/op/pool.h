// What other operators share with pooling.

#ifndef BATON_RELAY_OP_POOL_H_
#define BATON_RELAY_OP_POOL_H_

#include "absl/status/statusor.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/type_relation.h"

namespace baton::relay {

// The type relation of nn.avg_pool2d, for calls with its attributes whose first
// argument is the data.
absl::StatusOr<Type> AvgPool2DRel(TypeRelationContext& context);

}  // namespace baton::relay

#endif  // BATON_RELAY_OP_POOL_H_
