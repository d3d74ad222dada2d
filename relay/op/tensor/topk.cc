#include "baton/relay/op/tensor/topk.h"

#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/type_relation.h"
#include "baton/relay/op/tensor/sequence.h"
#include "baton/relay/op/type_relations.h"
#include "baton/relay/runtime/value.h"
#include "baton/runtime/kernels/sort.h"

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

absl::StatusOr<Value> TopKOf(const Tensor& data, const TopKAttrs& attrs) {
  if (!attrs.k.has_value()) {
    return absl::InvalidArgumentError("k must be given");
  }
  BATON_ASSIGN_OR_RETURN(
      kernels::TopKResult result,
      kernels::TopK(data, *attrs.k, attrs.axis, attrs.is_ascend,
                    attrs.dtype.is_void() ? DType::Int(32) : attrs.dtype));
  if (attrs.ret_type == "values") return Value(std::move(result.values));
  if (attrs.ret_type == "indices") return Value(std::move(result.indices));
  return Value::MakeTuple(
      {std::move(result.values), std::move(result.indices)});
}

}  // namespace baton::relay
