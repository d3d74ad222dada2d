// The type relations of matrix products; quantized operators share them.

#ifndef BATON_RELAY_OP_MATMUL_RELATION_H_
#define BATON_RELAY_OP_MATMUL_RELATION_H_

#include "absl/status/statusor.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/type_relation.h"

namespace baton::relay {

// nn.dense and nn.matmul, with the attributes of these.
absl::StatusOr<Type> DenseRel(TypeRelationContext& context);
absl::StatusOr<Type> MatmulRel(TypeRelationContext& context);
absl::StatusOr<Type> BatchMatmulRel(TypeRelationContext& context);

}  // namespace baton::relay

#endif  // BATON_RELAY_OP_MATMUL_RELATION_H_
