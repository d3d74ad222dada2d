// Common parts of topk and dyn.topk.

#ifndef BATON_RELAY_OP_TENSOR_TOPK_H_
#define BATON_RELAY_OP_TENSOR_TOPK_H_

#include <optional>

#include "absl/status/statusor.h"
#include "baton/ir/type.h"
#include "baton/ir/type_relation.h"
#include "baton/relay/op/tensor/sequence.h"

namespace baton::relay {

// The result type: `k` elements along the axis; all elements if `k` is nullopt.
absl::StatusOr<Type> TopKResult(const TypeRelationContext& context,
                                const TensorTypeNode& data,
                                const TopKAttrs& attrs,
                                const std::optional<Dim>& k);

}  // namespace baton::relay

#endif  // BATON_RELAY_OP_TENSOR_TOPK_H_
