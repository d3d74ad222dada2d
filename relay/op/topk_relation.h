// The type of the result of topk, static and dynamic.

#ifndef BATON_RELAY_OP_TOPK_RELATION_H_
#define BATON_RELAY_OP_TOPK_RELATION_H_

#include <optional>

#include "absl/status/statusor.h"
#include "baton/ir/type.h"
#include "baton/ir/type_relation.h"
#include "baton/relay/op/tensor_attrs.h"

namespace baton::relay {

// `k` elements along the axis are returned, all if it is not given.
absl::StatusOr<Type> TopKResult(const TypeRelationContext& context,
                                const TensorTypeNode& data,
                                const TopKAttrs& attrs,
                                const std::optional<Dim>& k);

}  // namespace baton::relay

#endif  // BATON_RELAY_OP_TOPK_RELATION_H_
