#include "baton/relay/op/tensor/create.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/attrs.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"
#include "baton/ir/type_relation.h"
#include "baton/relay/ir/constant.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/op/dim_math.h"
#include "baton/relay/op/fusion_pattern.h"
#include "baton/relay/op/op_flags.h"
#include "baton/relay/op/type_relations.h"

namespace baton::relay {
namespace {

// The shape in the attributes.
absl::StatusOr<Dims> GivenShape(const TypeRelationContext& context) {
  const auto& shape = context.attrs<InitOpAttrs>().shape;
  if (!shape.has_value()) return context.Error("shape must be given");
  for (const int64_t extent : *shape) {
    if (extent < 0) return context.Error("the extent ", extent, " is negative");
  }
  return Dims(shape->begin(), shape->end());
}

absl::StatusOr<Type> InitRel(TypeRelationContext& context) {
  BATON_ASSIGN_OR_RETURN(const Dims shape, GivenShape(context));
  const DType dtype = context.attrs<InitOpAttrs>().dtype;
  if (dtype.is_void()) return context.Error("dtype must be given");
  return Type(TensorType(shape, dtype));
}

absl::StatusOr<Type> FullRel(TypeRelationContext& context) {
  const TensorTypeNode* value = context.Tensor(0);
  if (value == nullptr) return Type();
  BATON_RETURN_IF_ERROR(ExpectRank(context, 0, *value, 0));
  BATON_ASSIGN_OR_RETURN(const Dims shape, GivenShape(context));
  const DType dtype = context.attrs<InitOpAttrs>().dtype;
  return TensorLike(context, 0, shape,
                    dtype.is_void() ? value->dtype() : dtype);
}

absl::StatusOr<Type> FullLikeRel(TypeRelationContext& context) {
  const TensorTypeNode* data = context.Tensor(0);
  const TensorTypeNode* value = context.Tensor(1);
  if (data == nullptr || value == nullptr) return Type();
  BATON_RETURN_IF_ERROR(ExpectRank(context, 1, *value, 0));
  return context.arg(0);
}

// An error unless a tensor of shape `from` can be broadcast to `to`.
absl::Status ExpectBroadcastable(const TypeRelationContext& context,
                                 absl::Span<const Dim> from,
                                 absl::Span<const Dim> to) {
  BATON_ASSIGN_OR_RETURN(const Dims both, BroadcastShapes(context, from, to));
  if (both.size() == to.size()) {
    bool same = true;
    for (size_t i = 0; i < to.size(); ++i) {
      same = same && !ProvablyDiffer(both[i], to[i]);
    }
    if (same) return absl::OkStatus();
  }
  return context.Error("the shape ", ShapeToString(from),
                       " cannot be broadcast to ", ShapeToString(to));
}

absl::StatusOr<Type> BroadcastToRel(TypeRelationContext& context) {
  const TensorTypeNode* data = context.Tensor(0);
  if (data == nullptr) return Type();
  BATON_ASSIGN_OR_RETURN(const Dims shape, GivenShape(context));
  BATON_RETURN_IF_ERROR(ExpectBroadcastable(context, data->shape(), shape));
  return TensorLike(context, 0, shape, data->dtype());
}

// The result has the shape of argument 1. Argument 0 must broadcast to that
// shape; with `kCollapse`, that shape must broadcast to argument 0's.
template <bool kCollapse>
absl::StatusOr<Type> BroadcastToLikeRel(TypeRelationContext& context) {
  const TensorTypeNode* data = context.Tensor(0);
  const TensorTypeNode* like = context.Tensor(1);
  if (data == nullptr || like == nullptr) return Type();
  if (data->dtype() != like->dtype()) {
    return context.Error("the element types ", data->dtype().ToString(),
                         " and ", like->dtype().ToString(), " do not match");
  }
  const TensorTypeNode* small = kCollapse ? like : data;
  BATON_RETURN_IF_ERROR(ExpectBroadcastable(
      context, small->shape(), (kCollapse ? data : like)->shape()));
  return context.arg(1);
}

// The length of argument `i`, a vector that holds a shape.
absl::StatusOr<int64_t> StaticLength(const TypeRelationContext& context,
                                     const TensorTypeNode& vector) {
  if (vector.rank() != 1 || !vector.dim(0).is_const()) {
    return context.Error(
        "a shape must be a vector of known length, but has "
        "shape ",
        ShapeToString(vector.shape()));
  }
  return vector.dim(0).value();
}

absl::StatusOr<Type> CollapseSumToRel(TypeRelationContext& context) {
  const TensorTypeNode* data = context.Tensor(0);
  const TensorTypeNode* target = context.Tensor(1);
  if (data == nullptr || target == nullptr) return Type();
  BATON_ASSIGN_OR_RETURN(const int64_t rank, StaticLength(context, *target));
  BATON_RETURN_IF_ERROR(ExpectRankInLimit(context, rank));
  const auto& given = context.attrs<InitOpAttrs>().shape;
  const Dims shape = given.has_value() ? Dims(given->begin(), given->end())
                                       : Dims(rank, Dim::Any());
  BATON_RETURN_IF_ERROR(ExpectBroadcastable(context, shape, data->shape()));
  return TensorLike(context, 0, shape, data->dtype());
}

absl::StatusOr<Type> ArangeRel(TypeRelationContext& context) {
  const DType dtype = context.attrs<ArangeAttrs>().dtype;
  double values[3] = {0, 0, 0};
  bool constant = true;
  for (int i = 0; i < 3; ++i) {
    BATON_RETURN_IF_ERROR(ExpectArg(context, i, {}, dtype));
    const std::optional<double> value = ConstantScalar(context.operand(i));
    constant = constant && value.has_value();
    values[i] = value.value_or(0);
  }
  if (!constant) return Type(TensorType({Dim::Any()}, dtype));
  // None if the step leads away from the end.
  const double count = std::ceil((values[1] - values[0]) / values[2]);
  if (values[2] == 0 || std::isnan(count) || count > 0x7fffffff) {
    return context.Error("start=", values[0], ", stop=", values[1],
                         " and step=", values[2], " give no values");
  }
  return Type(TensorType({static_cast<int64_t>(std::max(0.0, count))}, dtype));
}

absl::StatusOr<Type> ShapeOfRel(TypeRelationContext& context) {
  const TensorTypeNode* data = context.Tensor(0);
  if (data == nullptr) return Type();
  const DType dtype = context.attrs<ShapeOfAttrs>().dtype;
  const Dims shape(data->rank() == 0 ? 0 : 1, Dim(data->rank()));
  return TensorLike(context, 0, shape,
                    dtype.is_void() ? DType::Int(32) : dtype);
}

absl::StatusOr<Type> NdarraySizeRel(TypeRelationContext& context) {
  if (context.Tensor(0) == nullptr) return Type();
  const DType dtype = context.attrs<NdarraySizeAttrs>().dtype;
  return Type(TensorType::Scalar(dtype.is_void() ? DType::Int(32) : dtype));
}

BATON_REGISTER_OP("zeros")
    .Describe("A tensor of zeros.")
    .Arguments({})
    .TakesAttrs<InitOpAttrs>()
    .TypeRelation(InitRel)
    .Set(FusionPatterns(), FusionPattern::kElemWise);

BATON_REGISTER_OP("ones")
    .Describe("A tensor of ones.")
    .Arguments({})
    .TakesAttrs<InitOpAttrs>()
    .TypeRelation(InitRel)
    .Set(FusionPatterns(), FusionPattern::kElemWise);

BATON_REGISTER_OP("full")
    .Describe("A tensor with all elements equal.")
    .Arguments({{"fill_value", "The element, a scalar."}})
    .TakesAttrs<InitOpAttrs>()
    .TypeRelation(FullRel)
    .Set(FusionPatterns(), FusionPattern::kElemWise);

BATON_REGISTER_OP("full_like")
    .Describe("A tensor like another, with all elements equal.")
    .Arguments({{"data", "A tensor of the type wanted."},
                {"fill_value", "The element, a scalar."}})
    .TypeRelation(FullLikeRel)
    .Set(FusionPatterns(), FusionPattern::kElemWise);

BATON_REGISTER_OP("arange")
    .Describe("Evenly spaced numbers.")
    .Arguments({{"start", "The first value."},
                {"stop", "The end, not included."},
                {"step", "The distance of the values."}})
    .TakesAttrs<ArangeAttrs>()
    .TypeRelation(ArangeRel)
    .Set(FusionPatterns(), FusionPattern::kOpaque);

BATON_REGISTER_OP("broadcast_to")
    .Describe("Repeats a tensor to a shape.")
    .Arguments({{"data", "The input."}})
    .TakesAttrs<InitOpAttrs>()
    .TypeRelation(BroadcastToRel)
    .Set(FusionPatterns(), FusionPattern::kBroadcast)
    .Set(DataDependentShapeOps(), true);

BATON_REGISTER_OP("broadcast_to_like")
    .Describe("Repeats a tensor to the shape of another.")
    .Arguments({{"data", "The input."},
                {"broadcast_type", "A tensor of the shape wanted."}})
    .TypeRelation(BroadcastToLikeRel</*kCollapse=*/false>)
    .Set(FusionPatterns(), FusionPattern::kBroadcast);

BATON_REGISTER_OP("collapse_sum_like")
    .Describe("Sums a tensor to the shape of another.")
    .Arguments({{"data", "The input."},
                {"collapse_type", "A tensor of the shape wanted."}})
    .TypeRelation(BroadcastToLikeRel</*kCollapse=*/true>)
    .Set(FusionPatterns(), FusionPattern::kCommReduce);

BATON_REGISTER_OP("collapse_sum_to")
    .Describe("Sums a tensor to a shape.")
    .Arguments({{"data", "The input."}, {"shape", "The shape wanted."}})
    .TakesAttrs<InitOpAttrs>()
    .TypeRelation(CollapseSumToRel)
    .Set(FusionPatterns(), FusionPattern::kCommReduce);

BATON_REGISTER_OP("shape_of")
    .Describe("The shape of a tensor, as a vector.")
    .Arguments({{"data", "The input."}})
    .TakesAttrs<ShapeOfAttrs>()
    .TypeRelation(ShapeOfRel)
    .Set(FusionPatterns(), FusionPattern::kOpaque)
    .Set(ShapeQueries(), ShapeQuery::kShape);

BATON_REGISTER_OP("ndarray_size")
    .Describe("The number of elements of a tensor.")
    .Arguments({{"data", "The input."}})
    .TakesAttrs<NdarraySizeAttrs>()
    .TypeRelation(NdarraySizeRel)
    .Set(FusionPatterns(), FusionPattern::kInjective)
    .Set(ShapeQueries(), ShapeQuery::kNumElements);

}  // namespace

// Builders.

Expr Zeros(std::vector<int64_t> shape, DType dtype) {
  return Call(
      BATON_OP("zeros"), absl::Span<const Expr>(),
      Attrs::Make(InitOpAttrs{.shape = std::move(shape), .dtype = dtype}));
}

Expr Ones(std::vector<int64_t> shape, DType dtype) {
  return Call(
      BATON_OP("ones"), absl::Span<const Expr>(),
      Attrs::Make(InitOpAttrs{.shape = std::move(shape), .dtype = dtype}));
}

Expr Full(Expr fill_value, std::vector<int64_t> shape, DType dtype) {
  return Call(
      BATON_OP("full"), {std::move(fill_value)},
      Attrs::Make(InitOpAttrs{.shape = std::move(shape), .dtype = dtype}));
}

Expr FullLike(Expr lhs, Expr rhs) {
  return Call(BATON_OP("full_like"), {std::move(lhs), std::move(rhs)});
}

Expr Arange(Expr start, Expr stop, Expr step, DType dtype) {
  return Call(BATON_OP("arange"),
              {std::move(start), std::move(stop), std::move(step)},
              Attrs::Make(ArangeAttrs{.dtype = dtype}));
}

Expr BroadcastTo(Expr data, std::vector<int64_t> shape) {
  return Call(BATON_OP("broadcast_to"), {std::move(data)},
              Attrs::Make(InitOpAttrs{.shape = std::move(shape)}));
}

Expr BroadcastToLike(Expr lhs, Expr rhs) {
  return Call(BATON_OP("broadcast_to_like"), {std::move(lhs), std::move(rhs)});
}

Expr CollapseSumLike(Expr lhs, Expr rhs) {
  return Call(BATON_OP("collapse_sum_like"), {std::move(lhs), std::move(rhs)});
}

Expr ShapeOf(Expr data, DType dtype) {
  return Call(BATON_OP("shape_of"), {std::move(data)},
              Attrs::Make(ShapeOfAttrs{.dtype = dtype}));
}

Expr NdarraySize(Expr data, DType dtype) {
  return Call(BATON_OP("ndarray_size"), {std::move(data)},
              Attrs::Make(NdarraySizeAttrs{.dtype = dtype}));
}

}  // namespace baton::relay
