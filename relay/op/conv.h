// What other operators share with the convolutions.

#ifndef BATON_RELAY_OP_CONV_H_
#define BATON_RELAY_OP_CONV_H_

#include "absl/status/statusor.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/type_relation.h"

namespace baton::relay {

// The type relations of nn.conv2d and nn.conv2d_transpose, for calls with these
// attributes whose first two arguments are data and weight.
absl::StatusOr<Type> Conv2DRel(TypeRelationContext& context);
absl::StatusOr<Type> Conv2DTransposeRel(TypeRelationContext& context);

}  // namespace baton::relay

#endif  // BATON_RELAY_OP_CONV_H_
