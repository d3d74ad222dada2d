#include "baton/relay/op/tensor/topk.h"

#include <optional>

#include "absl/status/statusor.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/ir/type.h"
#include "baton/ir/type_relation.h"
#include "baton/relay/op/tensor/sequence.h"
#include "baton/relay/op/type_relations.h"

namespace baton::relay {

absl::StatusOr<Type> TopKResult(const TypeRelationContext& context,
                                const TensorTypeNode& data,
                                const TopKAttrs& attrs,
                                const std::optional<Dim>& k) {
  BATON_ASSIGN_OR_RETURN(const int axis,
                         NormalizeAxis(context, attrs.axis, data.rank()));
  Dims shape(data.shape().begin(), data.shape().end());
  if (k.has_value()) shape[axis] = *k;
  const Type values = TensorLike(context, 0, shape, data.dtype());
  const Type indices = TensorLike(
      context, 0, shape, attrs.dtype.is_void() ? DType::Int(32) : attrs.dtype);
  if (attrs.ret_type == "both") return Type(TupleType({values, indices}));
  if (attrs.ret_type == "values") return values;
  if (attrs.ret_type == "indices") return indices;
  return context.Error("ret_type=\"", attrs.ret_type,
                       "\" is none of both, values and indices");
}

}  // namespace baton::relay
